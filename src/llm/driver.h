/* Inside llm/: what a driver is, and the state that all drivers share. */
#ifndef KOPE_LLM_DRIVER_H
#define KOPE_LLM_DRIVER_H

#include "llm/dialect.h"
#include "llm/llm.h"

enum { LLM_DRIVER_VERSION = 2 };

struct llm_driver {
    int version; /* LLM_DRIVER_VERSION */
    const char *name;
    size_t state_bytes; /* zeroed memory at llm->state, freed by llm_close */

    /* Checks llm->opts and makes the state ready; on false nothing is left to close. Sets base_url
     * and key_variable of llm->opts to what is in effect. */
    bool (*open)(struct llm *llm, struct err *err);
    /* NULL: nothing to close. */
    void (*close)(struct llm *llm);
    /* Fills text, finish_reason, thinking_json, usage, lost_tokens, cost, the exchange and attempts
     * of `out`, in `arena`; `out` is zeroed before. `max_output_tokens` is what the request gets.
     */
    bool (*chat)(struct llm *llm, const struct llm_request *request, int64_t max_output_tokens,
                 struct arena *arena, struct llm_reply *out, struct err *err);
    /* NULL: never counts. */
    bool (*count)(struct llm *llm, const struct llm_request *request, struct arena *arena,
                  int64_t *out, struct err *err);
};

/* What the server's own counts taught, for bounds. */
struct tally {
    struct llm_calibration calibration;
    double ratio_sum;
    int64_t excess_tokens; /* the most that a count was over its bound */
    bool is_over_bytes;    /* a count was over the bytes: they bound nothing here */
    /* The last prompt that was counted: ids of its messages. */
    uint64_t *last_ids;
    size_t last_count, last_capacity;
    int64_t last_tokens; /* -1: none */
};

struct llm {
    const struct llm_driver *driver;
    const struct dialect *dialect;
    struct llm_opts opts; /* strings in `arena`, numbers with their defaults filled in */
    struct arena arena;
    struct tally tally;
    bool is_loopback; /* set by open */
    void *state;
};

/* Can the budget bear an exchange, after `lost_tokens` that attempts before it may have cost?
 * Asks the server for the exact count where that could decide it. ERR_BUDGET. */
bool llm_check_budget(struct llm *llm, const struct llm_request *request, int64_t lost_tokens,
                      struct arena *arena, struct err *err);

/* Takes what the server counted for `request` into the tally. */
void llm_learn_count(struct llm *llm, const struct llm_request *request, int64_t input_tokens);

/* What tokens cost; false where prices are not known. */
bool llm_cost_usd(const struct llm *llm, const struct llm_usage *usage, double *out);

/* Sets text, problem and is_repairable of a reply from its text, its finish and the schema. */
void llm_judge_reply(const struct llm_request *request, struct arena *arena,
                     struct llm_reply *reply);

extern const struct llm_driver llm_driver_http;
extern const struct llm_driver llm_driver_replay;

#endif
