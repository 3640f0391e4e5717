/* `#pragma omp simd` on innermost loops whose iterations are independent but for recognised
 * reductions. */
#include "moves/edit.h"
#include "moves/source.h"

#include "base/buf.h"

/* What a loop would need. */
struct plan {
    unsigned parts;
    struct buf clauses; /* reduction(...) */
    size_t scan_at;     /* statement that begins after the running sum; TOKEN_NONE */
    const char *refusal;
};

static bool refuse(struct plan *plan, const char *why)
{
    plan->refusal = why;
    return false;
}

/* Strips one pair of parentheses around the whole range. */
static void strip_parentheses(const struct tokens *tokens, size_t *begin, size_t *end)
{
    while (*begin + 1 < *end && token_is(tokens, *begin, "(") &&
           tokens->items[*begin].match == *end - 1) {
        (*begin)++;
        (*end)--;
    }
}

/* The first of the two operators outside of brackets in [begin, end). */
static size_t find_operator(const struct tokens *tokens, size_t begin, size_t end, const char *a,
                            const char *b)
{
    for (size_t i = begin; i < end; i++) {
        if (token_is(tokens, i, "(") || token_is(tokens, i, "["))
            i = tokens->items[i].match;
        else if (token_is(tokens, i, a) || token_is(tokens, i, b))
            return i;
    }
    return end;
}

/*
 * Does `CONDITION ? A : B`, with the condition [begin, end) a comparison of A with B, keep the
 * larger (+1) or the smaller (-1) of them? 0: neither.
 */
static int kept_by(const struct tokens *tokens, size_t begin, size_t end, const size_t a[2],
                   const size_t b[2])
{
    strip_parentheses(tokens, &begin, &end);
    if (find_operator(tokens, begin, end, "&&", "||") != end ||
        find_operator(tokens, begin, end, "==", "!=") != end)
        return 0;
    size_t compare = find_operator(tokens, begin, end, ">", ">=");
    int sign = 1;
    if (compare == end) {
        compare = find_operator(tokens, begin, end, "<", "<=");
        sign = -1;
    }
    if (compare == end)
        return 0;
    if (token_range_same(tokens, begin, compare, a[0], a[1]) &&
        token_range_same(tokens, compare + 1, end, b[0], b[1]))
        return sign;
    if (token_range_same(tokens, begin, compare, b[0], b[1]) &&
        token_range_same(tokens, compare + 1, end, a[0], a[1]))
        return -sign;
    return 0;
}

/* `s = X ? A : B;` with A or B being s. */
static int extremum_of_conditional(const struct tokens *tokens, size_t begin, size_t end)
{
    strip_parentheses(tokens, &begin, &end);
    const size_t question = find_operator(tokens, begin, end, "?", "?");
    const size_t colon = find_operator(tokens, question, end, ":", ":");
    if (colon >= end)
        return 0;
    return kept_by(tokens, begin, question, (size_t[2]){question + 1, colon},
                   (size_t[2]){colon + 1, end});
}

/* `if (X) s = E;` or `if (X) { s = E; }`, without else. */
static int extremum_of_if(const struct tokens *tokens, const struct write *w, size_t end)
{
    size_t close = w->name - 1, after = end + 1;
    if (token_is(tokens, close, "{")) {
        if (!token_is(tokens, after, "}"))
            return 0;
        after++;
        close--;
    }
    if (!token_is(tokens, close, ")") || token_is(tokens, after, "else"))
        return 0;
    const size_t open = tokens->items[close].match;
    if (open == 0 || !token_is(tokens, open - 1, "if"))
        return 0;
    return kept_by(tokens, open + 1, close, (size_t[2]){w->operator+ 1, end},
                   (size_t[2]){w->name, w->name + 1});
}

/* `s = fmax(s, E);` */
static int extremum_of_call(const struct tokens *tokens, size_t begin, size_t end)
{
    const bool is_max = token_is(tokens, begin, "fmax") || token_is(tokens, begin, "fmaxf");
    const bool is_min = token_is(tokens, begin, "fmin") || token_is(tokens, begin, "fminf");
    if ((!is_max && !is_min) || tokens->items[begin + 1].match != end - 1)
        return 0;
    return is_max ? 1 : -1;
}

/* The write is `s = the larger (or smaller) of s and E` and the loop does not use s otherwise. */
static int extremum(const struct tokens *tokens, const struct loop *loop, const struct write *w)
{
    const size_t end = source_statement_end(tokens, w->name) - 1;
    const size_t uses = token_count_uses(tokens, w->name, loop->keyword, loop->body_end);
    const size_t in_statement = token_count_uses(tokens, w->name, w->name, end);
    int kind = 0;
    if (uses == 3 && in_statement == 3)
        kind = extremum_of_conditional(tokens, w->operator+ 1, end);
    else if (uses == 2 && in_statement == 2)
        kind = extremum_of_call(tokens, w->operator+ 1, end);
    else if (uses == 2 && in_statement == 1)
        kind = extremum_of_if(tokens, w, end);
    return kind;
}

/* The body is `{ s += E; more }`, where more only reads s. */
static bool is_running_sum(const struct tokens *tokens, const struct loop *loop,
                           const struct write *w, size_t *rest)
{
    if (!token_is(tokens, loop->body, "{") || w->name != loop->body + 1)
        return false;
    *rest = source_statement_end(tokens, w->name);
    return token_count_uses(tokens, w->name, loop->keyword, *rest) == 1 &&
           *rest < loop->body_end - 1;
}

static bool plan_scalar(const struct tokens *tokens, const struct loop *loop, const struct write *w,
                        struct arena *arena, struct plan *plan)
{
    if (source_is_declared_in(tokens, w->name, loop->body, loop->body_end))
        return true;
    if (token_same(tokens, w->name, loop->var) ||
        token_count_uses(tokens, w->name, loop->from, loop->bound_end) > 0)
        return refuse(plan, "a loop changes its own bounds");
    const char *name = token_text(tokens, w->name, arena);
    const bool is_sum = token_is(tokens, w->operator, "+=") || token_is(tokens, w->operator, "-=");
    const bool is_product = token_is(tokens, w->operator, "*=");
    const bool is_alone = token_count_uses(tokens, w->name, loop->keyword, loop->body_end) == 1;
    if ((is_sum || is_product) && is_alone) {
        plan->parts |= SIMD_REDUCE;
        (void)buf_printf(&plan->clauses, " reduction(%s:%s)", is_sum ? "+" : "*", name);
        return true;
    }
    size_t rest = TOKEN_NONE;
    if (token_is(tokens, w->operator, "+=") && is_running_sum(tokens, loop, w, &rest)) {
        plan->parts |= SIMD_SCAN;
        plan->scan_at = rest;
        (void)buf_printf(&plan->clauses, " reduction(inscan, +:%s)", name);
        return true;
    }
    const int kind = token_is(tokens, w->operator, "=") ? extremum(tokens, loop, w) : 0;
    if (kind == 0)
        return refuse(plan, arena_printf(arena,
                                         "'%s' is carried from one turn of the loop over "
                                         "'%s' to the next",
                                         name, token_text(tokens, loop->var, arena)));
    plan->parts |= SIMD_EXTREMUM;
    (void)buf_printf(&plan->clauses, " reduction(%s:%s)", kind > 0 ? "max" : "min", name);
    return true;
}

/* Different turns of the loop write different elements: the loop's variable stands in the subscript
 * once, outside of calls, divisions and inner subscripts, and nothing in the subscript changes in
 * the loop. */
static bool is_injective(const struct tokens *tokens, const struct loop *loop,
                         const struct write *w)
{
    static const char *const bad[] = {"/", "%", "&", "|", "^", "<<", ">>", "?", "[", "{", "!", "~"};
    if (token_count_uses(tokens, loop->var, w->subscript, w->subscript_end) != 1)
        return false;
    for (size_t i = w->subscript; i < w->subscript_end; i++) {
        for (size_t j = 0; j < sizeof bad / sizeof *bad; j++)
            if (token_is(tokens, i, bad[j]))
                return false;
        if (token_is_identifier(tokens, i) &&
            (token_is(tokens, i + 1, "(") ||
             source_is_declared_in(tokens, i, loop->body, loop->body_end)))
            return false;
    }
    return true;
}

/* The array is not accessed in the loop but at this one subscript, and other arrays are other
 * buffers. */
static bool plan_array(const struct tokens *tokens, const struct definition *d,
                       const struct loop *loop, const struct write *w, struct arena *arena,
                       struct plan *plan)
{
    const char *name = token_text(tokens, w->name, arena);
    const size_t buffer = source_buffer_of(tokens, d, w->name);
    if (buffer == TOKEN_NONE)
        return refuse(plan, arena_printf(arena, "what '%s' points to is not known", name));
    if (!is_injective(tokens, loop, w))
        return refuse(plan, arena_printf(arena, "possible dependence on '%s' carried by '%s'", name,
                                         token_text(tokens, loop->var, arena)));
    for (size_t i = loop->body; i < loop->body_end; i++) {
        if (!token_is_identifier(tokens, i))
            continue;
        const bool is_access = token_is(tokens, i + 1, "[");
        const size_t other = source_buffer_of(tokens, d, i);
        if (!is_access && other == TOKEN_NONE)
            continue;
        const bool is_same = is_access && token_same(tokens, i, w->name) &&
                             token_range_same(tokens, i + 2, tokens->items[i + 1].match,
                                              w->subscript, w->subscript_end);
        if (other == TOKEN_NONE || !is_access || (other == buffer && !is_same))
            return refuse(plan, arena_printf(arena, "possible dependence between '%s' and '%s'",
                                             name, token_text(tokens, i, arena)));
    }
    plan->parts |= SIMD_MAP;
    return true;
}

static bool plan_loop(const struct tokens *tokens, const struct definition *d,
                      const struct loop *loop, struct arena *arena, struct plan *plan)
{
    struct write writes[SOURCE_MAX_WRITES];
    size_t count = 0;
    if (loop->keyword > 0 && (tokens->items[loop->keyword - 1].kind == TOKEN_DIRECTIVE ||
                              source_has_directive(tokens, loop->body, loop->body_end)))
        return refuse(plan, "the loop has directives of its own");
    const char *obstacle = source_find_obstacle(tokens, loop->body, loop->body_end, true, arena);
    if (obstacle)
        return refuse(plan, arena_printf(arena, "'%s' in an innermost loop", obstacle));
    if (!source_list_writes(tokens, loop->body, loop->body_end, writes, &count))
        return refuse(plan, "an innermost loop is too long");
    for (size_t i = 0; i < count; i++) {
        const struct write *w = &writes[i];
        if (w->kind == WRITE_UNKNOWN)
            return refuse(plan, "an innermost loop writes through an expression");
        if (w->kind == WRITE_SCALAR && !plan_scalar(tokens, loop, w, arena, plan))
            return false;
        if (w->kind == WRITE_ARRAY && !plan_array(tokens, d, loop, w, arena, plan))
            return false;
    }
    if ((plan->parts & SIMD_SCAN) && (plan->parts & (SIMD_REDUCE | SIMD_EXTREMUM)))
        return refuse(plan, "a loop has a running sum and another reduction");
    return plan->parts != 0 || refuse(plan, "an innermost loop writes nothing");
}

static void mark_loop(const struct tokens *tokens, const struct loop *loop, const struct plan *plan,
                      struct patches *patches, struct arena *arena)
{
    edit_add_pragma(patches, arena, tokens, loop->keyword,
                    arena_printf(arena, "omp simd%s", buf_text(&plan->clauses)));
    if (plan->scan_at == TOKEN_NONE)
        return;
    edit_add_pragma(
        patches, arena, tokens, plan->scan_at,
        arena_printf(arena, "omp scan inclusive(%s)", token_text(tokens, loop->body + 1, arena)));
    /* Before OpenMP 5.1 each side of the directive is one statement. */
    const size_t close = loop->body_end - 1;
    if (token_is(tokens, plan->scan_at + 1, "[") &&
        source_statement_end(tokens, plan->scan_at) == close)
        return;
    edit_add(patches, arena, tokens->items[plan->scan_at].begin, 0, "{ ");
    edit_add(patches, arena, tokens->items[close].begin, 0, "} ");
}

char *edit_simd(const char *text, const struct task *task, unsigned parts, struct arena *arena,
                const char **refusal)
{
    struct tokens tokens;
    struct definition d;
    if (!lex(text, arena, &tokens, refusal) || !source_find_definition(&tokens, task, &d, refusal))
        return NULL;
    struct patches patches = {0};
    *refusal = "no innermost loop of that kind is found";
    for (size_t i = d.body; i < d.body_close; i++) {
        struct loop loop;
        if (!source_read_loop(&tokens, i, &loop) || !loop.is_innermost)
            continue;
        struct plan plan = {.scan_at = TOKEN_NONE};
        const bool is_planned = plan_loop(&tokens, &d, &loop, arena, &plan);
        if (is_planned && (plan.parts & ~parts) == 0)
            mark_loop(&tokens, &loop, &plan, &patches, arena);
        else if (!is_planned)
            *refusal = plan.refusal;
        buf_free(&plan.clauses);
    }
    return patches.count > 0 ? edit_apply(text, &patches, arena) : NULL;
}
