#include "suite/internal.h"

#include "base/str.h"
#include "base/vec.h"
#include "os/file.h"
#include "json/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RESULTS_BYTES = 64 * 1024 * 1024, MAX_EVALUATIONS = 1000000 };

static const char *path_of(const char *dir, struct arena *arena)
{
    return os_path_join(arena, dir, "results.jsonl");
}

static void write_result(const struct suite_result *r, struct buf *out)
{
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_string(&w, "arm", r->arm);
    json_put_string(&w, "task", r->task);
    json_put_string(&w, "family", r->family);
    json_put_int(&w, "seed", r->seed);
    json_put_string(&w, "run", r->run_id);
    json_put_string(&w, "end_reason", r->end_reason);
    json_put_int(&w, "evaluations", r->evaluations);
    json_put_real(&w, "seconds", r->seconds);
    json_put_int(&w, "tokens", r->tokens);
    json_put_bool(&w, "win", r->has_win);
    json_put_real(&w, "log_ratio", r->log_ratio);
    json_key(&w, "curve");
    json_begin_array(&w);
    for (int64_t i = 0; i < r->evaluations; i++)
        json_write_real(&w, r->curve[i]);
    json_end_array(&w);
    json_end_object(&w);
    (void)buf_append_str(out, "\n");
}

static bool read_curve(const struct json *curve, struct arena *arena, struct suite_result *out)
{
    if (!curve || curve->type != JSON_ARRAY || (int64_t)curve->count != out->evaluations)
        return false;
    double *values = arena_array(arena, curve->count + 1, sizeof *values);
    size_t i = 0;
    for (const struct json *v = curve->first; v; v = v->next) {
        values[i] = json_real(v, (double)NAN);
        if (!isfinite(values[i++]))
            return false;
    }
    out->curve = values;
    return true;
}

/* The name of a folder, and nothing that would move a terminal's cursor. */
static bool is_name(const char *text)
{
    if (!text || text[0] == '\0' || text[0] == '.')
        return false;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '/' || (unsigned char)*c < ' ' || *c == 127)
            return false;
    }
    return true;
}

static bool take_result(const struct json *json, struct arena *arena, struct suite_result *out)
{
    *out = (struct suite_result){
        .arm = json_string(json_get(json, "arm"), NULL),
        .task = json_string(json_get(json, "task"), NULL),
        .family = json_string(json_get(json, "family"), ""),
        .seed = json_int(json_get(json, "seed"), -1),
        .run_id = json_string(json_get(json, "run"), ""),
        .end_reason = json_string(json_get(json, "end_reason"), ""),
        .evaluations = json_int(json_get(json, "evaluations"), -1),
        .seconds = json_real(json_get(json, "seconds"), 0.0),
        .tokens = json_int(json_get(json, "tokens"), 0),
        .has_win = json_bool(json_get(json, "win"), false),
        .log_ratio = json_real(json_get(json, "log_ratio"), 0.0),
    };
    return is_name(out->arm) && is_name(out->task) && out->seed >= 0 && out->evaluations >= 0 &&
           out->evaluations <= MAX_EVALUATIONS && isfinite(out->log_ratio) &&
           read_curve(json_get(json, "curve"), arena, out);
}

static void push(struct suite_results *results, const struct suite_result *result,
                 struct arena *arena)
{
    if (results->count == results->capacity) {
        results->capacity = 2 * results->capacity + 16;
        struct suite_result *more = arena_array(arena, results->capacity, sizeof *more);
        if (results->count > 0)
            memcpy(more, results->items, results->count * sizeof *more);
        results->items = more;
    }
    results->items[results->count++] = *result;
}

bool results_read(const char *dir, struct arena *arena, struct suite_results *out, struct err *err)
{
    struct suite_results results = {0};
    const char *path = path_of(dir, arena);
    char *text = NULL;
    long long line = 0;
    if (!os_path_exists(path)) {
        *out = results;
        return true;
    }
    if (!os_read_file(path, MAX_RESULTS_BYTES, arena, &text, NULL, err))
        return false;
    for (char *end = strchr(text, '\n'); end; text = end + 1, end = strchr(text, '\n')) {
        const struct json *json = NULL;
        struct suite_result result;
        line++;
        if (!json_parse(text, (size_t)(end - text), path, arena, &json, err))
            return err_within(err, "line %lld", line);
        if (!take_result(json, arena, &result)) {
            (void)err_set(err, ERR_CORRUPT, "%s: line %lld is no result of a run", path, line);
            return err_hint(err, "remove the line: its run is then taken from its memory again");
        }
        if (!results_find(&results, result.arm, result.task, result.seed))
            push(&results, &result, arena);
    }
    *out = results;
    return true;
}

bool results_add(const char *dir, struct suite_results *results, const struct suite_result *result,
                 struct arena *arena, struct err *err)
{
    CLEANUP(buf_free) struct buf text = {.limit = MAX_RESULTS_BYTES};
    push(results, result, arena);
    for (size_t i = 0; i < results->count; i++)
        write_result(&results->items[i], &text);
    if (text.truncated)
        return err_set(err, ERR_LIMIT, "the results are larger than %d bytes", MAX_RESULTS_BYTES);
    return os_write_file(path_of(dir, arena), buf_text(&text), text.length, true, err);
}

const struct suite_result *results_find(const struct suite_results *results, const char *arm,
                                        const char *task, int64_t seed)
{
    for (size_t i = 0; i < results->count; i++) {
        const struct suite_result *r = &results->items[i];
        if (r->seed == seed && str_equal(r->arm, arm) && str_equal(r->task, task))
            return r;
    }
    return NULL;
}
