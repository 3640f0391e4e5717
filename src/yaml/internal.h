/* Within yaml/ only. */
#ifndef KOPE_YAML_INTERNAL_H
#define KOPE_YAML_INTERNAL_H

#include "yaml/yaml.h"

#include <stdbool.h>

/* A plain scalar that says 'no value': nothing, '~' or 'null'. */
bool yaml_is_null(const struct yaml *node);

#endif
