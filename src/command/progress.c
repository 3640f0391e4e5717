#include "command/internal.h"

#include "base/str.h"
#include "journal/event.h"

#include <math.h>

static const char *const progress_names[] = {
    [PROGRESS_STAGE] = "stage",           [PROGRESS_STARTED] = "started",
    [PROGRESS_REMEMBERED] = "remembered", [PROGRESS_PROPOSED] = "proposed",
    [PROGRESS_JUDGED] = "judged",         [PROGRESS_CONFIRMED] = "confirmed",
    [PROGRESS_ENDED] = "ended",
};

void command_write_progress_json(const struct progress *p, struct buf *out)
{
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_string(&w, "event", progress_names[p->kind]);
    json_put_string(&w, "run", p->run_id);
    if (p->text)
        json_put_string(&w, "text", p->text);
    json_put_int(&w, "evaluations", p->evaluations);
    json_put_int(&w, "builds_saved", p->builds_saved);
    json_put_int(&w, "repeats", p->repeats);
    json_put_int(&w, "budget", p->budget);
    json_put_real(&w, "seconds", (double)p->elapsed_ns * 1e-9);
    json_put_real(&w, "best_speedup", exp(p->best_log_ratio));
    json_put_int(&w, "tree_size", p->tree_size);
    json_put_int(&w, "tokens", p->tokens);
    if (p->decision) {
        json_put_string(&w, "decision", p->decision_id);
        json_put_int(&w, "sequence", p->decision->sequence);
        json_put_string(&w, "step", p->decision->step);
        json_put_string(&w, "intent", p->decision->intent);
        json_put_string(&w, "hypothesis", p->decision->hypothesis);
        json_put_real(&w, "predicted_speedup", exp(p->decision->predicted_log_ratio));
        json_put_string(&w, "recipe", p->decision->recipe);
    }
    if (p->verdict) {
        json_put_bool(&w, "is_new_best", p->is_new_best);
        json_key(&w, "verdict");
        event_write_verdict(&w, p->verdict);
    }
    json_end_object(&w);
}

void command_write_error_json(const struct err *err, struct buf *out)
{
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_string(&w, "event", "error");
    json_put_string(&w, "kind", err_kind_name(err->kind));
    json_put_string(&w, "message", err->message);
    json_put_string(&w, "hint", err->hint[0] != '\0' ? err->hint : NULL);
    json_put_int(&w, "exit_code", err_kind_exit_code(err->kind));
    json_end_object(&w);
}
