/*
 * How servers differ, as rows of one table: docs/models.md explains its columns. A difference that
 * needs code goes into a wire (wire.h); everything else is a field here.
 */
#ifndef KOPE_LLM_DIALECT_H
#define KOPE_LLM_DIALECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct llm_driver;
struct wire;

/* How strictly a server can be told the form of a reply. */
enum schema_form { SCHEMA_NONE, SCHEMA_JSON_OBJECT, SCHEMA_JSON_SCHEMA };

/* Where counts stand in a reply: "a.b" is a member of a member, "|" separates alternatives, of
 * which the first that exists counts. NULL: it is not told. */
struct usage_paths {
    const char *input, *cached, *cache_write, *output, *reasoning;
    const char *cost;       /* US dollars */
    bool input_is_uncached; /* total input = input + cached + cache_write */
};

struct dialect {
    const char *name, *summary;
    const struct llm_driver *driver;
    const struct wire *wire;       /* NULL: not over HTTP */
    const char *host;              /* a base URL with this host means the row; NULL: none does */
    const char *base_url;          /* where it is by default; NULL: it has to be given */
    const char *base_url_variable; /* NULL: none */
    const char *key_variable;      /* where the key is by default */
    const char *key_header;        /* what stands before the key */
    const char *const *headers;    /* more of them, NULL-terminated; NULL: none */
    const char *max_tokens_field;  /* name of the cap on output tokens in a request */
    const char *effort_path; /* where the effort of reasoning goes, "a" or "a.b"; NULL: nowhere */
    const char *reasoning_field; /* of a delta or message, alternatives as above; NULL: none */
    struct usage_paths usage;
    enum schema_form schema;       /* the strictest that it takes */
    bool wants_usage_option;       /* stream_options.include_usage */
    bool takes_cache_control;      /* cache breakpoints are marked in the messages */
    bool takes_thinking_tokens;    /* a budget of thinking */
    int64_t context_tokens;        /* where nobody configured another; 0: by model */
    const char *count_path;        /* where tokens are counted; NULL: nowhere */
    const struct wire *count_wire; /* how that request is written */
};

/* By name; NULL where there is none. */
const struct dialect *dialect_by_name(const char *name);
/* By the host of a base URL; never NULL: "other" stands for every server that no row names. */
const struct dialect *dialect_by_host(const char *host);

extern const struct dialect dialect_table[];
extern const size_t dialect_count;

#endif
