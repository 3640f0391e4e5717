#include "engine/internal.h"

#include "base/str.h"
#include "moves/nest_move.h"
#include "json/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool write_opaque(void *context, struct nest_stmt *stmt, int depth)
{
    struct json_writer *w = context;
    (void)depth;
    if (stmt->kind != NEST_OPAQUE)
        return true;
    json_begin_object(w);
    json_put_int(w, "line", stmt->line);
    json_put_string(w, "text", stmt->text);
    json_put_string(w, "reason", stmt->reason);
    json_end_object(w);
    return true;
}

/* The steps that moves suggest, as words and as JSON. */
struct said {
    struct buf *text;
    struct json_writer *json;
    size_t count;
};

static void say_step(void *context, const char *step, const char *refusal)
{
    struct said *said = context;
    if (said->text)
        (void)buf_printf(said->text, "%s  %s%s%s\n", said->count++ == 0 ? "moves\n" : "", step,
                         refusal ? ": no, " : ": applies", refusal ? refusal : "");
    if (!said->json)
        return;
    json_begin_object(said->json);
    json_put_string(said->json, "step", step);
    json_put_bool(said->json, "applies", refusal == NULL);
    if (refusal)
        json_put_string(said->json, "reason", refusal);
    json_end_object(said->json);
}

/* What is explained. */
struct subject {
    const struct task *task;
    const struct nest *nest;
    struct moves_env env;
    struct nest_target target;
    const struct move *catalogue;
    size_t count;
};

/* For the whole nest, without what comes with them; what promises most first. */
struct sequence {
    const struct move *move;
    const char *steps;
};

static int by_promise(const void *a, const void *b)
{
    const struct move *x = ((const struct sequence *)a)->move;
    const struct move *y = ((const struct sequence *)b)->move;
    if (x->prior_log_ratio != y->prior_log_ratio)
        return x->prior_log_ratio > y->prior_log_ratio ? -1 : 1;
    return strcmp(x->name, y->name);
}

static const struct sequence *sequences_of(const struct subject *s, struct arena *arena,
                                           size_t *count)
{
    static const char key[] = "whole-nest=";
    struct sequence *out = arena_array(arena, s->count + 1, sizeof *out);
    *count = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct move *move = &s->catalogue[i];
        if (!str_equal(move->group, "nest") || !str_starts_with(move->changes, key))
            continue;
        const char *steps = move->changes + strlen(key);
        out[(*count)++] = (struct sequence){move, arena_strndup(arena, steps, strcspn(steps, " "))};
    }
    qsort(out, *count, sizeof *out, by_promise);
    return out;
}

static void say_sequences(const struct subject *s, struct arena *arena, struct buf *text)
{
    size_t count = 0;
    const struct sequence *all = sequences_of(s, arena, &count);
    for (size_t i = 0; i < count; i++)
        (void)buf_printf(text, "%s  %s: %s; promises %.1fx\n    %s\n", i == 0 ? "sequences\n" : "",
                         all[i].move->name, all[i].move->intent, exp(all[i].move->prior_log_ratio),
                         all[i].steps);
}

static void write_sequences(const struct subject *s, struct arena *arena, struct json_writer *w)
{
    size_t count = 0;
    const struct sequence *all = sequences_of(s, arena, &count);
    json_key(w, "sequences");
    json_begin_array(w);
    for (size_t i = 0; i < count; i++) {
        json_begin_object(w);
        json_put_string(w, "move", all[i].move->name);
        json_put_string(w, "intent", all[i].move->intent);
        json_put_string(w, "steps", all[i].steps);
        json_put_real(w, "promise", exp(all[i].move->prior_log_ratio));
        json_end_object(w);
    }
    json_end_array(w);
}

static void write_json(const struct subject *s, struct arena *arena, struct buf *out)
{
    const struct task *task = s->task;
    const struct nest *nest = s->nest;
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_string(&w, "task", task->name);
    json_put_string(&w, "in_place", task_alias_text(task, arena));
    json_put_int(&w, "statements", (int64_t)nest->statement_count);
    json_put_int(&w, "loops", (int64_t)nest->loop_count);
    json_put_bool(&w, "grows_sequences", nest->loop_count <= NEST_MAX_GROWN_LOOPS);
    json_key(&w, "not_understood");
    json_begin_array(&w);
    (void)nest_walk(nest->body, write_opaque, &w);
    json_end_array(&w);
    json_key(&w, "moves");
    json_begin_array(&w);
    nest_explain_moves(nest, &s->target, arena, say_step, &(struct said){.json = &w});
    json_end_array(&w);
    write_sequences(s, arena, &w);
    json_end_object(&w);
}

bool engine_explain(const char *task_path, const char *target_name, struct arena *arena,
                    struct explanation *out, struct err *err)
{
    CLEANUP(target_close) struct target *target = NULL;
    CLEANUP(buf_free) struct buf text = {0};
    CLEANUP(buf_free) struct buf source = {0};
    CLEANUP(buf_free) struct buf json = {0};
    struct subject s = {0};
    struct err no_target = {0};
    struct nest *nest = NULL;
    const char *why = NULL;
    if (!task_load(task_path, arena, &s.task, err))
        return false;
    if (!nest_read(s.task, s.task->reference, arena, &nest, &why)) {
        (void)err_set(err, ERR_BAD_INPUT, "'%s' is not understood: %s", s.task->reference_path,
                      why);
        return err_hint(err, "it can be optimized all the same, with flags and pragmas only");
    }
    s.nest = nest;
    /* What is understood needs no machine. */
    if (!target_open(target_name ? target_name : "cpu", NULL, &target,
                     target_name ? err : &no_target)) {
        if (target_name)
            return false;
    } else {
        s.env = run_moves_env(target, s.task, arena);
        s.target = nest_target_of(&s.env, s.env.default_compiler);
        if (!moves_catalogue(&s.env, arena, &s.catalogue, &s.count))
            s.count = 0;
    }
    if (task_is_in_place(s.task))
        (void)buf_printf(&text, "in place\n  %s\n", task_alias_text(s.task, arena));
    nest_explain(nest, arena, &text);
    nest_explain_moves(nest, &s.target, arena, say_step, &(struct said){.text = &text});
    say_sequences(&s, arena, &text);
    if (!target)
        (void)buf_printf(&text, "moves of this machine are not shown: %s\n", no_target.message);
    nest_print(nest, &source);
    write_json(&s, arena, &json);
    *out = (struct explanation){.text = arena_strdup(arena, buf_text(&text)),
                                .source = arena_strdup(arena, buf_text(&source)),
                                .json = arena_strdup(arena, buf_text(&json))};
    return true;
}
