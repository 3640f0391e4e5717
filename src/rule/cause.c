/* The root cause among the messages of one failure, and the keys of what was no compiler's. */
#include "rule/internal.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

/* A message with its meaning. */
struct sense {
    const struct diagnostic *at;
    struct meaning meaning;
};

/* Causes that break what follows, wherever their message stands: a compiler notices a brace only at
 * the end of the file. */
static bool is_structural(const struct meaning *meaning)
{
    static const char *const causes[] = {"open-bracket", "open-comment", "open-conditional",
                                         "open-literal", "extra-brace"};
    for (size_t i = 0; meaning->cause && i < sizeof causes / sizeof *causes; i++) {
        if (str_equal(meaning->cause, causes[i]))
            return true;
    }
    return false;
}

static bool is_missing_declaration(const struct meaning *meaning)
{
    return meaning->cause && (str_equal(meaning->cause, "undeclared-function") ||
                              str_equal(meaning->cause, "undefined-symbol"));
}

static const struct diagnostic *first_error(const struct diagnostics *all)
{
    for (size_t i = 0; i < all->count; i++) {
        if (all->items[i].severity == SEVERITY_ERROR)
            return &all->items[i];
    }
    return NULL;
}

/* A warning on the line of the first error that explains it: the int of an implicit declaration. */
static bool explains(const struct diagnostic *warning, const struct diagnostic *error)
{
    return warning->severity == SEVERITY_WARNING && warning->line == error->line &&
           str_equal(warning->file, error->file);
}

static struct sense root_among(const struct diagnostics *all, const struct failure *failure,
                               struct arena *arena)
{
    struct sense root = {.at = first_error(all)};
    if (!root.at)
        return root;
    for (size_t i = 0; i < all->count; i++) {
        const struct diagnostic *d = &all->items[i];
        const struct meaning meaning = wording_of(d->message, failure->entry, arena);
        if (d == root.at)
            root.meaning = meaning;
        if ((d->severity == SEVERITY_ERROR && is_structural(&meaning)) ||
            (explains(d, root.at) && is_missing_declaration(&meaning)))
            return (struct sense){d, meaning};
    }
    /* A function that closed too early leaves its names behind. */
    for (size_t i = 0; root.meaning.cause && str_equal(root.meaning.cause, "undeclared-name") &&
                       strstr(root.at->message, "not in a function") && i < all->count;
         i++) {
        const struct meaning meaning = wording_of(all->items[i].message, failure->entry, arena);
        if (meaning.cause && str_equal(meaning.cause, "statement-outside-function"))
            return (struct sense){&all->items[i], meaning};
    }
    return root;
}

/* clang names the function of a wrong call in a note. */
static const char *subject_in_notes(const struct diagnostics *all, const struct diagnostic *error,
                                    struct arena *arena)
{
    for (const struct diagnostic *d = error + 1; d < all->items + all->count; d++) {
        const char *captures[MOST_CAPTURES] = {0};
        if (d->severity != SEVERITY_NOTE)
            break;
        if (wording_match("'*' declared here", d->message, arena, captures) ||
            wording_match("macro '*' defined here", d->message, arena, captures))
            return cause_name_is_known(captures[0]) ? captures[0] : "";
    }
    return "";
}

/* clang calls a type that it does not know an identifier: "vec8 v" has a name behind it. */
static bool names_a_type(const struct diagnostic *d, struct arena *arena)
{
    const char *captures[MOST_CAPTURES] = {0};
    if (!wording_match("use of undeclared identifier '*'*", d->message, arena, captures))
        return false;
    const size_t length = strlen(captures[0]);
    const char *at = strstr(d->excerpt, captures[0]);
    if (!at || length == 0 ||
        (at > d->excerpt && (isalnum((unsigned char)at[-1]) || at[-1] == '_')))
        return false;
    const size_t blanks = strspn(at + length, " \t");
    const char next = at[length + blanks];
    return blanks > 0 && (isalpha((unsigned char)next) || next == '_');
}

static bool is_of_candidate(const struct diagnostic *d)
{
    return str_equal(d->file, "candidate.c") && d->line > 0;
}

/* In the candidate: of the message, of where its function was inlined, or of a note that leads back
 * from a header. */
static void set_place(const struct diagnostics *all, const struct diagnostic *root,
                      struct cause *out)
{
    const struct diagnostic *at = root;
    for (const struct diagnostic *d = root + 1;
         !is_of_candidate(at) && d < all->items + all->count && d->severity == SEVERITY_NOTE; d++)
        at = d;
    const bool is_there = is_of_candidate(at);
    out->line = is_there ? at->line : root->caller_line;
    out->column = is_there ? at->column : root->caller_column;
}

static void set_key(struct cause *out, const char *cause, const char *subject, struct arena *arena)
{
    const char *words = wording_words(cause);
    out->subject = subject;
    out->key = arena_printf(arena, "%s%s%s", cause, subject[0] ? " " : "", subject);
    out->words = words ? arena_printf(arena, subject[0] ? "%s: %s" : "%s", words, subject) : cause;
}

/* A message without a row in the table. */
static void set_unknown(struct cause *out, const char *prefix, const char *message,
                        struct arena *arena)
{
    out->subject = "";
    out->key = arena_printf(arena, "%s: %s", prefix, wording_normalised(message, arena));
    out->words = out->key;
}

static void read_compiler(const struct failure *failure, const struct diagnostics *all,
                          struct arena *arena, struct cause *out)
{
    const struct sense root = root_among(all, failure, arena);
    if (!root.at) {
        set_unknown(out, failure->mechanism, failure->evidence ? failure->evidence : "", arena);
        return;
    }
    const char *language = name_foreign_language(root.at->excerpt);
    set_place(all, root.at, out);
    if (language) {
        set_key(out, "foreign-language", language, arena);
        return;
    }
    if (!root.meaning.cause) {
        set_unknown(out, failure->mechanism, root.at->message, arena);
        return;
    }
    const char *subject = root.meaning.subject;
    if (names_a_type(root.at, arena)) {
        set_key(out, "unknown-type", subject, arena);
        return;
    }
    if (str_equal(root.meaning.cause, "argument-count") && subject[0] == '\0')
        subject = subject_in_notes(all, root.at, arena);
    set_key(out, root.meaning.cause, subject, arena);
}

/* An object that uses a function which is not there: that it was not declared is the cause. */
static void read_object(const struct failure *failure, const struct diagnostics *all,
                        struct arena *arena, struct cause *out)
{
    const char *captures[MOST_CAPTURES] = {0};
    if (!wording_match("it uses '*', which is not among the functions*", failure->evidence, arena,
                       captures)) {
        set_unknown(out, failure->mechanism, failure->evidence, arena);
        return;
    }
    for (size_t i = 0; i < all->count; i++) {
        const struct diagnostic *d = &all->items[i];
        const struct meaning meaning = wording_of(d->message, failure->entry, arena);
        const char *quoted = arena_printf(arena, "'%s'", captures[0]);
        if (is_missing_declaration(&meaning) && strstr(d->message, quoted)) {
            set_place(all, d, out);
            set_key(out, meaning.cause, meaning.subject, arena);
            return;
        }
    }
    set_key(out, "forbidden-function", captures[0], arena);
}

/* What runs, as its evidence begins. */
static const struct {
    const char *pattern, *cause, *words;
} events[] = {
    {"wrote just past the end of *", "write-past-end", "it writes past the end of an argument"},
    {"wrote * bytes past the end of *", "write-past-end", "it writes past the end of an argument"},
    {"read just past the end of *", "read-past-end", "it reads past the end of an argument"},
    {"read * bytes past the end of *", "read-past-end", "it reads past the end of an argument"},
    {"* bytes before the start of *", "before-start", "it reaches before the start of an argument"},
    {"*which is read-only", "write-to-input", "it writes to an input"},
    {"*: a null pointer", "null-pointer", "it follows a null pointer"},
    {"the stack overflowed*", "stack-overflow", "its stack overflows"},
    {"signal 11 without an address*", "misaligned", "an aligned vector access is not aligned"},
    {"signal 4:*", "illegal-instruction", "it has an instruction that this processor lacks"},
    {"signal 8:*", "division", "an integer division by zero, or one that overflows"},
    {"it made system call *", "system-call", "it makes a system call"},
    {"it aborted*", "aborted", "it corrupts its heap, or aborts"},
};

static void read_run(const struct failure *failure, struct arena *arena, struct cause *out)
{
    const char *evidence = failure->evidence ? failure->evidence : "";
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        const char *captures[MOST_CAPTURES] = {0};
        if (!wording_match(events[i].pattern, evidence, arena, captures))
            continue;
        out->subject = "";
        out->key = arena_printf(arena, "%s %s", failure->mechanism, events[i].cause);
        out->words = events[i].words;
        return;
    }
    /* A wrong value is told with its place and number; the mechanism is what they have in common.
     */
    const bool is_wrong = failure->kind == VERDICT_WRONG;
    out->subject = "";
    out->key = is_wrong ? arena_strdup(arena, failure->mechanism)
                        : arena_printf(arena, "%s: %s", failure->mechanism,
                                       wording_normalised(evidence, arena));
    out->words = out->key;
}

static bool is_of_build(const struct failure *failure)
{
    static const char *const mechanisms[] = {"compiler", "linker", "flags", "M12-source",
                                             "M12-object"};
    if (str_starts_with(failure->evidence ? failure->evidence : "", "the image cannot be loaded"))
        return false; /* by the loader, in the child */
    for (size_t i = 0; i < sizeof mechanisms / sizeof *mechanisms; i++) {
        if (str_equal(failure->mechanism, mechanisms[i]))
            return true;
    }
    return failure->kind == VERDICT_BUILD_FAILED;
}

static void read_flag(const struct failure *failure, struct arena *arena, struct cause *out)
{
    const char *captures[MOST_CAPTURES] = {0};
    if (wording_match("flag '*' is refused: *", failure->evidence, arena, captures))
        set_key(out, "refused-flag", captures[0], arena);
    else
        set_unknown(out, failure->mechanism, failure->evidence, arena);
}

/* What the screening of a source names. */
static const struct {
    const char *pattern, *cause;
} screened[] = {
    {"it includes <*>*", "refused-header"},
    {"it includes \"*\"*", "refused-header"},
    {"it has the directive '#*'*", "refused-directive"},
    {"it has a pragma '*'*", "refused-pragma"},
    {"it has the attribute '*'*", "refused-attribute"},
    {"it has inline assembly*", "refused-assembly"},
    {"it uses '*'*", "refused-word"},
};

static void read_screen(const struct failure *failure, struct arena *arena, struct cause *out)
{
    for (size_t i = 0; i < sizeof screened / sizeof *screened; i++) {
        const char *captures[MOST_CAPTURES] = {""};
        if (!wording_match(screened[i].pattern, failure->evidence, arena, captures))
            continue;
        const bool has_subject = strchr(screened[i].pattern, '*')[1] != '\0';
        set_key(out, screened[i].cause, has_subject ? captures[0] : "", arena);
        return;
    }
    set_unknown(out, failure->mechanism, failure->evidence, arena);
}

struct cause cause_of(const struct failure *given, struct arena *arena)
{
    struct failure failure = *given;
    failure.mechanism = failure.mechanism ? failure.mechanism : "";
    failure.evidence = failure.evidence ? failure.evidence : "";
    const struct diagnostics all =
        diagnostics_parse(failure.diagnostics ? failure.diagnostics : "", arena);
    const char *fault = host_fault(&failure, &all);
    struct cause out = {.why_not = "", .key = "", .words = "", .subject = ""};
    if (failure.kind == VERDICT_TIMED)
        fault = "it did not fail";
    else if (str_equal(failure.mechanism, "rule"))
        fault = "a rule decided, and nothing was tried";
    if (fault) {
        out.why_not = fault;
        return out;
    }
    out.is_lesson = true;
    out.shows_at_build = is_of_build(&failure);
    if (!out.shows_at_build)
        read_run(&failure, arena, &out);
    else if (str_equal(failure.mechanism, "flags"))
        read_flag(&failure, arena, &out);
    else if (str_equal(failure.mechanism, "M12-object"))
        read_object(&failure, &all, arena, &out);
    else if (str_equal(failure.mechanism, "M12-source"))
        read_screen(&failure, arena, &out);
    else
        read_compiler(&failure, &all, arena, &out);
    return out;
}
