#include "moves/source.h"

#include <string.h>

static bool is_one_of(const struct tokens *tokens, size_t at, const char *const *words)
{
    for (; *words; words++)
        if (token_is(tokens, at, *words))
            return true;
    return false;
}

/* Past `__attribute__((...))` after a parameter list. */
static size_t skip_attributes(const struct tokens *tokens, size_t at)
{
    while (token_is(tokens, at, "__attribute__") && token_is(tokens, at + 1, "("))
        at = tokens->items[at + 1].match + 1;
    return at;
}

bool source_find_definition(const struct tokens *tokens, const struct task *task,
                            struct definition *out, const char **why)
{
    size_t first = 0;
    for (size_t i = 0; i < tokens->count; i++) {
        if (tokens->items[i].kind == TOKEN_DIRECTIVE || token_is(tokens, i, ";")) {
            first = i + 1;
            continue;
        }
        if (token_is(tokens, i, "{") || token_is(tokens, i, "[")) {
            i = tokens->items[i].match;
            first = i + 1;
            continue;
        }
        if (!token_is(tokens, i, "("))
            continue;
        const size_t close = tokens->items[i].match;
        const size_t body = skip_attributes(tokens, close + 1);
        if (i > first && token_is(tokens, i - 1, task->entry) && token_is(tokens, body, "{")) {
            *out =
                (struct definition){task, first, i - 1, i, close, body, tokens->items[body].match};
            return true;
        }
        i = close;
    }
    *why = "the definition of the entry point is not found as plain text";
    return false;
}

size_t source_statement_end(const struct tokens *tokens, size_t at)
{
    static const char *const heads[] = {"for", "while", "switch", "if", NULL};
    if (at >= tokens->count)
        return at;
    if (tokens->items[at].kind == TOKEN_DIRECTIVE)
        return at + 1;
    if (token_is(tokens, at, "{"))
        return tokens->items[at].match + 1;
    if (is_one_of(tokens, at, heads) && token_is(tokens, at + 1, "(")) {
        const size_t end = source_statement_end(tokens, tokens->items[at + 1].match + 1);
        return token_is(tokens, at, "if") && token_is(tokens, end, "else")
                   ? source_statement_end(tokens, end + 1)
                   : end;
    }
    if (token_is(tokens, at, "do"))
        at = source_statement_end(tokens, at + 1);
    while (at < tokens->count && !token_is(tokens, at, ";")) {
        if (token_is(tokens, at, "(") || token_is(tokens, at, "[") || token_is(tokens, at, "{"))
            at = tokens->items[at].match;
        at++;
    }
    return at < tokens->count ? at + 1 : at;
}

static bool has_loop(const struct tokens *tokens, size_t begin, size_t end)
{
    static const char *const loops[] = {"for", "while", "do", NULL};
    for (size_t i = begin; i < end; i++)
        if (is_one_of(tokens, i, loops))
            return true;
    return false;
}

static size_t find_semicolon(const struct tokens *tokens, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        if (token_is(tokens, i, ";"))
            return i;
    return end;
}

/* `var++` or `++var` or `var += 1` in [begin, end). */
static bool is_step_of_one(const struct tokens *tokens, size_t var, size_t begin, size_t end)
{
    if (end - begin == 2)
        return (token_is(tokens, begin, "++") && token_same(tokens, begin + 1, var)) ||
               (token_is(tokens, begin + 1, "++") && token_same(tokens, begin, var));
    return end - begin == 3 && token_same(tokens, begin, var) &&
           token_is(tokens, begin + 1, "+=") && token_is(tokens, begin + 2, "1");
}

bool source_read_loop(const struct tokens *tokens, size_t at, struct loop *out)
{
    if (!token_is(tokens, at, "for") || !token_is(tokens, at + 1, "("))
        return false;
    struct loop loop = {.keyword = at, .open = at + 1, .close = tokens->items[at + 1].match};
    const size_t first = find_semicolon(tokens, loop.open, loop.close);
    const size_t second = find_semicolon(tokens, first + 1, loop.close);
    if (second >= loop.close)
        return false;
    loop.type = loop.open + 1;
    size_t equal = loop.type;
    while (equal < first && token_is_identifier(tokens, equal))
        equal++;
    if (equal < loop.type + 2 || !token_is(tokens, equal, "="))
        return false;
    loop.var = equal - 1;
    loop.from = equal + 1;
    loop.from_end = first;
    loop.bound = first + 3;
    loop.bound_end = second;
    if (loop.from >= loop.from_end || loop.bound >= loop.bound_end ||
        !token_same(tokens, first + 1, loop.var) || !token_is(tokens, first + 2, "<") ||
        !is_step_of_one(tokens, loop.var, second + 1, loop.close))
        return false;
    /* A head with two variables or with a condition of two parts is not of the form. */
    static const char *const others[] = {",", "&&", "||", "?", "=", NULL};
    for (size_t i = loop.from; i < second; i++) {
        if (token_is(tokens, i, "(") || token_is(tokens, i, "["))
            i = tokens->items[i].match;
        else if (is_one_of(tokens, i, others))
            return false;
    }
    loop.body = loop.close + 1;
    loop.body_end = source_statement_end(tokens, loop.body);
    loop.is_innermost = !has_loop(tokens, loop.body, loop.body_end);
    *out = loop;
    return true;
}

bool source_is_declared_in(const struct tokens *tokens, size_t name, size_t begin, size_t end)
{
    static const char *const not_types[] = {"return", "else", "case", "goto", "sizeof", "do", NULL};
    for (size_t i = begin + 1; i < end; i++) {
        if (!token_is_identifier(tokens, i) || !token_same(tokens, i, name))
            continue;
        const bool after_type =
            token_is_identifier(tokens, i - 1) && !is_one_of(tokens, i - 1, not_types);
        /* `real *p = ...`: a star after a type that begins a statement. */
        const bool after_star = token_is(tokens, i - 1, "*") && i >= begin + 2 &&
                                token_is_identifier(tokens, i - 2) &&
                                (i < begin + 3 || token_is(tokens, i - 3, ";") ||
                                 token_is(tokens, i - 3, "{") || token_is(tokens, i - 3, "const"));
        if (after_type || after_star)
            return true;
    }
    return false;
}

/* What the operator at `at` writes, where it stands behind its target. */
static struct write write_before(const struct tokens *tokens, size_t begin, size_t at)
{
    static const char *const not_types[] = {"return", "else", "case", "goto", "do", NULL};
    static const char *const starts[] = {";", "{", "}", ")", "else", "do", ":", ",", NULL};
    struct write write = {WRITE_UNKNOWN, TOKEN_NONE, 0, 0, at};
    if (at == begin)
        return write;
    size_t name = at - 1;
    if (token_is(tokens, name, "]")) {
        write.subscript_end = name;
        write.subscript = tokens->items[name].match + 1;
        name = tokens->items[name].match - 1;
        if (write.subscript < begin + 2 || !token_is_identifier(tokens, name))
            return write;
    } else if (!token_is_identifier(tokens, name)) {
        return write;
    }
    const bool is_array = write.subscript_end != 0;
    const bool at_start = name == begin || is_one_of(tokens, name - 1, starts) ||
                          tokens->items[name - 1].kind == TOKEN_DIRECTIVE ||
                          token_is(tokens, name - 1, "(");
    if (at_start) {
        write.kind = is_array ? WRITE_ARRAY : WRITE_SCALAR;
        write.name = name;
    } else if (!is_array && token_is(tokens, at, "=") &&
               source_is_declared_in(tokens, name, name >= begin + 3 ? name - 3 : begin,
                                     name + 1) &&
               !is_one_of(tokens, name - 1, not_types)) {
        write.kind = WRITE_DECLARATION;
        write.name = name;
    }
    return write;
}

bool source_list_writes(const struct tokens *tokens, size_t begin, size_t end, struct write *out,
                        size_t *out_count)
{
    static const char *const operators[] = {
        "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--", NULL};
    size_t count = 0;
    for (size_t i = begin; i < end; i++) {
        if (!is_one_of(tokens, i, operators))
            continue;
        if (count == SOURCE_MAX_WRITES)
            return false;
        const bool is_prefix = (token_is(tokens, i, "++") || token_is(tokens, i, "--")) &&
                               i + 1 < end && token_is_identifier(tokens, i + 1) &&
                               !token_is(tokens, i + 2, "[");
        if (is_prefix)
            out[count++] = (struct write){WRITE_SCALAR, i + 1, 0, 0, i};
        else
            out[count++] = write_before(tokens, begin, i);
    }
    *out_count = count;
    return true;
}

const char *source_find_obstacle(const struct tokens *tokens, size_t begin, size_t end,
                                 bool continue_too, struct arena *arena)
{
    static const char *const jumps[] = {"break",   "return", "goto",     "switch", "asm",
                                        "__asm__", "__asm",  "volatile", "static", NULL};
    static const char *const heads[] = {"for", "while", "if", "sizeof", "return", NULL};
    for (size_t i = begin; i < end; i++) {
        if (is_one_of(tokens, i, jumps) || (continue_too && token_is(tokens, i, "continue")))
            return token_text(tokens, i, arena);
        if (token_is_identifier(tokens, i) && token_is(tokens, i + 1, "(") &&
            !is_one_of(tokens, i, heads) && !source_is_math_function(tokens, i))
            return arena_printf(arena, "%s()", token_text(tokens, i, arena));
        /* The address of something leaves, or a pointer is followed. */
        if (token_is(tokens, i, "->") ||
            ((token_is(tokens, i, "&") || token_is(tokens, i, "*")) && i > begin &&
             tokens->items[i - 1].kind == TOKEN_PUNCTUATOR && !token_is(tokens, i - 1, ")") &&
             !token_is(tokens, i - 1, "]")))
            return token_text(tokens, i, arena);
    }
    return NULL;
}

bool source_has_directive(const struct tokens *tokens, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        if (tokens->items[i].kind == TOKEN_DIRECTIVE || token_is(tokens, i, "_Pragma"))
            return true;
    return false;
}

/* The pointer parameter of that name. */
static size_t parameter_of(const struct tokens *tokens, const struct definition *d, size_t name)
{
    for (size_t i = d->open + 1; i < d->close; i++) {
        if (!token_is_identifier(tokens, i) || !token_same(tokens, i, name))
            continue;
        if (!token_is(tokens, i + 1, ",") && !token_is(tokens, i + 1, ")") &&
            !token_is(tokens, i + 1, "["))
            continue;
        if (token_is(tokens, i + 1, "["))
            return i;
        for (size_t j = i; j > d->open && !token_is(tokens, j, ","); j--)
            if (token_is(tokens, j, "*"))
                return i;
    }
    return TOKEN_NONE;
}

/* Written as a whole anywhere in the body but at `declaration`; then it may point anywhere. */
static bool is_reassigned(const struct tokens *tokens, const struct definition *d,
                          size_t declaration)
{
    static const char *const writers[] = {"=", "+=", "-=", "++", "--", NULL};
    for (size_t i = d->body; i < d->body_close; i++) {
        if (i == declaration || !token_is_identifier(tokens, i) ||
            !token_same(tokens, i, declaration))
            continue;
        if (is_one_of(tokens, i + 1, writers) || token_is(tokens, i - 1, "++") ||
            token_is(tokens, i - 1, "--") || token_is(tokens, i - 1, "&"))
            return true;
    }
    return false;
}

/* The one buffer that the initialiser [begin, end) names. */
static size_t buffer_in(const struct tokens *tokens, const struct definition *d, size_t begin,
                        size_t end)
{
    size_t found = TOKEN_NONE;
    for (size_t i = begin; i < end; i++) {
        if (!token_is_identifier(tokens, i))
            continue;
        const size_t parameter = parameter_of(tokens, d, i);
        if (parameter == TOKEN_NONE)
            continue;
        if (found != TOKEN_NONE || token_is(tokens, i + 1, "["))
            return TOKEN_NONE;
        found = parameter;
    }
    return found;
}

size_t source_parameter_place(const struct tokens *tokens, const struct definition *d, size_t token)
{
    size_t place = 0;
    for (size_t i = d->open + 1; i < token; i++) {
        if (token_is(tokens, i, "(") || token_is(tokens, i, "["))
            i = tokens->items[i].match;
        place += token_is(tokens, i, ",");
    }
    return place;
}

/* One of two that share a buffer stands for both: the first, by its place. */
static size_t shared_token(const struct tokens *tokens, const struct definition *d, size_t buffer)
{
    if (buffer == TOKEN_NONE || buffer < d->open || buffer > d->close)
        return buffer;
    const size_t place = source_parameter_place(tokens, d, buffer);
    if (place >= d->task->arg_count || !task_arg_is_shared(d->task, place))
        return buffer;
    for (size_t i = d->open + 1; i < buffer; i++) {
        const size_t other = source_parameter_place(tokens, d, i);
        if (other < place && task_arg_buffer(d->task, other) == task_arg_buffer(d->task, place))
            return i;
    }
    while (buffer > d->open + 1 && source_parameter_place(tokens, d, buffer - 1) == place)
        buffer--;
    return buffer;
}

static size_t buffer_of(const struct tokens *tokens, const struct definition *d, size_t name)
{
    size_t declaration = TOKEN_NONE;
    for (size_t i = d->body + 1; i < d->body_close; i++) {
        if (!token_is_identifier(tokens, i) || !token_same(tokens, i, name) ||
            !source_is_declared_in(tokens, i, i >= d->body + 4 ? i - 4 : d->body, i + 1))
            continue;
        if (declaration != TOKEN_NONE)
            return TOKEN_NONE; /* two scopes: not worth telling apart */
        declaration = i;
    }
    const size_t parameter = parameter_of(tokens, d, name);
    if (declaration == TOKEN_NONE)
        return parameter != TOKEN_NONE && !is_reassigned(tokens, d, parameter) ? parameter
                                                                               : TOKEN_NONE;
    if (parameter != TOKEN_NONE || is_reassigned(tokens, d, declaration))
        return TOKEN_NONE;
    if (token_is(tokens, declaration + 1, "["))
        return declaration;
    if (!token_is(tokens, declaration + 1, "="))
        return TOKEN_NONE;
    return buffer_in(tokens, d, declaration + 2, source_statement_end(tokens, declaration + 2));
}

size_t source_buffer_of(const struct tokens *tokens, const struct definition *d, size_t name)
{
    return shared_token(tokens, d, buffer_of(tokens, d, name));
}
