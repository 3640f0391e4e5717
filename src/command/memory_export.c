/* `kope memory export`: all events, or training data, as JSON Lines in a file. */
#include "command/internal.h"
#include "command/training.h"

#include "base/str.h"
#include "graph/graph.h"

#include <errno.h>
#include <stdio.h>

static const struct param export_params[] = {
    {"output", "FILE", "where to write; it appears when it is whole", NULL, PARAM_PATH, true, true,
     NULL},
    {"format", "FORMAT", "what a line is", "events", PARAM_TEXT, false, false,
     "events|trajectories|pairs"},
    PARAM_MEMORY,
    {0},
};

struct export
{
    struct memory *memory;
    FILE *file;
    struct buf line;
    int64_t lines, bytes, pairs_left_out, missing_sources;
    struct training_starts starts;
};

static bool put(struct export *export, const char *text, size_t length, struct err *err)
{
    if (fwrite(text, 1, length, export->file) != length)
        return err_set_errno(err, errno, "cannot write the export");
    export->lines++;
    export->bytes += (int64_t)length;
    return true;
}

static bool put_line(struct export *export, struct err *err)
{
    const bool ok = export->line.truncated
                        ? err_set(err, ERR_LIMIT, "a line of the export is larger than %zu bytes",
                                  export->line.length)
                        : put(export, buf_text(&export->line), export->line.length, err);
    buf_clear(&export->line);
    return ok;
}

static bool export_event(void *context, const struct event *event, struct err *err)
{
    struct export *export = context;
    (void)buf_append(&export->line, event->text, event->text_length);
    (void)buf_append_char(&export->line, '\n');
    return put_line(export, err);
}

static bool add_starts(struct export *export, const struct graph_run *run,
                       const struct graph_decisions *steps, struct arena *keep, struct err *err)
{
    (void)run;
    (void)err;
    training_starts_add(&export->starts, steps, keep);
    return true;
}

static bool export_trajectory(struct export *export, const struct graph_run *run,
                              const struct graph_decisions *steps, struct arena *keep,
                              struct err *err)
{
    (void)keep;
    training_write_trajectory(run, steps, &export->starts, &export->line);
    return put_line(export, err);
}

/* NULL, and counted, where the store does not have it. */
static const char *source_of(struct export *export, const struct graph_decision *d,
                             struct arena *arena)
{
    char *text = NULL;
    struct err problem;
    if (d->source_body[0] != '\0' &&
        journal_store_get(export->memory->journal, d->source_body, arena, &text, NULL, &problem))
        return text;
    export->missing_sources++;
    return NULL;
}

static bool export_pair(void *context, const struct training_pair *pair, struct err *err)
{
    CLEANUP(arena_free) struct arena step = {0};
    struct export *export = context;
    training_write_pair(pair, source_of(export, pair->better, &step),
                        source_of(export, pair->worse, &step), &export->line);
    return put_line(export, err);
}

static bool export_pairs(struct export *export, const struct graph_run *run,
                         const struct graph_decisions *steps, struct arena *keep, struct err *err)
{
    (void)keep;
    return training_each_pair(run, steps, export_pair, export, &export->pairs_left_out, err);
}

typedef bool (*run_visitor)(struct export *export, const struct graph_run *run,
                            const struct graph_decisions *steps, struct arena *keep,
                            struct err *err);

/* Every run, oldest first, with its decisions; one at a time in memory. */
static bool each_run(struct export *export, const struct graph_run *runs, size_t count,
                     run_visitor visit, struct arena *keep, struct err *err)
{
    for (size_t i = count; i-- > 0;) {
        CLEANUP(arena_free) struct arena step = {0};
        struct graph_decisions steps = {0};
        if (!graph_run_decisions(export->memory->graph, runs[i].id, &step, &steps, err) ||
            !visit(export, &runs[i], &steps, keep, err))
            return false;
    }
    return true;
}

static bool write_all(struct export *export, const char *format, struct arena *arena,
                      struct err *err)
{
    const struct graph_run *runs = NULL;
    size_t count = 0;
    if (str_equal(format, "events"))
        return journal_scan(export->memory->journal, export_event, export, err);
    if (!graph_runs(export->memory->graph, SIZE_MAX, arena, &runs, &count, err))
        return false;
    if (str_equal(format, "pairs"))
        return each_run(export, runs, count, export_pairs, arena, err);
    return each_run(export, runs, count, add_starts, arena, err) &&
           each_run(export, runs, count, export_trajectory, arena, err);
}

/* Beside its place, then renamed. */
static bool write_file(struct export *export, const char *format, const char *path,
                       struct arena *arena, struct err *err)
{
    const char *part = arena_printf(arena, "%s.part", path);
    export->file = fopen(part, "w");
    if (!export->file)
        return err_set_errno(err, errno, "cannot write '%s'", part);
    bool ok = write_all(export, format, arena, err);
    if (fclose(export->file) != 0 && ok)
        ok = err_set_errno(err, errno, "cannot write '%s'", part);
    if (ok && rename(part, path) != 0)
        ok = err_set_errno(err, errno, "cannot write '%s'", path);
    if (!ok)
        (void)remove(part);
    return ok;
}

static void report(const struct export *export, const char *format, const char *path,
                   struct command_result *out)
{
    struct json_writer w = {.out = &out->json};
    json_begin_object(&w);
    json_put_string(&w, "format", format);
    json_put_string(&w, "output", path);
    json_put_int(&w, "lines", export->lines);
    json_put_int(&w, "bytes", export->bytes);
    json_put_int(&w, "pairs_left_out", export->pairs_left_out);
    json_put_int(&w, "missing_sources", export->missing_sources);
    json_end_object(&w);
    (void)buf_printf(&out->text, "wrote %s: %lld %s, %lld bytes\n", path, (long long)export->lines,
                     format, (long long)export->bytes);
    if (export->pairs_left_out != 0)
        (void)buf_printf(&out->text, "  %lld more pairs left out: at most %d for one parent\n",
                         (long long)export->pairs_left_out, TRAINING_PAIRS_PER_PARENT);
    if (export->missing_sources != 0)
        (void)buf_printf(&out->text, "  %lld sources are null: the store does not have them\n",
                         (long long)export->missing_sources);
}

static bool run_export(const struct command_call *call, struct command_result *out, struct err *err)
{
    CLEANUP(memory_close) struct memory memory = {0};
    const char *path = command_text(call, "output");
    const char *given = command_text(call, "format");
    const char *format = given ? given : "events";
    if (!memory_open(command_text(call, "memory"), false, call->arena, &memory, err))
        return false;
    struct export export = {.memory = &memory};
    const bool ok = write_file(&export, format, path, call->arena, err);
    buf_free(&export.line);
    training_starts_free(&export.starts);
    if (ok)
        report(&export, format, path, out);
    return ok;
}

const struct command command_memory_export = {
    .name = "memory export",
    .summary = "all events, or training data, as JSON Lines",
    .description =
        "events: every event in the order of its clock, as the journal has it. trajectories: a run "
        "in "
        "a line, each step with its\n"
        "reward (log-speedup over the baseline) and its advantage within its group. pairs: two "
        "siblings of a run whose measured\n"
        "intervals separate, better and worse, with sources. docs/memory-export.md is the schema.",
    .examples = "  kope memory export events.jsonl\n"
                "  kope memory export train.jsonl --format trajectories\n"
                "  kope memory export pairs.jsonl --format pairs --memory team",
    .params = export_params,
    .run = run_export,
};
