#include "command/internal.h"

#include "base/str.h"
#include "graph/graph.h"

#include <math.h>

static const struct param memory_params[] = {PARAM_MEMORY, {0}};

static void write_recovery(const struct journal_recovery *r, struct json_writer *w,
                           struct buf *text)
{
    json_put_int(w, "segments", r->segments);
    json_put_int(w, "events", r->events);
    json_put_int(w, "torn_bytes", r->torn_bytes);
    json_put_int(w, "corrupt_events", r->corrupt_events);
    (void)buf_printf(text, "journal: %lld events in %lld segments\n", (long long)r->events,
                     (long long)r->segments);
    if (r->torn_bytes != 0)
        (void)buf_printf(
            text, "  %lld bytes of unfinished records at segment ends (never acknowledged)\n",
            (long long)r->torn_bytes);
    if (r->corrupt_events != 0) {
        (void)buf_printf(text, "  %lld corrupt records skipped; the first: %s\n",
                         (long long)r->corrupt_events, r->first_corrupt);
        json_put_string(w, "first_corrupt", r->first_corrupt);
    }
}

static void write_stats(const struct graph_stats *s, struct json_writer *w, struct buf *text)
{
    (void)buf_printf(text,
                     "tasks %lld, targets %lld, runs %lld\ndecisions %lld, outcomes %lld, findings "
                     "%lld, contexts %lld\n",
                     (long long)s->tasks, (long long)s->targets, (long long)s->runs,
                     (long long)s->decisions, (long long)s->outcomes, (long long)s->findings,
                     (long long)s->contexts);
    (void)buf_append_str(text, "verdicts:");
    json_put_int(w, "tasks", s->tasks);
    json_put_int(w, "targets", s->targets);
    json_put_int(w, "runs", s->runs);
    json_put_int(w, "decisions", s->decisions);
    json_put_int(w, "outcomes", s->outcomes);
    json_put_int(w, "wins", s->wins);
    json_put_int(w, "confirmed", s->confirmed);
    json_key(w, "verdicts");
    json_begin_object(w);
    for (int kind = 0; kind < VERDICT_COUNT; kind++) {
        (void)buf_printf(text, " %s %lld%s", verdict_kind_name((enum verdict_kind)kind),
                         (long long)s->by_verdict[kind], kind + 1 < VERDICT_COUNT ? "," : "\n");
        json_put_int(w, verdict_kind_name((enum verdict_kind)kind), s->by_verdict[kind]);
    }
    json_end_object(w);
    (void)buf_printf(text, "wins %lld, confirmed %lld\n", (long long)s->wins,
                     (long long)s->confirmed);
    if (s->confirmed != 0) {
        (void)buf_printf(text, "geometric mean of the best confirmed speedup of each task: %.2fx\n",
                         exp(s->best_log_ratio_mean));
        json_put_real(w, "best_speedup_geomean", exp(s->best_log_ratio_mean));
    }
}

static const struct param stats_params[] = {
    {"digest", NULL, "also the digest of the graph: equal memories have equal ones", NULL,
     PARAM_FLAG, false, false, NULL},
    PARAM_MEMORY,
    {0},
};

static bool run_stats(const struct command_call *call, struct command_result *out, struct err *err)
{
    CLEANUP(memory_close) struct memory memory = {0};
    const bool with_digest = command_flag(call, "digest");
    struct graph_stats stats;
    struct hash_id digest;
    if (!memory_open(command_text(call, "memory"), false, call->arena, &memory, err) ||
        !graph_get_stats(memory.graph, &stats, err) ||
        (with_digest && !graph_digest(memory.graph, &digest, err)))
        return false;
    struct json_writer w = {.out = &out->json};
    json_begin_object(&w);
    json_put_string(&w, "memory", memory.dir);
    (void)buf_printf(&out->text, "memory: %s\n", memory.dir);
    write_recovery(&memory.recovery, &w, &out->text);
    write_stats(&stats, &w, &out->text);
    if (with_digest) {
        (void)buf_printf(&out->text, "graph: %s\n", digest.text);
        json_put_string(&w, "graph", digest.text);
    }
    json_end_object(&w);
    return true;
}

const struct command command_memory_stats = {
    .name = "memory stats",
    .summary = "what a memory holds",
    .description =
        "Counts of events, decisions and outcomes, and verdicts, by indices: about as fast in a "
        "large memory as in a small one.\n"
        "It checks nothing ('memory verify' reads every record) and compares nothing: --digest "
        "hashes every row of the graph,\n"
        "which takes a minute for each million decisions; 'memory rebuild' also says whether the "
        "graph is what the journal gives.",
    .examples = "  kope memory stats\n"
                "  kope memory stats --memory team --digest    # to compare it with another",
    .params = stats_params,
    .run = run_stats,
};

static bool run_verify(const struct command_call *call, struct command_result *out, struct err *err)
{
    struct journal_recovery recovery = {0};
    int64_t missing = 0;
    const char *dir = command_text(call, "memory");
    dir = dir ? dir : memory_default_dir(call->arena);
    if (!journal_verify(dir, &recovery, &missing, err))
        return false;
    struct json_writer w = {.out = &out->json};
    json_begin_object(&w);
    json_put_string(&w, "memory", dir);
    (void)buf_printf(&out->text, "memory: %s\n", dir);
    write_recovery(&recovery, &w, &out->text);
    json_put_int(&w, "missing_bodies", missing);
    json_end_object(&w);
    const bool sound = recovery.corrupt_events == 0 && missing == 0;
    if (missing != 0)
        (void)buf_printf(&out->text, "  %lld stored bodies are missing or do not match their id\n",
                         (long long)missing);
    (void)buf_append_str(&out->text,
                         sound ? "sound: every record and every body matches its checksum\n"
                               : "damaged: see above; the rest is usable\n");
    out->exit_code = sound ? 0 : err_kind_exit_code(ERR_CORRUPT);
    return true;
}

const struct command command_memory_verify = {
    .name = "memory verify",
    .summary = "check every record and every stored body",
    .description = "Reads the whole journal and the store against their checksums. Exit code 9 "
                   "where something is damaged; an unfinished last\n"
                   "record of a process that was killed is no damage: it was never acknowledged.",
    .params = memory_params,
    .run = run_verify,
};

static bool run_rebuild(const struct command_call *call, struct command_result *out,
                        struct err *err)
{
    CLEANUP(memory_close) struct memory memory = {0};
    struct hash_id before;
    struct hash_id after;
    int64_t applied = 0;
    if (!memory_open(command_text(call, "memory"), true, call->arena, &memory, err) ||
        !graph_digest(memory.graph, &before, err) ||
        !graph_rebuild(memory.graph, memory.journal, &applied, err) ||
        !graph_digest(memory.graph, &after, err))
        return false;
    const bool equal = str_equal(before.text, after.text);
    struct json_writer w = {.out = &out->json};
    json_begin_object(&w);
    json_put_int(&w, "events", applied);
    json_put_string(&w, "before", before.text);
    json_put_string(&w, "after", after.text);
    json_put_bool(&w, "equal", equal);
    json_end_object(&w);
    (void)buf_printf(&out->text, "rebuilt from %lld events: graph %s, %s\n", (long long)applied,
                     after.text,
                     equal ? "equal to the old one"
                           : arena_printf(call->arena, "the old one was %s", before.text));
    return true;
}

const struct command command_memory_rebuild = {
    .name = "memory rebuild",
    .summary = "make the graph again from the journal",
    .description = "The journal is the truth, the graph an index over it: it can be made again at "
                   "any time, and comes out equal.",
    .params = memory_params,
    .run = run_rebuild,
};
