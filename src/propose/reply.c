#include "propose/reply.h"

#include "base/str.h"
#include "json/json.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#define MAX_SPEEDUP 1e4
#define MAX_LOG_SPEEDUP 9.3

/* A fenced block: its first word and its lines. */
struct fence {
    const char *info;
    size_t info_length;
    const char *text;
    size_t length;
    bool is_closed;
};

static size_t count_ticks(const char *line)
{
    return strspn(line, "`");
}

static const char *after_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line == '\n' ? line + 1 : line;
}

static bool is_rest_blank(const char *text)
{
    return text[strspn(text, " \t\r")] == '\n' || text[strspn(text, " \t\r")] == '\0';
}

/* The next block from `*at` on; false where there is none. As in CommonMark a block is closed by at
 * least as many backticks as have opened it. */
static bool next_fence(const char **at, struct fence *out)
{
    const char *line = *at;
    while (*line != '\0' && count_ticks(line) < 3)
        line = after_line(line);
    if (*line == '\0')
        return false;
    const size_t ticks = count_ticks(line);
    *out = (struct fence){.info = line + ticks + strspn(line + ticks, " \t")};
    out->info_length = strcspn(out->info, " \t\r\n");
    out->text = after_line(line);
    line = out->text;
    while (*line != '\0' && (count_ticks(line) < ticks || !is_rest_blank(line + count_ticks(line))))
        line = after_line(line);
    out->length = (size_t)(line - out->text);
    out->is_closed = *line != '\0';
    *at = after_line(line);
    return true;
}

static bool is_language(const struct fence *fence, const char *name)
{
    return fence->info_length == strlen(name) &&
           strncasecmp(fence->info, name, fence->info_length) == 0;
}

/* Reasoning that some local servers leave in the text is no part of the answer. */
static const char *skip_thinking(const char *text)
{
    const char *start = text + strspn(text, " \t\r\n");
    const char *end = str_starts_with(start, "<think>") ? strstr(start, "</think>") : NULL;
    return end ? end + strlen("</think>") : text;
}

/* Puts one block where the one of its language goes. */
static const char *take_block(const struct fence *fence, struct fence *json, struct fence *c,
                              struct arena *arena)
{
    struct fence *slot = is_language(fence, "json") ? json : is_language(fence, "c") ? c : NULL;
    const char *name = slot == json ? "json" : "c";
    if (!slot)
        return arena_printf(arena,
                            "there is a fenced block marked '%.*s'; only one ```json and one ```c "
                            "block are allowed",
                            fence->info_length < 32 ? (int)fence->info_length : 32, fence->info);
    if (slot->text)
        return arena_printf(arena, "there is more than one ```%s block", name);
    if (!fence->is_closed)
        return arena_printf(arena, "the ```%s block is not closed by a line of ```", name);
    *slot = *fence;
    return NULL;
}

static const char *find_blocks(const char *text, struct fence *json, struct fence *c,
                               struct arena *arena)
{
    struct fence fence;
    const char *at = skip_thinking(text);
    while (next_fence(&at, &fence)) {
        const char *problem = take_block(&fence, json, c, arena);
        if (problem)
            return problem;
    }
    if (!json->text)
        return "there is no ```json block";
    return c->text ? NULL : "there is no ```c block";
}

static const char *take_string(const struct json *value, const char *what, const char *key,
                               size_t limit, struct arena *arena, const char **out)
{
    if (!value)
        return arena_printf(arena, "%s has no \"%s\"", what, key);
    if (value->type != JSON_STRING || value->string_length == 0)
        return arena_printf(arena, "\"%s\" is not a string with text in it", key);
    if (value->string_length > limit)
        return arena_printf(arena, "\"%s\" is longer than %zu bytes", key, limit);
    *out = arena_strdup(arena, value->string);
    return NULL;
}

static const char *take_flags(const struct json *flags, struct arena *arena, struct candidate *out)
{
    if (flags->type != JSON_ARRAY)
        return "\"flags\" is not an array of strings";
    if (flags->count > CANDIDATE_MAX_FLAGS)
        return arena_printf(arena, "\"flags\" has more than %d items", CANDIDATE_MAX_FLAGS);
    out->flag_count = 0;
    for (const struct json *flag = flags->first; flag; flag = flag->next) {
        if (flag->type != JSON_STRING || flag->string[0] != '-' ||
            flag->string_length > REPLY_MAX_FLAG_BYTES)
            return "\"flags\" has an item that is not a compiler flag";
        for (size_t i = 0; i < flag->string_length; i++) {
            if (!isgraph((unsigned char)flag->string[i]))
                return "\"flags\" has an item with a space in it; each flag is an item of its own";
        }
        out->flags[out->flag_count++] = arena_strdup(arena, flag->string);
    }
    return NULL;
}

/* Compiler and flags: the reply's, else the parent's. Flags that were made for another compiler are
 * not kept. */
static const char *take_build(const struct json *header, const char *what,
                              const struct candidate *parent, struct arena *arena,
                              struct candidate *out)
{
    const struct json *compiler = json_get(header, "compiler");
    const struct json *flags = json_get(header, "flags");
    if (parent) {
        const struct candidate copy = candidate_copy(parent, arena);
        out->compiler = copy.compiler;
        memcpy(out->flags, copy.flags, sizeof out->flags);
        out->flag_count = copy.flag_count;
    }
    if (compiler && compiler->type != JSON_NULL) {
        const char *name = NULL;
        const char *problem = take_string(compiler, what, "compiler", 64, arena, &name);
        if (problem)
            return problem;
        if (!out->compiler || !str_equal(out->compiler, name))
            out->flag_count = 0;
        out->compiler = name;
    }
    return flags && flags->type != JSON_NULL ? take_flags(flags, arena, out) : NULL;
}

static bool is_listed(const char *key, const char *const *keys)
{
    while (*keys && !str_equal(*keys, key))
        keys++;
    return *keys != NULL;
}

/* `object` has no key that neither list holds. */
static const char *check_keys(const struct json *object, const char *what, const char *const *keys,
                              const char *const *more, struct arena *arena)
{
    for (const struct json *item = object->first; item; item = item->next) {
        if (!is_listed(item->key, keys) && !is_listed(item->key, more))
            return arena_printf(arena, "%s has a key \"%.40s\" that is not asked for", what,
                                item->key);
    }
    return NULL;
}

/* A ratio in the logarithm; headers that people and agents fill in may give the ratio itself. */
static const char *take_prediction(const struct json *object, struct proposal *out)
{
    const struct json *log_speedup = json_get(object, "predicted_log_speedup");
    const struct json *speedup = json_get(object, "predicted_speedup");
    if (log_speedup && speedup)
        return "\"predicted_speedup\" and \"predicted_log_speedup\" are both given";
    if (speedup) {
        const double ratio = json_real(speedup, 0.0);
        if (!(ratio >= 1.0 / MAX_SPEEDUP && ratio <= MAX_SPEEDUP))
            return "\"predicted_speedup\" is not a number such as 1.3";
        out->predicted_log_ratio = log(ratio);
        return NULL;
    }
    const double value = json_real(log_speedup, (double)NAN);
    if (!(fabs(value) <= MAX_LOG_SPEEDUP))
        return "\"predicted_log_speedup\" is not a number such as 0.26";
    out->predicted_log_ratio = value;
    return NULL;
}

static const char *take_uses(const struct json *uses, struct arena *arena, struct proposal *out)
{
    if (!uses || uses->type == JSON_NULL)
        return NULL;
    if (uses->type != JSON_ARRAY || uses->count > PROPOSAL_MAX_USES)
        return arena_printf(arena, "\"uses\" is not an array of at most %d labels",
                            PROPOSAL_MAX_USES);
    for (const struct json *item = uses->first; item; item = item->next) {
        if (item->type != JSON_STRING || item->string_length == 0 ||
            item->string_length > REPLY_MAX_NAME_BYTES)
            return "\"uses\" has an item that is not a label";
        for (size_t i = 0; i < item->string_length; i++) {
            if (!isgraph((unsigned char)item->string[i]))
                return "\"uses\" has an item that is not a label";
        }
        out->uses[out->use_count++] = arena_strdup(arena, item->string);
    }
    return NULL;
}

/* What every proposal says of itself, in whichever form. */
static const char *take_about(const struct json *object, const char *what,
                              const struct candidate *parent, struct arena *arena,
                              struct proposal *out)
{
    const char *problem = NULL;
    if ((problem = take_string(json_get(object, "intent"), what, "intent", REPLY_MAX_INTENT_BYTES,
                               arena, &out->intent)) ||
        (problem = take_string(json_get(object, "hypothesis"), what, "hypothesis",
                               REPLY_MAX_HYPOTHESIS_BYTES, arena, &out->hypothesis)) ||
        (problem = take_prediction(object, out)) ||
        (problem = take_uses(json_get(object, "uses"), arena, out)))
        return problem;
    return take_build(object, what, parent, arena, &out->candidate);
}

static const char *const about_keys[] = {
    "intent", "hypothesis", "predicted_log_speedup", "predicted_speedup", "uses", "compiler",
    "flags",  NULL};

static const char *take_header(const struct fence *block, const struct candidate *parent,
                               struct arena *arena, struct proposal *out)
{
    struct err err;
    const struct json *header = NULL;
    const char *problem = NULL;
    if (block->length > REPLY_MAX_HEADER_BYTES)
        return arena_printf(arena, "the ```json block is longer than %d bytes",
                            REPLY_MAX_HEADER_BYTES);
    if (!json_parse(block->text, block->length, "header", arena, &header, &err))
        return arena_printf(arena, "the ```json block is not valid JSON: %s", err.message);
    if (header->type != JSON_OBJECT)
        return "the ```json block is not an object";
    static const char *const none[] = {NULL};
    problem = check_keys(header, "the header", about_keys, none, arena);
    return problem ? problem : take_about(header, "the header", parent, arena, out);
}

/* Does the name stand in the text as a word? */
static bool mentions(const char *text, const char *name)
{
    const size_t length = strlen(name);
    for (const char *hit = strstr(text, name); hit; hit = strstr(hit + 1, name)) {
        const bool begins = hit == text || !(isalnum((unsigned char)hit[-1]) || hit[-1] == '_');
        const bool ends = !(isalnum((unsigned char)hit[length]) || hit[length] == '_');
        if (begins && ends)
            return true;
    }
    return false;
}

static const char *check_source(const char *source, size_t length, const char *what,
                                const struct task *task, struct arena *arena)
{
    if (length > CANDIDATE_MAX_SOURCE_BYTES)
        return arena_printf(arena, "%s is longer than %d bytes", what, CANDIDATE_MAX_SOURCE_BYTES);
    if (source[strspn(source, " \t\r\n")] == '\0')
        return arena_printf(arena, "%s is empty", what);
    if (task && !mentions(source, task->entry))
        return arena_printf(arena, "%s does not define the entry point '%s'", what, task->entry);
    return NULL;
}

static const char *take_source(const struct fence *block, const struct task *task,
                               struct arena *arena, struct candidate *out)
{
    if (block->length > CANDIDATE_MAX_SOURCE_BYTES)
        return arena_printf(arena, "the ```c block is longer than %d bytes",
                            CANDIDATE_MAX_SOURCE_BYTES);
    const char *source = arena_strndup(arena, block->text, block->length);
    const char *problem = check_source(source, block->length, "the ```c block", task, arena);
    if (!problem)
        out->source = source;
    return problem;
}

const char *reply_parse(const char *text, const struct task *task, const struct candidate *parent,
                        struct arena *arena, struct proposal *out)
{
    struct fence json = {0};
    struct fence c = {0};
    struct proposal parsed = *out;
    const char *problem = find_blocks(text, &json, &c, arena);
    if (!problem)
        problem = take_header(&json, parent, arena, &parsed);
    if (!problem)
        problem = take_source(&c, task, arena, &parsed.candidate);
    if (!problem)
        *out = parsed;
    return problem;
}

static bool is_given(const struct json *value)
{
    return value && value->type != JSON_NULL;
}

/* The candidate, in whichever of the three ways it is given. `failure` where it is well formed but
 * comes to nothing. */
static const char *take_candidate(const struct json *object, const struct reply_scope *scope,
                                  struct arena *arena, struct proposal *out)
{
    const struct json *file = json_get(object, "file");
    const struct json *edits = json_get(object, "edits");
    const struct json *move = json_get(object, "move");
    bool is_malformed = false;
    const char *problem = NULL;
    if (is_given(file) + is_given(edits) + is_given(move) != 1)
        return "of \"file\", \"edits\" and \"move\" exactly one must not be null";
    if (is_given(file)) {
        if (file->type != JSON_STRING)
            return "\"file\" is not a string";
        problem = check_source(file->string, file->string_length, "the file", scope->task, arena);
        out->candidate.source = file->string;
        return problem;
    }
    if (is_given(move)) {
        if (is_given(json_get(object, "compiler")) || is_given(json_get(object, "flags")))
            return "with a \"move\", \"compiler\" and \"flags\" must be null";
        problem = reply_apply_move(move, scope, arena, out, &is_malformed);
    } else {
        const char *from = scope->parent && scope->parent->source ? scope->parent->source : "";
        problem = reply_apply_edits(edits, from, arena, &out->candidate.source, &is_malformed);
        if (!problem)
            problem = check_source(out->candidate.source, strlen(out->candidate.source),
                                   "the edited source", scope->task, arena);
    }
    if (problem && is_malformed)
        return problem;
    out->failure = problem;
    out->is_well_formed = problem != NULL;
    if (problem)
        out->candidate = (struct candidate){.source = ""};
    return NULL;
}

static const char *take_proposal(const struct json *object, const struct reply_scope *scope,
                                 struct arena *arena, struct proposal *out)
{
    static const char *const candidate_keys[] = {"file", "edits", "move", NULL};
    const char *problem = NULL;
    if (object->type != JSON_OBJECT)
        return "a proposal is not an object";
    if ((problem = check_keys(object, "a proposal", about_keys, candidate_keys, arena)) ||
        (problem = take_about(object, "a proposal", scope->parent, arena, out)))
        return problem;
    return take_candidate(object, scope, arena, out);
}

static const char *take_proposals(const struct json *reply, const struct reply_scope *scope,
                                  struct arena *arena, struct proposal *out)
{
    static const char *const keys[] = {"proposals", NULL};
    const struct json *list = json_get(reply, "proposals");
    if (reply->type != JSON_OBJECT || !list || list->type != JSON_ARRAY || list->count == 0)
        return "the reply is not {\"proposals\": [...]} with a proposal in it";
    if (list->count > REPLY_MAX_PROPOSALS)
        return arena_printf(arena, "the reply has more than %d proposals", REPLY_MAX_PROPOSALS);
    const char *problem = check_keys(reply, "the reply", keys, keys, arena);
    struct proposal *items = arena_array(arena, list->count, sizeof *items);
    size_t count = 0;
    for (const struct json *item = list->first; item && !problem; item = item->next) {
        problem = take_proposal(item, scope, arena, &items[count]);
        if (problem && list->count > 1)
            problem = arena_printf(arena, "proposal %zu: %s", count + 1, problem);
        if (count > 0)
            items[count - 1].next = &items[count];
        count++;
    }
    if (!problem)
        *out = items[0];
    return problem;
}

const char *reply_read(const char *text, const struct reply_scope *scope, struct arena *arena,
                       struct proposal *out)
{
    struct err err = {0};
    const struct json *reply = NULL;
    struct fence fence;
    const char *at = skip_thinking(text);
    const char *body = at + strspn(at, " \t\r\n");
    size_t length = strlen(body);
    if (*body != '{') {
        /* In a fenced block, with or without words around it: then it is the only one. */
        if (!next_fence(&at, &fence) || !fence.is_closed || next_fence(&at, &(struct fence){0}))
            return reply_parse(text, scope->task, scope->parent, arena, out);
        body = fence.text;
        length = fence.length;
    }
    if (!json_parse(body, length, "reply", arena, &reply, &err))
        return arena_printf(arena, "the reply is not valid JSON: %s", err.message);
    return take_proposals(reply, scope, arena, out);
}
