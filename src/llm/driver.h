/* Inside llm/: what a driver is, and the state that all drivers share. */
#ifndef KOPE_LLM_DRIVER_H
#define KOPE_LLM_DRIVER_H

#include "llm/llm.h"

enum { LLM_DRIVER_VERSION = 1 };

struct llm_driver {
    int version; /* LLM_DRIVER_VERSION */
    const char *name, *summary;
    size_t state_bytes; /* zeroed memory at llm->state, freed by llm_close */

    /* Checks llm->opts and makes the state ready; on false nothing is left to close. */
    bool (*open)(struct llm *llm, struct err *err);
    /* NULL: nothing to close. */
    void (*close)(struct llm *llm);
    /* Fills all of `out` but wall_ns, in `arena`; `out` is zeroed before. */
    bool (*chat)(struct llm *llm, const struct llm_message *messages, size_t count,
                 struct arena *arena, struct llm_reply *out, struct err *err);
};

struct llm {
    const struct llm_driver *driver;
    struct llm_opts opts; /* strings in `arena`, numbers with their defaults filled in */
    struct arena arena;
    void *state;
};

extern const struct llm_driver llm_driver_openai;
extern const struct llm_driver llm_driver_replay;

#endif
