#include "engine/internal.h"
#include "engine/replay.h"

#include "os/os.h"

bool run_record_begin(struct run *run, struct err *err)
{
    CLEANUP(buf_free) struct buf body = {0};
    struct hash_id id;
    if (run->replay) {
        run->run_id = arena_strdup(run->arena, replay_run_id(run->replay));
        run_notify(run, PROGRESS_STARTED, NULL);
        return true;
    }
    event_write_run(&(struct run_event){.task_id = run->task->id.text,
                                        .target_id = run->features->id.text,
                                        .task_dir = run->task->dir,
                                        .proposer = run->opts.proposer,
                                        .policy = run->opts.policy,
                                        .seed = run->opts.seed,
                                        .budget = run->opts.budget,
                                        .time_limit_ns = run->opts.time_limit_ns,
                                        .token_budget = run->opts.token_budget,
                                        .kope_version = KOPE_VERSION,
                                        .gate_id = run->gate_id.text,
                                        .host = os_hostname(run->arena),
                                        .kernel = os_kernel(run->arena),
                                        .load_average = os_load_average(),
                                        .start_decision = "",
                                        .settings = models_settings(run, run->arena)},
                    &body);
    if (!memory_append(&run->memory, EVENT_RUN, &body, &id, err))
        return false;
    run->run_id = arena_strdup(run->arena, id.text);
    run_notify(run, PROGRESS_STARTED, NULL);
    return true;
}

bool engine_optimize(const struct optimize_opts *opts, const struct observer *observer,
                     struct arena *arena, struct optimize_result *out, struct err *err)
{
    struct run run = {.opts = *opts, .observer = observer, .arena = arena};
    struct optimize_result result = {0};
    bool ok = run_open(&run, err) && run_record_subject(&run, err) && run_record_begin(&run, err);
    run.opening_ns = os_now_ns() - run.started_ns;
    if (ok && !(run_note_reference(&run, err) && remember_start(&run, err)))
        ok = err->kind == ERR_INTERRUPTED;
    ok = ok && run_loop(&run, &result, err);
    run_close(&run);
    if (ok)
        *out = result;
    return ok;
}
