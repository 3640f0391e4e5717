#include "propose/propose.h"

#include "base/str.h"
#include "propose/driver.h"

#include <stdlib.h>

static const struct proposer_driver *const drivers[] = {
    &proposer_driver_offline, &proposer_driver_llm, &proposer_driver_agent, NULL};

static const struct proposer_driver *find_driver(const char *name, struct err *err)
{
    for (size_t i = 0; drivers[i]; i++) {
        if (str_equal(drivers[i]->name, name))
            return drivers[i];
    }
    (void)err_set(err, ERR_UNSUPPORTED, "there is no proposer '%s'", name);
    (void)err_hint(err, "proposers are: offline, llm, agent");
    return NULL;
}

bool proposer_open(const struct proposer_opts *opts, struct proposer **out, struct err *err)
{
    const struct proposer_driver *driver = find_driver(opts->kind ? opts->kind : "offline", err);
    if (!driver)
        return false;
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

const char *proposer_kind(const struct proposer *proposer)
{
    return proposer->driver->name;
}
