#include "propose/agent_row.h"

#include "base/str.h"
#include "llm/secret.h"
#include "os/os.h"
#include "json/json.h"

#include <string.h>

/* --- configuration files -----------------------------------------------------------------------
 */

static void write_server(struct json_writer *w, const struct agent_server *server)
{
    json_key(w, "kope");
    json_begin_object(w);
    json_put_string(w, "command", server->argv[0]);
    json_key(w, "args");
    json_begin_array(w);
    for (const char *const *word = server->argv + 1; *word; word++)
        json_write_string(w, *word);
    json_end_array(w);
    json_end_object(w);
}

/* {"mcpServers":{"kope":{"command":...,"args":[...]}}}: Claude Code, Gemini CLI, Qwen Code. */
static void write_mcp_servers(const struct agent_server *server, struct buf *out)
{
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_key(&w, "mcpServers");
    json_begin_object(&w);
    write_server(&w, server);
    json_end_object(&w);
    json_end_object(&w);
}

/* {"mcp":{"kope":{"type":"local","command":[...],"enabled":true}}} */
static void write_opencode(const struct agent_server *server, struct buf *out)
{
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_key(&w, "mcp");
    json_begin_object(&w);
    json_key(&w, "kope");
    json_begin_object(&w);
    json_put_string(&w, "type", "local");
    json_key(&w, "command");
    json_begin_array(&w);
    for (const char *const *word = server->argv; *word; word++)
        json_write_string(&w, *word);
    json_end_array(&w);
    json_put_bool(&w, "enabled", true);
    json_end_object(&w);
    json_end_object(&w);
    json_end_object(&w);
}

/* --- the rows ----------------------------------------------------------------------------------
 */

static const struct agent_word claude_words[] = {
    {"claude", false},
    {"-p", false},
    {"{model}", false},
    {"--output-format", false},
    {"json", false},
    {"--tools", false},
    {"Read,Edit,Write", false},
    {"--allowedTools", false},
    {"Read,Edit,Write,mcp__kope", false},
    {"--mcp-config", true},
    {"{mcp}", true},
    {"--strict-mcp-config", true},
    {"--max-turns", false},
    {"{turns}", false},
    {"--no-session-persistence", false},
    {0},
};
static const struct agent_word codex_words[] = {
    {"codex", false},       {"exec", false},
    {"{model}", false},     {"--json", false},
    {"--ephemeral", false}, {"--skip-git-repo-check", false},
    {"-s", false},          {"workspace-write", false},
    {"-c", true},           {"mcp_servers.kope.command={mcp.command}", true},
    {"-c", true},           {"mcp_servers.kope.args={mcp.args}", true},
    {"-", false},           {0},
};
static const struct agent_word gemini_words[] = {
    {"gemini", false}, {"{model}", false},         {"-p", false},        {"", false}, {"-o", false},
    {"json", false},   {"--approval-mode", false}, {"auto_edit", false}, {0},
};
static const struct agent_word qwen_words[] = {
    {"qwen", false},
    {"{model}", false},
    {"--auth-type", false},
    {"openai", false},
    {"-o", false},
    {"json", false},
    {"--approval-mode", false},
    {"auto-edit", false},
    {0},
};
static const struct agent_word opencode_words[] = {
    {"opencode", false}, {"run", false},  {"{model}", false},
    {"--format", false}, {"json", false}, {0},
};
static const struct agent_word aider_words[] = {
    {"aider", false},
    {"{model}", false},
    {"--message-file", false},
    {"{prompt_file}", false},
    {"--yes-always", false},
    {"--no-stream", false},
    {"--no-auto-commits", false},
    {"--no-git", false},
    {"kernel.c", false},
    {"decision.json", false},
    {0},
};

static const char *const claude_env[] = {
    "HOME", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CONFIG_DIR",
    NULL};
static const char *const codex_env[] = {"HOME",           "CODEX_HOME",      "CODEX_API_KEY",
                                        "OPENAI_API_KEY", "OPENAI_BASE_URL", NULL};
static const char *const gemini_env[] = {"HOME", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", NULL};
static const char *const openai_env[] = {"HOME", "OPENAI_API_KEY", "OPENAI_BASE_URL",
                                         "OPENAI_MODEL", NULL};
static const char *const opencode_env[] = {"HOME",
                                           "XDG_CONFIG_HOME",
                                           "XDG_DATA_HOME",
                                           "OPENCODE_CONFIG",
                                           "OPENAI_API_KEY",
                                           "ANTHROPIC_API_KEY",
                                           NULL};
static const char *const aider_env[] = {"HOME",
                                        "OPENAI_API_KEY",
                                        "OPENAI_API_BASE",
                                        "ANTHROPIC_API_KEY",
                                        "DEEPSEEK_API_KEY",
                                        "OPENROUTER_API_KEY",
                                        NULL};
static const char *const home_env[] = {"HOME", NULL};

static const char *const all_keys[] = {
    "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CODEX_API_KEY",      "OPENAI_API_KEY",
    "GEMINI_API_KEY",    "DEEPSEEK_API_KEY",     "OPENROUTER_API_KEY", NULL};

static const char *const anthropic_input[] = {"input_tokens", "cache_creation_input_tokens",
                                              "cache_read_input_tokens", NULL};
static const char *const plain_input[] = {"input_tokens", NULL};
static const char *const plain_output[] = {"output_tokens", NULL};
static const char *const gemini_input[] = {"prompt", NULL};
static const char *const gemini_output[] = {"candidates", "thoughts", NULL};
static const char *const opencode_input[] = {"input", NULL};
static const char *const opencode_output[] = {"output", "reasoning", NULL};

static const struct agent_row rows[] = {
    {.name = "claude",
     .summary = "Claude Code",
     .words = claude_words,
     .model_option = "--model",
     .prompt_on_stdin = true,
     .config_path = ".mcp.json",
     .write_config = write_mcp_servers,
     .keep_env = claude_env,
     .keys = all_keys,
     .usage = {NULL, "usage", anthropic_input, plain_output}},
    {.name = "codex",
     .summary = "OpenAI Codex",
     .words = codex_words,
     .model_option = "-m",
     .prompt_on_stdin = true,
     .keep_env = codex_env,
     .keys = all_keys,
     .usage = {"turn.completed", "usage", plain_input, plain_output}},
    {.name = "gemini",
     .summary = "Gemini CLI",
     .words = gemini_words,
     .model_option = "--model",
     .prompt_on_stdin = true,
     .config_path = ".gemini/settings.json",
     .write_config = write_mcp_servers,
     .keep_env = gemini_env,
     .keys = all_keys,
     .usage = {NULL, "stats.models.*.tokens", gemini_input, gemini_output}},
    {.name = "qwen",
     .summary = "Qwen Code",
     .words = qwen_words,
     .model_option = "--model",
     .prompt_on_stdin = true,
     .config_path = ".qwen/settings.json",
     .write_config = write_mcp_servers,
     .keep_env = openai_env,
     .keys = all_keys,
     .usage = {"result", "usage", plain_input, plain_output}},
    {.name = "opencode",
     .summary = "opencode",
     .words = opencode_words,
     .model_option = "--model",
     .prompt_on_stdin = true,
     .config_path = "opencode.json",
     .write_config = write_opencode,
     .keep_env = opencode_env,
     .keys = all_keys,
     .usage = {"step_finish", "part.tokens", opencode_input, opencode_output}},
    {.name = "aider",
     .summary = "aider",
     .words = aider_words,
     .model_option = "--model",
     .keep_env = aider_env,
     .keys = all_keys},
};

const struct agent_row agent_row_command = {.name = "command",
                                            .summary = "a command of one's own",
                                            .prompt_on_stdin = true,
                                            .config_path = ".mcp.json",
                                            .write_config = write_mcp_servers,
                                            .keep_env = home_env,
                                            .keys = all_keys};

const struct agent_row *agent_row_find(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (str_equal(rows[i].name, name))
            return &rows[i];
    }
    return NULL;
}

const char *agent_row_names(void)
{
    return "claude, codex, gemini, qwen, opencode, aider";
}

/* --- the command line --------------------------------------------------------------------------
 */

static char *server_args_json(const struct agent_server *server, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct json_writer w = {.out = &text};
    json_begin_array(&w);
    for (const char *const *word = server->argv + 1; *word; word++)
        json_write_string(&w, *word);
    json_end_array(&w);
    return arena_strdup(arena, buf_text(&text));
}

static char *string_json(const char *value, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct json_writer w = {.out = &text};
    json_write_string(&w, value);
    return arena_strdup(arena, buf_text(&text));
}

static const char *replace(const char *word, const char *mark, const char *value,
                           struct arena *arena)
{
    const char *hit = strstr(word, mark);
    if (!hit)
        return word;
    return arena_printf(arena, "%.*s%s%s", (int)(hit - word), word, value, hit + strlen(mark));
}

static const char *fill_word(const char *word, const struct agent_fill *fill, struct arena *arena)
{
    word = replace(word, "{mcp}", fill->config_path ? fill->config_path : "", arena);
    word = replace(word, "{prompt_file}", fill->prompt_path, arena);
    word = replace(word, "{turns}", arena_printf(arena, "%lld", (long long)fill->turns), arena);
    if (fill->server) {
        word = replace(word, "{mcp.command}", string_json(fill->server->argv[0], arena), arena);
        word = replace(word, "{mcp.args}", server_args_json(fill->server, arena), arena);
    }
    return word;
}

const char *const *agent_row_argv(const struct agent_row *row, const struct agent_fill *fill,
                                  struct arena *arena)
{
    const char **argv = arena_array(arena, AGENT_MAX_WORDS + 1, sizeof *argv);
    size_t count = 0;
    for (const struct agent_word *word = row->words; word->text; word++) {
        if (word->needs_mcp && !fill->server)
            continue;
        if (!str_equal(word->text, "{model}")) {
            argv[count++] = fill_word(word->text, fill, arena);
        } else if (fill->model) {
            argv[count++] = row->model_option;
            argv[count++] = fill->model;
        }
    }
    return argv;
}

/* One word from `*at` on into `out`; false for an open quote. */
static bool take_word(const char **at, struct buf *out)
{
    char quote = '\0';
    const char *c = *at;
    for (; *c != '\0' && (quote != '\0' || !strchr(" \t\n", *c)); c++) {
        if (quote == '\0' && (*c == '\'' || *c == '"'))
            quote = *c;
        else if (quote != '\0' && *c == quote)
            quote = '\0';
        else if (*c == '\\' && quote != '\'' && c[1] != '\0')
            (void)buf_append_char(out, *++c);
        else
            (void)buf_append_char(out, *c);
    }
    *at = c;
    return quote == '\0';
}

bool agent_split_command(const char *command, struct arena *arena, const char *const **out,
                         struct err *err)
{
    CLEANUP(buf_free) struct buf word = {0};
    const char **argv = arena_array(arena, AGENT_MAX_WORDS + 1, sizeof *argv);
    size_t count = 0;
    const char *at = command + strspn(command, " \t\n");
    while (*at != '\0') {
        buf_clear(&word);
        if (!take_word(&at, &word))
            return err_set(err, ERR_USAGE, "the agent's command '%s' has an open quote", command);
        if (count == AGENT_MAX_WORDS)
            return err_set(err, ERR_USAGE, "the agent's command has more than %d words",
                           AGENT_MAX_WORDS);
        argv[count++] = arena_strdup(arena, buf_text(&word));
        at += strspn(at, " \t\n");
    }
    if (count == 0) {
        (void)err_set(err, ERR_USAGE, "the agent's command is empty");
        return err_hint(err, "name an agent (claude, codex, gemini, qwen, opencode, aider) or a "
                             "command of your own");
    }
    *out = argv;
    return true;
}

char *agent_row_redact(const struct agent_row *row, const char *text, struct arena *arena)
{
    for (const char *const *key = row->keys; *key; key++)
        text = secret_redact(os_env(*key), text, arena);
    return arena_strdup(arena, text);
}

/* --- usage -------------------------------------------------------------------------------------
 */

static int64_t sum_of(const struct json *object, const char *const *names)
{
    int64_t sum = 0;
    for (; names && *names; names++) {
        const int64_t value = json_int(json_get(object, *names), 0);
        if (value > 0 && value < INT32_MAX)
            sum += value;
    }
    return sum;
}

static void add_usage(const struct agent_usage_rule *rule, const struct json *value,
                      const char *path, int64_t *input, int64_t *output)
{
    if (!value)
        return;
    if (*path == '\0') {
        *input += sum_of(value, rule->input);
        *output += sum_of(value, rule->output);
        return;
    }
    const size_t length = strcspn(path, ".");
    const char *rest = path + length + (path[length] == '.');
    if (value->type != JSON_OBJECT)
        return;
    for (const struct json *item = value->first; item; item = item->next) {
        const bool fits = (length == 1 && *path == '*') ||
                          (strlen(item->key) == length && strncmp(item->key, path, length) == 0);
        if (fits)
            add_usage(rule, item, rest, input, output);
    }
}

static void read_document(const struct agent_usage_rule *rule, const struct json *document,
                          int64_t *input, int64_t *output)
{
    if (document->type == JSON_ARRAY) { /* a list of events */
        for (const struct json *item = document->first; item; item = item->next)
            read_document(rule, item, input, output);
        return;
    }
    if (!rule->event || str_equal(json_string(json_get(document, "type"), ""), rule->event))
        add_usage(rule, document, rule->path, input, output);
}

void agent_read_usage(const struct agent_usage_rule *rule, const char *output, int64_t *input,
                      int64_t *out_tokens)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct err err;
    const struct json *document = NULL;
    *input = 0;
    *out_tokens = 0;
    if (!rule->path)
        return;
    /* One document, or a document a line among other text. */
    if (json_parse(output, strlen(output), "agent", &arena, &document, &err)) {
        read_document(rule, document, input, out_tokens);
        return;
    }
    for (const char *line = output; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        if (length > 0 && (*line == '{' || *line == '[') &&
            json_parse(line, length, "agent", &arena, &document, &err))
            read_document(rule, document, input, out_tokens);
        line += length + (line[length] == '\n');
    }
}
