#include "kernel.h"

#include "base/buf.h"
#include "base/str.h"
#include "os/file.h"
#include "runner/protocol.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

enum { MOST_KERNEL_BYTES = 256 * 1024 };

/* The rest of the line behind `key`, or NULL. */
static char *value_of(const char *line, const char *key, struct arena *arena)
{
    const size_t length = strlen(key);
    if (strncmp(line, key, length) != 0)
        return NULL;
    line += length;
    return arena_strndup(arena, line, strcspn(line, "\n"));
}

/* "rejected" alone would let anything stop it. */
static bool names_mechanism(const char *text)
{
    if (str_starts_with(text, "no win "))
        text += strlen("no ");
    const char *space = strchr(text, ' ');
    return space && space[1] != '\0';
}

/* What an attacker reads in our sources: where things lie in the control page. Made from the header
 * itself, so that these exploits do not miss their aim when it changes. */
static void add_layout(struct buf *text)
{
    static const struct {
        const char *name;
        uint64_t value;
    } words[] = {
        {"MAGIC", RUNNER_MAGIC},
        {"COUNT", offsetof(struct runner_control, count)},
        {"SLEEPS", offsetof(struct runner_control, sleeps)},
        {"SEQUENCE", offsetof(struct runner_control, sequence)},
        {"BELL", offsetof(struct runner_control, bell)},
        {"ACK", offsetof(struct runner_control, ack)},
        {"WAKE", offsetof(struct runner_control, wake)},
        {"DONE_SEMAPHORE", offsetof(struct runner_control, done)},
        {"OFFSETS", offsetof(struct runner_control, offsets)},
        {"BUFFER_ADDRESSES", offsetof(struct runner_control, buffer_address)},
        {"READY", RUNNER_READY},
        {"ARMED", RUNNER_ARMED},
        {"DONE", RUNNER_DONE},
        {"PARKED", RUNNER_PARKED},
        {"ARM", RUNNER_ARM},
        {"RING", RUNNER_RING},
    };
    (void)buf_append_str(text, "enum {\n");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        (void)buf_printf(text, "    CONTROL_%s = %" PRIu64 ",\n", words[i].name, words[i].value);
    (void)buf_append_str(text, "};\n");
}

static bool read_part(const char *dir, const char *name, struct arena *arena, struct buf *text,
                      struct err *err)
{
    char *part;
    if (str_equal(name, "runner"))
        add_layout(text);
    const char *path = arena_printf(arena, "%s/parts/%s.c", dir, name);
    if (!os_read_file(path, MOST_KERNEL_BYTES, arena, &part, NULL, err))
        return false;
    (void)buf_append_str(text, part);
    return true;
}

/* The parts that a head asks for, then the file. */
static bool join_parts(const char *dir, const char *names, const char *source, struct arena *arena,
                       const char **out, struct err *err)
{
    CLEANUP(buf_free) struct buf text = {.limit = CANDIDATE_MAX_SOURCE_BYTES};
    while (names && *names) {
        const size_t length = strcspn(names, " ");
        if (!read_part(dir, arena_strndup(arena, names, length), arena, &text, err))
            return false;
        names += length + (names[length] == ' ');
    }
    (void)buf_append_str(&text, source);
    *out = arena_strdup(arena, buf_text(&text));
    return true;
}

static bool read_line(struct kernel *kernel, const char *line, const char **with,
                      struct arena *arena, struct err *err)
{
    const char *value;
    if ((value = value_of(line, "// expect: ", arena))) {
        if (kernel->expected_count == MOST_EXPECTED || !names_mechanism(value))
            return err_set(err, ERR_BAD_INPUT,
                           "'%s': 'expect: %s' is one too many, or names no "
                           "mechanism",
                           kernel->name, value);
        kernel->expected[kernel->expected_count++].text = value;
    } else if ((value = value_of(line, "// task: ", arena))) {
        kernel->task = value;
    } else if ((value = value_of(line, "// layer: ", arena))) {
        kernel->layer = value;
    } else if (str_starts_with(line, "// at: confirmation\n")) {
        kernel->at_confirmation = true;
    } else if ((value = value_of(line, "// with: ", arena))) {
        *with = value;
    } else if ((value = value_of(line, "// flags: ", arena))) {
        if (!candidate_parse_flags(value, arena, &kernel->candidate))
            return err_set(err, ERR_BAD_INPUT, "'%s' has too many flags", kernel->name);
    } else if (*kernel->idea == '\0') {
        kernel->idea = value_of(line, "// ", arena);
    }
    return true;
}

static bool read_head(const char *dir, struct kernel *kernel, struct arena *arena, struct err *err)
{
    const char *source = kernel->candidate.source, *with = NULL;
    kernel->task = "softmax";
    kernel->idea = kernel->layer = "";
    for (const char *line = source; str_starts_with(line, "// ");) {
        if (!read_line(kernel, line, &with, arena, err))
            return false;
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    if (kernel->expected_count == 0 || *kernel->idea == '\0')
        return err_set(err, ERR_BAD_INPUT, "'%s' does not say what it tries or expects",
                       kernel->name);
    return join_parts(dir, with, source, arena, &kernel->candidate.source, err);
}

/* A number stands for all files that begin with it, any other word for a part of the name. */
static bool is_wanted(const char *name, const char *const *words, size_t word_count)
{
    for (size_t i = 0; i < word_count; i++) {
        const size_t length = strlen(words[i]);
        const bool is_number = length > 0 && strspn(words[i], "0123456789") == length;
        if (is_number ? str_starts_with(name, words[i]) && name[length] == '-'
                      : strstr(name, words[i]) != NULL)
            return true;
    }
    return word_count == 0;
}

bool kernels_load(const char *dir, const char *const *words, size_t word_count, struct arena *arena,
                  struct kernel **out, size_t *count, struct err *err)
{
    char **names;
    size_t name_count;
    const char *folder = os_path_join(arena, dir, "kernels");
    if (!os_list_dir(folder, arena, &names, &name_count, err))
        return false;
    struct kernel *kernels = arena_array(arena, name_count, sizeof *kernels);
    size_t kept = 0;
    for (size_t i = 0; i < name_count; i++) {
        struct kernel *kernel = &kernels[kept];
        char *source;
        if (!str_ends_with(names[i], ".c"))
            continue;
        if (!os_read_file(os_path_join(arena, folder, names[i]), MOST_KERNEL_BYTES, arena, &source,
                          NULL, err))
            return false;
        *kernel =
            (struct kernel){.name = arena_strndup(arena, names[i], strlen(names[i]) - strlen(".c")),
                            .candidate = {.source = source},
                            .is_wanted = is_wanted(names[i], words, word_count)};
        if (!read_head(dir, kernel, arena, err))
            return false;
        kept++;
    }
    *out = kernels;
    *count = kept;
    return true;
}
