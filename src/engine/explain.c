#include "engine/internal.h"

#include "moves/nest_move.h"
#include "json/json.h"

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

static void write_json(const struct task *task, const struct nest *nest, struct arena *arena,
                       struct buf *out)
{
    const struct nest_target target = {0};
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
    nest_explain_moves(nest, &target, arena, say_step, &(struct said){.json = &w});
    json_end_array(&w);
    json_end_object(&w);
}

bool engine_explain(const char *task_path, struct arena *arena, struct explanation *out,
                    struct err *err)
{
    const struct task *task = NULL;
    struct nest *nest = NULL;
    const char *why = NULL;
    if (!task_load(task_path, arena, &task, err))
        return false;
    if (!nest_read(task, task->reference, arena, &nest, &why)) {
        (void)err_set(err, ERR_BAD_INPUT, "'%s' is not understood: %s", task->reference_path, why);
        return err_hint(err, "it can be optimized all the same, with flags and pragmas only");
    }
    CLEANUP(buf_free) struct buf text = {0};
    CLEANUP(buf_free) struct buf source = {0};
    CLEANUP(buf_free) struct buf json = {0};
    const struct nest_target target = {0};
    if (task_is_in_place(task))
        (void)buf_printf(&text, "in place\n  %s\n", task_alias_text(task, arena));
    nest_explain(nest, arena, &text);
    nest_explain_moves(nest, &target, arena, say_step, &(struct said){.text = &text});
    nest_print(nest, &source);
    write_json(task, nest, arena, &json);
    *out = (struct explanation){.text = arena_strdup(arena, buf_text(&text)),
                                .source = arena_strdup(arena, buf_text(&source)),
                                .json = arena_strdup(arena, buf_text(&json))};
    return true;
}
