/* Within config/ only. */
#ifndef KOPE_CONFIG_INTERNAL_H
#define KOPE_CONFIG_INTERNAL_H

#include "config/config.h"
#include "yaml/yaml.h"

/* Models in the order of the file. `dir`: its folder, for paths in it. */
bool config_read_models(const struct yaml *models, const char *dir, struct arena *arena,
                        const struct config_model **out, size_t *out_count, struct err *err);

/* A path as it stands in the file: "~/" is the home folder, others are relative to `dir`. */
const char *config_path(const char *text, const char *dir, struct arena *arena);

#endif
