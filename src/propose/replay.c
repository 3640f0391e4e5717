/*
 * Driver "replay": what the models of a recorded run said, said again without a model. The engine
 * recalls every exchange from the journal and refuses a prompt that is not the recorded one.
 */
#include "propose/model.h"

const struct proposer_driver proposer_driver_replay = {
    .version = PROPOSER_DRIVER_VERSION,
    .name = "replay",
    .summary = "a recorded run again, without a model",
    .argument = "RUN",
    .needs_argument = true,
    .state_bytes = sizeof(struct model_state),
    .open = model_open,
    .close = model_close,
    .next = model_next,
    .summarise = model_summarise,
    .rerank = model_rerank,
};
