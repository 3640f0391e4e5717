/* Inside propose/: one exchange with a model, kept before anything is made of it. */
#ifndef KOPE_PROPOSE_ASK_H
#define KOPE_PROPOSE_ASK_H

#include "llm/llm.h"
#include "propose/propose.h"

/* The exchanges of one proposal or of one question of a role. */
struct asking {
    struct llm *llm; /* NULL: everything has to be recalled */
    const char *model;
    const struct propose_request *request;
    struct arena *arena;
    int64_t tokens_in, tokens_out; /* of all exchanges so far */
    double cost_usd;
};

/* Recalls the exchange, or asks and keeps it. `schema_json` NULL: free text. */
bool ask(struct asking *asking, const char *role, const struct llm_message *messages, size_t count,
         const char *schema_json, struct llm_reply *out, struct err *err);

#endif
