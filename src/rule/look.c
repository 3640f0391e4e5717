/*
 * What a look at the tokens can be sure of. Each of these is a smaller question than the
 * compiler's: where it cannot tell (macros, types of headers, K&R functions) it says no.
 */
#include "rule/internal.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static int64_t depth_before(const struct rule_source *s, size_t at)
{
    return s->tokens[at].depth;
}

static bool is_in_directive(const struct rule_source *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->tokens[i].kind == RULE_TOKEN_DIRECTIVE && strstr(s->tokens[i].text, name) &&
            !str_starts_with(s->tokens[i].text, "#include") &&
            !str_starts_with(s->tokens[i].text, "#pragma"))
            return true;
    }
    return false;
}

/* A header whose names are not known here may declare anything. */
static bool has_other_header(const struct rule_source *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const char *text = s->tokens[i].text;
        const char *open = strpbrk(text, "<\"");
        if (s->tokens[i].kind != RULE_TOKEN_DIRECTIVE || !str_starts_with(text, "#include"))
            continue;
        char name[32] = "";
        for (size_t k = 0; open && open[k + 1] && !strchr(">\"", open[k + 1]) && k < 31; k++)
            name[k] = open[k + 1];
        if (!open || *open == '"' ||
            !(str_ends_with(name, "intrin.h") ||
              name_is_among(name, "float.h limits.h math.h stddef.h stdlib.h string.h stdint.h "
                                  "stdbool.h assert.h stdalign.h")))
            return true;
    }
    return false;
}

/* Is `at` within the parentheses of an attribute? */
static bool is_in_attribute(const struct rule_source *s, size_t at)
{
    for (size_t i = at; i-- > 0;) {
        if (rule_token_is(s, i, ";") || rule_token_is(s, i, "{") || rule_token_is(s, i, "}"))
            return false;
        if (rule_token_is(s, i, "__attribute__"))
            return s->tokens[i + 1].match != RULE_NO_TOKEN && s->tokens[i + 1].match > at;
    }
    return false;
}

/* Only this source can have declared it. */
static bool is_own_name(const struct rule_source *s, size_t at)
{
    bool has_lower = false;
    if (!rule_token_is_name(s, at))
        return false;
    const char *name = s->tokens[at].text;
    for (const char *c = name; *c; c++)
        has_lower |= islower((unsigned char)*c) != 0;
    return has_lower && !cause_name_is_known(name) && !name_is_basic_type(name) &&
           !is_in_directive(s, name) && !is_in_attribute(s, at);
}

static bool is_member(const struct rule_source *s, size_t at)
{
    return at > 0 && (rule_token_is(s, at - 1, ".") || rule_token_is(s, at - 1, "->"));
}

static bool ends_statement(const struct rule_source *s, size_t at)
{
    return rule_token_is(s, at, ";") || rule_token_is(s, at, "{") || rule_token_is(s, at, "}");
}

/* A value is read or written at `at`: it is no declaration. */
static bool is_value_use(const struct rule_source *s, size_t at)
{
    static const char *const before[] = {"=", "+=", "-=", "*=", "/=", "[",  "+",  "-",  "/",
                                         "<", ">",  "<=", ">=", "==", "!=", "&&", "||", "return"};
    static const char *const after[] = {"=", "+=", "-=", "*=", "/=", "++", "--", "[", "->"};
    if (at == 0 || rule_token_is(s, at + 1, "(") || rule_token_is(s, at + 1, ":"))
        return false;
    if (rule_token_in(s, at - 1, before, COUNT(before)))
        return true;
    if (!ends_statement(s, at - 1) || !rule_token_in(s, at + 1, after, COUNT(after)))
        return false;
    /* "enum { first = 1" is not. */
    return !rule_token_is(s, at - 1, "{") || (at > 1 && rule_token_is(s, at - 2, ")"));
}

static bool undeclared_name(const struct rule_source *s)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    const struct first_uses first = rule_token_first_uses(s, &scratch);
    if (has_other_header(s))
        return false;
    for (size_t i = 0; i < first.count; i++) {
        const size_t at = first.tokens[i];
        if (is_value_use(s, at) && !is_member(s, at) && is_own_name(s, at) &&
            depth_before(s, at) > 0)
            return true;
    }
    return false;
}

static bool is_call_use(const struct rule_source *s, size_t at)
{
    static const char *const before[] = {"=", "+=", "-=", "*=", "/=", "[",     "+",
                                         "-", "/",  "(",  ",",  "<",  ">",     "?",
                                         ";", "{",  "}",  "&&", "||", "return"};
    return at > 0 && rule_token_is(s, at + 1, "(") &&
           rule_token_in(s, at - 1, before, COUNT(before)) && depth_before(s, at) > 0;
}

static bool undeclared_function(const struct rule_source *s)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    const struct first_uses first = rule_token_first_uses(s, &scratch);
    if (has_other_header(s))
        return false;
    for (size_t i = 0; i < first.count; i++) {
        if (is_call_use(s, first.tokens[i]) && is_own_name(s, first.tokens[i]))
            return true;
    }
    return false;
}

/* "vec8 v": the first use of a name is a type's. */
static bool unknown_type(const struct rule_source *s)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    static const char *const before[] = {";", "{", "}", "static", "const", "inline", "(", ","};
    const struct first_uses first = rule_token_first_uses(s, &scratch);
    if (has_other_header(s))
        return false;
    for (size_t i = 0; i < first.count; i++) {
        const size_t at = first.tokens[i];
        const bool is_there = at == 0 || rule_token_in(s, at - 1, before, COUNT(before)) ||
                              s->tokens[at - 1].kind == RULE_TOKEN_DIRECTIVE;
        if (is_there && rule_token_is_name(s, at + 1) && is_own_name(s, at))
            return true;
    }
    return false;
}

/* The brace at `open` begins statements, not an initializer, a structure or an enum. */
static bool begins_block(const struct rule_source *s, size_t open)
{
    if (open == 0)
        return false;
    if (rule_token_is(s, open - 1, "{"))
        return begins_block(s, open - 1);
    if (rule_token_is(s, open - 1, "else") || rule_token_is(s, open - 1, "do") ||
        rule_token_is(s, open - 1, ";"))
        return true;
    const size_t close = open - 1;
    if (!rule_token_is(s, close, ")") || s->tokens[close].match == RULE_NO_TOKEN ||
        s->tokens[close].match == 0)
        return false;
    const size_t before = s->tokens[close].match - 1;
    return rule_token_is_name(s, before) || rule_token_is(s, before, "for") ||
           rule_token_is(s, before, "if") || rule_token_is(s, before, "while") ||
           rule_token_is(s, before, "switch");
}

static bool is_operand_end(const struct rule_source *s, size_t at)
{
    return at < s->count &&
           (s->tokens[at].kind == RULE_TOKEN_NUMBER || rule_token_is(s, at, "]") ||
            (rule_token_is_name(s, at) && !is_in_directive(s, s->tokens[at].text)));
}

/* The name is a type in this source, or may be one: then another name may follow. */
static bool may_be_type(const struct rule_source *s, size_t at)
{
    const char *name = s->tokens[at].text;
    if (rule_token_is_type(s, at) || str_ends_with(name, "_t") || cause_name_is_known(name))
        return true;
    for (size_t i = 0; i + 1 < s->count; i++) {
        if (!str_equal(s->tokens[i].text, name))
            continue;
        if (i > 0 && (rule_token_is(s, i - 1, "struct") || rule_token_is(s, i - 1, "union") ||
                      rule_token_is(s, i - 1, "enum")))
            return true;
        for (size_t k = i; k-- > 0 && !rule_token_is(s, k, ";");) {
            if (rule_token_is(s, k, "typedef"))
                return true;
        }
    }
    return false;
}

static bool has_dots(const struct rule_source *s, size_t open)
{
    for (size_t i = open; i < s->tokens[open].match; i++) {
        if (rule_token_is(s, i, "...") || rule_token_is(s, i, "(") != (i == open))
            return true;
    }
    return false;
}

static bool missing_semicolon(const struct rule_source *s)
{
    static const char *const statements[] = {"return",   "for",    "if",   "while", "break",
                                             "continue", "switch", "goto", "do",    "else"};
    static const char *const types[] = {"float",   "double", "int",    "long",   "const", "void",
                                        "int64_t", "static", "__m256", "__m512", "size_t"};
    const bool knows_types = !has_other_header(s);
    for (size_t i = 0; i + 1 < s->count; i++) {
        if (!is_operand_end(s, i))
            continue;
        const bool is_name = rule_token_is_name(s, i);
        const size_t open = s->tokens[i + 1].match;
        if (rule_token_in(s, i + 1, statements, COUNT(statements)))
            return true;
        if (!is_name && rule_token_in(s, i + 1, types, COUNT(types)))
            return true;
        if (rule_token_is(s, i + 1, "}") && open != RULE_NO_TOKEN && begins_block(s, open))
            return true;
        if (knows_types && rule_token_is_name(s, i + 1) && !is_in_attribute(s, i) &&
            (!is_name || (is_own_name(s, i) && !may_be_type(s, i))) && depth_before(s, i) > 0)
            return true;
    }
    return false;
}

/* "TYPE NAME =", ";", "," or "[" in a block. */
static bool declares(const struct rule_source *s, size_t at)
{
    static const char *const after[] = {"=", ";", "[", ","};
    return at > 0 && rule_token_is_name(s, at) && rule_token_is_type(s, at - 1) &&
           rule_token_in(s, at + 1, after, COUNT(after)) &&
           (at < 2 || ends_statement(s, at - 2) || rule_token_is(s, at - 2, "const"));
}

static bool redefinition(const struct rule_source *s)
{
    for (size_t i = 0; i < s->count; i++) {
        if (!declares(s, i) || depth_before(s, i) == 0)
            continue;
        for (size_t k = i + 1; k < s->count && !rule_token_is(s, k, "}"); k++) {
            const size_t match = s->tokens[k].match;
            if (s->tokens[k].kind == RULE_TOKEN_DIRECTIVE)
                break; /* it may be another branch */
            if (match != RULE_NO_TOKEN && match > k)
                k = match; /* another scope, or an expression */
            else if (declares(s, k) && str_equal(s->tokens[k].text, s->tokens[i].text))
                return true;
        }
    }
    return false;
}

/* The function body that follows the parameter at `at`; RULE_NO_TOKEN where it is no parameter. */
static size_t body_of_parameter(const struct rule_source *s, size_t at)
{
    size_t close = at;
    while (close < s->count && !rule_token_is(s, close, ")") && !rule_token_is(s, close, "("))
        close++;
    return rule_token_is(s, close, ")") && rule_token_is(s, close + 1, "{") ? close + 1
                                                                            : RULE_NO_TOKEN;
}

static size_t skip_qualifiers(const struct rule_source *s, size_t at)
{
    while (rule_token_is(s, at, "restrict") || rule_token_is(s, at, "__restrict") ||
           rule_token_is(s, at, "__restrict__") || rule_token_is(s, at, "const"))
        at++;
    return at;
}

/* A parameter "const TYPE *NAME", and in its function "NAME[...] =". */
static bool write_to_const(const struct rule_source *s)
{
    static const char *const writes[] = {"=", "+=", "-=", "*=", "/=", "++", "--"};
    for (size_t i = 0; i + 3 < s->count; i++) {
        if (!rule_token_is(s, i, "const") || !rule_token_is_type(s, i + 1) ||
            !rule_token_is(s, i + 2, "*") || s->tokens[i].depth != 0)
            continue;
        const size_t name = skip_qualifiers(s, i + 3);
        const size_t body = rule_token_is_name(s, name) && !rule_token_is(s, name + 1, "[")
                                ? body_of_parameter(s, name)
                                : RULE_NO_TOKEN;
        if (body == RULE_NO_TOKEN || s->tokens[body].match == RULE_NO_TOKEN)
            continue;
        for (size_t k = body + 1; k + 1 < s->tokens[body].match; k++) {
            const size_t close = s->tokens[k + 1].match;
            if (str_equal(s->tokens[k].text, s->tokens[name].text) && !is_member(s, k) &&
                !rule_token_is(s, k - 1, "*") && rule_token_is(s, k + 1, "[") &&
                close != RULE_NO_TOKEN && rule_token_in(s, close + 1, writes, COUNT(writes)))
                return true;
        }
    }
    return false;
}

/* A function of this source is called with another number of arguments than it takes. */
static bool argument_count(const struct rule_source *s)
{
    for (size_t i = 1; i + 1 < s->count; i++) {
        if (!rule_token_is_name(s, i) || !rule_token_is(s, i + 1, "(") || depth_before(s, i) != 0)
            continue;
        const size_t close = s->tokens[i + 1].match;
        const int64_t takes = rule_token_argument_count(s, i + 1);
        if (close == RULE_NO_TOKEN || !rule_token_is(s, close + 1, "{") || has_dots(s, i + 1) ||
            is_in_directive(s, s->tokens[i].text))
            continue;
        for (size_t k = close + 1; k + 1 < s->count; k++) {
            if (str_equal(s->tokens[k].text, s->tokens[i].text) && rule_token_is(s, k + 1, "(") &&
                !is_member(s, k) && s->tokens[k + 1].match != RULE_NO_TOKEN &&
                depth_before(s, k) > 0 && rule_token_argument_count(s, k + 1) != takes)
                return true;
        }
    }
    return false;
}

static bool undeclared_label(const struct rule_source *s)
{
    for (size_t i = 0; i + 1 < s->count; i++) {
        bool found = false;
        if (!rule_token_is(s, i, "goto") || !rule_token_is_name(s, i + 1))
            continue;
        for (size_t k = 0; k + 1 < s->count && !found; k++)
            found =
                str_equal(s->tokens[k].text, s->tokens[i + 1].text) && rule_token_is(s, k + 1, ":");
        if (!found && !is_in_directive(s, s->tokens[i + 1].text))
            return true;
    }
    return false;
}

/* Two branches of an #if may each have a bracket of one pair. */
static bool has_branches(const struct rule_source *s)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->tokens[i].kind == RULE_TOKEN_DIRECTIVE && str_starts_with(s->tokens[i].text, "#el"))
            return true;
    }
    return false;
}

static bool open_brace(const struct rule_source *s)
{
    return s->shape.open_brace && !s->shape.open_comment && !has_branches(s);
}
static bool extra_brace(const struct rule_source *s)
{
    return s->shape.extra_brace && !has_branches(s);
}
static bool open_parenthesis(const struct rule_source *s)
{
    return s->shape.open_parenthesis && !has_branches(s);
}
static bool open_comment(const struct rule_source *s)
{
    return s->shape.open_comment;
}
static bool open_literal(const struct rule_source *s)
{
    return s->shape.open_literal;
}
static bool open_conditional(const struct rule_source *s)
{
    return s->shape.open_conditional;
}
static bool stray_character(const struct rule_source *s)
{
    return s->shape.has_stray;
}

const struct look looks[] = {
    {"open-brace", open_brace},
    {"extra-brace", extra_brace},
    {"open-parenthesis", open_parenthesis},
    {"open-comment", open_comment},
    {"open-literal", open_literal},
    {"open-conditional", open_conditional},
    {"stray-character", stray_character},
    {"undeclared-name", undeclared_name},
    {"undeclared-function", undeclared_function},
    {"unknown-type", unknown_type},
    {"missing-semicolon", missing_semicolon},
    {"redefinition", redefinition},
    {"write-to-const", write_to_const},
    {"argument-count", argument_count},
    {"undeclared-label", undeclared_label},
};
const size_t look_count = COUNT(looks);

/* --- instruction sets --------------------------------------------------------------------------
 */

static bool has_feature(const char *isa, const char *feature)
{
    const char *at = strstr(isa, feature);
    return at && (at == isa || at[-1] == ',');
}

/* 1: on, 0: off, -1: cannot tell. */
static int march_enables(const char *march, const char *feature, const char *isa)
{
    static const char *const levels[] = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
    const size_t needed = str_equal(feature, "avx512") ? 3 : 2;
    if (str_equal(march, "native"))
        return has_feature(isa, feature) ? 1 : 0;
    for (size_t i = 0; i < COUNT(levels); i++) {
        if (str_equal(march, levels[i]))
            return i >= needed ? 1 : 0;
    }
    return -1;
}

bool look_isa_is_off(const struct rule_source *s, const char *feature)
{
    int enabled = 0;
    for (size_t i = 0; i < s->count; i++) {
        /* target("avx2,fma"), or a pragma of it */
        if ((s->tokens[i].kind == RULE_TOKEN_STRING || s->tokens[i].kind == RULE_TOKEN_DIRECTIVE) &&
            strstr(s->tokens[i].text, feature) && !str_starts_with(s->tokens[i].text, "#include"))
            return false;
    }
    for (size_t i = 0; i < s->flag_count; i++) {
        const char *flag = s->flags[i];
        if (str_starts_with(flag, "-march="))
            enabled = march_enables(flag + strlen("-march="), feature, s->isa);
        else if (str_starts_with(flag, "-mno-") && str_starts_with(flag + 5, feature) &&
                 (str_starts_with(feature, "avx512") || !str_starts_with(flag + 5, "avx512")))
            enabled = 0;
        else if (str_equal(flag, "-mno-avx") || str_equal(flag, "-mno-avx2"))
            enabled = 0;
        else if (str_starts_with(flag, "-m") && str_starts_with(flag + 2, feature))
            enabled = 1;
    }
    return enabled == 0;
}
