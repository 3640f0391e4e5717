#include "moves/inverse.h"

#include "base/str.h"
#include "moves/edit.h"
#include "moves/source.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    [MECHANISM_PREFETCH] = "prefetch",
    [MECHANISM_STREAM_STORE] = "stream-store",
    [MECHANISM_PIN] = "pin-registers",
    [MECHANISM_HINT] = "hints",
    [MECHANISM_UNROLL] = "unroll-pragma",
    [MECHANISM_RECIPROCAL] = "multiply-by-reciprocal",
    [MECHANISM_SIZE] = "size",
    [MECHANISM_VECTOR_MATH] = "vector-function",
    [MECHANISM_SIMD] = "simd-pragma",
    [MECHANISM_LOOP_ORDER] = "loop-order",
    [MECHANISM_RESTRICT] = "restrict-pointers",
    [MECHANISM_FLAG] = "flag",
    [MECHANISM_STRUCTURE] = "structure",
};
static_assert(sizeof names / sizeof *names == MECHANISM_COUNT, "name each mechanism");

const char *mechanism_name(enum mechanism mechanism)
{
    return names[mechanism];
}

struct removal {
    struct tokens tokens;
    struct arena *arena;
    struct patches patches;
    struct inverse_edit *out;
    size_t count;
};

/* Ends an edit: what was patched since the last one is one mechanism. */
static void finish(struct removal *r, enum mechanism mechanism, const char *what)
{
    if (r->patches.count != 0 && r->count < INVERSE_MAX_EDITS)
        r->out[r->count++] = (struct inverse_edit){
            mechanism, what, edit_apply(r->tokens.text, &r->patches, r->arena)};
    r->patches = (struct patches){0};
}

/* Replaces the tokens [begin, end). */
static void replace(struct removal *r, size_t begin, size_t end, const char *by)
{
    const struct token *items = r->tokens.items;
    edit_add(&r->patches, r->arena, items[begin].begin, items[end - 1].end - items[begin].begin,
             by);
}

static bool directive_begins(const struct removal *r, size_t at, const char *words)
{
    const struct token *token = &r->tokens.items[at];
    if (token->kind != TOKEN_DIRECTIVE)
        return false;
    const char *text = r->tokens.text + token->begin;
    const char *end = r->tokens.text + token->end;
    while (*words && text < end) {
        if (*words == ' ') {
            text += strspn(text, " \t");
            words++;
        } else if (*text++ != *words++) {
            return false;
        }
    }
    return *words == '\0';
}

static void remove_directives(struct removal *r, enum mechanism mechanism,
                              const char *const *begins)
{
    for (size_t i = 0; i < r->tokens.count; i++) {
        for (const char *const *words = begins; *words; words++) {
            if (directive_begins(r, i, *words))
                replace(r, i, i + 1, "");
        }
    }
    finish(r, mechanism, "");
}

/* `name ( ... )`: one past ')', or 0. */
static size_t call_end(const struct removal *r, size_t at, const char *name)
{
    return token_is(&r->tokens, at, name) && token_is(&r->tokens, at + 1, "(") &&
                   r->tokens.items[at + 1].match != TOKEN_NONE
               ? r->tokens.items[at + 1].match + 1
               : 0;
}

static void remove_prefetch(struct removal *r)
{
    for (size_t i = 0; i < r->tokens.count; i++) {
        const size_t end = call_end(r, i, "__builtin_prefetch");
        if (end && token_is(&r->tokens, end, ";"))
            replace(r, i, end, "");
    }
    finish(r, MECHANISM_PREFETCH, "");
}

/* `movnt(p, v)` with a name for v becomes a copy of its bytes, which is a plain store. */
static void remove_stream_stores(struct removal *r)
{
    static const char *const stores[] = {"__builtin_ia32_movntps", "__builtin_ia32_movntps256",
                                         "__builtin_ia32_movntps512", NULL};
    for (size_t i = 0; i < r->tokens.count; i++) {
        for (const char *const *name = stores; *name; name++) {
            const size_t end = call_end(r, i, *name);
            if (!end || !token_is_identifier(&r->tokens, end - 2) ||
                !token_is(&r->tokens, end - 3, ","))
                continue;
            const char *value = token_text(&r->tokens, end - 2, r->arena);
            const char *place = token_range_text(&r->tokens, i + 2, end - 3, r->arena);
            replace(r, i, end,
                    arena_printf(r->arena, "__builtin_memcpy(%s, &%s, sizeof %s)", place, value,
                                 value));
        }
    }
    finish(r, MECHANISM_STREAM_STORE, "");
}

static bool is_empty_string(const struct tokens *tokens, size_t at)
{
    return at < tokens->count && tokens->items[at].kind == TOKEN_STRING &&
           tokens->items[at].end - tokens->items[at].begin == 2;
}

/* `__asm__ [volatile] ( "" : ... );` */
static void remove_pins(struct removal *r)
{
    for (size_t i = 0; i + 3 < r->tokens.count; i++) {
        if (!token_is(&r->tokens, i, "__asm__") && !token_is(&r->tokens, i, "asm"))
            continue;
        const bool is_volatile =
            token_is(&r->tokens, i + 1, "volatile") || token_is(&r->tokens, i + 1, "__volatile__");
        const size_t open = i + 1 + is_volatile;
        if (!token_is(&r->tokens, open, "(") || !is_empty_string(&r->tokens, open + 1) ||
            r->tokens.items[open].match == TOKEN_NONE)
            continue;
        replace(r, i, r->tokens.items[open].match + 1, "");
    }
    finish(r, MECHANISM_PIN, "");
}

/* The first argument alone. */
static void remove_hints(struct removal *r)
{
    for (size_t i = 0; i < r->tokens.count; i++) {
        size_t end = call_end(r, i, "__builtin_expect");
        end = end ? end : call_end(r, i, "__builtin_assume_aligned");
        if (!end)
            continue;
        size_t comma = i + 2;
        while (comma < end && !token_is(&r->tokens, comma, ","))
            comma = r->tokens.items[comma].match != TOKEN_NONE ? r->tokens.items[comma].match + 1
                                                               : comma + 1;
        if (comma < end)
            replace(r, i, end,
                    arena_printf(r->arena, "(%s)",
                                 token_range_text(&r->tokens, i + 2, comma, r->arena)));
    }
    finish(r, MECHANISM_HINT, "");
}

static bool is_one(const struct tokens *tokens, size_t at)
{
    static const char *const ones[] = {"1", "1.0", "1.0f", "1.f", "1.0F"};
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++) {
        if (token_is(tokens, at, ones[i]))
            return true;
    }
    return false;
}

/* `name = 1 / x ;`, x one token or one pair of brackets: the end of x, or 0. */
static size_t reciprocal_end(const struct removal *r, size_t name)
{
    const struct tokens *t = &r->tokens;
    if (!token_is_identifier(t, name) || !token_is(t, name + 1, "=") || !is_one(t, name + 2) ||
        !token_is(t, name + 3, "/") || name + 5 >= t->count)
        return 0;
    const size_t match = t->items[name + 4].match;
    size_t end = token_is(t, name + 4, "(") && match != TOKEN_NONE ? match + 1 : name + 5;
    /* A function of x: sqrtf(...). */
    if (token_is(t, end, "(") && t->items[end].match != TOKEN_NONE)
        end = t->items[end].match + 1;
    return token_is(t, end, ";") ? end : 0;
}

static void remove_reciprocal_of(struct removal *r, size_t name, size_t end)
{
    const struct tokens *t = &r->tokens;
    /* The name keeps x itself: each use divides by it. */
    replace(r, name + 2, name + 4, "");
    for (size_t i = end; i < t->count; i++) {
        if (!token_same(t, i, name) || token_is(t, i - 1, ".") || i < 2)
            continue;
        if (token_is(t, i - 1, "*="))
            replace(r, i - 1, i, "/=");
        else if (token_is(t, i - 1, "*"))
            replace(r, i - 1, i, "/");
        else {
            r->patches = (struct patches){0};
            return;
        }
    }
    finish(r, MECHANISM_RECIPROCAL, token_text(t, name, r->arena));
}

static void remove_reciprocals(struct removal *r)
{
    for (size_t i = 0; i < r->tokens.count; i++) {
        const size_t end = reciprocal_end(r, i);
        if (end)
            remove_reciprocal_of(r, i, end);
    }
}

/* Constants above 1 of an enum, each by itself. */
static void remove_sizes(struct removal *r)
{
    const struct tokens *t = &r->tokens;
    for (size_t i = 0; i + 1 < t->count; i++) {
        if (!token_is(t, i, "enum") || !token_is(t, i + 1, "{") ||
            t->items[i + 1].match == TOKEN_NONE)
            continue;
        for (size_t at = i + 2; at + 2 < t->items[i + 1].match; at++) {
            if (!token_is_identifier(t, at) || !token_is(t, at + 1, "=") ||
                t->items[at + 2].kind != TOKEN_NUMBER || is_one(t, at + 2) ||
                token_is(t, at + 2, "0"))
                continue;
            replace(r, at + 2, at + 3, "1");
            finish(r, MECHANISM_SIZE, token_text(t, at, r->arena));
        }
    }
}

/* "vexpf" is expf for vectors: 'v' and the name of a function of <math.h>. */
static const char *library_name(const struct removal *r, size_t at)
{
    if (!token_is_identifier(&r->tokens, at))
        return NULL;
    const char *name = token_text(&r->tokens, at, r->arena);
    struct tokens one;
    const char *why = NULL;
    if (name[0] != 'v' || !lex(name + 1, r->arena, &one, &why) || one.count != 1)
        return NULL;
    return source_is_math_function(&one, 0) ? name + 1 : NULL;
}

/* Calls in the bodies; the definition (a name, brackets, a body) stays. */
static void remove_vector_math(struct removal *r)
{
    const struct tokens *t = &r->tokens;
    for (size_t i = 0; i < t->count; i++) {
        const char *name = library_name(r, i);
        if (!name || !token_is(t, i + 1, "(") || t->items[i + 1].match == TOKEN_NONE ||
            token_is(t, t->items[i + 1].match + 1, "{"))
            continue;
        replace(r, i, i + 1, name);
    }
    if (r->patches.count != 0 && !strstr(t->text, "<math.h>"))
        edit_add(&r->patches, r->arena, 0, 0, "#include <math.h>\n");
    finish(r, MECHANISM_VECTOR_MATH, "");
}

static void remove_restrict(struct removal *r)
{
    for (size_t i = 0; i < r->tokens.count; i++) {
        if (token_is(&r->tokens, i, "restrict") || token_is(&r->tokens, i, "__restrict") ||
            token_is(&r->tokens, i, "__restrict__"))
            replace(r, i, i + 1, "");
    }
    finish(r, MECHANISM_RESTRICT, "");
}

static bool uses(const struct tokens *t, size_t name, size_t begin, size_t end)
{
    return token_count_uses(t, name, begin, end) != 0;
}

/* `for (a) for (b) ...`: the heads change places where b's does not look at a's counter. */
static void swap_loops(struct removal *r)
{
    const struct tokens *t = &r->tokens;
    for (size_t i = 0; i < t->count; i++) {
        struct loop outer;
        struct loop inner;
        if (!token_is(t, i, "for") || !source_read_loop(t, i, &outer))
            continue;
        const bool has_braces = token_is(t, outer.body, "{");
        const size_t at = outer.body + has_braces;
        if (!token_is(t, at, "for") || !source_read_loop(t, at, &inner) ||
            inner.body_end + has_braces != outer.body_end ||
            uses(t, outer.var, inner.open, inner.close))
            continue;
        const char *heads[] = {token_range_text(t, outer.open, outer.close + 1, r->arena),
                               token_range_text(t, inner.open, inner.close + 1, r->arena)};
        replace(r, outer.open, outer.close + 1, heads[1]);
        replace(r, inner.open, inner.close + 1, heads[0]);
        finish(r, MECHANISM_LOOP_ORDER,
               arena_printf(r->arena, "%s,%s", token_text(t, outer.var, r->arena),
                            token_text(t, inner.var, r->arena)));
    }
}

size_t inverse_list(const char *text, struct arena *arena, struct inverse_edit *out)
{
    static const char *const unroll[] = {"# pragma GCC unroll", "# pragma unroll",
                                         "# pragma clang loop unroll", NULL};
    static const char *const simd[] = {"# pragma omp simd", "# pragma GCC ivdep",
                                       "# pragma clang loop vectorize", NULL};
    struct removal r = {.arena = arena, .out = out};
    const char *why = NULL;
    if (!lex(text, arena, &r.tokens, &why))
        return 0;
    remove_prefetch(&r);
    remove_stream_stores(&r);
    remove_pins(&r);
    remove_hints(&r);
    remove_directives(&r, MECHANISM_UNROLL, unroll);
    remove_reciprocals(&r);
    remove_sizes(&r);
    remove_vector_math(&r);
    remove_directives(&r, MECHANISM_SIMD, simd);
    swap_loops(&r);
    remove_restrict(&r);
    return r.count;
}
