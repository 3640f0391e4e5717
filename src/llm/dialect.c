#include "llm/dialect.h"

#include "base/str.h"
#include "llm/driver.h"
#include "llm/wire.h"

#include <strings.h>

#define BEARER "Authorization: Bearer "

/* What most servers of chat completions send, and what some call it. */
#define USAGE_CHAT                                                                                 \
    .input = "usage.prompt_tokens|usage.input_tokens",                                             \
    .cached = "usage.prompt_tokens_details.cached_tokens|usage.prompt_cache_hit_tokens|"           \
              "usage.input_tokens_details.cached_tokens|timings.cache_n",                          \
    .cache_write = "usage.prompt_tokens_details.cache_write_tokens",                               \
    .output = "usage.completion_tokens|usage.output_tokens",                                       \
    .reasoning = "usage.completion_tokens_details.reasoning_tokens|"                               \
                 "usage.output_tokens_details.reasoning_tokens"

static const char *const anthropic_headers[] = {"anthropic-version: 2023-06-01", NULL};

const struct dialect dialect_table[] = {
    {.name = "openai",
     .summary = "OpenAI, chat completions",
     .driver = &llm_driver_http,
     .wire = &wire_chat,
     .host = "api.openai.com",
     .base_url = "https://api.openai.com/v1",
     .base_url_variable = "OPENAI_BASE_URL",
     .key_variable = "OPENAI_API_KEY",
     .key_header = BEARER,
     .max_tokens_field = "max_completion_tokens",
     .effort_path = "reasoning_effort",
     .usage = {USAGE_CHAT},
     .schema = SCHEMA_JSON_SCHEMA,
     .wants_usage_option = true,
     .count_path = "/responses/input_tokens",
     .count_wire = &wire_responses},
    {.name = "openai-responses",
     .summary = "OpenAI, Responses",
     .driver = &llm_driver_http,
     .wire = &wire_responses,
     .base_url = "https://api.openai.com/v1",
     .base_url_variable = "OPENAI_BASE_URL",
     .key_variable = "OPENAI_API_KEY",
     .key_header = BEARER,
     .max_tokens_field = "max_output_tokens",
     .effort_path = "reasoning.effort",
     .usage = {.input = "usage.input_tokens",
               .cached = "usage.input_tokens_details.cached_tokens",
               .output = "usage.output_tokens",
               .reasoning = "usage.output_tokens_details.reasoning_tokens"},
     .schema = SCHEMA_JSON_SCHEMA,
     .count_path = "/responses/input_tokens",
     .count_wire = &wire_responses},
    {.name = "anthropic",
     .summary = "Anthropic, Messages",
     .driver = &llm_driver_http,
     .wire = &wire_messages,
     .host = "api.anthropic.com",
     .base_url = "https://api.anthropic.com",
     .base_url_variable = "ANTHROPIC_BASE_URL",
     .key_variable = "ANTHROPIC_API_KEY",
     .key_header = "x-api-key: ",
     .headers = anthropic_headers,
     .max_tokens_field = "max_tokens",
     .effort_path = "output_config.effort",
     .usage = {.input = "usage.input_tokens",
               .cached = "usage.cache_read_input_tokens",
               .cache_write = "usage.cache_creation_input_tokens",
               .output = "usage.output_tokens",
               .input_is_uncached = true},
     .schema = SCHEMA_JSON_SCHEMA,
     .takes_cache_control = true,
     .takes_thinking_tokens = true,
     .count_path = "/v1/messages/count_tokens",
     .count_wire = &wire_messages},
    {.name = "vllm",
     .summary = "vLLM's server",
     .driver = &llm_driver_http,
     .wire = &wire_chat,
     .base_url = "http://127.0.0.1:8000/v1",
     .key_variable = "VLLM_API_KEY",
     .key_header = BEARER,
     .max_tokens_field = "max_tokens",
     .effort_path = "reasoning_effort",
     .reasoning_field = "reasoning|reasoning_content",
     .usage = {USAGE_CHAT},
     .schema = SCHEMA_JSON_SCHEMA,
     .wants_usage_option = true},
    {.name = "llama.cpp",
     .summary = "llama-server",
     .driver = &llm_driver_http,
     .wire = &wire_chat,
     .base_url = "http://127.0.0.1:8080/v1",
     .key_variable = "LLAMA_API_KEY",
     .key_header = BEARER,
     .max_tokens_field = "max_tokens",
     .reasoning_field = "reasoning_content",
     .usage = {USAGE_CHAT},
     .schema = SCHEMA_JSON_SCHEMA,
     .wants_usage_option = true,
     .count_path = "/chat/completions/input_tokens",
     .count_wire = &wire_chat},
    {.name = "ollama",
     .summary = "Ollama; its context is 4096 tokens unless it was started with more",
     .driver = &llm_driver_http,
     .wire = &wire_chat,
     .base_url = "http://127.0.0.1:11434/v1",
     .key_variable = "OLLAMA_API_KEY",
     .key_header = BEARER,
     .max_tokens_field = "max_tokens",
     .effort_path = "reasoning_effort",
     .reasoning_field = "reasoning",
     .usage = {USAGE_CHAT},
     .schema = SCHEMA_JSON_SCHEMA,
     .wants_usage_option = true,
     .context_tokens = 4096},
    {.name = "deepseek",
     .summary = "DeepSeek",
     .driver = &llm_driver_http,
     .wire = &wire_chat,
     .host = "api.deepseek.com",
     .base_url = "https://api.deepseek.com",
     .key_variable = "DEEPSEEK_API_KEY",
     .key_header = BEARER,
     .max_tokens_field = "max_tokens",
     .reasoning_field = "reasoning_content",
     .usage = {USAGE_CHAT},
     .schema = SCHEMA_JSON_OBJECT,
     .wants_usage_option = true},
    {.name = "openrouter",
     .summary = "OpenRouter, which also says what a call cost",
     .driver = &llm_driver_http,
     .wire = &wire_chat,
     .host = "openrouter.ai",
     .base_url = "https://openrouter.ai/api/v1",
     .key_variable = "OPENROUTER_API_KEY",
     .key_header = BEARER,
     .max_tokens_field = "max_tokens",
     .effort_path = "reasoning.effort",
     .reasoning_field = "reasoning|reasoning_content",
     .usage = {USAGE_CHAT, .cost = "usage.cost"},
     .schema = SCHEMA_JSON_SCHEMA,
     .wants_usage_option = true,
     .takes_cache_control = true},
    {.name = "zai",
     .summary = "GLM at z.ai",
     .driver = &llm_driver_http,
     .wire = &wire_chat,
     .host = "api.z.ai",
     .base_url = "https://api.z.ai/api/paas/v4",
     .key_variable = "ZAI_API_KEY",
     .key_header = BEARER,
     .max_tokens_field = "max_tokens",
     .reasoning_field = "reasoning_content",
     .usage = {USAGE_CHAT},
     .schema = SCHEMA_JSON_OBJECT,
     .wants_usage_option = true},
    {.name = "other",
     .summary = "any other server of chat completions",
     .driver = &llm_driver_http,
     .wire = &wire_chat,
     .base_url_variable = "OPENAI_BASE_URL",
     .key_variable = "OPENAI_API_KEY",
     .key_header = BEARER,
     .max_tokens_field = "max_tokens",
     .effort_path = "reasoning_effort",
     .reasoning_field = "reasoning_content|reasoning",
     .usage = {USAGE_CHAT},
     .schema = SCHEMA_JSON_SCHEMA,
     .wants_usage_option = true},
    {.name = "replay",
     .summary = "answers from a file, without a network",
     .driver = &llm_driver_replay},
};
const size_t dialect_count = sizeof dialect_table / sizeof *dialect_table;

const struct dialect *dialect_by_name(const char *name)
{
    for (size_t i = 0; i < dialect_count; i++) {
        if (str_equal(dialect_table[i].name, name))
            return &dialect_table[i];
    }
    return NULL;
}

const struct dialect *dialect_by_host(const char *host)
{
    for (size_t i = 0; i < dialect_count; i++) {
        if (dialect_table[i].host && strcasecmp(dialect_table[i].host, host) == 0)
            return &dialect_table[i];
    }
    return dialect_by_name("other");
}
