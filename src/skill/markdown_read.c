#include "skill/markdown.h"

#include "base/str.h"
#include "yaml/yaml.h"

#include <string.h>

static bool refuse(const char *file, const char *what, struct err *err)
{
    return err_set(err, ERR_BAD_INPUT, "%s: %s", file, what);
}

/* The text between the two lines of dashes. `*line` is that of its first line. */
static bool find_front_matter(const char *text, size_t length, const char *file, const char **begin,
                              size_t *out_length, struct err *err)
{
    static const char fence[] = "---\n";
    if (length > SKILL_FILE_MAX_BYTES)
        return err_set(err, ERR_LIMIT, "%s: more than %d bytes", file, (int)SKILL_FILE_MAX_BYTES);
    if (strlen(text) != length)
        return refuse(file, "it holds a NUL byte", err);
    if (!str_starts_with(text, fence))
        return refuse(file, "line 1: it does not begin with '---'", err);
    const char *end = strstr(text + strlen(fence) - 1, "\n---");
    while (end && end[4] != '\n' && end[4] != '\0')
        end = strstr(end + 1, "\n---");
    if (!end)
        return refuse(file, "its front matter does not end with '---'", err);
    *begin = text + strlen(fence);
    *out_length = end < *begin ? 0 : (size_t)(end + 1 - *begin);
    return true;
}

static bool read_metadata(const struct yaml *metadata, struct err *err)
{
    if (metadata->type != YAML_MAPPING)
        return yaml_error(metadata, err, "'metadata' is a mapping from text to text");
    for (const struct yaml *node = metadata->first; node; node = node->next) {
        if (node->type != YAML_SCALAR)
            return yaml_error(node, err, "'%.60s' of 'metadata' is no text", node->key);
    }
    return true;
}

static bool text_of(const struct yaml *map, const char *key, const char **out, struct err *err)
{
    const struct yaml *node = map ? yaml_get(map, key) : NULL;
    *out = "";
    if (!node || (!node->quoted && yaml_is_null(node)))
        return true;
    if (node->type != YAML_SCALAR)
        return yaml_error(node, err, "'%s' is no text", key);
    *out = node->text;
    return true;
}

/* The length of UTF-8 in characters. */
static size_t characters(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

static bool check_description(const struct yaml *root, const char **out, struct err *err)
{
    if (!yaml_read_string(root, "description", true, out, err))
        return false;
    const size_t length = characters(*out);
    if (length == 0 || length > SKILL_DESCRIPTION_CHARS)
        return yaml_error(yaml_get(root, "description"), err,
                          "'description' has 1 to %d characters, not %zu",
                          (int)SKILL_DESCRIPTION_CHARS, length);
    return true;
}

static bool check_name(const struct yaml *root, const char *folder, const char **out,
                       struct err *err)
{
    if (!yaml_read_string(root, "name", true, out, err))
        return false;
    const struct yaml *node = yaml_get(root, "name");
    const char *problem = skill_name_problem(*out);
    if (problem)
        return yaml_error(node, err, "'%.80s' is no name of a skill: %s", *out, problem);
    if (!str_equal(*out, folder))
        return yaml_error(node, err, "the name is '%s', that of its folder '%.80s'", *out, folder);
    return true;
}

static bool check_others(const struct yaml *root, struct err *err)
{
    static const char *const plain[] = {"license", "compatibility", "allowed-tools"};
    enum { COMPATIBILITY_CHARS = 500 };
    const char *text = "";
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (!text_of(root, plain[i], &text, err))
            return false;
        if (str_equal(plain[i], "compatibility") && characters(text) > COMPATIBILITY_CHARS)
            return yaml_error(yaml_get(root, plain[i]), err,
                              "'compatibility' has at most %d characters",
                              (int)COMPATIBILITY_CHARS);
    }
    return true;
}

static bool read_ours(const struct yaml *metadata, struct graph_skill *skill, struct err *err)
{
    const struct {
        const char *key;
        const char **out;
    } fields[] = {{"kope-intent", &skill->intent}, {"kope-applies", &skill->applies},
                  {"kope-needs", &skill->needs},   {"kope-change", &skill->change},
                  {"kope-breaks", &skill->breaks}, {"kope-build", &skill->build}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!text_of(metadata, fields[i].key, fields[i].out, err))
            return false;
    }
    return true;
}

/* libyaml counts lines from the front matter's first, which is the file's second: a line of its own
 * before it makes them agree. */
static bool parse(const char *front, size_t length, const char *file, struct arena *arena,
                  const struct yaml **out, struct err *err)
{
    const char *text = arena_printf(arena, "\n%.*s", (int)length, front);
    return yaml_parse(text, length + 1, file, arena, out, err);
}

bool skill_read_markdown(const char *text, size_t length, const char *file, const char *folder,
                         struct arena *arena, struct graph_skill *out, struct err *err)
{
    static const char *const keys[] = {"name",     "description",   "license", "compatibility",
                                       "metadata", "allowed-tools", NULL};
    const char *front = NULL;
    const char *description = "";
    size_t front_length = 0;
    const struct yaml *root = NULL;
    struct graph_skill skill = skill_blank("imported");
    if (!find_front_matter(text, length, file, &front, &front_length, err) ||
        !parse(front, front_length, file, arena, &root, err) || !yaml_check_keys(root, keys, err) ||
        !check_name(root, folder, &skill.name, err) ||
        !check_description(root, &description, err) || !check_others(root, err))
        return false;
    const struct yaml *metadata = yaml_get(root, "metadata");
    if (metadata && (!read_metadata(metadata, err)))
        return false;
    if (!read_ours(metadata, &skill, err))
        return false;
    if (skill.intent[0] == '\0')
        skill.intent = description;
    if (!skill_check(&skill, err))
        return err_within(err, "%s", file);
    *out = skill;
    return true;
}
