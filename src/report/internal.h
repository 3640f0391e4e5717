/*
 * What the parts of the report share: the page that is being written, how a decision looks, the
 * layout of the tree and the lines of a diff. Not for other modules.
 */
#ifndef KOPE_REPORT_INTERNAL_H
#define KOPE_REPORT_INTERNAL_H

#include "base/arena.h"
#include "base/buf.h"
#include "report/markup.h"
#include "report/plot.h"
#include "report/report.h"

#include <stdbool.h>
#include <stddef.h>

enum { REPORT_TREE_MAX_NODES = 200 };

#define REPORT_NO_DECISION SIZE_MAX

/* How a decision is shown: one look, one colour, one mark. */
enum look {
    LOOK_WIN,    /* faster than the baseline by more than the noise */
    LOOK_BEHIND, /* faster too, but so far behind the best that its timing was cut short */
    LOOK_TIMED,  /* right and measured, no gain shown */
    LOOK_TOO_NOISY,
    LOOK_WRONG,
    LOOK_CRASHED,
    LOOK_TIMED_OUT,
    LOOK_REJECTED,
    LOOK_BUILD_FAILED,
    LOOK_UNJUDGED, /* the proposer failed, or the run ended first */
    LOOK_COUNT
};

struct look_style {
    const char *name;  /* in legend and tables: "build failed" */
    const char *brief; /* in a node of the tree, at most 9 characters */
    const char *class; /* CSS */
    enum svg_mark mark;
};

enum look look_of(const struct graph_decision *decision);
const struct look_style *look_style(enum look look);

/* The mark as a picture of its own, for running text and table cells. */
void look_draw_inline(struct buf *out, enum look look);

/* "#12, 3.41× [3.38–3.45], tile the row loop": a tooltip. */
const char *look_tooltip(const struct graph_decision *decision, struct arena *arena);

/* Timed with a finite ratio: it has a place on a ratio axis. */
bool decision_has_ratio(const struct graph_decision *decision);

/* The page that is being written. */
struct page {
    const struct report_input *input;
    struct arena *arena;
    struct buf *out;
    size_t *parents;    /* by decision: index of its parent (always smaller), or REPORT_NO_DECISION:
                           the baseline */
    bool *on_best_path; /* by decision */
    size_t best;        /* index, or REPORT_NO_DECISION */
    bool is_verified;   /* the best is confirmed, faster, and there is a source to show */
    double best_log_ratio, best_low, best_high; /* of the confirmation where there is one */
    bool has_interval;
    int figures, tables; /* numbered so far */
};

const char *text_or_empty(const char *text);

/* Parts of the page, in order. */
void page_write_style(struct page *page);
void page_write_result(struct page *page);
void page_write_path(struct page *page);
void page_write_search(struct page *page);
void page_write_cases(struct page *page);
void page_write_tree(struct page *page);
void page_write_decisions(struct page *page);
void page_write_source(struct page *page);
void page_write_parts(struct page *page); /* of the winner, by 'kope ablate' */
void page_write_findings(struct page *page);
void page_write_environment(struct page *page);
void page_write_reproduce(struct page *page);

/* Figures alone: the SVG. */
void figure_draw_search(struct page *page);
void figure_draw_cases(struct page *page);
void figure_draw_tree(struct page *page, size_t *out_shown);

/* <figure> and <table> with a numbered caption; `caption` is ours, not escaped. */
void page_figure_open(struct page *page);
void page_figure_close(struct page *page, const char *caption);
void page_table_open(struct page *page, const char *class, const char *caption);
void page_table_close(struct page *page);
/* A header cell for each of `titles`, up to NULL; those that begin with '>' are numbers, set to the
 * right. */
void page_table_head(struct page *page, const char *const *titles);

/* Places of a tidy tree: node 0 is the root, node i hangs from parents[i] < i. `row` is in units of
 * one row, 0 the topmost; leaves of one depth are at least a row apart. */
struct tree_place {
    double row;
    size_t depth;
};
struct tree_layout {
    struct tree_place *places;
    double rows; /* largest row */
    size_t depth;
};
struct tree_layout tree_lay_out(const size_t *parents, size_t count, struct arena *arena);

/* A line of a diff: where it stands in each text (from 1; 0 where it does not). */
struct diff_line {
    char sign; /* ' ', '+', '-' */
    const char *text;
    size_t length;
    size_t before, after;
};
struct diff {
    struct diff_line *lines;
    size_t count, added, removed;
};
struct diff diff_texts(const char *before, const char *after, struct arena *arena);

#endif
