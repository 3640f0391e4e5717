#include "command/internal.h"

#include "base/str.h"

#include <string.h>

bool command_find(const char *const *words, size_t count, const struct command **out,
                  size_t *out_used, struct err *err)
{
    const struct command *found = NULL;
    size_t used = 0;
    for (size_t i = 0; i < command_count && count != 0; i++) {
        const struct command *command = command_table[i];
        const char *space = strchr(command->name, ' ');
        const size_t first = space ? (size_t)(space - command->name) : strlen(command->name);
        if (strlen(words[0]) != first || strncmp(words[0], command->name, first) != 0)
            continue;
        if (!space && used == 0) {
            found = command;
            used = 1;
        } else if (space && count > 1 && str_equal(words[1], space + 1)) {
            found = command;
            used = 2;
        }
    }
    if (found) {
        *out = found;
        *out_used = used;
        return true;
    }
    const char *names[COMMAND_MAX_PARAMS * 2];
    size_t name_count = 0;
    char group[256] = "";
    for (size_t i = 0; i < command_count && name_count < COMMAND_MAX_PARAMS * 2; i++) {
        names[name_count++] = command_table[i]->name;
        const size_t n = count ? strlen(words[0]) : 0;
        if (n != 0 && strncmp(command_table[i]->name, words[0], n) == 0 &&
            command_table[i]->name[n] == ' ' &&
            strlen(group) + strlen(command_table[i]->name) + 4 < sizeof group) {
            (void)strcat(group, group[0] ? ", " : "");
            (void)strcat(group, command_table[i]->name);
        }
    }
    if (group[0] != '\0') {
        (void)err_set(err, ERR_USAGE, "'%s' needs one more word", words[0]);
        return err_hint(err, "%s", group);
    }
    (void)err_set(err, ERR_USAGE, "there is no command '%s'", count ? words[0] : "");
    const char *nearest = count ? str_nearest(words[0], names, name_count) : NULL;
    return nearest ? err_hint(err, "did you mean '%s'? 'kope help' lists all", nearest)
                   : err_hint(err, "'kope help' lists all");
}

static bool value_is_valid(const struct param *param, const char *value, struct err *err)
{
    int64_t number = 0;
    if (param->type == PARAM_INT && (!str_parse_int64(value, &number) || number < 0))
        return err_set(err, ERR_USAGE, "--%s takes a whole number from 0 on, not '%s'", param->name,
                       value);
    if (param->type == PARAM_DURATION && !str_parse_duration_ns(value, &number)) {
        (void)err_set(err, ERR_USAGE, "--%s takes a duration, not '%s'", param->name, value);
        return err_hint(err, "write 90s, 10m or 2h");
    }
    if (!param->choices)
        return true;
    const size_t length = strlen(value);
    for (const char *at = param->choices; at; at = strchr(at, '|')) {
        at += *at == '|';
        if (length != 0 && strncmp(at, value, length) == 0 &&
            (at[length] == '|' || at[length] == '\0'))
            return true;
    }
    return err_set(err, ERR_USAGE, "--%s is one of %s, not '%s'", param->name, param->choices,
                   value);
}

static bool unknown_option(const struct command *command, const char *word, struct err *err)
{
    const char *names[COMMAND_MAX_PARAMS];
    size_t count = 0;
    for (const struct param *p = command->params; p->name; p++) {
        if (!p->positional)
            names[count++] = p->name;
    }
    (void)err_set(err, ERR_USAGE, "'kope %s' has no option '%s'", command->name, word);
    const char *nearest = str_nearest(word + strspn(word, "-"), names, count);
    return nearest ? err_hint(err, "did you mean --%s? 'kope help %s' lists all", nearest,
                              command->name)
                   : err_hint(err, "'kope help %s' lists all", command->name);
}

/* Binds "--name", "--name=value" or "--name value"; `*index` moves past what was used. */
static bool bind_option(const struct command *command, const char *const *words, size_t count,
                        size_t *index, struct command_call *call, struct err *err)
{
    const char *word = words[*index];
    const char *equals = strchr(word, '=');
    const size_t length = equals ? (size_t)(equals - word - 2) : strlen(word) - 2;
    for (size_t i = 0; command->params[i].name; i++) {
        const struct param *param = &command->params[i];
        if (param->positional || strlen(param->name) != length ||
            strncmp(param->name, word + 2, length) != 0)
            continue;
        if (call->values[i])
            return err_set(err, ERR_USAGE, "--%s is given twice", param->name);
        if (param->type == PARAM_FLAG) {
            if (equals)
                return err_set(err, ERR_USAGE, "--%s takes no value", param->name);
            call->values[i] = "true";
            return true;
        }
        if (!equals && *index + 1 >= count)
            return err_set(err, ERR_USAGE, "--%s needs a value (%s)", param->name, param->value);
        call->values[i] = equals ? equals + 1 : words[++*index];
        return value_is_valid(param, call->values[i], err);
    }
    return unknown_option(command, word, err);
}

static bool bind_positional(const struct command *command, const char *word,
                            struct command_call *call, struct err *err)
{
    for (size_t i = 0; command->params[i].name; i++) {
        const struct param *param = &command->params[i];
        if (param->type == PARAM_REST) {
            if (strchr(word, '\n'))
                return err_set(err, ERR_USAGE, "%s: a word with a line break", param->value);
            call->values[i] =
                call->values[i] ? arena_printf(call->arena, "%s\n%s", call->values[i], word) : word;
            return true;
        }
        if (param->positional && !call->values[i]) {
            call->values[i] = word;
            return value_is_valid(&command->params[i], word, err);
        }
    }
    (void)err_set(err, ERR_USAGE, "'%s' is one argument too many for 'kope %s'", word,
                  command->name);
    return err_hint(err, "'kope help %s' shows its use", command->name);
}

bool command_bind(const struct command *command, const char *const *words, size_t count,
                  struct command_call *out, struct err *err)
{
    struct command_call call = {.command = command, .observer = out->observer, .arena = out->arena};
    bool options = true;
    for (size_t i = 0; i < count; i++) {
        const char *word = words[i];
        if (options && str_equal(word, "--")) {
            options = false;
        } else if (options && word[0] == '-' && word[1] != '\0') {
            if (word[1] != '-')
                return unknown_option(command, word, err);
            if (!bind_option(command, words, count, &i, &call, err))
                return false;
        } else if (!bind_positional(command, word, &call, err)) {
            return false;
        }
    }
    for (size_t i = 0; command->params[i].name; i++) {
        if (!command->params[i].required || call.values[i])
            continue;
        (void)err_set(err, ERR_USAGE, "'kope %s' needs %s", command->name,
                      command->params[i].value);
        return err_hint(err, "%s; 'kope help %s' shows its use", command->params[i].help,
                        command->name);
    }
    *out = call;
    return true;
}

static size_t param_index(const struct command_call *call, const char *name)
{
    for (size_t i = 0; call->command->params[i].name; i++) {
        if (str_equal(call->command->params[i].name, name))
            return i;
    }
    BUG("command '%s' has no parameter '%s'", call->command->name, name);
}

const char *command_text(const struct command_call *call, const char *name)
{
    return call->values[param_index(call, name)];
}

bool command_flag(const struct command_call *call, const char *name)
{
    return call->values[param_index(call, name)] != NULL;
}

int64_t command_int(const struct command_call *call, const char *name, int64_t otherwise)
{
    const char *text = command_text(call, name);
    int64_t value = otherwise;
    if (text)
        (void)str_parse_int64(text, &value);
    return value;
}

int64_t command_duration_ns(const struct command_call *call, const char *name)
{
    const char *text = command_text(call, name);
    int64_t value = 0;
    if (text)
        (void)str_parse_duration_ns(text, &value);
    return value;
}

const char *const *command_list(const struct command_call *call, const char *name, size_t *count)
{
    const char *text = command_text(call, name);
    size_t words = text ? 1 : 0;
    for (const char *at = text; at && (at = strchr(at, '\n')); at++)
        words++;
    const char **list = arena_array(call->arena, words, sizeof *list);
    for (size_t i = 0; i < words; i++) {
        const size_t length = strcspn(text, "\n");
        list[i] = arena_strndup(call->arena, text, length);
        text += length + 1;
    }
    *count = words;
    return list;
}
