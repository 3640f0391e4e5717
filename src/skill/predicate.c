#include "skill/predicate.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

struct reading {
    const char *text, *at;
    const struct skill_facts *facts; /* NULL: only the form is looked at */
    struct arena *arena;
    struct err *err;
    const char *why; /* of the last atom that was false */
    int depth;
};

static bool complain(struct reading *r, const char *what)
{
    return err_set(r->err, ERR_BAD_INPUT, "predicate '%s', column %d: %s", r->text,
                   (int)(r->at - r->text) + 1, what);
}

static void skip_blanks(struct reading *r)
{
    r->at += strspn(r->at, " \t\n");
}

static size_t word_length(const char *at)
{
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] == '.' ||
           (length > 0 && at[length] == '-'))
        length++;
    return length;
}

static bool take_word(struct reading *r, const char *word)
{
    skip_blanks(r);
    const size_t length = word_length(r->at);
    if (length != strlen(word) || strncmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

static bool take_char(struct reading *r, char c)
{
    skip_blanks(r);
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

static bool unknown_name(struct reading *r, size_t length)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    const char *names[FACT_COUNT];
    for (int i = 0; i < FACT_COUNT; i++)
        names[i] = fact_info((enum fact)i)->name;
    const char *word = arena_strndup(&scratch, r->at, length);
    (void)complain(r, arena_printf(&scratch, "there is no fact '%.60s'", word));
    const char *nearest = str_nearest(word, names, FACT_COUNT);
    return nearest ? err_hint(r->err, "did you mean '%s'?", nearest)
                   : err_hint(r->err, "'kope skill show --facts TASK' lists what there is");
}

static const char *take_operator(struct reading *r)
{
    static const char *const operators[] = {"==", "!=", "<=", ">=", "<", ">"};
    skip_blanks(r);
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (str_starts_with(r->at, operators[i])) {
            r->at += strlen(operators[i]);
            return operators[i];
        }
    }
    return NULL;
}

static bool compare(double left, const char *op, double right)
{
    switch (op[0]) {
    case '<':
        return op[1] ? left <= right : left < right;
    case '>':
        return op[1] ? left >= right : left > right;
    case '=':
        return left >= right && left <= right;
    default:
        return left < right || left > right;
    }
}

/* Says what was found where the part of the text from `begin` on is false. */
static void note(struct reading *r, const char *begin, enum fact fact, bool holds)
{
    if (holds || !r->facts)
        return;
    const struct fact_info *info = fact_info(fact);
    int length = (int)(r->at - begin);
    while (length > 0 && isspace((unsigned char)begin[length - 1]))
        length--;
    const char *word = r->facts->word[fact] ? r->facts->word[fact] : "";
    r->why = info->kind == FACT_NUMBER
                 ? arena_printf(r->arena, "'%.*s': %s is %g", length, begin, info->name,
                                r->facts->number[fact])
                 : arena_printf(r->arena, "'%.*s': %s is '%s'", length, begin, info->name, word);
}

static bool read_set(struct reading *r, enum fact fact, bool *out)
{
    if (!take_char(r, '('))
        return complain(r, "a set is asked as NAME(word)");
    skip_blanks(r);
    const size_t length = word_length(r->at);
    const char *word = r->at;
    r->at += length;
    if (length == 0 || !take_char(r, ')'))
        return complain(r, "a word and ')' are expected");
    if (!r->facts)
        return true;
    const char *set = r->facts->word[fact] ? r->facts->word[fact] : "";
    *out = strstr(set, arena_printf(r->arena, ",%.*s,", (int)length, word)) != NULL;
    return true;
}

static bool read_word(struct reading *r, enum fact fact, bool *out)
{
    const char *op = take_operator(r);
    if (!op || (!str_equal(op, "==") && !str_equal(op, "!=")))
        return complain(r, "a word is compared by == or !=");
    skip_blanks(r);
    const size_t length = word_length(r->at);
    if (length == 0)
        return complain(r, "a word is expected");
    const char *have = r->facts && r->facts->word[fact] ? r->facts->word[fact] : "";
    const bool same = strlen(have) == length && strncmp(have, r->at, length) == 0;
    *out = same == (op[0] == '=');
    r->at += length;
    return true;
}

static bool read_number(struct reading *r, enum fact fact, bool *out)
{
    const double have = r->facts ? r->facts->number[fact] : 0.0;
    const char *op = take_operator(r);
    double want = 0.0;
    if (!op) {
        *out = have < 0.0 || have > 0.0;
        return true;
    }
    skip_blanks(r);
    CLEANUP(arena_free) struct arena scratch = {0};
    const size_t length = word_length(r->at);
    if (length == 0 || !str_parse_double(arena_strndup(&scratch, r->at, length), &want))
        return complain(r, "a number is expected");
    r->at += length;
    *out = compare(have, op, want);
    return true;
}

static bool read_atom(struct reading *r, bool *out)
{
    enum fact fact;
    skip_blanks(r);
    const char *begin = r->at;
    const size_t length = word_length(begin);
    if (length == 0)
        return complain(r, *begin ? "a name, 'not' or '(' is expected" : "it ends too early");
    if (!fact_find(begin, length, &fact))
        return unknown_name(r, length);
    r->at += length;
    bool ok = false;
    *out = false;
    switch (fact_info(fact)->kind) {
    case FACT_SET:
        ok = read_set(r, fact, out);
        break;
    case FACT_WORD:
        ok = read_word(r, fact, out);
        break;
    case FACT_NUMBER:
        ok = read_number(r, fact, out);
        break;
    }
    if (ok)
        note(r, begin, fact, *out);
    return ok;
}

static bool read_or(struct reading *r, bool *out);

static bool read_not(struct reading *r, bool *out)
{
    bool ok = false;
    if (r->depth == PREDICATE_MAX_DEPTH)
        return complain(r, "it is nested too deeply");
    r->depth++;
    const char *before = r->at;
    if (take_word(r, "not")) {
        ok = read_not(r, out);
        *out = !*out;
        if (ok && !*out && r->facts)
            r->why = arena_printf(r->arena, "'%.*s' does not hold", (int)(r->at - before), before);
    } else if (take_char(r, '(')) {
        ok = read_or(r, out) && (take_char(r, ')') || complain(r, "')' is expected"));
    } else {
        ok = read_atom(r, out);
    }
    r->depth--;
    return ok;
}

static bool read_and(struct reading *r, bool *out)
{
    if (!read_not(r, out))
        return false;
    const char *why = r->why;
    while (take_word(r, "and")) {
        bool next = false;
        if (!read_not(r, &next))
            return false;
        if (*out)
            why = r->why;
        *out = *out && next;
    }
    r->why = why;
    return true;
}

static bool read_or(struct reading *r, bool *out)
{
    if (!read_and(r, out))
        return false;
    while (take_word(r, "or")) {
        bool next = false;
        if (!read_and(r, &next))
            return false;
        *out = *out || next;
    }
    return true;
}

static bool read_all(struct reading *r, bool *out)
{
    if (strlen(r->text) > PREDICATE_MAX_BYTES)
        return err_set(r->err, ERR_LIMIT, "a predicate of more than %d bytes",
                       (int)PREDICATE_MAX_BYTES);
    *out = true;
    skip_blanks(r);
    if (*r->at == '\0')
        return true;
    if (!read_or(r, out))
        return false;
    skip_blanks(r);
    return *r->at == '\0' || complain(r, "'and', 'or' or the end is expected");
}

bool predicate_check(const char *text, struct err *err)
{
    struct reading r = {.text = text, .at = text, .err = err, .why = ""};
    bool holds = false;
    return read_all(&r, &holds);
}

bool predicate_holds(const char *text, const struct skill_facts *facts, struct arena *arena,
                     bool *holds, const char **why, struct err *err)
{
    struct reading r = {
        .text = text, .at = text, .facts = facts, .arena = arena, .err = err, .why = ""};
    bool result = false;
    if (!read_all(&r, &result))
        return false;
    *holds = result;
    *why = result ? "" : r.why;
    return true;
}
