/* What is a time loop. */
#include "moves/nest/sweep.h"

#include "moves/nest/edit.h"

struct search {
    const struct nest_symbol *counter;
    struct nest_stmt *body;
    bool names_counter, writes_again; /* an array that is read too */
};

static bool is_read_of(void *context, const struct nest_expr *expr, bool is_target)
{
    const struct nest_symbol *array = context;
    return is_target || expr->kind != NEST_ACCESS || nest_base_of(expr->symbol) != array;
}

static bool reads_nothing_of(void *context, struct nest_stmt *stmt, int depth)
{
    (void)depth;
    return nest_walk_exprs(stmt, is_read_of, context);
}

static bool look_at_access(void *context, const struct nest_expr *expr, bool is_target)
{
    struct search *search = context;
    if (expr->kind != NEST_ACCESS)
        return true;
    for (size_t i = 0; i < expr->arg_count; i++)
        search->names_counter =
            search->names_counter || nest_expr_uses(expr->args[i], search->counter);
    if (is_target && !search->writes_again) {
        void *array = (void *)(uintptr_t)nest_base_of(expr->symbol);
        search->writes_again = !nest_walk(search->body, reads_nothing_of, array);
    }
    return !search->names_counter;
}

static bool look_at(void *context, struct nest_stmt *stmt, int depth)
{
    (void)depth;
    return nest_walk_exprs(stmt, look_at_access, context);
}

bool nest_find_sweeps(const struct nest_stmt *time, struct nest_sweeps *out)
{
    struct nest_stmt *body = time->body;
    if (time->kind != NEST_FOR)
        return false;
    while (body && body->kind == NEST_BLOCK && !body->next)
        body = body->body;
    struct search search = {.counter = time->symbol, .body = body};
    *out = (struct nest_sweeps){.first = body};
    for (const struct nest_stmt *s = body; s; s = s->next) {
        if (s->kind != NEST_FOR)
            return false;
        out->count++;
    }
    return out->count > 0 && out->count <= NEST_MAX_SWEEPS && nest_walk(body, look_at, &search) &&
           search.writes_again;
}
