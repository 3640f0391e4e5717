/* Inside mcp/service/: the state that its parts share. */
#ifndef KOPE_MCP_SERVICE_INTERNAL_H
#define KOPE_MCP_SERVICE_INTERNAL_H

#include "base/buf.h"
#include "command/command.h"
#include "engine/session.h"
#include "mcp/service.h"

#include <pthread.h>

enum {
    SERVICE_MAX_QUEUED = 64,       /* jobs of a lane */
    SERVICE_MAX_EVALUATIONS = 256, /* kept for kope_evaluation, oldest forgotten first */
    SERVICE_MAX_RUNS = 8,          /* open at a time */
    SERVICE_DEFAULT_WAIT_S = 30,
    SERVICE_MAX_WAIT_S = 50, /* clients give up after 60 s */
};

struct evaluation;

/* Something for a lane to do: a call that it answers, or an evaluation. */
struct job {
    struct job *next;
    struct mcp_call *call;
    void (*run)(struct service *service, struct mcp_call *call);
    struct evaluation *evaluation;
};

struct lane {
    struct service *service;
    pthread_t thread;
    pthread_cond_t wake;
    struct job *first, *last;
    size_t count;
    bool is_running;
};

/* A run that is open; the gate lane's alone. */
struct open_run {
    struct engine_session *session;
    struct open_run *next; /* newest first */
};

/* A call that waits for an evaluation. */
struct waiter {
    struct waiter *next;
    struct mcp_call *call;
    struct evaluation *evaluation;
    int64_t until_ns, told_ns;
    bool is_pinned; /* somebody tells it of progress just now, and will end it if it must end */
    bool must_end;
};

struct service {
    struct arena arena;
    const char *memory_dir; /* NULL: the default */
    const char **roots;
    size_t root_count;
    struct mcp_catalogue catalogue;

    pthread_mutex_t lock; /* of all that follows */
    struct lane gate, memory;
    bool is_stopping;
    struct evaluation *evaluations[SERVICE_MAX_EVALUATIONS]; /* by number % size */
    int64_t evaluation_count;
    struct evaluation *running;
    struct waiter *waiters;

    /* The gate lane's alone. */
    struct open_run *runs;
    struct mcp_call *current; /* that it answers now; hears of progress */
    struct observer observer;
};

/* lanes.c */
void service_lock(struct service *service);
void service_unlock(struct service *service);
bool lanes_start(struct service *service, struct err *err);
/* Lets the jobs at hand end, drops the others, joins the threads. */
void lanes_stop(struct service *service);
/* Queues a call for a lane; refuses it where the queue is full. */
void lane_call(struct service *service, struct lane *lane, struct mcp_call *call,
               void (*run)(struct service *service, struct mcp_call *call));
/* The same for an evaluation; the lock is held. False where the queue is full. */
bool lane_evaluation(struct service *service, struct evaluation *evaluation);

/* evaluation.c: tools kope_evaluate, kope_evaluation, kope_cancel. */
void tool_evaluate(void *context, struct mcp_call *call);
void tool_evaluation(void *context, struct mcp_call *call);
void tool_cancel(void *context, struct mcp_call *call);
/* On the gate lane. */
void evaluation_run(struct service *service, struct evaluation *evaluation);
/* Without having been begun. */
void evaluation_cancel_queued(struct service *service, struct evaluation *evaluation);
void evaluation_progress(struct service *service, const char *text);
void evaluation_call_cancelled(struct service *service, struct mcp_call *call);
void evaluations_tick(struct service *service);
void evaluations_free(struct service *service);

/* runs.c: what the gate lane does. */
void tool_open_task(void *context, struct mcp_call *call);
void tool_context(void *context, struct mcp_call *call);
void tool_record_decision(void *context, struct mcp_call *call);
void tool_profile(void *context, struct mcp_call *call);
void tool_finish(void *context, struct mcp_call *call);
/* The open run of that id or prefix; NULL: the one opened last. */
bool runs_find(struct service *service, const char *run, struct engine_session **out,
               struct err *err);
void runs_close(struct service *service);

/* reading.c: what the memory lane does. */
void tool_search_memory(void *context, struct mcp_call *call);
void tool_runs(void *context, struct mcp_call *call);
void tool_memory_stats(void *context, struct mcp_call *call);
void tool_report(void *context, struct mcp_call *call);
void tool_skills(void *context, struct mcp_call *call);
void tool_skill(void *context, struct mcp_call *call);
void tool_rules(void *context, struct mcp_call *call);
void tool_rule(void *context, struct mcp_call *call);
void resources_list(void *context, struct mcp_call *call);
void resource_read(void *context, struct mcp_call *call, const char *uri);
extern const char resource_templates[];

/* prompts.c */
extern const char prompts_list[];
void prompt_get(void *context, struct mcp_call *call, const char *name);
extern const char service_instructions[], service_contract[];

/* arguments.c: from the arguments of a call to values. */

/* The path in the arena, absolute and without links, if it lies within the roots. `is_new`: the
 * file itself need not exist, its folder must. */
bool path_confine(const struct service *service, const char *path, bool is_new, struct arena *arena,
                  const char **out, struct err *err);
/* Binds the arguments that are parameters of this command ('context_tokens' is --context-tokens) as
 * the command line would, with the same errors; paths are confined, the memory is the service's. */
bool arguments_bind(const struct service *service, struct mcp_call *call, const char *command,
                    struct command_call *out, struct err *err);
const char *argument_text(struct mcp_call *call, const char *name);

/* tools.c */
const struct mcp_tool *tools_make(struct arena *arena, size_t *count);

#endif
