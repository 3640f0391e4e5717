/*
 * Line diff: E. W. Myers, "An O(ND) difference algorithm and its variations", Algorithmica 1986,
 * the greedy form with the trace kept. Common ends are cut off first. A kernel and its optimized
 * form often share nothing: past DIFF_MAX_EDITS edits the middle counts as replaced as a whole.
 */
#include "report/internal.h"

#include <string.h>

enum { DIFF_MAX_EDITS = 1500 };

struct text_lines {
    struct diff_line *items; /* text, length */
    size_t count;
};

static struct text_lines split_lines(const char *text, struct arena *arena)
{
    struct text_lines lines = {0};
    size_t count = 0;
    for (const char *at = text; *at; at++)
        count += *at == '\n';
    lines.items = arena_array(arena, count + 1, sizeof *lines.items);
    while (*text) {
        const size_t length = strcspn(text, "\n");
        lines.items[lines.count++] = (struct diff_line){.text = text, .length = length};
        text += length + (text[length] == '\n');
    }
    return lines;
}

static bool same_line(const struct diff_line *a, const struct diff_line *b)
{
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* The parts of two texts that are compared, and which of their lines are matched. */
struct comparison {
    const struct diff_line *a, *b;
    int n, m;
    bool *a_kept, *b_kept;
};

/* The step to diagonal `k` with edit number `d` comes from diagonal k + 1, an addition, and not
 * from k - 1, a removal. */
static bool is_addition(const int *previous, int d, int k)
{
    return k == -d || (k != d && previous[k - 1] < previous[k + 1]);
}

static int step_from(const int *previous, int d, int k)
{
    return is_addition(previous, d, k) ? previous[k + 1] : previous[k - 1] + 1;
}

/* Furthest x on each diagonal after each number of edits; `trace[d]` has 2d + 3 entries, that of
 * diagonal k at [k + d + 1]. */
static int myers_forward(const struct comparison *c, int limit, int **trace, struct arena *arena)
{
    for (int d = 0; d <= limit; d++) {
        const int *previous = d > 0 ? trace[d - 1] + d : NULL;
        int *current = arena_array(arena, 2 * (size_t)d + 3, sizeof(int));
        trace[d] = current;
        current += d + 1;
        for (int k = -d; k <= d; k += 2) {
            int x = d > 0 ? step_from(previous, d, k) : 0;
            while (x < c->n && x - k < c->m && x - k >= 0 && same_line(&c->a[x], &c->b[x - k]))
                x++;
            current[k] = x;
            if (x >= c->n && x - k >= c->m)
                return d;
        }
    }
    return -1;
}

/* Walks the trace back from the end and marks the matches. */
static void myers_backward(const struct comparison *c, int edits, int *const *trace)
{
    int x = c->n;
    int y = c->m;
    for (int d = edits; d > 0; d--) {
        const int *previous = trace[d - 1] + d;
        const int k = x - y;
        const int from = is_addition(previous, d, k) ? k + 1 : k - 1;
        const int start_x = step_from(previous, d, k);
        for (; x > start_x; x--, y--)
            c->a_kept[x - 1] = c->b_kept[y - 1] = true;
        x = previous[from];
        y = x - from;
    }
    for (; x > 0; x--, y--)
        c->a_kept[x - 1] = c->b_kept[y - 1] = true;
}

static void myers_match(const struct comparison *c, struct arena *arena)
{
    const int most = c->n + c->m < DIFF_MAX_EDITS ? c->n + c->m : DIFF_MAX_EDITS;
    int **trace = arena_array(arena, (size_t)most + 1, sizeof *trace);
    const int edits = myers_forward(c, most, trace, arena);
    if (edits >= 0)
        myers_backward(c, edits, trace);
}

static bool is_trivial(const struct diff_line *line)
{
    for (size_t i = 0; i < line->length; i++) {
        if (!strchr(" \t\r{};", line->text[i]))
            return false;
    }
    return true;
}

/* Gives up matches of only braces and blanks between two changes: they tear a rewritten kernel into
 * shreds. Lines at the ends border on equal text and stay. */
static void drop_trivial_matches(const struct comparison *c)
{
    int x = 0;
    int y = 0;
    bool after_change = false;
    while (x < c->n && y < c->m) {
        if (!c->a_kept[x] || !c->b_kept[y]) {
            after_change = true;
            x += !c->a_kept[x];
            y += y < c->m && !c->b_kept[y];
            continue;
        }
        int run = 0;
        bool trivial = true;
        while (x + run < c->n && y + run < c->m && c->a_kept[x + run] && c->b_kept[y + run]) {
            trivial = trivial && is_trivial(&c->a[x + run]);
            run++;
        }
        const bool before_change = x + run < c->n || y + run < c->m;
        if (trivial && after_change && before_change) {
            memset(c->a_kept + x, 0, (size_t)run);
            memset(c->b_kept + y, 0, (size_t)run);
        }
        x += run;
        y += run;
    }
}

/* Writes the lines in order, those removed before those added. */
static void collect(struct diff *diff, const struct text_lines *a, const struct text_lines *b,
                    const bool *a_kept, const bool *b_kept)
{
    size_t x = 0;
    size_t y = 0;
    while (x < a->count || y < b->count) {
        struct diff_line *line = &diff->lines[diff->count++];
        if (x < a->count && !a_kept[x]) {
            *line = a->items[x++];
            line->sign = '-';
            line->before = x;
            diff->removed++;
        } else if (y < b->count && !b_kept[y]) {
            *line = b->items[y++];
            line->sign = '+';
            line->after = y;
            diff->added++;
        } else {
            *line = a->items[x++];
            line->sign = ' ';
            line->before = x;
            line->after = ++y;
        }
    }
}

struct diff diff_texts(const char *before, const char *after, struct arena *arena)
{
    const struct text_lines a = split_lines(text_or_empty(before), arena);
    const struct text_lines b = split_lines(text_or_empty(after), arena);
    bool *a_kept = arena_array(arena, a.count + 1, sizeof *a_kept);
    bool *b_kept = arena_array(arena, b.count + 1, sizeof *b_kept);
    struct diff diff = {.lines = arena_array(arena, a.count + b.count + 1, sizeof *diff.lines)};
    const size_t least = a.count < b.count ? a.count : b.count;
    size_t head = 0;
    size_t tail = 0;

    while (head < least && same_line(&a.items[head], &b.items[head]))
        a_kept[head] = b_kept[head] = true, head++;
    while (tail < least - head &&
           same_line(&a.items[a.count - 1 - tail], &b.items[b.count - 1 - tail])) {
        tail++;
        a_kept[a.count - tail] = b_kept[b.count - tail] = true;
    }
    const struct comparison middle = {.a = a.items + head,
                                      .b = b.items + head,
                                      .n = (int)(a.count - head - tail),
                                      .m = (int)(b.count - head - tail),
                                      .a_kept = a_kept + head,
                                      .b_kept = b_kept + head};
    myers_match(&middle, arena);
    drop_trivial_matches(&middle);
    collect(&diff, &a, &b, a_kept, b_kept);
    return diff;
}

char *report_diff(const char *before, const char *after, struct arena *arena)
{
    const struct diff diff = diff_texts(before, after, arena);
    size_t bytes = 1;
    for (size_t i = 0; i < diff.count; i++)
        bytes += diff.lines[i].length + 2;
    char *text = arena_alloc(arena, bytes);
    char *at = text;
    for (size_t i = 0; i < diff.count; i++) {
        const struct diff_line *line = &diff.lines[i];
        *at++ = line->sign;
        memcpy(at, line->text, line->length);
        at += line->length;
        *at++ = '\n';
    }
    *at = '\0';
    return text;
}
