#include "mcp/service/internal.h"

#include "base/str.h"
#include "os/file.h"

#include <string.h>

static bool is_within(const char *path, const char *root)
{
    const size_t length = strlen(root);
    return str_equal(root, "/") ||
           (strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == '\0'));
}

bool path_confine(const struct service *service, const char *path, bool is_new, struct arena *arena,
                  const char **out, struct err *err)
{
    /* Relative paths begin at the first root. */
    const char *full = path[0] == '/' ? path : os_path_join(arena, service->roots[0], path);
    const char *base = os_path_base(full);
    char *real = NULL;
    if (is_new && (base[0] == '\0' || str_equal(base, ".") || str_equal(base, "..")))
        return err_set(err, ERR_USAGE, "'%s' does not name a file", path);
    if (!os_path_real(is_new ? os_path_dir(arena, full) : full, arena, &real, err))
        return false;
    for (size_t i = 0; i < service->root_count; i++) {
        if (!is_within(real, service->roots[i]))
            continue;
        *out = is_new ? os_path_join(arena, real, base) : real;
        return true;
    }
    (void)err_set(err, ERR_USAGE, "'%s' lies outside the folders that this server may use", path);
    return err_hint(err, "start 'kope mcp' with --root for its folder");
}

const char *argument_text(struct mcp_call *call, const char *name)
{
    return json_string(json_get(mcp_call_arguments(call), name), NULL);
}

/* 'context-tokens' as JSON calls it. */
static const char *json_name(const char *name, struct arena *arena)
{
    char *copy = arena_strdup(arena, name);
    for (char *c = copy; *c != '\0'; c++)
        *c = *c == '-' ? '_' : *c;
    return copy;
}

static const char *value_text(const struct json *value, struct arena *arena)
{
    return value->type == JSON_INT ? arena_printf(arena, "%lld", (long long)value->integer)
                                   : json_string(value, "");
}

/* The words for one parameter, if it is given; the schema has checked its type. */
static bool add_words(const struct service *service, struct mcp_call *call,
                      const struct param *param, const char **words, size_t *count, struct err *err)
{
    struct arena *arena = mcp_call_arena(call);
    const struct json *value = json_get(mcp_call_arguments(call), json_name(param->name, arena));
    const char *text = value ? value_text(value, arena) : NULL;
    if (str_equal(param->name, "memory"))
        text = service->memory_dir;
    else if (value && param->type == PARAM_PATH &&
             !path_confine(service, text, !param->required, arena, &text, err))
        return false;
    if (!text || (param->type == PARAM_FLAG && !json_bool(value, false)))
        return true;
    if (param->positional)
        words[(*count)++] = text;
    else
        words[(*count)++] = param->type == PARAM_FLAG
                                ? arena_printf(arena, "--%s", param->name)
                                : arena_printf(arena, "--%s=%s", param->name, text);
    return true;
}

bool arguments_bind(const struct service *service, struct mcp_call *call, const char *command,
                    struct command_call *out, struct err *err)
{
    const char *words[2 * COMMAND_MAX_PARAMS + 1];
    const char *name[2] = {command, NULL};
    const struct command *found = NULL;
    size_t used = 0;
    size_t count = 0;
    struct arena *arena = mcp_call_arena(call);
    char *space = strchr(arena_strdup(arena, command), ' ');
    if (space) {
        name[0] = arena_strndup(arena, command, strcspn(command, " "));
        name[1] = space + 1;
    }
    if (!command_find(name, space ? 2 : 1, &found, &used, err))
        return false;
    /* Options first: a positional that begins with '-' must not be taken for one. */
    for (const struct param *p = found->params; p->name; p++) {
        if (!p->positional && !add_words(service, call, p, words, &count, err))
            return false;
    }
    words[count++] = "--";
    for (const struct param *p = found->params; p->name; p++) {
        if (p->positional && !add_words(service, call, p, words, &count, err))
            return false;
    }
    out->arena = arena;
    return command_bind(found, words, count, out, err);
}
