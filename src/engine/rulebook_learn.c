/*
 * Rules from the failures in memory: clusters, a predicate for each cause that has none yet, and a
 * reproducer that is shrunk by building.
 */
#include "engine/internal.h"
#include "engine/rulebook_internal.h"

#include "base/buf.h"
#include "base/str.h"
#include "os/os.h"
#include "rule/cluster.h"
#include "rule/shrink.h"

enum {
    MOST_FAILED = 2000,  /* failures that are looked at */
    MOST_PASSED = 300,   /* candidates that a predicate must not fire on */
    MOST_SAMPLES = 64,   /* of a cluster */
    MOST_EVIDENCE = 16,  /* decisions that a rule names */
    MOST_SHRUNK = 16384, /* bytes of a source that is shrunk */
};

/* What the memory holds, and what was made of it. */
struct study {
    struct rulebook *book;
    const struct graph_failure *failures;
    struct observation *observations;
    size_t count;
    const struct graph_failure *successes;
    const struct rule_source **passed;
    size_t *passed_compilers;
    size_t passed_count;
    size_t builds, most_tests;
    struct arena arena;
};

static bool read_candidate(struct study *s, const struct graph_failure *f, struct candidate *out,
                           bool *ok, struct err *err)
{
    *out = (struct candidate){.compiler = f->compiler[0] != '\0' ? f->compiler : NULL};
    *ok = candidate_parse_flags(f->flags, &s->arena, out);
    return memory_get_text(s->book->memory, f->source_body, &s->arena, &out->source, err);
}

static bool read_observations(struct study *s, size_t most, struct err *err)
{
    if (!graph_failures(s->book->memory->graph, most, &s->arena, &s->failures, &s->count, err))
        return false;
    s->observations = arena_array(&s->arena, s->count + 1, sizeof *s->observations);
    for (size_t i = 0; i < s->count; i++) {
        const struct graph_failure *f = &s->failures[i];
        struct observation *o = &s->observations[i];
        const char *diagnostics = "";
        if (!memory_get_text(s->book->memory, f->diagnostics_body, &s->arena, &diagnostics, err))
            return false;
        *o = (struct observation){.decision_id = f->decision_id,
                                  .candidate = f->candidate_id,
                                  .target_id = f->target_id,
                                  .is_cancelled = str_equal(f->mechanism, "rule"),
                                  .cause = cause_of(&(struct failure){.kind = f->kind,
                                                                      .mechanism = f->mechanism,
                                                                      .evidence = f->evidence,
                                                                      .diagnostics = diagnostics,
                                                                      .entry = f->entry},
                                                    &s->arena)};
        /* Its way through the build is what counts here. */
        o->is_built = f->kind == VERDICT_TIMED || (o->cause.is_lesson && !o->cause.shows_at_build);
    }
    return true;
}

static bool read_passed(struct study *s, struct err *err)
{
    size_t count = 0;
    if (!graph_successes(s->book->memory->graph, MOST_PASSED, &s->arena, &s->successes, &count,
                         err))
        return false;
    s->passed = arena_array(&s->arena, count + 2, sizeof *s->passed);
    s->passed_compilers = arena_array(&s->arena, count + 2, sizeof *s->passed_compilers);
    for (size_t i = 0; i < count; i++) {
        struct candidate candidate;
        bool ok = false;
        if (!read_candidate(s, &s->successes[i], &candidate, &ok, err))
            return false;
        /* One that cannot be read keeps its place: indices are those of the successes. */
        s->passed[s->passed_count] =
            rulebook_read(s->book, &candidate, &s->passed_compilers[s->passed_count], &s->arena);
        s->passed_count++;
    }
    return true;
}

/* A rule that fires on what was built, where it would have been believed. */
static bool retire_refuted(struct study *s, size_t *retired, struct err *err)
{
    const struct target_features *f = target_features(s->book->target);
    for (size_t r = 0; r < s->book->count; r++) {
        struct rulebook_rule *rule = &s->book->rules[r];
        for (size_t i = 0; i < s->passed_count && rule->is_readable && !rule->is_retired; i++) {
            const size_t compiler = s->passed_compilers[i];
            const struct graph_failure *success = &s->successes[i];
            if (compiler == f->compiler_count || rule->standing[compiler] != STANDING_HOLDS ||
                !str_equal(success->target_id, f->id.text) ||
                (rule->rule.task_id[0] && !str_equal(rule->rule.task_id, success->task_id)) ||
                (rule->rule.dtype[0] && !str_equal(rule->rule.dtype, success->dtype)) ||
                !rule_predicate_holds(rule->rule.predicate, s->passed[i]))
                continue;
            rule->is_retired = true;
            (*retired)++;
            if (!rulebook_write_check(s->book, rule, compiler, RULE_CONTRADICTED,
                                      success->decision_id, "it was built", err))
                return false;
        }
    }
    return true;
}

static bool has_rule(const struct rulebook *book, const char *cause)
{
    for (size_t i = 0; i < book->count; i++) {
        if (!book->rules[i].is_retired && str_equal(book->rules[i].rule.cause, cause))
            return true;
    }
    return false;
}

static bool is_known_id(const struct rulebook *book, const char *id)
{
    for (size_t i = 0; i < book->count; i++) {
        if (str_equal(book->rules[i].rule.id, id))
            return true;
    }
    return false;
}

/* --- one rule ----------------------------------------------------------------------------------
 */

struct making {
    struct study *study;
    const struct cluster *cluster;
    const char *predicate;
    struct candidate candidate;               /* the sample that is shrunk */
    const struct task *task;                  /* that it is built for */
    const char *others[TARGET_MAX_COMPILERS]; /* other compilers that say the same of the sample */
    size_t other_count;
};

static bool fails_with(struct making *m, const struct candidate *candidate, bool *fails,
                       struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    bool is_built = false;
    struct cause cause;
    m->study->builds++;
    if (!rulebook_build(m->study->book, m->task, candidate, &is_built, &scratch, &cause, err))
        return false;
    *fails = cause.is_lesson && str_equal(cause.key, m->cluster->cause.key);
    return true;
}

/* The same failure with each compiler that knows it, and the predicate sees it: what a reproducer
 * has to keep. */
static bool fails_alike(void *context, const char *source, bool *fails, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct making *m = context;
    struct candidate candidate = m->candidate;
    size_t compiler = 0;
    candidate.source = source;
    *fails = false;
    const struct rule_source *read = rulebook_read(m->study->book, &candidate, &compiler, &scratch);
    if (!rule_predicate_holds(m->predicate, read))
        return true;
    if (!fails_with(m, &candidate, fails, err))
        return false;
    for (size_t i = 0; *fails && i < m->other_count; i++) {
        candidate.compiler = m->others[i];
        if (!fails_with(m, &candidate, fails, err))
            return false;
    }
    return true;
}

/* Whichever compiler says the same of the whole sample is to say it of the reproducer too. */
static bool choose_compilers(struct making *m, struct err *err)
{
    const struct target_features *f = target_features(m->study->book->target);
    const char *own = m->candidate.compiler ? m->candidate.compiler : "";
    for (size_t i = 0; i < f->compiler_count; i++) {
        struct candidate candidate = m->candidate;
        bool fails = false;
        candidate.compiler = f->compilers[i].name;
        if (str_equal(candidate.compiler, own))
            continue;
        if (!fails_with(m, &candidate, &fails, err))
            return false;
        if (fails)
            m->others[m->other_count++] = candidate.compiler;
    }
    return true;
}

/* On the smallest task that it fails for too: then the rule holds for any task. */
static bool choose_task(struct making *m, const struct graph_failure *from, bool *found,
                        struct err *err)
{
    struct rulebook *book = m->study->book;
    const struct task *own =
        book->task && str_equal(book->task->id.text, from->task_id) ? book->task : NULL;
    struct err ignored;
    if (!own && from->task_dir[0] != '\0' &&
        (!task_load(from->task_dir, &m->study->arena, &own, &ignored) ||
         !str_equal(own->id.text, from->task_id)))
        own = NULL;
    const struct task *const tasks[] = {book->probes[0], book->probes[1], own};
    *found = false;
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks && !*found; i++) {
        m->task = tasks[i];
        if (m->task && !fails_alike(m, m->candidate.source, found, err))
            return false;
    }
    return true;
}

/* The shortest sample that the predicate holds for. */
static bool choose_sample(struct making *m, const struct graph_failure **from, struct err *err)
{
    size_t shortest = MOST_SHRUNK;
    *from = NULL;
    for (size_t i = 0; i < m->cluster->count && i < MOST_SAMPLES; i++) {
        const struct graph_failure *f = &m->study->failures[m->cluster->members[i]];
        struct candidate candidate;
        size_t compiler = 0;
        bool ok = false;
        if (!read_candidate(m->study, f, &candidate, &ok, err))
            return false;
        const struct rule_source *source =
            rulebook_read(m->study->book, &candidate, &compiler, &m->study->arena);
        if (!ok || strlen(candidate.source) >= shortest ||
            compiler == target_features(m->study->book->target)->compiler_count ||
            !rule_predicate_holds(m->predicate, source))
            continue;
        shortest = strlen(candidate.source);
        m->candidate = candidate;
        *from = f;
    }
    return true;
}

static const char *evidence_of(const struct study *s, const struct cluster *cluster,
                               struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    for (size_t i = 0; i < cluster->count && i < MOST_EVIDENCE; i++)
        (void)buf_printf(&text, "%s%s", i ? " " : "",
                         s->observations[cluster->members[i]].decision_id);
    return arena_strdup(arena, buf_text(&text));
}

/* Flags that the failure does not need. */
static bool shrink_flags(struct making *m, const char *source, struct err *err)
{
    for (size_t i = m->candidate.flag_count; i-- > 0 && m->candidate.flag_count > 1;) {
        struct candidate before = m->candidate;
        bool fails = false;
        m->candidate.flag_count--;
        memmove(&m->candidate.flags[i], &m->candidate.flags[i + 1],
                (m->candidate.flag_count - i) * sizeof m->candidate.flags[0]);
        if (!fails_alike(m, source, &fails, err))
            return false;
        if (!fails)
            m->candidate = before;
    }
    return true;
}

/* Does the reproducer need the dtype that it was shrunk in? */
static bool dtype_needed(struct making *m, const char *source, const char **out, struct err *err)
{
    bool fails = false;
    const struct task *const *probes = m->study->book->probes;
    *out = dtype_name(m->task->dtype);
    if (m->task != probes[0] && m->task != probes[1])
        return true;
    const struct task *first = m->task;
    m->task = first == probes[0] ? probes[1] : probes[0];
    const bool ok = fails_alike(m, source, &fails, err);
    m->task = first;
    if (fails)
        *out = "";
    return ok;
}

static bool write_rule(struct making *m, const char *reproducer, const struct graph_failure *from,
                       struct err *err)
{
    CLEANUP(buf_free) struct buf body = {0};
    struct rulebook *book = m->study->book;
    const char *const parts[] = {m->cluster->cause.key, m->predicate};
    const struct hash_id id = hash_strings(parts, 2);
    const bool is_own = m->task != book->probes[0] && m->task != book->probes[1];
    struct graph_rule rule = {
        .id = arena_strdup(book->arena, id.text),
        .cause = arena_strdup(book->arena, m->cluster->cause.key),
        .words = arena_strdup(book->arena, m->cluster->cause.words),
        .predicate = arena_strdup(book->arena, m->predicate),
        .flags = candidate_flags_text(&m->candidate, book->arena),
        .task_id = is_own ? arena_strdup(book->arena, from->task_id) : "",
        .task_dir = is_own ? arena_strdup(book->arena, from->task_dir) : "",
        .evidence = evidence_of(m->study, m->cluster, book->arena),
        .occurrences = (int64_t)m->cluster->count,
        .candidates = (int64_t)m->cluster->candidates,
    };
    if (!dtype_needed(m, reproducer, &rule.dtype, err) ||
        !memory_put_text(book->memory, reproducer, book->arena, &rule.reproducer_body, err))
        return false;
    event_write_rule(&(struct rule_event){.rule_id = rule.id,
                                          .action = RULE_DEFINE,
                                          .cause = rule.cause,
                                          .words = rule.words,
                                          .predicate = rule.predicate,
                                          .reproducer_body = rule.reproducer_body,
                                          .flags = rule.flags,
                                          .dtype = rule.dtype,
                                          .task_id = rule.task_id,
                                          .task_dir = rule.task_dir,
                                          .evidence = rule.evidence,
                                          .occurrences = rule.occurrences,
                                          .candidates = rule.candidates},
                     &body);
    if (!memory_append(book->memory, EVENT_RULE, &body, NULL, err) ||
        !rulebook_add(book, &rule, err))
        return false;
    const struct target_features *f = target_features(book->target);
    for (size_t i = 0; i < f->compiler_count; i++) {
        if (!rulebook_check(book, &book->rules[book->count - 1], i, err))
            return false;
    }
    return true;
}

static bool find_predicate(struct making *m, struct err *err)
{
    struct study *s = m->study;
    const struct cluster *cluster = m->cluster;
    struct rule_sample samples[MOST_SAMPLES];
    size_t count = 0, covered = 0;
    for (size_t i = 0; i < cluster->count && count < MOST_SAMPLES; i++) {
        const size_t at = cluster->members[i];
        struct candidate candidate;
        size_t compiler = 0;
        bool ok = false;
        if (!read_candidate(s, &s->failures[at], &candidate, &ok, err))
            return false;
        if (ok)
            samples[count++] = (struct rule_sample){
                rulebook_read(s->book, &candidate, &compiler, &s->arena),
                s->observations[at].cause.line, s->observations[at].cause.column};
    }
    m->predicate = rule_find_predicate(&cluster->cause, samples, count, s->passed, s->passed_count,
                                       &covered, &s->arena);
    return true;
}

/* `*made` is false where no predicate foretells the cause, or nothing here reproduces it. */
static bool make_rule(struct study *s, const struct cluster *cluster, bool *made, struct err *err)
{
    struct making m = {.study = s, .cluster = cluster};
    const struct graph_failure *from = NULL;
    struct shrunk shrunk;
    bool found = false;
    *made = false;
    if (!find_predicate(&m, err))
        return false;
    if (!m.predicate)
        return true;
    const char *const parts[] = {cluster->cause.key, m.predicate};
    if (is_known_id(s->book, hash_strings(parts, 2).text))
        return true; /* contradicted before */
    if (!choose_sample(&m, &from, err))
        return false;
    if (!from)
        return true;
    if (!choose_task(&m, from, &found, err))
        return false;
    if (!found)
        return true;
    if (!choose_compilers(&m, err))
        return false;
    const struct shrink_test test = {fails_alike, &m};
    if (!rule_shrink(m.candidate.source, s->most_tests, &test, &s->arena, &shrunk, err))
        return false;
    if (!shrink_flags(&m, shrunk.source, err))
        return false;
    *made = true;
    return write_rule(&m, shrunk.source, from, err);
}

static bool make_rules(struct study *s, const struct clusters *clusters, int64_t deadline_ns,
                       struct rulebook_lesson *out, struct err *err)
{
    for (size_t i = 0; i < clusters->count; i++) {
        bool made = false;
        if (!clusters->items[i].makes_rule)
            continue;
        if (has_rule(s->book, clusters->items[i].cause.key)) {
            out->known++;
            continue;
        }
        if (deadline_ns != 0 && os_now_ns() > deadline_ns)
            return true;
        if (!make_rule(s, &clusters->items[i], &made, err))
            return false;
        out->learned += made;
        out->without += !made;
    }
    return true;
}

bool rulebook_learn(struct rulebook *book, const struct rulebook_limits *limits,
                    struct rulebook_lesson *out, struct err *err)
{
    struct study s = {.book = book,
                      .most_tests = limits->most_tests ? limits->most_tests : RULEBOOK_MOST_TESTS};
    struct rulebook_lesson lesson = {0};
    const int64_t deadline_ns = limits->most_ns ? os_now_ns() + limits->most_ns : 0;
    bool ok = read_observations(&s, limits->most_failed ? limits->most_failed : MOST_FAILED, err) &&
              read_passed(&s, err) && retire_refuted(&s, &lesson.retired, err);
    if (ok) {
        const struct clusters clusters = rule_cluster(s.observations, s.count, &s.arena);
        for (size_t i = 0; i < s.count; i++)
            lesson.failures += !s.observations[i].is_built && !s.observations[i].is_cancelled;
        lesson.host_faults = clusters.host_faults;
        lesson.flaky = clusters.flaky;
        lesson.causes = clusters.count;
        ok = make_rules(&s, &clusters, deadline_ns, &lesson, err);
    }
    lesson.builds = s.builds;
    arena_free(&s.arena);
    if (ok)
        *out = lesson;
    return ok;
}
