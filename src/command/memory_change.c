/* Commands that change what a memory holds. */
#include "command/internal.h"

#include "graph/graph.h"

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
