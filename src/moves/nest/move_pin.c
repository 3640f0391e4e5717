/* pin(p): vectors that live across the rounds of loop p, and those that a round loads once, are
 * held in registers. */
#include "moves/nest/edit.h"
#include "moves/nest/move.h"
#include "moves/nest/vector.h"

#include "base/str.h"

#include <string.h>

static const char helper[] = "vreal_pin";

/* An empty instruction that takes the value from a register and gives it back there: a compiler
 * cannot make the load again instead, nor keep the value in memory. */
static void add_helper(struct nest_edit *edit)
{
    const int64_t bytes = edit->target.vector_bytes;
    if (strstr(edit->nest->prologue, " vreal_pin("))
        return;
    edit->nest->prologue = arena_printf(edit->arena,
                                        "%s/* x, in a register */\n"
                                        "static inline vreal vreal_pin(vreal x)\n"
                                        "{\n"
                                        "#if defined %s\n"
                                        "    __asm__(\"\" : \"+v\"(x));\n"
                                        "%s"
                                        "#endif\n"
                                        "    return x;\n"
                                        "}\n\n",
                                        edit->nest->prologue,
                                        bytes == 64   ? "__AVX512F__"
                                        : bytes == 32 ? "__AVX__"
                                                      : "__SSE2__",
                                        bytes == 16 ? "#elif defined __aarch64__\n"
                                                      "    __asm__(\"\" : \"+w\"(x));\n"
                                                    : "");
}

static bool is_vector(const struct nest_symbol *symbol)
{
    return symbol && symbol->kind == NEST_SCALAR &&
           (str_equal(symbol->type, "vreal") || str_equal(symbol->type, "const vreal"));
}

static bool is_call(const struct nest_expr *expr, const char *name)
{
    return expr && expr->kind == NEST_CALL && str_equal(expr->text, name);
}

static const struct nest_expr *pinned(const struct nest_edit *edit, const struct nest_expr *value)
{
    struct nest_expr *call = arena_alloc(edit->arena, sizeof *call);
    *call = (struct nest_expr){.kind = NEST_CALL, .text = helper, .args = {value}, .arg_count = 1};
    return call;
}

/* "sum = vreal_pin(sum);" behind the body for every vector that it changes and does not declare. */
static size_t pin_carried(struct nest_edit *edit, struct nest_stmt *loop)
{
    size_t count = 0;
    for (size_t i = 0; i < edit->nest->symbol_count; i++) {
        const struct nest_symbol *symbol = edit->nest->symbols[i];
        if (!is_vector(symbol) || !nest_list_assigns(loop->body, symbol) ||
            nest_list_declares(loop->body, symbol))
            continue;
        const struct nest_expr *name = nest_name(edit, symbol);
        loop->body =
            nest_append(loop->body, nest_assign(edit, name, "=", pinned(edit, name), loop->line));
        count++;
    }
    return count;
}

/* "const vreal b = vreal_pin(vreal_at(...));" */
static size_t pin_loaded(const struct nest_edit *edit, struct nest_stmt *first)
{
    size_t count = 0;
    for (struct nest_stmt *s = first; s; s = s->next) {
        if (s->kind == NEST_DECLARE && is_vector(s->symbol) && is_call(s->value, "vreal_at")) {
            s->value = pinned(edit, s->value);
            count++;
        }
    }
    return count;
}

static bool is_pinned(const struct nest_stmt *first)
{
    for (const struct nest_stmt *s = first; s; s = s->next) {
        if ((s->kind == NEST_DECLARE || s->kind == NEST_ASSIGN) && is_call(s->value, helper))
            return true;
    }
    return false;
}

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    struct nest_stmt *loop = vector_step_loop(edit, step, refusal);
    if (!loop)
        return false;
    if (is_pinned(loop->body))
        return nest_refuse(edit, refusal, "the vectors of loop '%s' are in registers already",
                           loop->name);
    const size_t loaded = pin_loaded(edit, loop->body);
    if (pin_carried(edit, loop) + loaded == 0)
        return nest_refuse(edit, refusal, "loop '%s' has no vectors in variables", loop->name);
    add_helper(edit);
    return true;
}

static size_t suggest(const struct nest *nest, const struct nest_target *target,
                      struct arena *arena, const char **out, size_t capacity)
{
    return target->vector_bytes >= 16
               ? nest_suggest_innermost(nest, "pin(%s)", arena, out, capacity)
               : 0;
}

const struct nest_move nest_move_pin = {
    .name = "pin",
    .group = "data",
    .intent = "holds the vectors of a loop in registers, where gcc would load them again",
    .parameters = "pin(LOOP); the last step on LOOP",
    .precondition = "the loop is innermost and has vectors in variables (after regtile, vectorize)",
    .effect = "up to 1.8 times where gcc for Zen reads a vector from memory for every product",
    .breaks = "values spill where there are more than registers",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
    .suggest = suggest,
};
