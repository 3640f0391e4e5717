#include "propose/reply.h"

#include "base/str.h"
#include "json/json.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#define MAX_SPEEDUP 1e4

static const char contract[] =
    "You make compute kernels faster. You get a task with its plain C reference, facts about the "
    "machine, experience from earlier attempts, and the current best source. Propose one candidate "
    "that is faster and still right.\n"
    "\n"
    "Answer with two fenced blocks and no other fenced block:\n"
    "\n"
    "```json\n"
    "{\"intent\": \"what you change, in one sentence\",\n"
    " \"hypothesis\": \"why it will be faster, and what could prove that wrong\",\n"
    " \"predicted_speedup\": 1.3}\n"
    "```\n"
    "```c\n"
    "the whole file\n"
    "```\n"
    "\n"
    "The header:\n"
    "- predicted_speedup is the time of the current best divided by the time of your candidate; it "
    "will be compared with the measurement.\n"
    "- Optional: \"compiler\", a compiler that the machine's facts list, and \"flags\", an array "
    "of "
    "strings such as [\"-O3\", \"-march=native\"]. Left out, they stay as they are.\n"
    "- No other keys.\n"
    "\n"
    "The file:\n"
    "- It is one complete C17 translation unit that defines the entry point with exactly the given "
    "signature. `real` is defined for you before the first line; the dtype itself may be written "
    "too.\n"
    "- Every size from 1 on must work, not only the shapes that are listed; nothing outside the "
    "buffers may be read or written; buffers are aligned to their element only and never overlap.\n"
    "- It is compiled and linked for you against libc's memory functions and libm. No other "
    "library, no input or output, no system calls, no threads unless the task allows them.\n"
    "- Inputs are fresh in every call: nothing may be kept from one call to the next.\n"
    "- Results are checked against the reference in double precision on inputs that are not shown. "
    "A candidate that is wrong, or that games the measurement, is rejected.\n";

const char *propose_reply_contract(void)
{
    return contract;
}

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

static const char *take_string(const struct json *value, const char *key, size_t limit,
                               struct arena *arena, const char **out)
{
    if (!value)
        return arena_printf(arena, "the header has no \"%s\"", key);
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
static const char *take_build(const struct json *header, const struct candidate *parent,
                              struct arena *arena, struct candidate *out)
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
        const char *problem = take_string(compiler, "compiler", 64, arena, &name);
        if (problem)
            return problem;
        if (!out->compiler || !str_equal(out->compiler, name))
            out->flag_count = 0;
        out->compiler = name;
    }
    return flags && flags->type != JSON_NULL ? take_flags(flags, arena, out) : NULL;
}

static const char *check_keys(const struct json *header, struct arena *arena)
{
    static const char *const known[] = {"intent", "hypothesis", "predicted_speedup", "compiler",
                                        "flags"};
    for (const struct json *item = header->first; item; item = item->next) {
        bool is_known = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            is_known = is_known || str_equal(item->key, known[i]);
        if (!is_known)
            return arena_printf(arena, "the header has a key \"%.40s\" that is not asked for",
                                item->key);
    }
    return NULL;
}

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
    if ((problem = check_keys(header, arena)) ||
        (problem = take_string(json_get(header, "intent"), "intent", REPLY_MAX_INTENT_BYTES, arena,
                               &out->intent)) ||
        (problem = take_string(json_get(header, "hypothesis"), "hypothesis",
                               REPLY_MAX_HYPOTHESIS_BYTES, arena, &out->hypothesis)) ||
        (problem = take_build(header, parent, arena, &out->candidate)))
        return problem;
    const double speedup = json_real(json_get(header, "predicted_speedup"), 0.0);
    if (!(speedup >= 1.0 / MAX_SPEEDUP && speedup <= MAX_SPEEDUP))
        return "\"predicted_speedup\" is not a number such as 1.3";
    out->predicted_log_ratio = log(speedup);
    return NULL;
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

static const char *take_source(const struct fence *block, const struct task *task,
                               struct arena *arena, struct candidate *out)
{
    if (block->length > CANDIDATE_MAX_SOURCE_BYTES)
        return arena_printf(arena, "the ```c block is longer than %d bytes",
                            CANDIDATE_MAX_SOURCE_BYTES);
    const char *source = arena_strndup(arena, block->text, block->length);
    if (source[strspn(source, " \t\r\n")] == '\0')
        return "the ```c block is empty";
    if (task && !mentions(source, task->entry))
        return arena_printf(arena, "the file does not define the entry point '%s'", task->entry);
    out->source = source;
    return NULL;
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
