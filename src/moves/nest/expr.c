/* Expressions of the C subset, by precedence climbing. */
#include "moves/nest/reader.h"

#include "base/str.h"

#include <string.h>

/* LEVEL_SHIFT: of nest_operators, the first that binds tighter than relations. */
enum { READER_MAX_DEPTH = 200, LEVEL_SHIFT = 8 };

static const char *const type_words[] = {"real",     "real_acc",  "float",   "double",   "int",
                                         "long",     "short",     "char",    "unsigned", "signed",
                                         "bool",     "_Bool",     "size_t",  "int8_t",   "int16_t",
                                         "int32_t",  "int64_t",   "uint8_t", "uint16_t", "uint32_t",
                                         "uint64_t", "ptrdiff_t", "vreal",   "vmask",    NULL};
static const char *const qualifiers[] = {"const", "register", NULL};

static bool is_one_of(const struct tokens *tokens, size_t at, const char *const *words)
{
    for (; *words; words++) {
        if (token_is(tokens, at, *words))
            return true;
    }
    return false;
}

bool read_type(const struct reader *r, size_t *at, const char **type)
{
    const size_t first = *at;
    bool has_word = false;
    size_t end = first;
    if (token_is(&r->tokens, end, "_Alignas") && token_is(&r->tokens, end + 1, "("))
        end = r->tokens.items[end + 1].match + 1;
    while (is_one_of(&r->tokens, end, type_words) || is_one_of(&r->tokens, end, qualifiers)) {
        has_word = has_word || is_one_of(&r->tokens, end, type_words);
        end++;
    }
    if (!has_word)
        return false;
    *type = token_range_text(&r->tokens, first, end, r->arena);
    *at = end;
    return true;
}

bool type_is_integer(const char *type)
{
    return !strstr(type, "real") && !strstr(type, "float") && !strstr(type, "double");
}

static struct nest_expr *new_expr(struct reader *r, enum nest_expr_kind kind, const char *text)
{
    struct nest_expr *expr = arena_alloc(r->arena, sizeof *expr);
    expr->kind = kind;
    expr->text = text;
    return expr;
}

static bool push_arg(struct reader *r, struct nest_expr *expr, const struct nest_expr *arg)
{
    if (expr->arg_count == NEST_MAX_ARGS)
        return reader_fail(r, "more than %d operands", NEST_MAX_ARGS);
    expr->args[expr->arg_count++] = arg;
    return true;
}

static bool read_binary(struct reader *r, size_t *at, int lowest, const struct nest_expr **out);

static bool read_call(struct reader *r, size_t *at, const char *name, const struct nest_expr **out)
{
    struct nest_expr *call = new_expr(r, NEST_CALL, name);
    const size_t close = r->tokens.items[*at].match;
    (*at)++;
    while (*at < close) {
        const struct nest_expr *arg = NULL;
        if (!read_expr(r, at, &arg) || !push_arg(r, call, arg))
            return false;
        if (token_is(&r->tokens, *at, ","))
            (*at)++;
        else if (*at != close)
            return reader_fail(r, "the arguments of '%s' are not understood", name);
    }
    *at = close + 1;
    *out = call;
    return true;
}

/* "#define NAME(" somewhere in the file. */
static bool is_macro(const struct reader *r, const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < r->tokens.count; i++) {
        if (r->tokens.items[i].kind != TOKEN_DIRECTIVE)
            continue;
        const char *text = r->tokens.text + r->tokens.items[i].begin + 1; /* behind the # */
        text += strspn(text, " \t");
        if (!str_starts_with(text, "define"))
            continue;
        text += strlen("define");
        text += strspn(text, " \t");
        if (str_starts_with(text, name) && text[length] == '(')
            return true;
    }
    return false;
}

static bool read_name(struct reader *r, size_t *at, const struct nest_expr **out)
{
    const char *name = token_text(&r->tokens, *at, r->arena);
    const struct nest_symbol *symbol = reader_find(r, *at);
    if (token_is(&r->tokens, *at + 1, "(")) {
        const bool is_helper = symbol && symbol->kind == NEST_FUNCTION;
        /* The conversions that stand in front of every source (task/prelude). */
        const bool is_conversion =
            token_is(&r->tokens, *at, "real_load") || token_is(&r->tokens, *at, "real_store");
        /* A macro of vector code (vector_prologue.c). */
        const bool is_vector = token_is(&r->tokens, *at, "vreal_at");
        if (!is_helper && !is_conversion && !is_vector && !source_is_math_function(&r->tokens, *at))
            return reader_fail(r,
                               is_macro(r, name)
                                   ? "'%s' is a macro with arguments: a helper function would be "
                                     "understood"
                                   : "'%s' is no function of <math.h> and no helper of this file",
                               name);
        (*at)++;
        return read_call(r, at, name, out);
    }
    if (!symbol)
        return reader_fail(r, "'%s' is not declared in a way that is understood", name);
    struct nest_expr *expr = new_expr(r, NEST_NAME, NULL);
    expr->symbol = symbol;
    (*at)++;
    *out = expr;
    return true;
}

static bool read_primary(struct reader *r, size_t *at, const struct nest_expr **out)
{
    if (*at >= r->tokens.count)
        return reader_fail(r, "the expression ends early");
    const struct token *token = &r->tokens.items[*at];
    if (token->kind == TOKEN_NUMBER) {
        *out = new_expr(r, NEST_NUMBER, token_text(&r->tokens, *at, r->arena));
        (*at)++;
        return true;
    }
    if (token->kind == TOKEN_IDENTIFIER)
        return read_name(r, at, out);
    if (token_is(&r->tokens, *at, "(")) {
        const size_t close = token->match;
        (*at)++;
        if (!read_expr(r, at, out))
            return false;
        if (*at != close)
            return reader_fail(r, "what is in the parentheses is not understood");
        *at = close + 1;
        return true;
    }
    return reader_fail(r, "'%s' is not understood here", token_text(&r->tokens, *at, r->arena));
}

static bool is_buffer(const struct nest_expr *expr)
{
    return expr->kind == NEST_NAME &&
           (expr->symbol->kind == NEST_ARRAY || expr->symbol->kind == NEST_POINTER);
}

static bool read_postfix(struct reader *r, size_t *at, const struct nest_expr **out)
{
    const struct nest_expr *base = NULL;
    if (!read_primary(r, at, &base))
        return false;
    if (!token_is(&r->tokens, *at, "[")) {
        *out = base;
        return true;
    }
    if (!is_buffer(base))
        return reader_fail(r, "a subscript of something that is no array");
    struct nest_expr *access = new_expr(r, NEST_ACCESS, NULL);
    access->symbol = base->symbol;
    while (token_is(&r->tokens, *at, "[")) {
        const size_t close = r->tokens.items[*at].match;
        const struct nest_expr *index = NULL;
        (*at)++;
        if (!read_expr(r, at, &index) || !push_arg(r, access, index))
            return false;
        if (*at != close)
            return reader_fail(r, "a subscript is not understood");
        *at = close + 1;
    }
    *out = access;
    return true;
}

/* "(float)x": the cast, or false without `why` where the parenthesis holds no type. */
static bool read_cast_type(struct reader *r, size_t *at, const char **type)
{
    size_t inside = *at + 1;
    if (!token_is(&r->tokens, *at, "(") || !read_type(r, &inside, type) ||
        !token_is(&r->tokens, inside, ")"))
        return false;
    *at = inside + 1;
    return true;
}

/* "*p" is p[0]. */
static bool read_pointee(struct reader *r, size_t *at, const struct nest_expr **out)
{
    const struct nest_expr *base = NULL;
    (*at)++;
    if (!read_primary(r, at, &base))
        return false;
    if (!is_buffer(base))
        return reader_fail(r, "'*' in front of something that is no array");
    struct nest_expr *access = new_expr(r, NEST_ACCESS, NULL);
    access->symbol = base->symbol;
    access->args[access->arg_count++] = new_expr(r, NEST_NUMBER, "0");
    *out = access;
    return true;
}

static bool read_unary(struct reader *r, size_t *at, const struct nest_expr **out)
{
    static const char *const operators[] = {"-", "+", "!", "~", NULL};
    const char *type = NULL;
    const struct nest_expr *operand = NULL;
    struct nest_expr *expr = NULL;
    if (++r->depth > READER_MAX_DEPTH)
        return reader_fail(r, "an expression is nested too deeply");
    if (read_cast_type(r, at, &type)) {
        expr = new_expr(r, NEST_CAST, type);
    } else if (is_one_of(&r->tokens, *at, operators)) {
        expr = new_expr(r, NEST_UNARY, token_text(&r->tokens, *at, r->arena));
        (*at)++;
    }
    bool ok = false;
    if (expr)
        ok = read_unary(r, at, &operand) && push_arg(r, expr, operand);
    else if (token_is(&r->tokens, *at, "*"))
        ok = read_pointee(r, at, out);
    else
        ok = read_postfix(r, at, out);
    if (ok && expr)
        *out = expr;
    r->depth--;
    return ok && reader_count(r);
}

const struct nest_operator nest_operators[] = {{"*", 10}, {"/", 10}, {"%", 10}, {"+", 9},  {"-", 9},
                                               {"<<", 8}, {">>", 8}, {"<", 7},  {"<=", 7}, {">", 7},
                                               {">=", 7}, {"==", 6}, {"!=", 6}, {"&", 5},  {"^", 4},
                                               {"|", 3},  {"&&", 2}, {"||", 1}, {0}};

/* Precedence of a binary operator, 0 where there is none. */
static int precedence(const struct tokens *tokens, size_t at)
{
    for (const struct nest_operator *o = nest_operators; o->text; o++) {
        if (token_is(tokens, at, o->text))
            return o->level;
    }
    return 0;
}

static bool read_binary(struct reader *r, size_t *at, int lowest, const struct nest_expr **out)
{
    const struct nest_expr *left = NULL;
    if (!read_unary(r, at, &left))
        return false;
    for (;;) {
        const int level = precedence(&r->tokens, *at);
        if (level == 0 || level < lowest)
            break;
        struct nest_expr *expr = new_expr(r, NEST_BINARY, token_text(&r->tokens, *at, r->arena));
        const struct nest_expr *right = NULL;
        (*at)++;
        if (!read_binary(r, at, level + 1, &right) || !push_arg(r, expr, left) ||
            !push_arg(r, expr, right) || !reader_count(r))
            return false;
        left = expr;
    }
    *out = left;
    return true;
}

bool read_relation_side(struct reader *r, size_t *at, const struct nest_expr **out)
{
    return read_binary(r, at, LEVEL_SHIFT, out);
}

bool read_expr(struct reader *r, size_t *at, const struct nest_expr **out)
{
    const struct nest_expr *condition = NULL;
    const struct nest_expr *yes = NULL;
    const struct nest_expr *no = NULL;
    if (++r->depth > READER_MAX_DEPTH)
        return reader_fail(r, "an expression is nested too deeply");
    bool ok = read_binary(r, at, 1, &condition);
    if (ok && token_is(&r->tokens, *at, "?")) {
        (*at)++;
        ok = read_expr(r, at, &yes);
        if (ok && !token_is(&r->tokens, *at, ":"))
            ok = reader_fail(r, "a '?' without its ':'");
        (*at)++;
        ok = ok && read_expr(r, at, &no);
        if (ok) {
            struct nest_expr *expr = new_expr(r, NEST_CONDITIONAL, NULL);
            ok = push_arg(r, expr, condition) && push_arg(r, expr, yes) && push_arg(r, expr, no);
            condition = expr;
        }
    }
    r->depth--;
    if (ok)
        *out = condition;
    return ok;
}
