/*
 * Rules from seeded failures: a memory is filled with what really came of building kernels that
 * fail of 20 causes, with host faults and flaky outcomes between them; the rules that it gives are
 * counted; then a run meets new kernels of the same causes. Exit status 1 where the rules are not
 * exactly the causes, one is of a fault, or one refuses a kernel that can be built.
 */
#include "rules_source.h"

#include "base/str.h"
#include "engine/rulebook.h"
#include "engine/session.h"
#include "journal/event.h"
#include "os/file.h"
#include "os/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAULTS = 100, FLAKY = 30, SOUND = 60, BATCH = 16, MET = 60, MET_SOUND = 8 };

struct bench {
    struct memory memory;
    struct target *target;
    const struct task *task;
    const char *run_id;
    struct rng rng;
    struct arena arena;
    int64_t sequence;
    struct err err;
};

static int fail(const struct bench *b)
{
    (void)fprintf(stderr, "rules: %s\n", b->err.message);
    return 1;
}

static bool append(struct bench *b, const char *kind, struct buf *body, struct hash_id *id)
{
    const bool ok = journal_append(b->memory.journal, kind, body, id, &b->err);
    buf_clear(body);
    return ok;
}

static bool begin_run(struct bench *b)
{
    CLEANUP(buf_free) struct buf body = {0};
    struct hash_id id;
    event_write_task(&(struct task_event){.task_id = b->task->id.text,
                                          .name = b->task->name,
                                          .family = b->task->family,
                                          .dtype = dtype_name(b->task->dtype),
                                          .dir = b->task->dir},
                     &body);
    if (!append(b, EVENT_TASK, &body, &id))
        return false;
    event_write_run(&(struct run_event){.task_id = b->task->id.text,
                                        .target_id = target_features(b->target)->id.text,
                                        .proposer = "bench",
                                        .policy = "none",
                                        .budget = 1000},
                    &body);
    if (!append(b, EVENT_RUN, &body, &id))
        return false;
    b->run_id = arena_strdup(&b->arena, id.text);
    return true;
}

/* A decision and its outcome, as a run writes them. */
static bool record(struct bench *b, const struct candidate *candidate, struct verdict *verdict)
{
    CLEANUP(buf_free) struct buf body = {0};
    struct hash_id source, diagnostics = {""}, id;
    if (!journal_store_put(b->memory.journal, candidate->source, strlen(candidate->source), &source,
                           &b->err))
        return false;
    if (verdict->diagnostics && verdict->diagnostics[0] != '\0' &&
        !journal_store_put(b->memory.journal, verdict->diagnostics, strlen(verdict->diagnostics),
                           &diagnostics, &b->err))
        return false;
    event_write_decision(
        &(struct decision_event){.run_id = b->run_id,
                                 .parent = "",
                                 .sequence = ++b->sequence,
                                 .step = "large",
                                 .proposer = "bench",
                                 .compiler = candidate->compiler,
                                 .flags = candidate_flags_text(candidate, &b->arena),
                                 .source_body = source.text,
                                 .candidate_id = candidate_id(candidate).text},
        &body);
    if (!append(b, EVENT_DECISION, &body, &id))
        return false;
    event_write_outcome(&(struct outcome_event){.run_id = b->run_id,
                                                .decision_id = arena_strdup(&b->arena, id.text),
                                                .target_id = target_features(b->target)->id.text,
                                                .task_id = b->task->id.text,
                                                .verdict = *verdict,
                                                .diagnostics_body = diagnostics.text},
                        &body);
    return append(b, EVENT_OUTCOME, &body, &id);
}

static struct candidate new_candidate(struct bench *b, size_t cause)
{
    const struct target_features *f = target_features(b->target);
    struct candidate candidate = {0};
    (void)candidate_parse_flags(cause_flags(cause), &b->arena, &candidate);
    candidate.source = failing_source(cause, &b->rng, &b->arena);
    candidate.compiler = f->compilers[rng_below(&b->rng, f->compiler_count)].name;
    return candidate;
}

/* Builds and records; `*surprises` counts what did not end as it should. */
static bool build_and_record(struct bench *b, const size_t *which, size_t count, size_t *surprises)
{
    struct candidate candidates[BATCH];
    struct build_request requests[BATCH];
    struct build_result results[BATCH];
    for (size_t i = 0; i < count; i++) {
        candidates[i] = new_candidate(b, which[i]);
        requests[i] = (struct build_request){
            .task = b->task, .candidate = &candidates[i], .real_name = "float"};
    }
    if (!target_build_all(b->target, requests, count, &b->arena, results, &b->err))
        return false;
    for (size_t i = 0; i < count; i++) {
        const bool is_built = results[i].status == BUILD_OK;
        struct verdict verdict = {.kind = is_built ? VERDICT_TIMED
                                          : results[i].status == BUILD_REJECTED
                                              ? VERDICT_REJECTED
                                              : VERDICT_BUILD_FAILED,
                                  .mechanism = results[i].mechanism,
                                  .evidence = results[i].evidence,
                                  .diagnostics = results[i].diagnostics,
                                  .code_id = results[i].code_id};
        const struct cause cause = cause_of(&(struct failure){.kind = verdict.kind,
                                                              .mechanism = verdict.mechanism,
                                                              .evidence = verdict.evidence,
                                                              .diagnostics = verdict.diagnostics,
                                                              .entry = b->task->entry},
                                            &b->arena);
        if (!str_equal(cause.key, cause_key(which[i]))) {
            (*surprises)++;
            if (*surprises <= 5)
                (void)printf("  %s: '%s' in place of '%s'\n%s\n%s\n", candidates[i].compiler,
                             cause.key, cause_key(which[i]), verdict.diagnostics,
                             candidates[i].source);
        }
        if (!record(b, &candidates[i], &verdict))
            return false;
    }
    return true;
}

static bool record_fault(struct bench *b, size_t number)
{
    static const struct {
        enum verdict_kind kind;
        const char *mechanism, *evidence, *diagnostics;
    } faults[] = {
        {VERDICT_BUILD_FAILED, "compiler", "the compiler died of signal 9", ""},
        {VERDICT_BUILD_FAILED, "compiler", "gcc: fatal error: Killed signal terminated program cc1",
         "gcc: fatal error: Killed signal terminated program cc1\ncompilation terminated.\n"},
        {VERDICT_BUILD_FAILED, "compiler", "not done after 60 s", ""},
        {VERDICT_BUILD_FAILED, "compiler", "error writing to /tmp/cc.s: No space left on device",
         "candidate.c:9:1: fatal error: error writing to /tmp/cc.s: No space left on device\n"},
        {VERDICT_BUILD_FAILED, "compiler", "virtual memory exhausted: Cannot allocate memory",
         "virtual memory exhausted: Cannot allocate memory\n"},
        {VERDICT_BUILD_FAILED, "linker", "/usr/bin/ld: final link failed: No space left on device",
         "/usr/bin/ld: final link failed: No space left on device\n"},
        {VERDICT_BUILD_FAILED, "compiler", "clang: error: unable to execute command: Killed",
         "clang: error: unable to execute command: Killed\n"},
        {VERDICT_TOO_NOISY, "noise", "the host is busy", ""},
        {VERDICT_TIMED_OUT, "limit", "a call took more than 2 s", ""},
        {VERDICT_CRASHED, "signal", "signal 9: killed from outside, most likely for memory", ""},
    };
    const size_t i = number % (sizeof faults / sizeof *faults);
    /* What stands in the source is not to blame, but could be: it fails of a cause as well. */
    const struct candidate candidate = new_candidate(b, number % 2 ? CAUSE_NONE : CAUSE_FLAKY);
    struct verdict verdict = {.kind = faults[i].kind,
                              .mechanism = faults[i].mechanism,
                              .evidence = faults[i].evidence,
                              .diagnostics = faults[i].diagnostics};
    return record(b, &candidate, &verdict);
}

/* One candidate that failed once and was built another time. */
static bool record_flaky(struct bench *b, size_t number)
{
    const struct candidate candidate = new_candidate(b, CAUSE_FLAKY);
    struct verdict failed = {.kind = VERDICT_BUILD_FAILED,
                             .mechanism = "compiler",
                             .evidence = "candidate.c:3:9: error: label 'a' used but not defined",
                             .diagnostics =
                                 "candidate.c:3:9: error: label 'a' used but not defined\n"};
    struct verdict built = {.kind = VERDICT_TIMED, .mechanism = "", .diagnostics = ""};
    return record(b, &candidate, number % 2 ? &failed : &built) &&
           record(b, &candidate, number % 2 ? &built : &failed);
}

/* All in one shuffled order, faults and flaky ones spread evenly between. */
static bool fill(struct bench *b, size_t failures, size_t *surprises)
{
    const size_t total = failures + SOUND;
    size_t *plan = arena_array(&b->arena, total, sizeof *plan);
    size_t faults = 0, flaky = 0;
    for (size_t i = 0; i < total; i++) {
        const size_t other = (size_t)rng_below(&b->rng, i + 1);
        plan[i] = plan[other];
        plan[other] = i < failures ? i % RULE_CAUSES : CAUSE_NONE;
    }
    for (size_t done = 0; done < total;) {
        const size_t count = total - done < BATCH ? total - done : BATCH;
        if (!build_and_record(b, plan + done, count, surprises))
            return false;
        done += count;
        for (; faults < FAULTS * done / total; faults++)
            if (!record_fault(b, faults))
                return false;
        for (; flaky < FLAKY * done / total; flaky++)
            if (!record_flaky(b, flaky))
                return false;
    }
    return graph_catch_up(b->memory.graph, b->memory.journal, NULL, &b->err);
}

/* Each rule beside the cause that it is of. */
static size_t print_rules(const struct rulebook *book, struct arena *arena)
{
    size_t right = 0;
    (void)printf("%-40s %8s  %-52s %s\n", "cause", "failures", "foretold by", "smallest example");
    for (size_t i = 0; i < book->count; i++) {
        const struct rulebook_rule *rule = &book->rules[i];
        const char *source = "";
        struct err ignored;
        enum { SHOWN = 90 };
        for (size_t k = 0; k < RULE_CAUSES; k++)
            right += str_equal(rule->rule.cause, cause_key(k));
        (void)rulebook_reproducer(book, rule, arena, &source, &ignored);
        char *line = arena_strndup(arena, source, SHOWN);
        for (char *c = line; *c; c++)
            *c = *c == '\n' ? ' ' : *c;
        (void)printf("%-40s %8lld  %-52.52s %s\n", rule->rule.cause,
                     (long long)rule->rule.occurrences, rule->rule.predicate, line);
    }
    return right;
}

struct met {
    int64_t saved, tested, missed, refused_sound;
};

/* Rules that were put to the test by a candidate. */
static bool count_tests(struct bench *b, const char *dir, int64_t *tests)
{
    CLEANUP(memory_close) struct memory memory = {0};
    const struct graph_rule *rules = NULL;
    size_t count = 0;
    *tests = 0;
    if (!memory_open(dir, false, &b->arena, &memory, &b->err) ||
        !graph_rules(memory.graph, &b->arena, &rules, &count, &b->err))
        return false;
    for (size_t i = 0; i < count; i++)
        *tests += rules[i].upheld + rules[i].missed + rules[i].is_contradicted;
    return true;
}

/* New kernels of the same causes, and sound ones, in a run as a client drives it. */
static bool meet(struct bench *b, const char *dir, const char *task, struct met *met)
{
    struct engine_session *session = NULL;
    const struct engine_session_opts opts = {.run = {.task_path = task,
                                                     .memory_dir = dir,
                                                     .proposer = "bench",
                                                     .budget = MET + MET_SOUND,
                                                     .seed = 1,
                                                     .has_seed = true}};
    if (!engine_session_open(&opts, NULL, &session, &b->err))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < MET + MET_SOUND; i++) {
        CLEANUP(arena_free) struct arena step = {0};
        const bool is_sound = i >= MET;
        struct engine_judged judged;
        const struct engine_attempt attempt = {
            .parent = "", .candidate = new_candidate(b, is_sound ? CAUSE_NONE : i % RULE_CAUSES)};
        ok = engine_session_evaluate(session, &attempt, &step, &judged, &b->err);
        const bool is_refused = ok && str_equal(judged.verdict.mechanism, "rule");
        met->saved += is_refused && !is_sound;
        met->refused_sound += is_refused && is_sound;
        met->missed += ok && !is_refused && !is_sound;
        if (ok && !is_refused && !is_sound)
            (void)printf("  built: '%s' with %s\n", cause_key(i % RULE_CAUSES),
                         attempt.candidate.compiler);
    }
    engine_session_close(&session);
    ok = ok && count_tests(b, dir, &met->tested);
    met->missed -= met->tested;
    return ok;
}

int main(int argc, char **argv)
{
    struct bench b = {0};
    int64_t failures = 500, seed = 1;
    struct met met = {0};
    char *dir = NULL;
    struct rulebook book;
    struct rulebook_lesson lesson;
    size_t surprises = 0;
    if ((argc > 1 && !str_parse_int64(argv[1], &failures)) ||
        (argc > 2 && !str_parse_int64(argv[2], &seed)) || failures < RULE_CAUSES * 3) {
        (void)fprintf(stderr, "use: bench/rules KOPE [FAILURES [SEED]], at least 60 failures\n");
        return 2;
    }
    b.rng = rng_seeded((uint64_t)seed);
    const char *task = os_path_join(&b.arena, KOPE_SOURCE_DIR, "examples/sum");
    if (!os_make_temp_dir("kope-rules", &b.arena, &dir, &b.err) ||
        !task_load(task, &b.arena, &b.task, &b.err) ||
        !memory_open(dir, true, &b.arena, &b.memory, &b.err) ||
        !target_open("cpu", os_path_join(&b.arena, dir, "targets"), &b.target, &b.err) ||
        !begin_run(&b))
        return fail(&b);
    int64_t start = os_now_ns();
    if (!fill(&b, (size_t)failures, &surprises))
        return fail(&b);
    (void)printf("%lld failures of %d causes built (%zu ended otherwise), %d host faults, %d "
                 "flaky candidates, %d sound ones: %.1f s\n",
                 (long long)failures, RULE_CAUSES, surprises, FAULTS, FLAKY, SOUND,
                 (double)(os_now_ns() - start) * 1e-9);
    start = os_now_ns();
    if (!rulebook_open(&b.memory, b.target, NULL, &b.arena, &book, &b.err) ||
        !rulebook_learn(&book, &(struct rulebook_limits){0}, &lesson, &b.err))
        return fail(&b);
    (void)printf("rules made: %zu, of %zu causes in memory, with %zu builds in %.1f s; %zu host "
                 "faults and %zu flaky failures count nowhere; no predicate: %zu\n\n",
                 lesson.learned, lesson.causes, lesson.builds, (double)(os_now_ns() - start) * 1e-9,
                 lesson.host_faults, lesson.flaky, lesson.without);
    const size_t right = print_rules(&book, &b.arena);
    const bool is_exact = right == RULE_CAUSES && book.count == RULE_CAUSES;
    (void)printf(
        "\n%zu rules, %zu of them of the %d causes, %zu of a host fault or a flaky outcome\n",
        book.count, right, RULE_CAUSES, book.count - right);
    rulebook_close(&book);
    memory_close(&b.memory);
    b.memory = (struct memory){0};
    if (!meet(&b, dir, task, &met))
        return fail(&b);
    (void)printf(
        "a new run, %d new kernels of the causes and %d sound ones: %lld builds saved, %lld built "
        "to test a rule, %lld not foretold; sound ones refused: %lld\n",
        MET, MET_SOUND, (long long)met.saved, (long long)met.tested, (long long)met.missed,
        (long long)met.refused_sound);
    target_close(&b.target);
    (void)os_remove_tree(dir, &b.err);
    arena_free(&b.arena);
    return is_exact && met.refused_sound == 0 && surprises == 0 ? 0 : 1;
}
