#include "yaml/yaml.h"

#include "base/str.h"

#include <string.h>
#include <yaml.h>

struct reader {
    yaml_parser_t parser;
    yaml_event_t event; /* the current one; all zero before the first */
    struct arena *arena;
    const char *file;
    const char *text;
    size_t nodes;
    bool takes_tag; /* the next node may have one: the root of a document of a stream */
    struct err *err;
};

static void reader_release(struct reader *r)
{
    yaml_event_delete(&r->event);
    yaml_parser_delete(&r->parser);
}

static bool fail(struct reader *r, yaml_mark_t mark, const char *what)
{
    return err_set(r->err, ERR_BAD_INPUT, "%s:%zu:%zu: %s", r->file, mark.line + 1, mark.column + 1,
                   what);
}

/* Bytes that are no text have an offset instead of a mark. */
static yaml_mark_t mark_of_offset(const char *text, size_t offset)
{
    yaml_mark_t mark = {0};
    for (size_t i = 0; i < offset; i++) {
        mark.column++;
        if (text[i] == '\n') {
            mark.line++;
            mark.column = 0;
        }
    }
    return mark;
}

static bool next(struct reader *r)
{
    yaml_event_delete(&r->event);
    if (yaml_parser_parse(&r->parser, &r->event))
        return true;
    const yaml_mark_t mark = r->parser.error == YAML_READER_ERROR
                                 ? mark_of_offset(r->text, r->parser.problem_offset)
                                 : r->parser.problem_mark;
    return fail(r, mark, r->parser.problem ? r->parser.problem : "cannot be read");
}

/* Goes on by several events, of which only the last matters. */
static bool skip_to(struct reader *r, int events)
{
    while (events > 0 && next(r))
        events--;
    return events == 0;
}

/* The parts of YAML that configuration does without. */
static bool check_plain(struct reader *r, const yaml_char_t *anchor, const yaml_char_t *tag)
{
    if (anchor)
        return fail(r, r->event.start_mark, "anchors are not supported");
    if (tag && !r->takes_tag)
        return fail(r, r->event.start_mark, "tags are not supported");
    r->takes_tag = false;
    return true;
}

static bool count_node(struct reader *r)
{
    if (++r->nodes <= YAML_MAX_NODES)
        return true;
    return err_set(r->err, ERR_LIMIT, "%s has more than %d nodes", r->file, YAML_MAX_NODES);
}

static struct yaml *new_node(struct reader *r, enum yaml_type type)
{
    struct yaml *node = arena_alloc(r->arena, sizeof *node);
    node->type = type;
    node->file = r->file;
    node->line = (int)r->event.start_mark.line + 1;
    node->column = (int)r->event.start_mark.column + 1;
    return node;
}

/* The text of the current event, a scalar, in the arena. */
static bool scalar_text(struct reader *r, const char **out)
{
    const char *text = (const char *)r->event.data.scalar.value;
    const size_t length = r->event.data.scalar.length;
    if (!check_plain(r, r->event.data.scalar.anchor, r->event.data.scalar.tag) || !count_node(r))
        return false;
    if (memchr(text, '\0', length))
        return fail(r, r->event.start_mark, "a NUL character is not allowed");
    *out = arena_strndup(r->arena, text, length);
    return true;
}

static bool read_node(struct reader *r, unsigned depth, struct yaml **out);

static bool read_scalar(struct reader *r, struct yaml **out)
{
    struct yaml *node = new_node(r, YAML_SCALAR);
    node->quoted = r->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    *out = node;
    return scalar_text(r, &node->text);
}

static void add(struct yaml *parent, struct yaml **last, struct yaml *child)
{
    if (*last)
        (*last)->next = child;
    else
        parent->first = child;
    *last = child;
    parent->count++;
}

static bool read_sequence(struct reader *r, unsigned depth, struct yaml **out)
{
    struct yaml *node = new_node(r, YAML_SEQUENCE);
    struct yaml *last = NULL;
    if (!check_plain(r, r->event.data.sequence_start.anchor, r->event.data.sequence_start.tag) ||
        !count_node(r))
        return false;
    for (;;) {
        struct yaml *item = NULL;
        if (!next(r))
            return false;
        if (r->event.type == YAML_SEQUENCE_END_EVENT)
            break;
        if (!read_node(r, depth + 1, &item))
            return false;
        add(node, &last, item);
    }
    *out = node;
    return true;
}

/* A key and its value; the current event is the key. */
static bool read_pair(struct reader *r, unsigned depth, const struct yaml *mapping,
                      struct yaml **out)
{
    const yaml_mark_t mark = r->event.start_mark;
    const char *key = NULL;
    struct yaml *value = NULL;
    if (r->event.type != YAML_SCALAR_EVENT)
        return fail(r, mark, "a key must be a plain word");
    if (!scalar_text(r, &key))
        return false;
    if (yaml_get(mapping, key)) {
        (void)fail(r, mark, "this key is there twice");
        return err_hint(r->err, "remove one of the two '%s'", key);
    }
    if (!next(r) || !read_node(r, depth + 1, &value))
        return false;
    value->key = key;
    value->key_line = (int)mark.line + 1;
    value->key_column = (int)mark.column + 1;
    *out = value;
    return true;
}

static bool read_mapping(struct reader *r, unsigned depth, struct yaml **out)
{
    struct yaml *node = new_node(r, YAML_MAPPING);
    struct yaml *last = NULL;
    const char *tag = (const char *)r->event.data.mapping_start.tag;
    if (!check_plain(r, r->event.data.mapping_start.anchor, r->event.data.mapping_start.tag) ||
        !count_node(r))
        return false;
    node->tag = tag ? arena_strdup(r->arena, tag) : NULL;
    for (;;) {
        struct yaml *member = NULL;
        if (!next(r))
            return false;
        if (r->event.type == YAML_MAPPING_END_EVENT)
            break;
        if (!read_pair(r, depth, node, &member))
            return false;
        add(node, &last, member);
    }
    *out = node;
    return true;
}

/* The node that the current event begins. */
static bool read_node(struct reader *r, unsigned depth, struct yaml **out)
{
    if (depth > YAML_MAX_DEPTH)
        return err_set(r->err, ERR_LIMIT, "%s:%zu: nested deeper than %d levels", r->file,
                       r->event.start_mark.line + 1, YAML_MAX_DEPTH);
    if (r->event.type == YAML_SCALAR_EVENT)
        return read_scalar(r, out);
    if (r->event.type == YAML_SEQUENCE_START_EVENT)
        return read_sequence(r, depth, out);
    if (r->event.type == YAML_MAPPING_START_EVENT)
        return read_mapping(r, depth, out);
    return fail(r, r->event.start_mark, "aliases are not supported");
}

/* Stream start, one document or none, stream end. */
static bool read_stream(struct reader *r, struct yaml **out)
{
    struct yaml *root = NULL;
    if (!skip_to(r, 2))
        return false;
    if (r->event.type == YAML_DOCUMENT_START_EVENT) {
        if (!next(r) || !read_node(r, 0, &root) || !skip_to(r, 2))
            return false;
        if (r->event.type != YAML_STREAM_END_EVENT)
            return fail(r, r->event.start_mark, "only one document is allowed");
    }
    /* Nothing, or nothing but comments, is a mapping without keys. */
    if (!root || yaml_is_null(root)) {
        root = new_node(r, YAML_MAPPING);
        root->line = root->column = 1;
    }
    *out = root;
    return true;
}

/* Each document of a stream in turn. */
static bool read_documents(struct reader *r, size_t most, const struct yaml **roots, size_t *count)
{
    if (!skip_to(r, 2))
        return false;
    while (r->event.type == YAML_DOCUMENT_START_EVENT && *count < most) {
        struct yaml *root = NULL;
        if (!next(r))
            return false;
        r->nodes = 0;
        if (r->event.type != YAML_MAPPING_START_EVENT)
            return fail(r, r->event.start_mark, "a document must be a mapping");
        r->takes_tag = true;
        if (!read_node(r, 0, &root) || !skip_to(r, 2))
            return false;
        roots[(*count)++] = root;
    }
    return true;
}

static bool reader_begin(struct reader *r, size_t length)
{
    if (length > YAML_MAX_BYTES)
        return err_set(r->err, ERR_LIMIT, "%s is larger than %d bytes", r->file, YAML_MAX_BYTES);
    if (!yaml_parser_initialize(&r->parser))
        BUG("yaml: out of memory");
    yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)r->text, length);
    return true;
}

bool yaml_parse(const char *text, size_t length, const char *file, struct arena *arena,
                const struct yaml **out, struct err *err)
{
    CLEANUP(reader_release)
    struct reader r = {.arena = arena, .file = arena_strdup(arena, file), .text = text, .err = err};
    struct yaml *root = NULL;
    if (!reader_begin(&r, length) || !read_stream(&r, &root))
        return false;
    *out = root;
    return true;
}

bool yaml_parse_stream(const char *text, size_t length, const char *file, size_t most,
                       struct arena *arena, const struct yaml *const **out, size_t *out_count,
                       struct err *err)
{
    CLEANUP(reader_release)
    struct reader r = {.arena = arena, .file = arena_strdup(arena, file), .text = text, .err = err};
    const struct yaml **roots = arena_array(arena, most + 1, sizeof *roots);
    size_t count = 0;
    if (!reader_begin(&r, length) || !read_documents(&r, most, roots, &count))
        return false;
    *out = roots;
    *out_count = count;
    return true;
}
