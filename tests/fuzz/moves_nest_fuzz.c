/*
 * Any bytes as a C source: read or refused in words, never a crash; what is read prints as a text
 * that reads again to the same text, and every access can be asked for its dimensions. Of a task in
 * place the input's name is nowhere in what was understood. Two of them, the text and what of it is
 * left after an edit, go into one source that chooses, or are refused in words.
 */
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "moves/dispatch.h"
#include "moves/nest.h"
#include "moves/nest/affine.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const entries[] = {"attention", "conv2d", "softmax", "stencil", "argmax"};

static bool ask_dimensions(void *context, const struct nest_expr *expr, bool is_target)
{
    struct poly subscripts[NEST_MAX_DIMENSIONS];
    const struct nest_symbol *array = NULL;
    const char *why = NULL;
    size_t rank = 0;
    (void)is_target;
    if (expr->symbol && expr->symbol->same)
        BUG("fuzz: '%s' stands beside the name of its own buffer", expr->symbol->name);
    if (expr->kind == NEST_ACCESS &&
        !nest_delinearize(context, expr, subscripts, &rank, &array, &why) && !why)
        BUG("fuzz: dimensions refused without a reason");
    return true;
}

struct asking {
    const struct nest *nest;
    const struct nest_stmt *opaque;
};

static bool ask(void *context, struct nest_stmt *stmt, int depth)
{
    struct asking *asking = context;
    (void)depth;
    if (stmt->kind == NEST_OPAQUE && !stmt->reason)
        BUG("fuzz: a statement not understood without a reason");
    if (stmt->kind == NEST_OPAQUE)
        asking->opaque = stmt;
    return nest_walk_exprs(stmt, ask_dimensions, (struct nest *)(uintptr_t)asking->nest);
}

static const char *print(const struct nest *nest, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    nest_print(nest, &text);
    return arena_strdup(arena, buf_text(&text));
}

static void read_one(const char *text, const char *entry, bool is_in_place)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task task = {.name = entry,
                              .entry = entry,
                              .args = {{.name = "x", .rank = 2, .shape_text = {"rows", "cols"}},
                                       {.name = "y",
                                        .rank = 2,
                                        .shape_text = {"rows", "cols"},
                                        .role = ARG_OUT,
                                        .has_alias = true}},
                              .arg_count = is_in_place ? 2 : 1};
    struct nest *nest = NULL;
    struct nest *again = NULL;
    const char *why = NULL;
    if (!nest_read(&task, text, &arena, &nest, &why)) {
        if (!why)
            BUG("fuzz: refused without a reason");
        return;
    }
    struct asking asking = {.nest = nest};
    (void)nest_walk(nest->body, ask, &asking);
    const char *first = print(nest, &arena);
    /* Text that was not understood may read differently in its new place: only its being kept is
     * promised. */
    if (asking.opaque)
        return;
    if (!nest_read(&task, first, &arena, &again, &why))
        BUG("fuzz: what was printed is refused: %s", why);
    if (!str_equal(print(again, &arena), first))
        BUG("fuzz: printed twice, not the same:\n%s", first);
}

/* With itself, and with what stands in front of its last line end. */
static void merge(const char *text, const char *entry)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task task = {.name = entry,
                              .entry = entry,
                              .args = {{.name = "x", .is_real = true}},
                              .arg_count = 1,
                              .axes = {{.name = "n"}},
                              .axis_count = 1};
    const char *last = strrchr(text, '\n');
    const char *others[] = {
        text, arena_strndup(&arena, text, last ? (size_t)(last - text) : strlen(text) / 2)};
    for (size_t i = 0; i < 2; i++) {
        struct dispatch_parts parts = {
            .task = &task, .condition = "n <= 64", .small = {text, ""}, .large = {others[i], "w"}};
        const char *source = NULL;
        const char *why = NULL;
        if (!dispatch_source(&parts, &arena, &source, &why)) {
            if (!why)
                BUG("fuzz: two texts are refused without a reason");
            continue;
        }
        parts.small.source = source;
        if (dispatch_source(&parts, &arena, &source, &why))
            BUG("fuzz: one that chooses is taken for one of two:\n%s", source);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena arena = {0};
    if (size > 20000)
        return 0;
    const char *text = arena_strndup(&arena, (const char *)data, size);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        if (!strstr(text, entries[i]))
            continue;
        read_one(text, entries[i], false);
        read_one(text, entries[i], true);
        merge(text, entries[i]);
    }
    return 0;
}
