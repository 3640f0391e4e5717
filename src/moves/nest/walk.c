#include "moves/nest.h"

#include "base/str.h"

typedef bool (*visit_stmt)(void *context, struct nest_stmt *stmt, int depth);
typedef bool (*visit_expr)(void *context, const struct nest_expr *expr, bool is_target);

static bool walk(struct nest_stmt *first, visit_stmt visit, void *context, int depth)
{
    for (struct nest_stmt *stmt = first; stmt; stmt = stmt->next) {
        const int inside = depth + (stmt->kind == NEST_FOR);
        if (!visit(context, stmt, depth) || !walk(stmt->body, visit, context, inside) ||
            !walk(stmt->otherwise, visit, context, inside))
            return false;
    }
    return true;
}

bool nest_walk(struct nest_stmt *first, visit_stmt visit, void *context)
{
    return walk(first, visit, context, 0);
}

static bool walk_expr(const struct nest_expr *expr, visit_expr visit, void *context, bool is_target)
{
    if (!expr)
        return true;
    if (!visit(context, expr, is_target))
        return false;
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (!walk_expr(expr->args[i], visit, context, false))
            return false;
    }
    return true;
}

bool nest_walk_exprs(const struct nest_stmt *stmt, visit_expr visit, void *context)
{
    return walk_expr(stmt->from, visit, context, false) &&
           walk_expr(stmt->bound, visit, context, false) &&
           walk_expr(stmt->target, visit, context, true) &&
           walk_expr(stmt->value, visit, context, false);
}

struct search {
    const char *name;
    struct nest_stmt *found;
};

static bool is_it(void *context, struct nest_stmt *stmt, int depth)
{
    struct search *search = context;
    (void)depth;
    if (stmt->kind == NEST_FOR && stmt->name && str_equal(stmt->name, search->name))
        search->found = stmt;
    return search->found == NULL;
}

struct nest_stmt *nest_find_loop(const struct nest *nest, const char *name)
{
    struct search search = {.name = name};
    (void)walk(nest->body, is_it, &search, 0);
    return search.found;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && str_equal(a, b));
}

bool nest_expr_same(const struct nest_expr *a, const struct nest_expr *b)
{
    if (a->kind != b->kind || a->arg_count != b->arg_count || !same_text(a->text, b->text) ||
        (a->symbol != NULL) != (b->symbol != NULL) ||
        (a->symbol && !str_equal(a->symbol->name, b->symbol->name)))
        return false;
    for (size_t i = 0; i < a->arg_count; i++) {
        if (!nest_expr_same(a->args[i], b->args[i]))
            return false;
    }
    return true;
}
