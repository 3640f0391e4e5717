/* Messages of gcc, clang, GNU ld and the assembler, as they come on stderr. */
#include "rule/internal.h"

#include "base/buf.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

/* The typographic quotes of gcc in a UTF-8 locale, and the ` of GNU ld. */
static char *plain_quotes(const char *text, size_t length, struct arena *arena)
{
    char *out = arena_alloc(arena, length + 1);
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        const bool is_curly = i + 2 < length && (unsigned char)text[i] == 0xe2 &&
                              (unsigned char)text[i + 1] == 0x80 &&
                              ((unsigned char)text[i + 2] & 0xfe) == 0x98;
        if (is_curly)
            i += 2;
        out[n++] = is_curly || text[i] == '`' ? '\'' : text[i];
    }
    out[n] = '\0';
    return out;
}

static const struct {
    const char *word;
    enum severity severity;
} severities[] = {
    {"fatal error: ", SEVERITY_ERROR},
    {"error: ", SEVERITY_ERROR},
    {"Error: ", SEVERITY_ERROR},
    {"sorry, unimplemented: ", SEVERITY_ERROR},
    {"warning: ", SEVERITY_WARNING},
    {"note: ", SEVERITY_NOTE},
    {"internal compiler error: ", SEVERITY_ERROR},
};

/* "FILE:LINE:COLUMN" or "FILE:LINE" or "TOOL", which ends where the severity begins. */
static void read_place(const char *text, struct arena *arena, struct diagnostic *out)
{
    int64_t numbers[2] = {0};
    size_t count = 0, length = strlen(text);
    while (length > 0 && strchr(": ", text[length - 1]))
        length--;
    while (count < 2) {
        size_t begin = length;
        while (begin > 0 && isdigit((unsigned char)text[begin - 1]))
            begin--;
        if (begin == length || begin == 0 || text[begin - 1] != ':' ||
            !str_parse_int64(arena_strndup(arena, text + begin, length - begin), &numbers[count]))
            break;
        count++;
        length = begin - 1;
    }
    out->line = count == 2 ? numbers[1] : numbers[0];
    out->column = count == 2 ? numbers[0] : 0;
    const char *file = arena_strndup(arena, text, length);
    const char *slash = strrchr(file, '/');
    out->file = slash ? slash + 1 : file;
}

/* " [-Wname]" at the end. */
static void drop_option(char *message)
{
    char *open = strrchr(message, '[');
    if (open && open > message && open[-1] == ' ' && open[1] == '-' && str_ends_with(message, "]"))
        open[-1] = '\0';
}

static bool read_message(char *line, struct arena *arena, struct diagnostic *out)
{
    for (size_t i = 0; i < sizeof severities / sizeof *severities; i++) {
        char *at = strstr(line, severities[i].word);
        const bool is_whole = at && (at == line || (at - line >= 2 && at[-2] == ':'));
        if (!is_whole)
            continue;
        char *message = at + strlen(severities[i].word);
        if (severities[i].word[0] == 'i') /* a compiler's own bug keeps its name */
            message = at;
        drop_option(message);
        read_place(arena_strndup(arena, line, (size_t)(at - line)), arena, out);
        out->severity = severities[i].severity;
        out->message = message;
        out->excerpt = "";
        return true;
    }
    return false;
}

/* The linker names no severity. */
static bool read_linker(char *line, struct arena *arena, struct diagnostic *out)
{
    static const char *const words[] = {"undefined reference to", "multiple definition of",
                                        "final link failed",      "LLVM ERROR",
                                        "out of memory",          "cannot find "};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char *at = strstr(line, words[i]);
        if (!at)
            continue;
        read_place(arena_strndup(arena, line, (size_t)(at - line)), arena, out);
        out->severity = SEVERITY_ERROR;
        out->message = at;
        out->excerpt = "";
        return true;
    }
    return false;
}

/* "    inlined from 'f' at candidate.c:6:5:", which stands before the message. */
static bool read_caller(const char *line, struct arena *arena, struct diagnostic *caller)
{
    const char *at = strstr(line, "inlined from '");
    const char *place = at ? strstr(at, "' at candidate.c:") : NULL;
    if (!place)
        return false;
    read_place(arena_strdup(arena, place + strlen("' at ")), arena, caller);
    return true;
}

/* "    5 |   text" of gcc and new clang. */
static const char *excerpt_of(const char *line)
{
    const char *at = line + strspn(line, " 0123456789");
    return at > line && *at == '|' ? at + 1 + strspn(at + 1, " \t") : NULL;
}

struct diagnostics diagnostics_parse(const char *text, struct arena *arena)
{
    struct diagnostics out = {.items =
                                  arena_array(arena, MOST_DIAGNOSTICS, sizeof(struct diagnostic))};
    struct diagnostic caller = {0};
    bool wants_excerpt = false;
    while (*text != '\0' && out.count < MOST_DIAGNOSTICS) {
        const size_t length = strcspn(text, "\n");
        char *line = plain_quotes(text, length, arena);
        struct diagnostic found = {0};
        const char *shown = excerpt_of(line);
        if (shown && wants_excerpt)
            out.items[out.count - 1].excerpt = shown;
        wants_excerpt = wants_excerpt && !shown;
        if (!shown && read_caller(line, arena, &caller)) {
            text += length + (text[length] == '\n');
            continue;
        }
        /* An excerpt is a part of the source, which may say anything. */
        if (!shown && line[0] != ' ' && line[0] != '\t' &&
            (read_message(line, arena, &found) || read_linker(line, arena, &found))) {
            found.caller_line = caller.line;
            found.caller_column = caller.column;
            caller = (struct diagnostic){0};
            out.items[out.count++] = found;
            wants_excerpt = true;
        } else if (!shown && wants_excerpt && line[0] != '\0') {
            /* clang before 18 shows the bare line */
            out.items[out.count - 1].excerpt = line + strspn(line, " \t");
            wants_excerpt = false;
        }
        text += length + (text[length] == '\n');
    }
    return out;
}
