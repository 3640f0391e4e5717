#include "mcp/service/internal.h"

#include "os/file.h"

#include <stdlib.h>

static void on_progress(void *context, const struct progress *progress)
{
    struct service *service = context;
    const char *text = progress->text;
    if (progress->kind == PROGRESS_PROPOSED)
        text = "judging the candidate";
    else if (progress->kind == PROGRESS_JUDGED)
        text = "judged";
    if (!text)
        return;
    if (service->current)
        mcp_call_progress(service->current, text);
    else
        evaluation_progress(service, text);
}

static void on_cancelled(void *context, struct mcp_call *call)
{
    evaluation_call_cancelled(context, call);
}

static bool resolve_roots(struct service *service, const struct service_opts *opts, struct err *err)
{
    static const char *const here[] = {"."};
    const char *const *roots = opts->root_count ? opts->roots : here;
    service->root_count = opts->root_count ? opts->root_count : 1;
    service->roots = arena_array(&service->arena, service->root_count, sizeof *service->roots);
    for (size_t i = 0; i < service->root_count; i++) {
        char *real = NULL;
        if (!os_path_real(roots[i], &service->arena, &real, err))
            return err_within(err, "root folder");
        if (!os_path_is_dir(real))
            return err_set(err, ERR_USAGE, "the root '%s' is no folder", real);
        service->roots[i] = real;
    }
    return true;
}

static void free_service(struct service *service)
{
    evaluations_free(service);
    (void)pthread_mutex_destroy(&service->lock);
    arena_free(&service->arena);
    free(service);
}

bool service_open(const struct service_opts *opts, struct service **out, struct err *err)
{
    struct service *service = calloc(1, sizeof *service);
    if (!service || pthread_mutex_init(&service->lock, NULL) != 0)
        BUG("mcp: out of memory");
    service->memory_dir = opts->memory_dir ? arena_strdup(&service->arena, opts->memory_dir) : NULL;
    service->observer = (struct observer){.on_progress = on_progress, .context = service};
    struct mcp_catalogue *catalogue = &service->catalogue;
    *catalogue = (struct mcp_catalogue){
        .name = "kope",
        .title = "KOPE",
        .version = KOPE_VERSION,
        .instructions = service_instructions,
        .resource_templates = resource_templates,
        .prompts = prompts_list,
        .list_resources = resources_list,
        .read_resource = resource_read,
        .get_prompt = prompt_get,
        .cancelled = on_cancelled,
        .context = service,
    };
    catalogue->tools = tools_make(&service->arena, &catalogue->tool_count);
    if (!resolve_roots(service, opts, err) || !lanes_start(service, err)) {
        free_service(service);
        return false;
    }
    *out = service;
    return true;
}

const struct mcp_catalogue *service_catalogue(const struct service *service)
{
    return &service->catalogue;
}

void service_tick(struct service *service)
{
    evaluations_tick(service);
}

void service_stop(struct service *service)
{
    lanes_stop(service);
}

void service_close(struct service **service)
{
    if (!*service)
        return;
    lanes_stop(*service);
    free_service(*service);
    *service = NULL;
}
