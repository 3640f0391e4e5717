/*
 * What messages mean: gcc 12 to 14, clang 14 to 19, GNU ld. A row is one wording; several rows name
 * one cause. A message that no row knows is its own cause, without the names in it.
 */
#include "rule/internal.h"

#include "base/buf.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

/* The first row that matches counts. */
static const struct wording wordings[] = {
    {"'*' undeclared (first use in this function)*", "undeclared-name", "n1"},
    {"'*' undeclared here (not in a function)*", "undeclared-name", "n1"},
    {"use of undeclared identifier '*'*", "undeclared-name", "n1"},
    {"implicit declaration of function '*'*", "undeclared-function", "n1"},
    {"call to undeclared function '*'*", "undeclared-function", "n1"},
    {"call to undeclared library function '*'*", "undeclared-function", "n1"},
    {"implicitly declaring library function '*'*", "undeclared-function", "n1"},
    {"undefined reference to '*'*", "undefined-symbol", "n1"},
    {"multiple definition of '*'*", "redefinition", ""},
    {"unknown type name '*'*", "unknown-type", "n1"},
    {"must use 'struct' tag to refer to type '*'*", "unknown-type", ""},

    {"expected ';'*", "missing-semicolon", ""},
    {"expected ',' or ';' before *", "missing-semicolon", ""},
    {"expected '=', ',', ';', 'asm' or '__attribute__' before '*' token", "malformed-declaration",
     ""},
    {"expected '=', ',', ';', 'asm' or '__attribute__' before *", "missing-semicolon", ""},
    {"expected declaration or statement at end of input", "open-bracket", ""},
    {"expected '}'*", "open-bracket", ""},
    {"expected identifier or '(' before '}'*", "extra-brace", ""},
    {"extraneous closing brace ('}')", "extra-brace", ""},
    {"expected identifier or '('*", "statement-outside-function", ""},
    {"expected ')'*", "missing-parenthesis", ""},
    {"expected ']'*", "missing-parenthesis", ""},
    {"expected expression*", "expected-expression", ""},
    {"function definition is not allowed here", "nested-function", ""},
    {"invalid storage class for function '*'", "nested-function", ""},
    {"'else' without a previous 'if'", "expected-expression", ""},

    {"too few arguments to function '*'*", "argument-count", "n1"},
    {"too many arguments to function '*'*", "argument-count", "n1"},
    {"too few arguments to function call*", "argument-count", ""},
    {"too many arguments to function call*", "argument-count", ""},
    {"too few arguments provided to function-like macro invocation", "argument-count", ""},
    {"macro '*' requires * arguments, but only * given", "argument-count", "n1"},
    {"macro '*' passed * arguments, but takes just *", "argument-count", "n1"},

    {"inlining failed in call to 'always_inline' '*': target specific option mismatch",
     "missing-isa", "i1"},
    {"always_inline function '*' requires target feature '*', but would be inlined *",
     "missing-isa", "i2"},
    {"'*' needs target feature *", "missing-isa", "i2"},
    {"'*' needs isa option *", "missing-isa", "i1"},

    {"incompatible types when initializing type '*'* using type '*'*", "incompatible-types",
     "t1 from t3"},
    {"incompatible types when assigning to type '*'* from type '*'*", "incompatible-types",
     "t1 from t3"},
    {"incompatible types when returning type '*'* but '*'* was expected", "incompatible-types",
     "t3 from t1"},
    {"initializing '*'* with an expression of incompatible type 'void'*", "void-value", ""},
    {"assigning to '*'* from incompatible type 'void'*", "void-value", ""},
    {"void value not ignored as it ought to be", "void-value", ""},
    {"initializing '*'* with an expression of incompatible type '*'*", "incompatible-types",
     "t1 from t3"},
    {"assigning to '*'* from incompatible type '*'*", "incompatible-types", "t1 from t3"},
    {"returning '*'* from a function with incompatible result type '*'*", "incompatible-types",
     "t3 from t1"},
    {"passing '*'* to parameter of incompatible type '*'*", "incompatible-argument", "t3 from t1"},
    {"incompatible type for argument * of '*'*", "incompatible-argument", ""},
    {"conflicting types for '*'*", "conflicting-types", "n1"},
    {"redefinition of '*'*", "redefinition", ""},
    {"redeclaration of '*'*", "redefinition", ""},
    {"invalid operands to binary * (have '*'* and '*'*)", "invalid-operands", "t2 and t4"},
    {"invalid operands to binary expression ('*'* and '*'*)", "invalid-operands", "t1 and t3"},
    {"cannot convert between vector values of different size*", "vector-size", ""},
    {"conversion of scalar '*'* to vector '*'* involves truncation", "vector-size", ""},
    {"cannot convert between scalar type '*'* and vector type '*'*", "vector-size", ""},

    {"assignment of read-only *", "write-to-const", ""},
    {"increment of read-only *", "write-to-const", ""},
    {"read-only variable is not assignable", "write-to-const", ""},
    {"cannot assign to variable '*' with const-qualified type *", "write-to-const", ""},
    {"lvalue required as *", "not-assignable", ""},
    {"expression is not assignable", "not-assignable", ""},
    {"subscripted value is *", "not-subscriptable", ""},
    {"called object *is not a function or function pointer*", "not-callable", ""},
    {"'*' has no member named '*'*", "no-member", ""},
    {"no member named '*' in '*'*", "no-member", ""},
    {"request for member '*' in something not a structure or union*", "no-member", ""},
    {"member reference base type '*'* is not a structure or union", "no-member", ""},
    {"invalid type argument of unary '*' (have *", "not-a-pointer", ""},
    {"indirection requires pointer operand (*", "not-a-pointer", ""},
    {"invalid type argument of '->' (have *", "not-a-pointer", ""},
    {"variable-sized object may not be initialized*", "initialized-vla", ""},
    {"storage size of '*' isn't known", "incomplete-type", ""},
    {"variable has incomplete type '*'*", "incomplete-type", ""},
    {"invalid use of undefined type *", "incomplete-type", ""},
    {"incomplete definition of type *", "incomplete-type", ""},

    {"the last argument must be *immediate*", "immediate-argument", ""},
    {"the * argument must be *immediate*", "immediate-argument", ""},
    {"argument to '*' must be a constant integer", "immediate-argument", ""},
    {"argument value * is outside the valid range *", "immediate-range", ""},
    {"selector must be an integer constant*", "immediate-argument", ""},

    {"*: No such file or directory", "missing-header", "q1"},
    {"'*' file not found", "missing-header", "q1"},
    {"stray '*' in program", "stray-character", ""},
    {"unexpected character <*>", "stray-character", ""},
    {"non-ASCII characters are not allowed *", "stray-character", ""},
    {"unterminated comment", "open-comment", ""},
    {"unterminated /* comment", "open-comment", ""},
    {"missing terminating * character", "open-literal", ""},
    {"unterminated #*", "open-conditional", ""},
    {"unterminated conditional directive", "open-conditional", ""},
    {"#endif without #if", "open-conditional", ""},
    {"#error *", "error-directive", ""},
    {"static assertion failed*", "static-assertion", ""},
    {"static_assert failed*", "static-assertion", ""},
    {"break statement not within loop or switch", "stray-break", ""},
    {"continue statement not within a loop", "stray-break", ""},
    {"'break' statement not in loop or switch statement", "stray-break", ""},
    {"'continue' statement not in loop statement", "stray-break", ""},
    {"label '*' used but not defined", "undeclared-label", ""},
    {"use of undeclared label '*'", "undeclared-label", ""},
    {"duplicate case value*", "duplicate-case", ""},
    {"not enough *perfectly nested loops*", "openmp-loop", ""},
    {"collapsed loops not perfectly nested*", "openmp-loop", ""},
    {"expected * for loops after '#pragma omp *'*", "openmp-loop", ""},
    {"for statement expected before *", "openmp-loop", ""},
    {"statement after '#pragma omp *' must be a for loop", "openmp-loop", ""},
    {"unrecognized command-line option '*'*", "bad-flag", "q1"},
    {"unrecognized command line option '*'*", "bad-flag", "q1"},
    {"unknown argument: '*'*", "bad-flag", "q1"},
    {"unknown argument '*'*", "bad-flag", "q1"},
    {"bad value ('*') for '*' switch", "bad-flag", "q2q1"},
    {"unknown target CPU '*'", "bad-flag", "-march=q1"},
    {"internal compiler error: *", "compiler-bug", ""},
};

static const struct {
    const char *cause, *words;
} causes[] = {
    {"undeclared-name", "a name is used that is declared nowhere"},
    {"undeclared-function", "a function is called that is declared nowhere"},
    {"undefined-symbol", "a function is called that is defined nowhere"},
    {"unknown-type", "a type is used that is defined nowhere"},
    {"missing-semicolon", "a semicolon is missing"},
    {"malformed-declaration", "something at file scope is no declaration"},
    {"open-bracket", "a brace is not closed"},
    {"extra-brace", "a function ends too early: a brace closes too much"},
    {"statement-outside-function", "a statement stands outside any function"},
    {"missing-parenthesis", "a parenthesis is not closed"},
    {"expected-expression", "something stands where an expression should"},
    {"nested-function", "a function begins inside another one"},
    {"argument-count", "a function is called with too few or too many arguments"},
    {"missing-isa", "an intrinsic needs an instruction set that is not enabled"},
    {"incompatible-types", "a value is put into a variable of another kind"},
    {"incompatible-argument", "an argument is of another kind than the parameter"},
    {"conflicting-types", "a function is declared in two ways"},
    {"redefinition", "a name is defined twice in one scope"},
    {"invalid-operands", "an operator does not take operands of these types"},
    {"vector-size", "vectors of different sizes are mixed"},
    {"write-to-const", "something const is written to"},
    {"not-assignable", "the left side of an assignment is no place"},
    {"not-subscriptable", "something is indexed that is no array or pointer"},
    {"not-callable", "something is called that is no function"},
    {"no-member", "a member is named that its structure does not have"},
    {"not-a-pointer", "something is dereferenced that is no pointer"},
    {"initialized-vla", "an array of variable size has an initializer"},
    {"incomplete-type", "a type is used before it is defined"},
    {"void-value", "the result of a function that returns nothing is used"},
    {"immediate-argument", "an intrinsic needs a constant where a variable stands"},
    {"immediate-range", "a constant of an intrinsic is out of range"},
    {"missing-header", "a header is included that is not there"},
    {"stray-character", "a character stands in the source that is not C"},
    {"open-comment", "a comment is not closed"},
    {"open-literal", "a string or character literal is not closed"},
    {"open-conditional", "#if and #endif do not match"},
    {"error-directive", "the source ends itself by #error"},
    {"static-assertion", "a static assertion fails"},
    {"stray-break", "break or continue stands outside a loop"},
    {"undeclared-label", "goto names a label that is not there"},
    {"duplicate-case", "a switch has a case twice"},
    {"openmp-loop", "an OpenMP pragma stands before loops that it does not fit"},
    {"bad-flag", "a flag is unknown to the compiler"},
    {"compiler-bug", "the compiler fails with an error of its own"},
    {"foreign-language", "the source is of another language than C"},
    {"forbidden-function", "a function is called that a kernel may not call"},
    {"refused-header", "a header is included that a kernel may not include"},
    {"refused-directive", "a directive stands there that a kernel may not have"},
    {"refused-pragma", "a pragma stands there that a kernel may not have"},
    {"refused-attribute", "an attribute stands there that a kernel may not have"},
    {"refused-assembly", "there is inline assembly with a template"},
    {"refused-word", "a word stands there that a kernel may not use"},
    {"refused-flag", "a flag is refused by the gate"},
};

const char *wording_words(const char *cause)
{
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        if (str_equal(causes[i].cause, cause))
            return causes[i].words;
    }
    return NULL;
}

bool wording_match(const char *pattern, const char *text, struct arena *arena,
                   const char *captures[MOST_CAPTURES])
{
    /* Shortest first with one level of return is enough: the text after each '*' is searched, and
     * what follows the last one must be the end. */
    size_t count = 0;
    const char *at = text;
    size_t length = strcspn(pattern, "*");
    if (strncmp(pattern, text, length) != 0)
        return false;
    at += length;
    pattern += length;
    while (*pattern == '*') {
        pattern++;
        length = strcspn(pattern, "*");
        const char *literal = arena_strndup(arena, pattern, length);
        const char *found = pattern[length] == '\0' ? NULL : strstr(at, literal);
        if (pattern[length] == '\0') {
            if (!str_ends_with(at, literal))
                return false;
            found = at + strlen(at) - length;
        }
        if (!found)
            return false;
        if (count < MOST_CAPTURES)
            captures[count++] = arena_strndup(arena, at, (size_t)(found - at));
        at = found + length;
        pattern += length;
    }
    return *at == '\0';
}

static void put_name(struct buf *out, const char *name, const char *entry)
{
    if (entry && str_equal(name, entry))
        (void)buf_append_str(out, "entry");
    else if (cause_name_is_known(name))
        (void)buf_append_str(out, name);
}

static const char *fill_subject(const char *subject, const char *const *captures, const char *entry,
                                struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    for (const char *c = subject; *c; c++) {
        const bool is_slot = strchr("ntiq", *c) && c[1] >= '1' && c[1] <= '0' + MOST_CAPTURES &&
                             captures[c[1] - '1'];
        if (!is_slot) {
            (void)buf_append_char(&text, *c);
            continue;
        }
        const char *value = captures[c[1] - '1'];
        if (*c == 'n')
            put_name(&text, value, entry);
        else
            (void)buf_append_str(&text, *c == 't'   ? name_type(value, arena)
                                        : *c == 'i' ? name_isa(value, arena)
                                                    : value);
        c++;
    }
    return arena_strdup(arena, buf_text(&text));
}

struct meaning wording_of(const char *message, const char *entry, struct arena *arena)
{
    for (size_t i = 0; i < sizeof wordings / sizeof *wordings; i++) {
        const char *captures[MOST_CAPTURES] = {0};
        if (wording_match(wordings[i].pattern, message, arena, captures))
            return (struct meaning){wordings[i].cause,
                                    fill_subject(wordings[i].subject, captures, entry, arena)};
    }
    return (struct meaning){NULL, ""};
}

/* What stands in quotes: kept where it is a keyword, punctuation or a known name. */
static bool keeps_quoted(const char *text)
{
    static const char *const keywords[] = {
        "float",    "double",   "int",     "long",     "short",   "char",   "void",
        "unsigned", "for",      "while",   "if",       "else",    "return", "static",
        "const",    "restrict", "inline",  "sizeof",   "asm",     "auto",   "struct",
        "union",    "enum",     "typedef", "register", "volatile"};
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        if (str_equal(text, keywords[i]))
            return true;
    }
    for (const char *c = text; *c; c++) {
        if (isalnum((unsigned char)*c) || *c == '_')
            return text[0] == '-' || text[0] == '#' || cause_name_is_known(text);
    }
    return true;
}

const char *wording_normalised(const char *message, struct arena *arena)
{
    enum { MOST_BYTES = 160 };
    struct buf text = {.limit = MOST_BYTES};
    for (const char *at = message; *at && text.length < MOST_BYTES - 4;) {
        const char *end = *at == '\'' ? strchr(at + 1, '\'') : NULL;
        if (end) {
            const char *quoted = arena_strndup(arena, at + 1, (size_t)(end - at - 1));
            (void)buf_printf(&text, "'%s'", keeps_quoted(quoted) ? quoted : "_");
            at = end + 1;
        } else if (isdigit((unsigned char)*at) &&
                   (at == message || (!isalnum((unsigned char)at[-1]) && at[-1] != '_'))) {
            while (isalnum((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1])))
                at++;
            (void)buf_append_char(&text, 'N');
        } else if (*at == '/' && isalnum((unsigned char)at[1])) {
            at += strcspn(at, " :,;)'\"");
            (void)buf_append_str(&text, "PATH");
        } else {
            (void)buf_append_char(&text, *at++);
        }
    }
    const char *copy = arena_strdup(arena, buf_text(&text));
    buf_free(&text);
    return copy;
}
