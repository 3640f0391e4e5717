#include "target/cpu/cpu.h"

#include "base/buf.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

/*
 * What a candidate's source may not say: files other than the listed headers, assembly other than
 * an empty template, code that runs or is chosen outside of a call, and text that could be read in
 * two ways. Macros can hide some of it from this reader; it gives early and clear reasons, while
 * the confined compiler, the object's rules and the box are what a hostile source meets.
 */
static const char *const headers[] = {
    "assert.h",  "complex.h",  "float.h",   "inttypes.h", "iso646.h",      "limits.h",
    "math.h",    "omp.h",      "pthread.h", "stdalign.h", "stdarg.h",      "stdatomic.h",
    "stdbool.h", "stddef.h",   "stdint.h",  "stdlib.h",   "stdnoreturn.h", "string.h",
    "tgmath.h",  "arm_neon.h", "arm_sve.h",
};

static const char *const refused_directives[] = {
    "include_next", "import", "embed", "assert", "unassert", "ident", "sccs",
};

static const char *const refused_pragmas[] = {
    "dependency", "pch_preprocess", "module",        "__debug", "comment",
    "weak",       "system_header",  "include_alias", "plugin",  "redefine_extname",
};

static const char *const refused_words[] = {
    "__has_include",   "__has_include_next", "__has_embed",       "constructor",
    "__constructor__", "destructor",         "__destructor__",    "ifunc",
    "__ifunc__",       "target_clones",      "__target_clones__",
};

static const char *const refused_attributes[] = {
    "section", "__section__", "alias", "__alias__", "weakref",   "__weakref__",
    "symver",  "__symver__",  "naked", "__naked__", "tls_model",
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct screening {
    struct arena *arena;
    const char *why;
};

static bool refuse(struct screening *s, const char *why)
{
    s->why = why;
    return false;
}

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool word_in(const char *word, size_t length, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(list[i]) == length && memcmp(list[i], word, length) == 0)
            return true;
    }
    return false;
}

static size_t word_length(const char *at)
{
    size_t length = 0;
    while (is_word_char(at[length]))
        length++;
    return length;
}

static const char *skip_blank(const char *at)
{
    return at + strspn(at, " \t\v\f\r");
}

static const char *skip_space(const char *at)
{
    return at + strspn(at, " \t\v\f\r\n");
}

/* Translation phases 2 and 3, as far as they matter here. */

static void join_lines(const char *source, struct buf *out)
{
    for (const char *c = source; *c; c++) {
        if (*c != '\\') {
            (void)buf_append_char(out, *c);
            continue;
        }
        /* gcc allows blanks between the backslash and the end of the line */
        const char *end = skip_blank(c + 1);
        if (*end == '\n')
            c = end;
        else
            (void)buf_append_char(out, *c);
    }
}

/* Copies a literal; false where it does not end on its line. */
static bool copy_literal(const char **at, struct buf *out)
{
    const char quote = **at;
    const char *c = *at;
    (void)buf_append_char(out, *c++);
    while (*c && *c != quote && *c != '\n') {
        if (*c == '\\' && c[1] && c[1] != '\n')
            (void)buf_append_char(out, *c++);
        (void)buf_append_char(out, *c++);
    }
    if (*c != quote)
        return false;
    (void)buf_append_char(out, *c++);
    *at = c;
    return true;
}

static const char *skip_comment(const char *c, struct buf *out)
{
    (void)buf_append_char(out, ' ');
    if (c[1] == '/')
        return c + strcspn(c, "\n");
    const char *end = strstr(c + 2, "*/");
    return end ? end + 2 : c + strlen(c);
}

/* An apostrophe within a number ("1'000") begins no literal in C17, but in other dialects it does
 * not either: such text is refused as unreadable. A raw string ends by rules of its own. */
static bool strip_comments(struct screening *s, const char *text, struct buf *out)
{
    for (const char *c = text; *c;) {
        if (*c == '/' && (c[1] == '/' || c[1] == '*')) {
            c = skip_comment(c, out);
            continue;
        }
        if (*c != '"' && *c != '\'') {
            (void)buf_append_char(out, *c++);
            continue;
        }
        if (*c == '"' && c > text && c[-1] == 'R')
            return refuse(s, "it has a raw string literal");
        if (*c == '\'' && c > text && isdigit((unsigned char)c[-1]))
            return refuse(s, "it has an apostrophe in a number");
        if (!copy_literal(&c, out))
            return refuse(s, "it has a literal that does not end on its line");
    }
    return true;
}

/* Directives. */

static bool header_allowed(const char *name, size_t length)
{
    static const char suffix[] = "intrin.h";
    const size_t suffix_length = sizeof suffix - 1;
    if (word_in(name, length, headers, COUNT(headers)))
        return true;
    return length >= suffix_length && !memchr(name, '/', length) &&
           memcmp(name + length - suffix_length, suffix, suffix_length) == 0;
}

static bool check_include(struct screening *s, const char *at)
{
    at = skip_blank(at);
    const char *end = *at == '<' ? strpbrk(at, ">\n") : NULL;
    if (!end || *end != '>')
        return refuse(s, arena_printf(s->arena,
                                      "it includes %.*s: only <...> of the standard "
                                      "headers and intrinsics may be included",
                                      (int)strcspn(at, "\n"), at));
    const size_t length = (size_t)(end - at) - 1;
    if (header_allowed(at + 1, length))
        return true;
    return refuse(s, arena_printf(s->arena,
                                  "it includes <%.*s>, which is not among the headers "
                                  "that a kernel may include",
                                  (int)(length < 100 ? length : 100), at + 1));
}

static bool check_pragma(struct screening *s, const char *at)
{
    while (*at && *at != '\n') {
        const size_t length = word_length(at);
        if (length && word_in(at, length, refused_pragmas, COUNT(refused_pragmas)))
            return refuse(s, arena_printf(s->arena, "it has a pragma '%.*s'", (int)length, at));
        at += length ? length : 1;
    }
    return true;
}

static bool check_directive(struct screening *s, const char *at)
{
    at = skip_blank(at);
    const size_t length = word_length(at);
    const char *rest = at + length;
    if (word_in(at, length, (const char *const[]){"include"}, 1))
        return check_include(s, rest);
    if (word_in(at, length, (const char *const[]){"pragma"}, 1))
        return check_pragma(s, rest);
    if (word_in(at, length, refused_directives, COUNT(refused_directives)))
        return refuse(s, arena_printf(s->arena, "it has the directive '#%.*s'", (int)length, at));
    return true;
}

static bool check_directives(struct screening *s, const char *text)
{
    for (const char *line = text; *line;) {
        const char *at = skip_blank(line);
        if (*at == '#' && !check_directive(s, at + 1))
            return false;
        if (at[0] == '%' && at[1] == ':' && !check_directive(s, at + 2))
            return false;
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return true;
}

/* Words. */

/* asm volatile("" : ...) keeps a value alive and is fine; anything in the template is not. */
static bool check_assembly(struct screening *s, const char *at)
{
    static const char *const qualifiers[] = {"volatile", "__volatile__", "__volatile",
                                             "inline",   "__inline",     "__inline__"};
    static const char why[] = "it has inline assembly; only an empty template is allowed";
    at = skip_space(at);
    while (word_length(at)) {
        if (!word_in(at, word_length(at), qualifiers, COUNT(qualifiers)))
            return refuse(s, why);
        at = skip_space(at + word_length(at));
    }
    if (*at != '(')
        return refuse(s, why);
    at = skip_space(at + 1);
    if (at[0] != '"' || at[1] != '"')
        return refuse(s, why);
    while (at[0] == '"' && at[1] == '"')
        at = skip_space(at + 2);
    return *at == ':' || *at == ')' ? true : refuse(s, why);
}

static bool check_attribute(struct screening *s, const char *at)
{
    at = skip_space(at);
    int depth = 0;
    for (; *at; at++) {
        depth += (*at == '(') - (*at == ')');
        if (depth <= 0)
            return true;
        const size_t length = word_length(at);
        if (length && word_in(at, length, refused_attributes, COUNT(refused_attributes)))
            return refuse(s,
                          arena_printf(s->arena, "it has the attribute '%.*s'", (int)length, at));
        at += length ? length - 1 : 0;
    }
    return true;
}

static bool check_word(struct screening *s, const char *word, size_t length)
{
    static const char *const assembly[] = {"asm", "__asm", "__asm__"};
    static const char *const attribute[] = {"__attribute__", "__attribute"};
    if (word_in(word, length, assembly, COUNT(assembly)))
        return check_assembly(s, word + length);
    if (word_in(word, length, attribute, COUNT(attribute)))
        return check_attribute(s, word + length);
    if (word_in(word, length, refused_words, COUNT(refused_words)))
        return refuse(s, arena_printf(s->arena, "it uses '%.*s'", (int)length, word));
    return true;
}

static bool check_words(struct screening *s, const char *text)
{
    for (const char *at = text; *at;) {
        if (*at == '"' || *at == '\'') {
            const char quote = *at++;
            while (*at && *at != quote)
                at += *at == '\\' && at[1] ? 2 : 1;
            at += *at == quote;
            continue;
        }
        const size_t length = word_length(at);
        if (length && !check_word(s, at, length))
            return false;
        at += length ? length : 1;
    }
    return true;
}

bool screen_source(const char *source, struct arena *arena, const char **why)
{
    struct screening s = {.arena = arena};
    CLEANUP(buf_free) struct buf joined = {0};
    CLEANUP(buf_free) struct buf text = {0};
    join_lines(source, &joined);
    const bool fine = strip_comments(&s, buf_text(&joined), &text) &&
                      check_directives(&s, buf_text(&text)) && check_words(&s, buf_text(&text));
    if (!fine)
        *why = s.why;
    return fine;
}
