/* Driver "replay": what a recorded run proposed, proposed again without a model. */
#include "propose/driver.h"

static bool replay_open(struct proposer *proposer, const struct proposer_opts *opts,
                        struct err *err)
{
    (void)proposer;
    (void)opts;
    return err_set(err, ERR_UNSUPPORTED, "proposer 'replay' is not built yet");
}

const struct proposer_driver proposer_driver_replay = {
    .version = PROPOSER_DRIVER_VERSION,
    .name = "replay",
    .summary = "a recorded run again, without a model",
    .argument = "RUN",
    .needs_argument = true,
    .state_bytes = 1,
    .open = replay_open,
};
