/* clang-format off */
/*
 * task.yaml, from text to a struct task. All keys (`kope task new` writes a commented example):
 *
 *   name        identifier of the task; the C entry point too, unless `entry` is given
 *   entry       name of the C function
 *   family      free label for retrieval: reduction, normalization, contraction, elementwise, ...
 *   level       free label, such as the level of a benchmark
 *   summary     one sentence
 *   dtype       float32, float64, float16, bfloat16, int8, int16, int32, int64, uint8 or bool: what
 *               `real` is in the baseline. In the oracle of a float task it is double; integers
 *               have no oracle, and must be equal
 *   accumulate  what `real_acc` is: float32 unless given for float16 and bfloat16, int32 for
 *               narrower integers, else the dtype; a float32 task may say float64, an integer one
 *               int64
 *   axes        list of sizes: a name, or {name, min, max, multiple}: what callers may give. min is
 *               1 unless given; 0 allows zero. Kernels are checked at small and odd sizes within it
 *   attrs       list of {name, type: real|int, value}: constants, passed by value
 *   args        list of {name, role, dtype, shape, ld, alias, draw}, in the order of the C
 *               declaration
 *     role      in, out or inout
 *     dtype     real (unless given), or one of the dtypes above
 *     shape     list of expressions, outermost first; [] is one element
 *     ld        leading dimension: the axis that says how many elements lie from row to row
 *     alias     of an output: the input whose buffer it takes, with the same dtype, shape and ld; a
 *               call then works in place. All other arguments have buffers that do not overlap
 *     draw      how inputs are drawn: {kind: normal, mean, deviation}, {kind: uniform, low, high},
 *               {kind: integer, low, high}, {kind: constant, value}
 *   flops       expression: floating-point operations of a call, in real arithmetic
 *   bytes       expression: least memory traffic of a call; the sum of the buffers unless given
 *   precision   exact, strict, normal (unless given) or relaxed
 *   reassociate whether the order of sums may change; true unless exact or strict
 *   finite_only whether inputs never hold NaN or infinity; false unless given
 *   special     list of situations {<argument>: what}: inputs beyond the drawn ones, and what the
 *               results must then be. Of an input: a number, nan, inf or -inf in every element;
 *               'one nan' in one of them; or a draw. Of an output: a number, nan, inf, -inf or
 *               finite
 *   threads     that a candidate may use; 1 unless given
 *   cases       list of {<axis>: size, ..., name, weight}: what is optimized
 *   held_out    list likewise: never shown to the search, winners are judged on it
 *   reference   file beside task.yaml; reference.c unless given
 *
 * Expressions hold integers, axes, attributes, + - * / % ( ), min(a, b), max(a, b), ceildiv(a, b).
 * In shapes they are int64 and / rounds down; in flops and bytes / is exact.
 */
/* clang-format on */
#include "base/str.h"
#include "os/file.h"
#include "task/internal.h"

#include <ctype.h>
#include <string.h>

static const char *const root_keys[] = {
    "name",        "entry",   "family",  "level", "summary",  "dtype",     "accumulate",
    "axes",        "attrs",   "args",    "flops", "bytes",    "precision", "reassociate",
    "finite_only", "special", "threads", "cases", "held_out", "reference", NULL};

static bool read_labels(struct task_reader *reader)
{
    const struct yaml *root = reader->root;
    struct task *task = reader->task;
    struct err *err = reader->err;
    task->family = "other";
    task->level = "";
    task->summary = "";
    if (!yaml_read_string(root, "name", true, &task->name, err) ||
        !read_label(root, "family", &task->family, err) ||
        !read_label(root, "level", &task->level, err) ||
        !read_label(root, "summary", &task->summary, err))
        return false;
    const struct yaml *at = yaml_get(root, "name");
    if (!str_is_identifier(task->name)) {
        (void)yaml_error(at, err, "'%.64s' cannot be the name of a task", task->name);
        return err_hint(err, "use letters, digits and underscore, not beginning with a digit");
    }
    const char *entry = task->name;
    if (!yaml_read_string(root, "entry", false, &entry, err))
        return false;
    if (yaml_get(root, "entry"))
        at = yaml_get(root, "entry");
    if (!name_check_entry(reader, at, entry))
        return false;
    task->entry = entry;
    return true;
}

/* What `real_acc` is. Arithmetic must be no coarser than what is stored, and of the same kind; a
 * half stored from a double would be rounded twice. */
static bool read_accumulate(struct task_reader *reader, const char *const *dtypes)
{
    struct task *task = reader->task;
    size_t accumulate = dtype_accumulate(task->dtype);
    if (!yaml_read_word(reader->root, "accumulate", false, dtypes, DTYPE_COUNT, &accumulate,
                        reader->err))
        return false;
    const enum dtype least = dtype_accumulate(task->dtype);
    const bool is_wider = (task->dtype == DTYPE_F32 && accumulate == DTYPE_F64) ||
                          (least == DTYPE_I32 && accumulate == DTYPE_I64);
    task->accumulate = (enum dtype)accumulate;
    if (task->accumulate == least || is_wider)
        return true;
    (void)yaml_error(yaml_get(reader->root, "accumulate"), reader->err,
                     "a task of %s does not accumulate in %s", dtype_name(task->dtype),
                     dtype_name(task->accumulate));
    const char *other = task->dtype == DTYPE_F32 ? " or float64"
                        : least == DTYPE_I32     ? " or int64"
                                                 : "";
    return err_hint(reader->err, "use accumulate: %s%s", dtype_name(least), other);
}

static bool read_dtypes(struct task_reader *reader)
{
    const char *dtypes[DTYPE_COUNT];
    size_t dtype = 0;
    for (unsigned i = 0; i < DTYPE_COUNT; i++)
        dtypes[i] = dtype_name((enum dtype)i);
    if (!yaml_read_word(reader->root, "dtype", true, dtypes, DTYPE_COUNT, &dtype, reader->err))
        return false;
    reader->task->dtype = (enum dtype)dtype;
    return read_accumulate(reader, dtypes);
}

/* dtype comes before the arguments, which may be `real`. */
static bool read_numerics(struct task_reader *reader)
{
    static const char *const precisions[] = {[PRECISION_EXACT] = "exact",
                                             [PRECISION_STRICT] = "strict",
                                             [PRECISION_NORMAL] = "normal",
                                             [PRECISION_RELAXED] = "relaxed"};
    const struct yaml *root = reader->root;
    struct task *task = reader->task;
    struct err *err = reader->err;
    size_t precision = PRECISION_NORMAL;
    if (!read_dtypes(reader) ||
        !yaml_read_word(root, "precision", false, precisions, 4, &precision, err))
        return false;
    task->precision = (enum precision_class)precision;
    task->allow_reassociate =
        task->precision == PRECISION_NORMAL || task->precision == PRECISION_RELAXED;
    task->threads = 1;
    return yaml_read_bool(root, "reassociate", false, &task->allow_reassociate, err) &&
           yaml_read_bool(root, "finite_only", false, &task->finite_only, err) &&
           yaml_read_int(root, "threads", false, 1, 256, &task->threads, err);
}

static bool read_costs(struct task_reader *reader)
{
    const struct yaml *flops = yaml_get(reader->root, "flops");
    const struct yaml *bytes = yaml_get(reader->root, "bytes");
    return (!flops || expr_parse(reader, flops, true, &reader->task->flops)) &&
           (!bytes || expr_parse(reader, bytes, true, &reader->task->bytes));
}

/* One past the comment, the string or the character constant that begins at `at`; `at` itself where
 * none does. */
static const char *skip_no_code(const char *at)
{
    const char end = at[0] == '"' || at[0] == '\'' ? at[0] : at[1] == '/' ? '\n' : '\0';
    if (at[0] == '/' && at[1] == '*') {
        const char *close = strstr(at + 2, "*/");
        return close ? close + 2 : at + strlen(at);
    }
    if (end == '\0' || (end == '\n' && at[0] != '/'))
        return at;
    for (at += end == '\n' ? 2 : 1; *at != '\0'; at++) {
        if (*at == end || *at == '\n') /* a constant ends with its line at the latest */
            return at + 1;
        if (*at == '\\' && at[1] != '\0')
            at++;
    }
    return at;
}

/* Where `word` stands in the C source `text` as a word of code; NULL. */
static const char *find_word(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = text; *at != '\0';) {
        const char *behind = skip_no_code(at);
        size_t letters = 0;
        while (behind == at && (isalnum((unsigned char)at[letters]) || at[letters] == '_'))
            letters++;
        if (letters == length && strncmp(at, word, length) == 0)
            return at;
        at = behind > at ? behind : at + (letters > 0 ? letters : 1);
    }
    return NULL;
}

/* A reference that says of two arguments in one buffer that they are not is no C, and what it
 * computes is chance. */
static bool check_restrict(const struct task_reader *reader, const char *reference)
{
    static const char *const words[] = {"restrict", "__restrict", "__restrict__"};
    const struct task *task = reader->task;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *found = task_is_in_place(task) ? find_word(reference, words[i]) : NULL;
        int line = 1;
        int column = 1;
        if (!found)
            continue;
        for (const char *at = reference; at < found; at++) {
            column = *at == '\n' ? 1 : column + 1;
            line += *at == '\n';
        }
        (void)err_set(reader->err, ERR_BAD_INPUT,
                      "%s:%d:%d: the reference has the word '%s', but %s", task->reference_path,
                      line, column, words[i], task_alias_text(task, reader->arena));
        return err_hint(reader->err, "take it out of the reference, or 'alias' out of the task");
    }
    return true;
}

static bool check_reference(const struct task_reader *reader, const char *reference)
{
    const struct task *task = reader->task;
    if (find_word(reference, task->entry))
        return check_restrict(reader, reference);
    const struct yaml *at = yaml_get(reader->root, "entry");
    (void)yaml_error(at ? at : yaml_get(reader->root, "name"), reader->err,
                     "the reference does not define '%s'", task->entry);
    return err_hint(reader->err, "it should: %s", task_signature(task, "real", reader->arena));
}

/* `file` is the reference's name, already checked. */
static bool read_task(const struct yaml *root, const char *reference, const char *file,
                      const char *dir, struct arena *arena, const struct task **out,
                      struct err *err)
{
    struct task *task = arena_alloc(arena, sizeof *task);
    struct task_reader reader = {.root = root, .task = task, .arena = arena, .err = err};
    task->dir = arena_strdup(arena, dir);
    task->reference_path = dir[0] ? os_path_join(arena, dir, file) : arena_strdup(arena, file);
    if (!yaml_check_keys(root, root_keys, err) || !read_labels(&reader) ||
        !read_numerics(&reader) || !read_axes(&reader) || !read_attrs(&reader) ||
        !read_args(&reader) || !read_specials(&reader) || !read_costs(&reader) ||
        !read_cases(&reader) || !check_reference(&reader, reference))
        return false;
    task->reference = arena_strdup(arena, reference);
    task_identify(task);
    *out = task;
    return true;
}

/* The file name under `reference`; it stays within the task's folder. */
static bool read_reference_name(const struct yaml *root, const char **out, struct err *err)
{
    const char *file = "reference.c";
    if (root->type != YAML_MAPPING) {
        (void)yaml_error(root, err, "a task is a mapping");
        return err_hint(err, "begin with 'name: my_kernel'");
    }
    if (!yaml_read_string(root, "reference", false, &file, err))
        return false;
    if (file[0] == '\0' || file[0] == '.' || strchr(file, '/')) {
        (void)yaml_error(yaml_get(root, "reference"), err, "'%.64s' is no file beside task.yaml",
                         file);
        return err_hint(err, "give a file name without a folder, such as reference.c");
    }
    *out = file;
    return true;
}

bool task_parse(const char *yaml_text, size_t yaml_length, const char *reference, const char *dir,
                struct arena *arena, const struct task **out, struct err *err)
{
    const struct yaml *root = NULL;
    const char *file = NULL;
    const char *path = dir[0] ? os_path_join(arena, dir, "task.yaml") : "task.yaml";
    return yaml_parse(yaml_text, yaml_length, path, arena, &root, err) &&
           read_reference_name(root, &file, err) &&
           read_task(root, reference, file, dir, arena, out, err);
}

static bool load_reference(const struct yaml *root, const char *dir, const char *file,
                           struct arena *arena, char **out, struct err *err)
{
    const struct yaml *at = yaml_get(root, "reference");
    const char *path = os_path_join(arena, dir, file);
    char *text = NULL;
    size_t length = 0;
    if (!at)
        at = root;
    if (!os_path_exists(path)) {
        (void)yaml_error(at, err, "the reference '%s' does not exist", file);
        return err_hint(err, "write the kernel as plain loops over 'real' to %s", path);
    }
    if (!os_read_plain_file(path, TASK_MAX_SOURCE_BYTES, arena, &text, &length, err))
        return false;
    if (strlen(text) != length)
        return yaml_error(at, err, "the reference '%s' holds a NUL byte", file);
    *out = text;
    return true;
}

bool task_load(const char *path, struct arena *arena, const struct task **out, struct err *err)
{
    const struct yaml *root = NULL;
    const char *file = NULL;
    char *real_path = NULL;
    char *text = NULL;
    char *reference = NULL;
    size_t length = 0;
    if (!os_path_exists(path)) {
        (void)err_set(err, ERR_NOT_FOUND, "no task at '%s'", path);
        return err_hint(err, "give a folder with a task.yaml; 'kope task new' writes one");
    }
    if (os_path_is_dir(path) && !os_path_exists(os_path_join(arena, path, "task.yaml"))) {
        (void)err_set(err, ERR_NOT_FOUND, "'%s' holds no task.yaml", path);
        return err_hint(err, "'kope task new' writes a folder to start from");
    }
    if (!os_path_real(path, arena, &real_path, err))
        return false;
    const bool is_dir = os_path_is_dir(path);
    const char *dir = is_dir ? real_path : os_path_dir(arena, real_path);
    const char *yaml_path = is_dir ? os_path_join(arena, path, "task.yaml") : path;
    /* A link that the user named is followed, one within the folder is not. */
    return os_read_plain_file(is_dir ? yaml_path : real_path, YAML_MAX_BYTES, arena, &text, &length,
                              err) &&
           yaml_parse(text, length, arena_strdup(arena, yaml_path), arena, &root, err) &&
           read_reference_name(root, &file, err) &&
           load_reference(root, dir, file, arena, &reference, err) &&
           read_task(root, reference, file, dir, arena, out, err);
}
