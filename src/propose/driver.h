/* Inside propose/: what a kind of proposer is. */
#ifndef KOPE_PROPOSE_DRIVER_H
#define KOPE_PROPOSE_DRIVER_H

#include "propose/propose.h"

enum { PROPOSER_DRIVER_VERSION = 1 };

struct proposer_driver {
    int version; /* PROPOSER_DRIVER_VERSION */
    const char *name, *summary;
    const char *argument; /* what follows the colon, for people ("MODEL"); NULL: nothing may */
    bool needs_argument;
    size_t state_bytes; /* zeroed memory at proposer->state, freed by proposer_close */

    /* On false nothing is left to close. */
    bool (*open)(struct proposer *proposer, const struct proposer_opts *opts, struct err *err);
    /* NULL: nothing to close. */
    void (*close)(struct proposer *proposer);
    /* `exhausted` is false and `out` zeroed before; where it sets `exhausted`, `out` stays so. */
    bool (*next)(struct proposer *proposer, const struct propose_request *request,
                 struct arena *arena, bool *exhausted, struct proposal *out, struct err *err);
    /* Both NULL: there are no such roles. */
    bool (*summarise)(struct proposer *proposer, const struct propose_request *request,
                      const char *text, size_t limit_bytes, struct arena *arena, const char **out,
                      struct err *err);
    bool (*rerank)(struct proposer *proposer, const struct propose_request *request,
                   const char *const *texts, size_t count, struct arena *arena, size_t *order,
                   struct err *err);
};

struct proposer {
    const struct proposer_driver *driver;
    const struct task *task;
    struct arena arena; /* lives as long as the proposer */
    void *state;
};

/* Is `id`, a candidate's id or recipe, among those that the run has already judged? */
bool propose_was_tried(const struct propose_request *request, const char *id);

extern const struct proposer_driver proposer_driver_offline;
extern const struct proposer_driver proposer_driver_llm;
extern const struct proposer_driver proposer_driver_agent;
extern const struct proposer_driver proposer_driver_replay;

#endif
