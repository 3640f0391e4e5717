/* Commands that change what a memory holds. */
#include "command/internal.h"

#include "base/str.h"
#include "graph/graph.h"
#include "graph/prune.h"

static const struct param merge_params[] = {
    {"other", "OTHER...", "folders of the memories to take in; they are only read", NULL,
     PARAM_REST, true, true, NULL},
    PARAM_MEMORY,
    {0},
};

static void write_merged(const char *other, const struct journal_merged *m, struct json_writer *w,
                         struct buf *text)
{
    (void)buf_printf(text, "%s: %lld events added, %lld were known; %lld bodies added\n", other,
                     (long long)m->added, (long long)m->known, (long long)m->bodies);
    if (m->corrupt_events != 0)
        (void)buf_printf(text, "  %lld corrupt records of it left out; the first: %s\n",
                         (long long)m->corrupt_events, m->first_corrupt);
    if (m->pruned != 0)
        (void)buf_printf(text, "  %lld events of it left out: they were pruned here\n",
                         (long long)m->pruned);
    if (m->hidden != 0)
        (void)buf_printf(text, "  %lld events of this memory are gone: they were pruned there\n",
                         (long long)m->hidden);
    if (m->torn_bytes != 0)
        (void)buf_printf(text, "  %lld bytes of unfinished records of it left out\n",
                         (long long)m->torn_bytes);
    if (m->missing_bodies != 0)
        (void)buf_printf(text,
                         "  %lld times it names a body that could not be had; the first: %s\n",
                         (long long)m->missing_bodies, m->first_missing);
    json_begin_object(w);
    json_put_string(w, "memory", other);
    json_put_int(w, "added", m->added);
    json_put_int(w, "known", m->known);
    json_put_int(w, "pruned", m->pruned);
    json_put_int(w, "hidden", m->hidden);
    json_put_int(w, "bodies", m->bodies);
    json_put_int(w, "missing_bodies", m->missing_bodies);
    json_put_int(w, "corrupt_events", m->corrupt_events);
    json_put_int(w, "torn_bytes", m->torn_bytes);
    if (m->corrupt_events != 0)
        json_put_string(w, "first_corrupt", m->first_corrupt);
    if (m->missing_bodies != 0)
        json_put_string(w, "first_missing", m->first_missing);
    json_end_object(w);
}

/* What was merged before an error stays merged; the graph follows at the next opening. */
static bool run_merge(const struct command_call *call, struct command_result *out, struct err *err)
{
    CLEANUP(memory_close) struct memory memory = {0};
    size_t count = 0;
    int64_t applied = 0;
    bool is_whole = true;
    struct hash_id digest;
    const char *const *others = command_list(call, "other", &count);
    if (!memory_open(command_text(call, "memory"), true, call->arena, &memory, err))
        return false;
    struct json_writer w = {.out = &out->json};
    json_begin_object(&w);
    json_put_string(&w, "memory", memory.dir);
    json_key(&w, "merged");
    json_begin_array(&w);
    for (size_t i = 0; i < count; i++) {
        struct journal_merged merged;
        if (!journal_merge(memory.journal, others[i], &merged, err))
            return false;
        write_merged(others[i], &merged, &w, &out->text);
        is_whole = is_whole && merged.corrupt_events == 0 && merged.missing_bodies == 0;
    }
    json_end_array(&w);
    if (!graph_catch_up(memory.graph, memory.journal, &applied, err) ||
        !graph_digest(memory.graph, &digest, err))
        return false;
    (void)buf_printf(&out->text, "graph: %s\n", digest.text);
    json_put_string(&w, "graph", digest.text);
    json_end_object(&w);
    out->exit_code = is_whole ? 0 : err_kind_exit_code(ERR_CORRUPT);
    return true;
}

const struct command command_memory_merge = {
    .name = "memory merge",
    .summary = "take in what other memories hold",
    .description =
        "Makes the events of this memory the union with those of the others; they are only read. "
        "An "
        "event has the\n"
        "same id everywhere, so there is nothing to resolve: merging again adds nothing, the order "
        "does not matter,\n"
        "and a merge that was interrupted goes on when it is run again. Corrupt records and bodies "
        "of "
        "another memory\n"
        "are named and left out; the exit code is then 9, and all the rest is merged.",
    .examples = "  kope memory merge ../laptop/kope\n"
                "  kope memory merge a b c --memory team       # three into the folder 'team'",
    .params = merge_params,
    .run = run_merge,
};

/* ---- prune */

static const struct param prune_params[] = {
    {"keep-mb", "N", "prune the least worth until events and bodies take at most so many MB", NULL,
     PARAM_INT, false, false, NULL},
    {"below", "VALUE", "prune decisions that are worth less, such as 0.1", NULL, PARAM_TEXT, false,
     false, NULL},
    {"apply", NULL, "do it; without, only say what would be pruned", NULL, PARAM_FLAG, false, false,
     NULL},
    PARAM_MEMORY,
    {0},
};

static bool read_opts(const struct command_call *call, struct graph_prune_opts *out,
                      struct err *err)
{
    const char *below = command_text(call, "below");
    const int64_t keep_mb = command_int(call, "keep-mb", 0);
    *out = (struct graph_prune_opts){.is_dry_run = !command_flag(call, "apply")};
    if (below && (!str_parse_double(below, &out->below) || !(out->below > 0.0)))
        return err_set(err, ERR_USAGE, "--below takes a number above 0, not '%s'", below);
    if (keep_mb > INT64_MAX / 1000000)
        return err_set(err, ERR_USAGE, "--keep-mb takes a smaller number");
    if (command_text(call, "keep-mb") && keep_mb == 0)
        return err_set(err, ERR_USAGE, "--keep-mb takes a number above 0");
    out->keep_bytes = keep_mb * 1000000;
    if (!below && keep_mb == 0) {
        (void)err_set(err, ERR_USAGE, "'kope memory prune' needs --keep-mb or --below");
        return err_hint(err, "'kope help memory prune' says what a decision is worth");
    }
    return true;
}

static double megabytes(int64_t bytes)
{
    return (double)bytes / 1e6;
}

static void write_pruned(const struct graph_pruned *p, const struct graph_prune_opts *opts,
                         struct command_result *out)
{
    const bool is_dry_run = opts->is_dry_run;
    const int64_t left = p->bytes - p->pruned_bytes;
    struct json_writer w = {.out = &out->json};
    json_begin_object(&w);
    json_put_bool(&w, "applied", !is_dry_run);
    json_put_int(&w, "decisions", p->decisions);
    json_put_int(&w, "pinned", p->pinned);
    json_put_int(&w, "pruned_decisions", p->pruned_decisions);
    json_put_int(&w, "pruned_events", p->pruned_events);
    json_put_int(&w, "pruned_bytes", p->pruned_bytes);
    json_put_int(&w, "bytes", p->bytes);
    json_put_real(&w, "highest_value", p->highest);
    json_put_int(&w, "segments_removed", p->compacted.segments_removed);
    json_put_int(&w, "bodies_removed", p->compacted.bodies_removed);
    json_end_object(&w);
    (void)buf_printf(&out->text, "%s %lld of %lld decisions, %lld events, %.1f of %.1f MB\n",
                     is_dry_run ? "would prune" : "pruned", (long long)p->pruned_decisions,
                     (long long)p->decisions, (long long)p->pruned_events,
                     megabytes(p->pruned_bytes), megabytes(p->bytes));
    if (p->pruned_decisions != 0)
        (void)buf_printf(&out->text, "  the most valuable of them is worth %.3g\n", p->highest);
    if (opts->keep_bytes != 0 && left > opts->keep_bytes)
        (void)buf_printf(&out->text, "  the other %.1f MB are kept whatever they are worth\n",
                         megabytes(left));
    if (is_dry_run && p->pruned_decisions != 0)
        (void)buf_append_str(&out->text, "  nothing was changed: --apply does it\n");
    if (!is_dry_run)
        (void)buf_printf(&out->text,
                         "  %lld segments rewritten: %.1f MB became %.1f MB; %lld bodies removed, "
                         "%.1f MB\n",
                         (long long)p->compacted.segments_removed,
                         megabytes(p->compacted.bytes_before), megabytes(p->compacted.bytes_after),
                         (long long)p->compacted.bodies_removed,
                         megabytes(p->compacted.body_bytes));
}

static bool run_prune(const struct command_call *call, struct command_result *out, struct err *err)
{
    CLEANUP(memory_close) struct memory memory = {0};
    struct graph_prune_opts opts;
    struct graph_pruned pruned;
    if (!read_opts(call, &opts, err) ||
        !memory_open(command_text(call, "memory"), !opts.is_dry_run, call->arena, &memory, err) ||
        !graph_prune(memory.graph, memory.journal, &opts, &pruned, err))
        return false;
    write_pruned(&pruned, &opts, out);
    return true;
}

const struct command command_memory_prune = {
    .name = "memory prune",
    .summary = "forget what is worth least, never what is only old",
    .description =
        "A decision is worth 4 as a confirmed win, 2 as another win; 1/n for each move that was "
        "judged "
        "n times on its task and\n"
        "target; 1/n for a failure that happened n times in its family; 1/4 for each context that "
        "showed it; and at least what\n"
        "any decision that came of it is worth. Kept whatever that is: the best of a run and of a "
        "task, what a run began from,\n"
        "evidence of a skill. With a decision go its outcomes, findings, contexts, exchanges and "
        "stored bodies that nothing else\n"
        "names. Pruning is an event: a merge does not bring back what was pruned. Without --apply "
        "nothing is changed.",
    .examples = "  kope memory prune --keep-mb 500\n"
                "  kope memory prune --below 0.05 --apply",
    .params = prune_params,
    .run = run_prune,
};

/* ---- compact */

static const struct param compact_params[] = {PARAM_MEMORY, {0}};

static bool run_compact(const struct command_call *call, struct command_result *out,
                        struct err *err)
{
    CLEANUP(memory_close) struct memory memory = {0};
    struct journal_compacted done;
    int64_t applied = 0;
    if (!memory_open(command_text(call, "memory"), true, call->arena, &memory, err) ||
        !journal_compact(memory.journal, &done, err) ||
        !graph_catch_up(memory.graph, memory.journal, &applied, err))
        return false;
    struct json_writer w = {.out = &out->json};
    json_begin_object(&w);
    json_put_int(&w, "segments_removed", done.segments_removed);
    json_put_int(&w, "bytes_before", done.bytes_before);
    json_put_int(&w, "bytes_after", done.bytes_after);
    json_put_int(&w, "bodies_removed", done.bodies_removed);
    json_end_object(&w);
    if (done.segments_removed == 0)
        (void)buf_append_str(&out->text, "nothing to do\n");
    else
        (void)buf_printf(&out->text, "%lld segments became one: %.1f MB, %.1f MB before\n",
                         (long long)done.segments_removed, megabytes(done.bytes_after),
                         megabytes(done.bytes_before));
    return true;
}

const struct command command_memory_compact = {
    .name = "memory compact",
    .summary = "the journals of many runs as one file",
    .description = "Each run leaves a segment of its own, and every opening looks at all of them. "
                   "Writes those of "
                   "processes that have ended\n"
                   "anew as one, without what was pruned; the events stay the same, and the graph "
                   "is built again. "
                   "Exit code 10 where another\n"
                   "process writes to the memory.",
    .examples = "  kope memory compact",
    .params = compact_params,
    .run = run_compact,
};
