/* Steps as text, and sequences of them. */
#include "moves/internal.h"
#include "moves/nest/edit.h"

#include "base/str.h"

#include <string.h>

static const char name_bytes[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

static bool malformed(const char *text, struct arena *arena, const char **refusal)
{
    *refusal = arena_printf(arena, "'%.80s' is not of the form name(loop,loop:number)", text);
    return false;
}

/* "i", "i:4", "b:p", "4". */
static bool parse_arg(const char *text, size_t length, struct arena *arena,
                      struct nest_step_arg *out)
{
    const size_t name = strspn(text, name_bytes);
    if (name == 0 || name > length)
        return false;
    *out = (struct nest_step_arg){.name = arena_strndup(arena, text, name)};
    if (name < length) {
        const char *value = text + name + 1;
        const size_t rest = length - name - 1;
        if (text[name] != ':' || rest == 0 || strspn(value, name_bytes) < rest)
            return false;
        out->value = arena_strndup(arena, value, rest);
    }
    (void)str_parse_int64(out->value ? out->value : out->name, &out->number);
    return true;
}

bool nest_step_parse(const char *text, struct arena *arena, struct nest_step *out,
                     const char **refusal)
{
    const size_t name = strspn(text, name_bytes);
    const size_t length = strlen(text);
    struct nest_step step = {.text = text, .name = arena_strndup(arena, text, name)};
    if (name == 0 || name == length || text[name] != '(' || text[length - 1] != ')')
        return malformed(text, arena, refusal);
    for (const char *at = text + name + 1; *at != ')';) {
        const size_t arg = strcspn(at, ",)");
        if (step.arg_count == NEST_STEP_MAX_ARGS ||
            !parse_arg(at, arg, arena, &step.args[step.arg_count++]))
            return malformed(text, arena, refusal);
        at += arg;
        if (*at == ',' && *++at == ')')
            return malformed(text, arena, refusal);
        if (*at == ')' && at[1] != '\0')
            return malformed(text, arena, refusal);
    }
    *out = step;
    return true;
}

bool nest_allow(const struct nest_edit *edit, enum numerics numerics, const char **refusal)
{
    static const unsigned effects[] = {
        [NUMERICS_EXACT] = 0,
        [NUMERICS_REASSOCIATE] = EFFECT_REASSOCIATE,
        [NUMERICS_APPROXIMATE] = EFFECT_APPROXIMATE,
        [NUMERICS_FINITE_ONLY] = EFFECT_FINITE_ONLY,
    };
    const struct task *task = edit->nest->task;
    const char *why = task ? effects_refusal(task, effects[numerics], edit->arena) : NULL;
    if (why)
        *refusal = why;
    return !why;
}

/* A body in braces of its own is its statements: a move need not look through them. */
static void open_bodies(struct nest_stmt *first)
{
    for (struct nest_stmt *s = first; s; s = s->next) {
        if (s->kind != NEST_BLOCK && s->body && s->body->kind == NEST_BLOCK && !s->body->next)
            s->body = s->body->body;
        if (s->otherwise && s->otherwise->kind == NEST_BLOCK && !s->otherwise->next)
            s->otherwise = s->otherwise->body;
        open_bodies(s->body);
        open_bodies(s->otherwise);
    }
}

static bool count_stmt(void *context, struct nest_stmt *stmt, int depth)
{
    struct nest *nest = context;
    (void)depth;
    nest->statement_count++;
    nest->opaque_count += stmt->kind == NEST_OPAQUE;
    nest->loop_count += stmt->kind == NEST_FOR;
    return nest->statement_count <= NEST_MAX_NODES;
}

/* What is counted, afresh; false where a move has made too much of it. */
static bool recount(struct nest *nest)
{
    nest->statement_count = nest->opaque_count = nest->loop_count = 0;
    return nest_walk(nest->body, count_stmt, nest);
}

static bool apply_step(struct nest_edit *edit, const char *text, const char **refusal)
{
    struct nest_step step;
    if (!nest_step_parse(text, edit->arena, &step, refusal))
        return false;
    const struct nest_move *move = nest_move_find(step.name);
    if (!move)
        return nest_refuse(edit, refusal, "there is no move '%s' on loop nests", step.name);
    if (!nest_allow(edit, move->numerics, refusal) || !move->apply(edit, &step, refusal))
        return false;
    return recount(edit->nest) ||
           nest_refuse(edit, refusal, "the nest would have more than %d statements",
                       NEST_MAX_NODES);
}

bool nest_apply(const struct nest *from, const char *steps, const struct nest_target *target,
                struct arena *arena, struct nest **out, const char **refusal)
{
    struct nest_edit edit = {.arena = arena};
    const bool is_one = strchr(steps, ';') == NULL;
    size_t count = 0;
    if (target)
        edit.target = *target;
    if (strlen(steps) > NEST_MAX_STEPS_BYTES) {
        *refusal = arena_printf(arena, "steps of more than %d bytes", NEST_MAX_STEPS_BYTES);
        return false;
    }
    edit.nest = nest_clone(from, arena);
    open_bodies(edit.nest->body);
    if (!nest_make_names_unique(&edit, refusal))
        return false;
    while (*steps != '\0') {
        const size_t length = strcspn(steps, ";");
        const char *text = arena_strndup(arena, steps, length);
        if (++count > NEST_MAX_STEPS) {
            *refusal = arena_printf(arena, "more than %d steps", NEST_MAX_STEPS);
            return false;
        }
        if (!apply_step(&edit, text, refusal)) {
            if (!is_one)
                *refusal = arena_printf(arena, "%s: %s", text, *refusal);
            return false;
        }
        steps += length + (steps[length] == ';');
    }
    *out = edit.nest;
    return true;
}
