#include "plan.h"

#include "base/str.h"
#include "base/vec.h"
#include "os/file.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 64 * 1024, MOST_WORDS = 24, MOST_TOOLS = 32, MOST_KEYS = 8 };

struct tool {
    const char *compiler, *flags;
};

struct plan {
    const char *dir;
    const struct target *target;
    struct arena *arena;
    struct tool tools[MOST_TOOLS];
    size_t tool_count, next_tool;
    struct variants *out;
};

/* One line of the product: keys with their lists of values, "8,16". */
struct product {
    const char *task, *template_name, *source, *lacks;
    const char *keys[MOST_KEYS], *values[MOST_KEYS];
    size_t key_count;
    int64_t times;
};

static size_t split(const char *line, struct arena *arena, const char **words)
{
    size_t count = 0;
    while (*line && count < MOST_WORDS) {
        line += strspn(line, " ");
        const size_t length = strcspn(line, " ");
        if (length > 0)
            words[count++] = arena_strndup(arena, line, length);
        line += length;
    }
    return count;
}

/* "gcc", "clang": the oldest of the family; "clang-new": the newest. NULL where there is none. */
static const char *compiler_of(const struct target *target, const char *word)
{
    const struct target_features *features = target_features(target);
    const bool newest = str_equal(word, "clang-new");
    const char *family = newest ? "clang" : word, *found = NULL;
    for (size_t i = 0; i < features->compiler_count; i++) /* newest first */
        if (str_equal(features->compilers[i].family, family) && !(newest && found))
            found = features->compilers[i].name;
    return found;
}

static void add_tool(struct plan *plan, const char *rest)
{
    const size_t length = strcspn(rest, " ");
    const char *word = arena_strndup(plan->arena, rest, length);
    const char *compiler = compiler_of(plan->target, word);
    if (compiler && plan->tool_count < MOST_TOOLS)
        plan->tools[plan->tool_count++] =
            (struct tool){compiler, arena_strdup(plan->arena, rest + length + 1)};
}

static const char *lacking(const struct plan *plan, const char *need)
{
    if (str_equal(need, "openmp")) /* allowed by tasks with threads, and only such have it */
        return NULL;
    const char *isa = target_features(plan->target)->isa;
    const char *at = strstr(isa, need);
    const size_t length = strlen(need);
    const bool has = at && (at == isa || at[-1] == ',') && (at[length] == ',' || !at[length]);
    return has ? NULL : arena_printf(plan->arena, "this processor has no %s", need);
}

static void add_variant(struct plan *plan, const struct product *p, const char *settings,
                        const char *defines)
{
    const struct tool *tool = &plan->tools[plan->next_tool++ % plan->tool_count];
    struct variants *all = plan->out;
    all->items = vec_reserve_one(all->items, all->count, &all->capacity, sizeof *all->items);
    struct variant *v = &all->items[all->count++];
    const bool threads = strstr(p->task, "threads") != NULL;
    const char *flags =
        threads ? arena_printf(plan->arena, "%s -fopenmp", tool->flags) : tool->flags;
    *v = (struct variant){
        .task = p->task,
        .lacks = p->lacks,
        .name = arena_printf(plan->arena, "%s%s: %s %s", p->task, settings, tool->compiler, flags),
        .candidate = {.source = arena_printf(plan->arena, "%s%s", defines, p->source),
                      .compiler = tool->compiler}};
    (void)candidate_parse_flags(flags, plan->arena, &v->candidate);
}

/* The product of the settings: one choice for each key, counted like an odometer. */
static void expand(struct plan *plan, const struct product *p)
{
    size_t total = 1, sizes[MOST_KEYS];
    for (size_t k = 0; k < p->key_count; k++) {
        sizes[k] = 1;
        for (const char *c = p->values[k]; *c; c++)
            sizes[k] += *c == ',';
        total *= sizes[k];
    }
    for (size_t n = 0; n < total; n++) {
        const char *settings = "", *defines = "";
        size_t rest = n;
        for (size_t k = 0; k < p->key_count; k++) {
            const char *value = p->values[k];
            for (size_t skip = rest % sizes[k]; skip > 0; skip--)
                value = strchr(value, ',') + 1;
            rest /= sizes[k];
            const int length = (int)strcspn(value, ",");
            settings = arena_printf(plan->arena, "%s %s=%.*s", settings, p->keys[k], length, value);
            defines = arena_printf(plan->arena, "%s#define %s %.*s\n", defines, p->keys[k], length,
                                   value);
        }
        for (int64_t i = 0; i < p->times; i++)
            add_variant(plan, p, settings, defines);
    }
}

static bool read_product(struct plan *plan, const char *line, struct err *err)
{
    const char *words[MOST_WORDS];
    const size_t count = split(line, plan->arena, words);
    struct product p = {0};
    char *source;
    if (count < 4 || !str_parse_int64(words[2], &p.times))
        return err_set(err, ERR_BAD_INPUT, "the plan has the line '%s'", line);
    p.task = words[0];
    p.template_name = words[1];
    for (size_t i = 3; i < count; i++) {
        const char *equals = strchr(words[i], '=');
        if (!equals || p.key_count == MOST_KEYS)
            return err_set(err, ERR_BAD_INPUT, "the plan has the setting '%s'", words[i]);
        const char *key = arena_strndup(plan->arena, words[i], (size_t)(equals - words[i]));
        if (str_equal(key, "needs")) {
            p.lacks = lacking(plan, equals + 1);
            continue;
        }
        p.keys[p.key_count] = key;
        p.values[p.key_count++] = equals + 1;
    }
    const char *path = arena_printf(plan->arena, "%s/templates/%s.c", plan->dir, p.template_name);
    if (!os_read_file(path, MOST_BYTES, plan->arena, &source, NULL, err))
        return false;
    p.source = source;
    expand(plan, &p);
    return true;
}

bool plan_load(const char *dir, const struct target *target, struct arena *arena,
               struct variants *out, struct err *err)
{
    struct plan plan = {.dir = dir, .target = target, .arena = arena, .out = out};
    char *text;
    if (!os_read_file(os_path_join(arena, dir, "plan"), MOST_BYTES, arena, &text, NULL, err))
        return false;
    while (*text) {
        const size_t length = strcspn(text, "\n");
        const char *line = arena_strndup(arena, text, length);
        text += length + (text[length] == '\n');
        if (str_starts_with(line, "tools "))
            add_tool(&plan, line + strlen("tools "));
        else if (*line && *line != '#' && !read_product(&plan, line, err))
            return false;
    }
    return true;
}

void plan_free(struct variants *variants)
{
    free(variants->items);
    *variants = (struct variants){0};
}
