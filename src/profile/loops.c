/* Innermost loops of a compiler's assembly. */
#include "profile/internal.h"

#include "base/str.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_INSTRUCTIONS = 200000,
    MOST_LOOKED_AT = 20000000,
    MOST_EDGES = 4096,
    MOST_DEPTH = 6,
    MOST_FILES = 64
};
/* In bytes of vector arithmetic. */
#define CALL_WEIGHT 512.0
#define DEPTH_WEIGHT 8.0

struct label {
    const char *name;
    size_t length, at; /* the instruction that it stands before */
};

/* From a jump back to where it goes. */
struct edge {
    size_t from, to;
};

/* Where an instruction may go on: NOWHERE as a target: it is no jump that is known. */
#define NOWHERE ((size_t)-1)
struct flow {
    size_t target;
    bool falls_through;
};

struct listing {
    struct arena *arena;
    struct instruction *items;
    size_t count, capacity;
    struct label *labels; /* sorted by name once all are known */
    size_t label_count, label_capacity;
    struct flow *flow; /* of each instruction */
    struct edge edges[MOST_EDGES];
    size_t edge_count;
    bool is_candidate[MOST_FILES]; /* by the number of a .file */
    int line, line_count;
};

static void listing_release(struct listing **listing)
{
    if (!*listing)
        return;
    free((*listing)->items);
    free((*listing)->labels);
    free(*listing);
}

static size_t number_at(const char **at)
{
    size_t value = 0;
    *at += strspn(*at, " \t");
    for (; **at >= '0' && **at <= '9'; (*at)++)
        value = value < 100000000 ? value * 10 + (size_t)(**at - '0') : value;
    return value;
}

/* ".file 1 "candidate.c"", ".loc 1 12 5 ...". */
static void read_directive(struct listing *l, const char *line)
{
    static const char file[] = ".file", loc[] = ".loc";
    if (str_starts_with(line, file)) {
        const char *at = line + strlen(file);
        const size_t number = number_at(&at);
        if (number < MOST_FILES && strstr(at, CANDIDATE_FILE))
            l->is_candidate[number] = true;
    } else if (str_starts_with(line, loc)) {
        const char *at = line + strlen(loc);
        const size_t number = number_at(&at);
        const size_t where = number_at(&at);
        const bool is_there = l->line_count == 0 || where <= (size_t)l->line_count;
        l->line = number < MOST_FILES && l->is_candidate[number] && is_there ? (int)where : 0;
    }
}

static void add_label(struct listing *l, const char *line, size_t length)
{
    l->labels = vec_reserve_one(l->labels, l->label_count, &l->label_capacity, sizeof *l->labels);
    l->labels[l->label_count++] = (struct label){line, length, l->count};
}

/* Without what a compiler says behind it. */
static const char *without_comment(const char *line, struct arena *arena)
{
    size_t length = strlen(line);
    for (const char *at = strchr(line, '#'); at; at = strchr(at + 1, '#')) {
        if (at > line && (at[-1] == ' ' || at[-1] == '\t') && (at[1] == ' ' || at[1] == '\0')) {
            length = (size_t)(at - line);
            break;
        }
    }
    while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t'))
        length--;
    return arena_strndup(arena, line, length);
}

static void read_line(struct listing *l, const char *line)
{
    const char *colon = strchr(line, ':');
    const size_t word = strcspn(line, " \t\":");
    if (line[0] != '\t' && line[0] != ' ') {
        if (colon && colon == line + word && word > 0)
            add_label(l, line, word);
        return;
    }
    line += strspn(line, " \t");
    if (line[0] == '.')
        read_directive(l, line);
    else if (line[0] != '#' && line[0] != '\0' && l->count < MOST_INSTRUCTIONS) {
        l->items = vec_reserve_one(l->items, l->count, &l->capacity, sizeof *l->items);
        l->items[l->count] = instruction_of(without_comment(line, l->arena));
        l->items[l->count++].line = l->line;
    }
}

static int by_name(const void *a, const void *b)
{
    const struct label *x = a, *y = b;
    const size_t length = x->length < y->length ? x->length : y->length;
    const int order = memcmp(x->name, y->name, length);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* The instruction that the last operand, a label, stands before. */
static size_t target_of(const struct listing *l, const struct instruction *in)
{
    const char *last = in->text + strlen(in->text);
    while (last > in->text && last[-1] != '\t' && last[-1] != ' ' && last[-1] != ',')
        last--;
    if (in->class == INSTRUCTION_CALL || last == in->text || l->label_count == 0)
        return NOWHERE;
    const struct label key = {.name = last, .length = strlen(last)};
    const struct label *found = bsearch(&key, l->labels, l->label_count, sizeof key, by_name);
    return found ? found->at : NOWHERE;
}

static void find_flow(struct listing *l)
{
    static const char *const ends[] = {"jmp", "ret", "b\t", "br\t", "ud2"};
    l->flow = arena_array(l->arena, l->count + 1, sizeof *l->flow);
    for (size_t i = 0; i < l->count; i++) {
        l->flow[i] = (struct flow){target_of(l, &l->items[i]), true};
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
            l->flow[i].falls_through &= !str_starts_with(l->items[i].text, ends[k]);
    }
}

/* Does the way from `to` lead to `from` without leaving what is between them? Else the jump comes
 * back from code that lies elsewhere. `budget` instructions may be looked at for all edges. */
static bool is_loop(const struct listing *l, const struct edge *edge, size_t *budget)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    const size_t count = edge->from - edge->to + 1;
    if (count > *budget)
        return false;
    *budget -= count;
    bool *reached = arena_array(&scratch, count, sizeof *reached);
    reached[0] = true;
    for (size_t i = 0; i + 1 < count; i++) {
        const struct flow *flow = &l->flow[edge->to + i];
        if (!reached[i])
            continue;
        reached[i + 1] |= flow->falls_through;
        if (flow->target != NOWHERE && flow->target > edge->to + i && flow->target <= edge->from)
            reached[flow->target - edge->to] = true;
    }
    return reached[count - 1];
}

static void add_edges(struct listing *l)
{
    size_t budget = MOST_LOOKED_AT;
    for (size_t i = 0; i < l->count && l->edge_count < MOST_EDGES; i++) {
        const struct edge edge = {.from = i, .to = l->flow[i].target};
        if (edge.to != NOWHERE && edge.to <= i && is_loop(l, &edge, &budget))
            l->edges[l->edge_count++] = edge;
    }
}

/* Of several jumps to one place the nearest makes the loop; another is a way back from code that
 * lies elsewhere. */
static void keep_shortest(struct listing *l)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->edge_count; i++) {
        bool is_known = false;
        for (size_t k = 0; k < kept && !is_known; k++)
            is_known = l->edges[k].to == l->edges[i].to;
        if (!is_known)
            l->edges[kept++] = l->edges[i];
    }
    l->edge_count = kept;
}

static bool is_inside(const struct edge *inner, const struct edge *outer)
{
    return inner != outer && inner->to >= outer->to && inner->from <= outer->from;
}

static int depth_of(struct listing *l, const struct edge *edge)
{
    int depth = 1;
    for (size_t i = 0; i < l->edge_count && depth < MOST_DEPTH; i++)
        depth += is_inside(edge, &l->edges[i]);
    return depth;
}

static bool is_vector(const struct loop *loop)
{
    size_t vectors = 0, elements = 0;
    for (size_t i = 0; i < loop->count; i++) {
        const enum instruction_class class = loop->items[i].class;
        if (class != INSTRUCTION_ARITHMETIC && class != INSTRUCTION_DIVIDE)
            continue;
        vectors += !loop->items[i].is_scalar && loop->items[i].width != 0;
        elements += loop->items[i].is_scalar;
    }
    return vectors > elements;
}

static double weight_of(const struct loop *loop)
{
    double weight = 0.0;
    for (size_t i = 0; i < loop->count; i++) {
        const struct instruction *in = &loop->items[i];
        const bool works = in->class == INSTRUCTION_ARITHMETIC || in->class == INSTRUCTION_DIVIDE;
        weight += in->class == INSTRUCTION_CALL ? CALL_WEIGHT : 1.0 + (works ? in->width : 0.0);
    }
    for (int i = 1; i < loop->depth; i++)
        weight *= DEPTH_WEIGHT;
    return weight;
}

static int by_number(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The line that most instructions come from, and the first and last of all. */
static void find_lines(struct loop *loop)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    int *lines = arena_array(&scratch, loop->count + 1, sizeof *lines);
    size_t count = 0, most = 0;
    for (size_t i = 0; i < loop->count; i++) {
        if (loop->items[i].line != 0)
            lines[count++] = loop->items[i].line;
    }
    if (count == 0)
        return;
    qsort(lines, count, sizeof *lines, by_number);
    loop->first_line = lines[0];
    loop->last_line = lines[count - 1];
    for (size_t i = 0, run = 0; i < count; i++) {
        run = i > 0 && lines[i] == lines[i - 1] ? run + 1 : 1;
        if (run > most) {
            most = run;
            loop->line = lines[i];
        }
    }
}

static int by_weight(const void *a, const void *b)
{
    const struct loop *x = a, *y = b;
    if (x->weight > y->weight || x->weight < y->weight)
        return x->weight > y->weight ? -1 : 1;
    return (x->items > y->items) - (x->items < y->items);
}

static size_t take_loops(struct listing *l, struct arena *arena, struct loop *out, size_t capacity)
{
    struct instruction *items = arena_array(arena, l->count + 1, sizeof *items);
    struct loop *all = arena_array(arena, l->edge_count + 1, sizeof *all);
    size_t count = 0;
    if (l->count)
        memcpy(items, l->items, l->count * sizeof *items);
    for (size_t i = 0; i < l->edge_count; i++) {
        const struct edge *edge = &l->edges[i];
        bool has_inner = false;
        for (size_t k = 0; k < l->edge_count && !has_inner; k++)
            has_inner = is_inside(&l->edges[k], edge);
        if (has_inner)
            continue;
        struct loop *loop = &all[count++];
        *loop = (struct loop){.items = items + edge->to,
                              .count = edge->from - edge->to + 1,
                              .depth = depth_of(l, edge)};
        loop->weight = weight_of(loop);
        loop->is_vector = is_vector(loop);
        find_lines(loop);
    }
    if (count)
        qsort(all, count, sizeof *all, by_weight);
    count = count < capacity ? count : capacity;
    if (count)
        memcpy(out, all, count * sizeof *out);
    return count;
}

size_t profile_find_loops(const char *assembly, int line_count, struct arena *arena,
                          struct loop *out, size_t capacity)
{
    CLEANUP(listing_release) struct listing *l = calloc(1, sizeof *l);
    if (!l)
        BUG("profile: out of memory");
    l->arena = arena;
    l->line_count = line_count;
    for (const char *at = assembly; *at;) {
        const size_t length = strcspn(at, "\n");
        read_line(l, arena_strndup(arena, at, length));
        at += length + (at[length] == '\n');
    }
    if (l->label_count)
        qsort(l->labels, l->label_count, sizeof *l->labels, by_name);
    find_flow(l);
    add_edges(l);
    keep_shortest(l);
    return take_loops(l, arena, out, capacity);
}
