#include "rule/source.h"

#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *at;
    int64_t line, column;
    bool at_line_start;
    struct arena *arena;
    struct rule_token *tokens;
    size_t count, capacity;
    struct rule_shape shape;
};

static void step(struct reader *r)
{
    if (*r->at == '\n') {
        r->line++;
        r->column = 0;
        r->at_line_start = true;
    }
    r->at++;
    r->column++;
}

static void steps(struct reader *r, size_t count)
{
    while (count-- > 0 && *r->at != '\0')
        step(r);
}

static void skip_comment(struct reader *r)
{
    if (r->at[1] == '/') {
        steps(r, strcspn(r->at, "\n"));
        return;
    }
    const char *end = strstr(r->at + 2, "*/");
    r->shape.open_comment |= !end;
    steps(r, end ? (size_t)(end + 2 - r->at) : strlen(r->at));
}

static void skip_blank(struct reader *r)
{
    for (;;) {
        if (isspace((unsigned char)*r->at) || (r->at[0] == '\\' && r->at[1] == '\n'))
            step(r);
        else if (r->at[0] == '/' && (r->at[1] == '/' || r->at[1] == '*'))
            skip_comment(r);
        else
            return;
    }
}

static bool is_name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* To the end of the line, lines that are continued with it. */
static const char *directive_text(const struct reader *r, size_t *length)
{
    CLEANUP(buf_free) struct buf text = {0};
    const char *c = r->at;
    for (; *c && *c != '\n'; c++) {
        if (c[0] == '\\' && c[1] == '\n') {
            c++;
            continue;
        }
        const bool is_blank = *c == ' ' || *c == '\t' || *c == '\r';
        if (!is_blank)
            (void)buf_append_char(&text, *c);
        else if (text.length > 1 && text.data[text.length - 1] != ' ')
            (void)buf_append_char(&text, ' ');
    }
    *length = (size_t)(c - r->at);
    /* What is left of a line that goes on would take in the next one. */
    while (text.length > 1 && strchr(" \\", text.data[text.length - 1]))
        text.length--;
    return arena_strndup(r->arena, text.data, text.length);
}

static size_t literal_length(struct reader *r)
{
    const char quote = *r->at;
    size_t n = 1;
    while (r->at[n] && r->at[n] != quote && r->at[n] != '\n')
        n += r->at[n] == '\\' && r->at[n + 1] ? 2 : 1;
    if (r->at[n] == quote)
        return n + 1;
    r->shape.open_literal = true;
    return n;
}

static size_t mark_length(const char *at)
{
    static const char *const marks[] = {"<<=", ">>=", "...", "->", "++", "--", "<<", ">>",
                                        "<=",  ">=",  "==",  "!=", "&&", "||", "+=", "-=",
                                        "*=",  "/=",  "%=",  "&=", "|=", "^=", "##"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (str_starts_with(at, marks[i]))
            return strlen(marks[i]);
    }
    return 1;
}

static enum rule_token_kind next_kind(struct reader *r, size_t *length)
{
    const char c = *r->at;
    if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)r->at[1]))) {
        size_t n = 1;
        while (is_name_byte(r->at[n]) || r->at[n] == '.' ||
               ((r->at[n] == '+' || r->at[n] == '-') && strchr("eEpP", r->at[n - 1])))
            n++;
        *length = n;
        return RULE_TOKEN_NUMBER;
    }
    if (is_name_byte(c)) {
        size_t n = 1;
        while (is_name_byte(r->at[n]))
            n++;
        *length = n;
        return RULE_TOKEN_NAME;
    }
    if (c == '"' || c == '\'') {
        *length = literal_length(r);
        return RULE_TOKEN_STRING;
    }
    *length = mark_length(r->at);
    if ((unsigned char)c >= 0x80 || c == '@' || c == '`' || c == '\\' ||
        iscntrl((unsigned char)c)) {
        r->shape.has_stray = true;
        *length = 1;
        return RULE_TOKEN_STRAY;
    }
    return RULE_TOKEN_MARK;
}

static void add_token(struct reader *r, enum rule_token_kind kind, const char *text)
{
    r->tokens = vec_reserve_one(r->tokens, r->count, &r->capacity, sizeof *r->tokens);
    r->tokens[r->count++] = (struct rule_token){
        .kind = kind, .text = text, .line = r->line, .column = r->column, .match = RULE_NO_TOKEN};
}

static void read_tokens(struct reader *r)
{
    int64_t conditionals = 0;
    for (skip_blank(r); *r->at; skip_blank(r)) {
        size_t length = 0;
        if (*r->at == '#' && r->at_line_start) {
            const char *text = directive_text(r, &length);
            add_token(r, RULE_TOKEN_DIRECTIVE, text);
            conditionals += str_starts_with(text, "#if") ? 1 : 0;
            conditionals -= str_starts_with(text, "#endif") ? 1 : 0;
        } else {
            const enum rule_token_kind kind = next_kind(r, &length);
            add_token(r, kind, arena_strndup(r->arena, r->at, length));
        }
        r->at_line_start = false;
        steps(r, length);
    }
    r->shape.open_conditional = conditionals != 0;
}

static bool opens(const struct rule_token *token, char *closing)
{
    if (token->kind != RULE_TOKEN_MARK || !strchr("([{", token->text[0]))
        return false;
    *closing = token->text[0] == '(' ? ')' : token->text[0] == '[' ? ']' : '}';
    return true;
}

/* Pairs brackets. A brace closes whatever was open within it; a parenthesis without its own is left
 * alone. */
static void match_brackets(struct reader *r)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    size_t *stack = arena_array(&scratch, r->count + 1, sizeof *stack);
    size_t depth = 0;
    int64_t braces = 0;
    for (size_t i = 0; i < r->count; i++) {
        struct rule_token *token = &r->tokens[i];
        char closing = '\0';
        const bool is_mark = token->kind == RULE_TOKEN_MARK;
        token->depth = braces;
        braces += is_mark && token->text[0] == '{' ? 1 : 0;
        braces -= is_mark && token->text[0] == '}' ? 1 : 0;
        if (opens(token, &closing)) {
            stack[depth++] = i;
            continue;
        }
        if (!is_mark || !strchr(")]}", token->text[0]))
            continue;
        const bool is_brace = token->text[0] == '}';
        while (is_brace && depth > 0 && r->tokens[stack[depth - 1]].text[0] != '{') {
            r->shape.open_parenthesis = true;
            depth--;
        }
        if (depth > 0 && opens(&r->tokens[stack[depth - 1]], &closing) &&
            closing == token->text[0]) {
            token->match = stack[--depth];
            r->tokens[token->match].match = i;
        } else if (is_brace) {
            r->shape.extra_brace = true;
        } else {
            r->shape.open_parenthesis = true;
        }
    }
    for (size_t i = 0; i < depth; i++) {
        if (r->tokens[stack[i]].text[0] == '{')
            r->shape.open_brace = true;
        else
            r->shape.open_parenthesis = true;
    }
}

const struct rule_source *rule_source_read(const struct rule_candidate *candidate,
                                           struct arena *arena)
{
    struct rule_source *out = arena_alloc(arena, sizeof *out);
    struct reader r = {.at = candidate->source ? candidate->source : "",
                       .line = 1,
                       .column = 1,
                       .at_line_start = true,
                       .arena = arena};
    read_tokens(&r);
    match_brackets(&r);
    *out = (struct rule_source){.text = candidate->source ? candidate->source : "",
                                .compiler_family =
                                    candidate->compiler_family ? candidate->compiler_family : "",
                                .isa = candidate->isa ? candidate->isa : "",
                                .flags = candidate->flags,
                                .flag_count = candidate->flag_count,
                                .tokens = arena_array(arena, r.count + 1, sizeof *out->tokens),
                                .count = r.count,
                                .shape = r.shape};
    if (r.count > 0)
        memcpy(out->tokens, r.tokens, r.count * sizeof *r.tokens);
    free(r.tokens);
    return out;
}

char *rule_source_text(const struct rule_source *source, const bool *left_out, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    bool at_start = true;
    for (size_t i = 0; i < source->count; i++) {
        const struct rule_token *token = &source->tokens[i];
        if (left_out && left_out[i])
            continue;
        const bool is_directive = token->kind == RULE_TOKEN_DIRECTIVE;
        if (is_directive && !at_start)
            (void)buf_append_char(&text, '\n');
        else if (!at_start && token->kind != RULE_TOKEN_STRAY)
            (void)buf_append_char(&text, ' ');
        (void)buf_append_str(&text, token->text);
        at_start = is_directive;
        if (is_directive)
            (void)buf_append_char(&text, '\n');
    }
    if (source->shape.open_comment)
        (void)buf_append_str(&text, " /*");
    (void)buf_append_char(&text, '\n');
    return arena_strdup(arena, buf_text(&text));
}
