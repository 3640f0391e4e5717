#include "propose/propose.h"

#include "base/buf.h"
#include "base/str.h"
#include "propose/driver.h"

#include <stdlib.h>
#include <string.h>

static const struct proposer_driver *const drivers[] = {
    &proposer_driver_offline, &proposer_driver_llm, &proposer_driver_agent, &proposer_driver_replay,
    NULL};

static const struct proposer_driver *find_driver(const char *name)
{
    for (size_t i = 0; drivers[i]; i++) {
        if (str_equal(drivers[i]->name, name))
            return drivers[i];
    }
    return NULL;
}

/* "offline, llm[:MODEL], agent:COMMAND, replay:RUN": the forms that there are, as a hint. */
static bool hint_forms(struct err *err)
{
    CLEANUP(buf_free) struct buf forms = {0};
    for (size_t i = 0; drivers[i]; i++) {
        const struct proposer_driver *d = drivers[i];
        (void)buf_printf(&forms, "%s%s", i == 0 ? "" : ", ", d->name);
        if (d->argument)
            (void)buf_printf(&forms, d->needs_argument ? ":%s" : "[:%s]", d->argument);
    }
    return err_hint(err, "proposers are: %s", buf_text(&forms));
}

bool proposer_spec_parse(const char *text, struct arena *arena, struct proposer_spec *out,
                         struct err *err)
{
    const char *spec = text ? text : proposer_driver_offline.name;
    const size_t length = strcspn(spec, ":");
    const struct proposer_driver *driver = find_driver(arena_strndup(arena, spec, length));
    const char *argument = spec[length] == ':' ? spec + length + 1 : NULL;
    if (!driver) {
        (void)err_set(err, ERR_USAGE, "there is no proposer '%.*s'", (int)length, spec);
        return hint_forms(err);
    }
    if (argument && !driver->argument) {
        (void)err_set(err, ERR_USAGE, "proposer '%s' takes nothing after a colon", driver->name);
        return hint_forms(err);
    }
    if ((argument && argument[0] == '\0') || (!argument && driver->needs_argument)) {
        (void)err_set(err, ERR_USAGE, "proposer '%s' lacks %s", driver->name, driver->argument);
        return hint_forms(err);
    }
    *out = (struct proposer_spec){driver->name, argument ? arena_strdup(arena, argument) : NULL};
    return true;
}

bool proposer_open(const struct proposer_opts *opts, struct proposer **out, struct err *err)
{
    const char *kind = opts->spec.kind ? opts->spec.kind : proposer_driver_offline.name;
    const struct proposer_driver *driver = find_driver(kind);
    if (!driver)
        BUG("propose: no proposer is named '%s'", kind);
    struct proposer *proposer = calloc(1, sizeof *proposer);
    if (!proposer)
        BUG("propose: out of memory");
    proposer->driver = driver;
    proposer->task = opts->task;
    proposer->state = calloc(1, driver->state_bytes);
    if (!proposer->state)
        BUG("propose: out of memory");
    if (!driver->open(proposer, opts, err)) {
        arena_free(&proposer->arena);
        free(proposer->state);
        free(proposer);
        return false;
    }
    *out = proposer;
    return true;
}

void proposer_close(struct proposer **proposer)
{
    if (!*proposer)
        return;
    if ((*proposer)->driver->close)
        (*proposer)->driver->close(*proposer);
    arena_free(&(*proposer)->arena);
    free((*proposer)->state);
    free(*proposer);
    *proposer = NULL;
}

bool proposer_next(struct proposer *proposer, const struct propose_request *request,
                   struct arena *arena, bool *exhausted, struct proposal *out, struct err *err)
{
    struct proposal proposal = {0};
    bool is_exhausted = false;
    if (!proposer->driver->next(proposer, request, arena, &is_exhausted, &proposal, err))
        return false;
    *exhausted = is_exhausted;
    *out = proposal;
    return true;
}

bool proposer_summarise(struct proposer *proposer, const struct propose_request *request,
                        const char *text, size_t limit_bytes, struct arena *arena, const char **out,
                        struct err *err)
{
    const char *summary = NULL;
    if (proposer->driver->summarise &&
        !proposer->driver->summarise(proposer, request, text, limit_bytes, arena, &summary, err))
        return false;
    *out = summary;
    return true;
}

bool proposer_rerank(struct proposer *proposer, const struct propose_request *request,
                     const char *const *texts, size_t count, struct arena *arena, size_t *order,
                     struct err *err)
{
    return !proposer->driver->rerank ||
           proposer->driver->rerank(proposer, request, texts, count, arena, order, err);
}

const char *proposer_kind(const struct proposer *proposer)
{
    return proposer->driver->name;
}

bool propose_was_tried(const struct propose_request *request, const char *id)
{
    for (size_t i = 0; i < request->tried_count; i++) {
        if (str_equal(request->tried[i], id))
            return true;
    }
    return false;
}
