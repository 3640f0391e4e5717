/* clang's optimization record: documents in YAML, one for each remark. */
#include "profile/internal.h"

#include "base/buf.h"
#include "base/str.h"
#include "yaml/yaml.h"

#include <string.h>

enum { MOST_DOCUMENTS = 4000, MOST_TEXT_BYTES = 400 };

/* Where a remark belongs; 0 where that is not in the candidate's source. */
static int line_of(const struct yaml *document)
{
    const struct yaml *place = yaml_get(document, "DebugLoc");
    const char *file = "";
    int64_t line = 0;
    struct err ignored;
    if (!place || !yaml_read_string(place, "File", true, &file, &ignored) ||
        !yaml_read_int(place, "Line", true, 1, SOURCE_MOST_LINE, &line, &ignored) ||
        !source_is_candidate(file, strlen(file)))
        return 0;
    return (int)line;
}

/* The parts of its sentence, joined. */
static const char *sentence_of(const struct yaml *document, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {.limit = MOST_TEXT_BYTES};
    const struct yaml *args = yaml_get(document, "Args");
    for (const struct yaml *arg = args ? args->first : NULL; arg; arg = arg->next) {
        const struct yaml *first = arg->type == YAML_MAPPING ? arg->first : NULL;
        if (first && first->type == YAML_SCALAR && !buf_append_str(&text, first->text))
            break;
    }
    return arena_strdup(arena, buf_text(&text));
}

static const char *word_of(const struct yaml *document, const char *key)
{
    const struct yaml *node = yaml_get(document, key);
    return node && node->type == YAML_SCALAR ? node->text : "";
}

/* Reasons come before the remark that names their loop. */
static void read_remarks(const struct yaml *const *documents, size_t count, struct missed *m)
{
    static const char nothing[] = "loop not vectorized";
    const char *reason = "";
    const char *function = "";
    for (size_t i = 0; i < count; i++) {
        const struct yaml *document = documents[i];
        const char *tag = document->tag ? document->tag : "";
        if (!str_equal(word_of(document, "Pass"), "loop-vectorize"))
            continue;
        if (!str_equal(function, word_of(document, "Function")))
            reason = "";
        function = word_of(document, "Function");
        const char *text = sentence_of(document, m->arena);
        if (str_starts_with(tag, "!Analysis") && strstr(text, "not vectorized") && !reason[0]) {
            reason = text;
        } else if (str_equal(tag, "!Missed")) {
            missed_add(m, line_of(document), reason[0] || str_equal(text, nothing) ? reason : text);
            reason = "";
        } else if (str_equal(tag, "!Passed")) {
            reason = "";
        }
    }
}

/* Up to the end of its last whole document: a long record was cut. */
static size_t whole_length(const char *text)
{
    static const char end[] = "\n...\n";
    const size_t length = strlen(text);
    for (size_t at = length; at >= strlen(end); at--) {
        if (strncmp(text + at - strlen(end), end, strlen(end)) == 0)
            return at;
    }
    return length;
}

bool profile_read_clang(const struct record *record, struct arena *arena, struct finding *out,
                        size_t capacity, size_t *out_count, struct err *err)
{
    struct missed m = {.record = record, .arena = arena, .out = out, .capacity = capacity};
    const struct yaml *const *documents = NULL;
    size_t count = 0;
    if (!yaml_parse_stream(record->text, whole_length(record->text), "record", MOST_DOCUMENTS,
                           arena, &documents, &count, err))
        return false;
    read_remarks(documents, count, &m);
    missed_sort(&m);
    *out_count = m.count;
    return true;
}
