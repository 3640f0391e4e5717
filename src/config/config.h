/*
 * kope.yaml: named models and their roles, limits, and defaults of the command line (kope.yaml(5)).
 *
 * The file is the first of: the path given, $KOPE_CONFIG, ./kope.yaml,
 * $XDG_CONFIG_HOME/kope/kope.yaml (~/.config without the variable). Without one every setting has
 * its default. Unknown keys and wrong values are ERR_BAD_INPUT with file:line:column. Keys of
 * models are named by their variable; a value that looks like a key itself is refused. Everything
 * lives in the arena and is never changed. Threads: any.
 */
#ifndef KOPE_CONFIG_CONFIG_H
#define KOPE_CONFIG_CONFIG_H

#include "base/arena.h"
#include "base/err.h"
#include "llm/llm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum config_role {
    CONFIG_SMALL_STEP, /* proposes where a step is small */
    CONFIG_LARGE_STEP, /* ... and where it is large */
    CONFIG_SUMMARISER, /* shortens what goes into a context */
    CONFIG_RERANKER,   /* orders evidence by relevance */
    CONFIG_ROLE_COUNT
};

struct config_model {
    const char *name;
    struct llm_opts llm; /* ready for llm_open */
};

struct config {
    const char *path;       /* NULL: no file was found */
    const char *memory_dir; /* NULL: the default; relative to the file's folder in the file,
                               relative to the working folder here */
    const char *proposer;   /* default of --proposer; NULL: offline */
    const char *policy;     /* default of --policy; NULL: mcts */
    int64_t context_tokens; /* default of --context-tokens; 0: not set */
    int64_t token_budget;   /* of a run; 0: no limit */
    double cost_budget_usd; /* of a run; 0: no limit */
    const struct config_model *models; /* in the order of the file */
    size_t model_count;
    const struct config_model *roles[CONFIG_ROLE_COUNT]; /* NULL: not set */
};

/* `path` NULL: looked for as above. A file that was named and is not there is ERR_NOT_FOUND. */
bool config_load(const char *path, struct arena *arena, const struct config **out, struct err *err);

/* ERR_NOT_FOUND with the nearest name, or with what to write where there is no file. */
bool config_model(const struct config *config, const char *name, const struct config_model **out,
                  struct err *err);

/* "small_step": as it stands in the file. */
const char *config_role_name(enum config_role role);

#endif
