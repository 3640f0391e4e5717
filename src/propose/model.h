/* Inside propose/: what the drivers "llm" and "replay" share. */
#ifndef KOPE_PROPOSE_MODEL_H
#define KOPE_PROPOSE_MODEL_H

#include "propose/driver.h"

struct role {
    bool is_set;
    struct llm *llm; /* NULL in a replay */
    const char *name;
};

struct model_state {
    struct role small, large; /* may be one */
    struct role summariser, reranker;
    const struct moves_env *moves;
    const struct move *catalogue;
    size_t catalogue_count;
};

bool model_open(struct proposer *proposer, const struct proposer_opts *opts, struct err *err);
void model_close(struct proposer *proposer);
bool model_next(struct proposer *proposer, const struct propose_request *request,
                struct arena *arena, bool *exhausted, struct proposal *out, struct err *err);

/* assist.c */
bool model_summarise(struct proposer *proposer, const struct propose_request *request,
                     const char *text, size_t limit_bytes, struct arena *arena, const char **out,
                     struct err *err);
bool model_rerank(struct proposer *proposer, const struct propose_request *request,
                  const char *const *texts, size_t count, struct arena *arena, size_t *order,
                  struct err *err);

#endif
