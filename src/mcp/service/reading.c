/* The memory lane: searches, lists, reports and resources. It only reads. */
#include "mcp/service/internal.h"

#include "base/str.h"
#include "engine/skill.h"

#include <math.h>
#include <string.h>

enum { DEFAULT_LIMIT = 10, LISTED_RUNS = 20 };

const char resource_templates[] =
    "[{\"uriTemplate\":\"kope://run/{run}\",\"name\":\"run\",\"title\":\"A run\","
    "\"description\":\"every decision of a run with what came of it\","
    "\"mimeType\":\"application/json\"},"
    "{\"uriTemplate\":\"kope://run/{run}/report\",\"name\":\"report\","
    "\"title\":\"The report of a run\",\"description\":\"one self-contained page\","
    "\"mimeType\":\"text/html\"},"
    "{\"uriTemplate\":\"kope://run/{run}/best\",\"name\":\"best\","
    "\"title\":\"The best source of a run\",\"description\":\"of its best standing decision\","
    "\"mimeType\":\"text/x-c\"},"
    "{\"uriTemplate\":\"kope://task/{task_id}\",\"name\":\"task\","
    "\"title\":\"The reference of a task\",\"description\":\"as the memory knows it\","
    "\"mimeType\":\"text/x-c\"},"
    "{\"uriTemplate\":\"skill://{name}\",\"name\":\"skill\","
    "\"title\":\"A skill\",\"description\":\"SKILL.md: what makes kernels faster, where, and "
    "how sure that is; kope_skills has the names\",\"mimeType\":\"text/markdown\"}]";

/* --- decisions as JSON --- */

static void write_decision(const struct graph_decision *d, struct json_writer *w)
{
    json_begin_object(w);
    json_put_string(w, "decision", d->id);
    json_put_string(w, "run", d->run_id);
    json_put_string(w, "parent", d->parent);
    json_put_int(w, "sequence", d->sequence);
    json_put_string(w, "task", d->task_name);
    json_put_string(w, "family", d->family);
    json_put_string(w, "proposer", d->proposer);
    json_put_string(w, "intent", d->intent);
    json_put_string(w, "hypothesis", d->hypothesis);
    json_put_string(w, "moves", d->moves);
    json_put_string(w, "compiler", d->compiler);
    json_put_string(w, "flags", d->flags);
    if (d->failure[0] != '\0')
        json_put_string(w, "failure", d->failure);
    if (d->has_outcome) {
        json_put_string(w, "verdict", verdict_kind_name(d->kind));
        json_put_string(w, "evidence", d->evidence);
        json_put_bool(w, "is_win", d->is_win);
        json_put_bool(w, "is_confirmed", d->is_confirmed);
    }
    if (d->has_outcome && d->kind == VERDICT_TIMED) {
        json_put_real(w, "speedup", exp(d->log_ratio));
        json_put_real(w, "speedup_low", exp(d->log_low));
        json_put_real(w, "speedup_high", exp(d->log_high));
    }
    json_end_object(w);
}

static void write_decisions(const struct graph_decisions *all, struct json_writer *w)
{
    json_key(w, "decisions");
    json_begin_array(w);
    for (size_t i = 0; i < all->count; i++)
        write_decision(&all->items[i], w);
    json_end_array(w);
}

/* --- tools --- */

static void run_search(struct service *service, struct mcp_call *call)
{
    CLEANUP(memory_close) struct memory memory = {0};
    CLEANUP(buf_free) struct buf object = {0};
    struct arena *arena = mcp_call_arena(call);
    struct graph_decisions found;
    struct err err = {0};
    const int64_t limit = json_int(json_get(mcp_call_arguments(call), "limit"), DEFAULT_LIMIT);
    if (!memory_open(service->memory_dir, false, arena, &memory, &err) ||
        !graph_search(memory.graph, argument_text(call, "words"), (size_t)limit, arena, &found,
                      &err)) {
        mcp_call_refuse(call, &err);
        return;
    }
    struct json_writer w = {.out = &object};
    json_begin_object(&w);
    write_decisions(&found, &w);
    json_end_object(&w);
    mcp_call_structured(call, buf_text(&object));
}

/* Runs a command of the command line; its JSON is `key` of the answer, or the answer. */
static void run_command(struct service *service, struct mcp_call *call, const char *command,
                        const char *key)
{
    CLEANUP(buf_free) struct buf object = {0};
    struct command_call values = {0};
    struct command_result result = {0};
    struct err err = {0};
    if (!arguments_bind(service, call, command, &values, &err) ||
        !values.command->run(&values, &result, &err))
        mcp_call_refuse(call, &err);
    else if (!key)
        mcp_call_structured(call, buf_text(&result.json));
    else if (buf_printf(&object, "{\"%s\":%s}", key, buf_text(&result.json)))
        mcp_call_structured(call, buf_text(&object));
    else
        mcp_call_error(call, MCP_INTERNAL_ERROR, "the answer is too large", NULL);
    buf_free(&result.text);
    buf_free(&result.json);
}

static void run_runs(struct service *service, struct mcp_call *call)
{
    run_command(service, call, "runs", "runs");
}

static void run_stats(struct service *service, struct mcp_call *call)
{
    run_command(service, call, "memory stats", NULL);
}

static void run_report(struct service *service, struct mcp_call *call)
{
    run_command(service, call, "report", NULL);
}

static void run_skills(struct service *service, struct mcp_call *call)
{
    run_command(service, call, "skill list", NULL);
}

static void run_skill(struct service *service, struct mcp_call *call)
{
    run_command(service, call, "skill show", NULL);
}

static void run_rules(struct service *service, struct mcp_call *call)
{
    run_command(service, call, "rule list", "rules");
}

static void run_rule(struct service *service, struct mcp_call *call)
{
    run_command(service, call, "rule show", NULL);
}

static void queue(void *context, struct mcp_call *call,
                  void (*run)(struct service *service, struct mcp_call *call))
{
    struct service *service = context;
    lane_call(service, &service->memory, call, run);
}

void tool_search_memory(void *context, struct mcp_call *call)
{
    queue(context, call, run_search);
}

void tool_rules(void *context, struct mcp_call *call)
{
    queue(context, call, run_rules);
}

void tool_rule(void *context, struct mcp_call *call)
{
    queue(context, call, run_rule);
}

void tool_runs(void *context, struct mcp_call *call)
{
    queue(context, call, run_runs);
}

void tool_memory_stats(void *context, struct mcp_call *call)
{
    queue(context, call, run_stats);
}

void tool_report(void *context, struct mcp_call *call)
{
    queue(context, call, run_report);
}

void tool_skills(void *context, struct mcp_call *call)
{
    queue(context, call, run_skills);
}

void tool_skill(void *context, struct mcp_call *call)
{
    queue(context, call, run_skill);
}

/* --- resources --- */

static void write_resource(const struct graph_run *run, struct arena *arena, struct json_writer *w)
{
    json_begin_object(w);
    json_put_string(w, "uri", arena_printf(arena, "kope://run/%s", run->id));
    json_put_string(w, "name", arena_printf(arena, "run %.12s", run->id));
    json_put_string(w, "description",
                    arena_printf(arena, "%s by %s: %lld judged, %s", run->task_name, run->proposer,
                                 (long long)run->evaluations,
                                 run->has_ended ? run->end_reason : "open"));
    json_put_string(w, "mimeType", "application/json");
    json_end_object(w);
}

static void run_list(struct service *service, struct mcp_call *call)
{
    CLEANUP(memory_close) struct memory memory = {0};
    CLEANUP(buf_free) struct buf text = {0};
    struct arena *arena = mcp_call_arena(call);
    const struct graph_run *runs = NULL;
    size_t count = 0;
    struct err err = {0};
    /* A memory that does not exist yet has no runs. */
    if ((!memory_open(service->memory_dir, false, arena, &memory, &err) ||
         !graph_runs(memory.graph, LISTED_RUNS, arena, &runs, &count, &err)) &&
        err.kind != ERR_NOT_FOUND) {
        mcp_call_error(call, MCP_INTERNAL_ERROR, err.message, NULL);
        return;
    }
    struct json_writer w = {.out = &text};
    json_begin_array(&w);
    for (size_t i = 0; i < count; i++)
        write_resource(&runs[i], arena, &w);
    json_end_array(&w);
    mcp_call_result(call, arena_printf(arena, "\"resources\":%s", buf_text(&text)), true);
}

void resources_list(void *context, struct mcp_call *call)
{
    queue(context, call, run_list);
}

static const struct graph_decision *best_standing(const struct graph_decisions *all)
{
    const struct graph_decision *best = NULL;
    for (size_t i = 0; i < all->count; i++) {
        const struct graph_decision *d = &all->items[i];
        if (d->is_win && !d->confirm_failed && (!best || d->log_ratio > best->log_ratio))
            best = d;
    }
    return best;
}

/* The parts of a URI: kope://KIND/ID[/PART]. */
struct uri {
    const char *kind, *id, *part;
};

static bool parse_uri(const char *uri, struct arena *arena, struct uri *out)
{
    static const char scheme[] = "kope://";
    if (!str_starts_with(uri, scheme))
        return false;
    char *kind = arena_strdup(arena, uri + strlen(scheme));
    char *id = strchr(kind, '/');
    if (!id || id[1] == '\0')
        return false;
    *id++ = '\0';
    char *part = strchr(id, '/');
    if (part)
        *part++ = '\0';
    *out = (struct uri){.kind = kind, .id = id, .part = part ? part : ""};
    return true;
}

struct resource {
    const char *mime, *text;
};

static bool store_text(struct memory *memory, const char *body, struct arena *arena,
                       const char **out, struct err *err)
{
    char *text = NULL;
    if (body[0] == '\0')
        return err_set(err, ERR_NOT_FOUND, "there is nothing stored");
    if (!journal_store_get(memory->journal, body, arena, &text, NULL, err))
        return false;
    *out = text;
    return true;
}

static bool read_run(struct service *service, struct memory *memory, const struct uri *uri,
                     struct arena *arena, struct resource *out, struct err *err)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct graph_run run;
    struct graph_decisions all;
    if (!graph_find_run(memory->graph, uri->id, arena, &run, err) ||
        !graph_run_decisions(memory->graph, run.id, arena, &all, err))
        return false;
    if (str_equal(uri->part, "best")) {
        const struct graph_decision *best = best_standing(&all);
        out->mime = "text/x-c";
        return store_text(memory, best ? best->source_body : "", arena, &out->text, err);
    }
    if (str_equal(uri->part, "report")) {
        out->mime = "text/html";
        if (!engine_report(run.id, service->memory_dir, &text, err))
            return false;
    } else if (uri->part[0] == '\0') {
        struct json_writer w = {.out = &text};
        out->mime = "application/json";
        json_begin_object(&w);
        json_put_string(&w, "run", run.id);
        json_put_string(&w, "task", run.task_name);
        json_put_string(&w, "task_id", run.task_id);
        json_put_string(&w, "proposer", run.proposer);
        json_put_string(&w, "end_reason", run.has_ended ? run.end_reason : NULL);
        json_put_string(&w, "best_decision", run.best_decision);
        write_decisions(&all, &w);
        json_end_object(&w);
    } else {
        return err_set(err, ERR_NOT_FOUND, "a run has no part '%.40s'", uri->part);
    }
    out->text = arena_strdup(arena, buf_text(&text));
    return true;
}

static bool read_task(struct memory *memory, const struct uri *uri, struct arena *arena,
                      struct resource *out, struct err *err)
{
    const char *body = NULL;
    if (uri->part[0] != '\0')
        return err_set(err, ERR_NOT_FOUND, "a task has no parts");
    out->mime = "text/x-c";
    return graph_task_reference(memory->graph, uri->id, arena, &body, err) &&
           store_text(memory, body, arena, &out->text, err);
}

static const char skill_scheme[] = "skill://";

static bool read_skill(struct service *service, const char *name, struct arena *arena,
                       struct resource *out, struct err *err)
{
    CLEANUP(buf_free) struct buf text = {0};
    if (!engine_skill_markdown(service->memory_dir, NULL, name, &text, err))
        return false;
    *out = (struct resource){.mime = "text/markdown", .text = arena_strdup(arena, buf_text(&text))};
    return true;
}

static bool read_resource(struct service *service, const char *name, struct arena *arena,
                          struct resource *out, struct err *err)
{
    CLEANUP(memory_close) struct memory memory = {0};
    struct uri uri;
    if (str_starts_with(name, skill_scheme))
        return read_skill(service, name + strlen(skill_scheme), arena, out, err);
    if (!parse_uri(name, arena, &uri))
        return err_set(err, ERR_NOT_FOUND, "no URI of ours");
    if (!memory_open(service->memory_dir, false, arena, &memory, err))
        return false;
    if (str_equal(uri.kind, "run"))
        return read_run(service, &memory, &uri, arena, out, err);
    if (str_equal(uri.kind, "task"))
        return read_task(&memory, &uri, arena, out, err);
    return err_set(err, ERR_NOT_FOUND, "there are no resources '%.40s'", uri.kind);
}

static void run_read(struct service *service, struct mcp_call *call)
{
    CLEANUP(buf_free) struct buf text = {0};
    const char *uri = mcp_call_slot(call);
    struct resource resource = {.text = ""};
    struct err err = {0};
    if (!read_resource(service, uri, mcp_call_arena(call), &resource, &err)) {
        if (err.kind == ERR_NOT_FOUND || err.kind == ERR_USAGE)
            mcp_call_no_resource(call, uri);
        else
            mcp_call_error(call, MCP_INTERNAL_ERROR, err.message, NULL);
        return;
    }
    struct json_writer w = {.out = &text};
    (void)buf_append_str(&text, "\"contents\":");
    json_begin_array(&w);
    json_begin_object(&w);
    json_put_string(&w, "uri", uri);
    json_put_string(&w, "mimeType", resource.mime);
    json_put_string(&w, "text", resource.text);
    json_end_object(&w);
    json_end_array(&w);
    mcp_call_result(call, buf_text(&text), true);
}

void resource_read(void *context, struct mcp_call *call, const char *uri)
{
    mcp_call_set_slot(call, arena_strdup(mcp_call_arena(call), uri));
    queue(context, call, run_read);
}
