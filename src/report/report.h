/*
 * Reports: one run as one self-contained HTML page that needs neither a network nor a script, and
 * its figures as SVG.
 *
 * The page holds: the verified result in large, the path that led to it, the best-so-far curve, the
 * measured ratio of each case with its interval, the decision tree with verdicts, a table of all
 * decisions, the source diff from reference to best, findings, the environment, and how to run it
 * again. Figures are drawn by plot.c over SVG primitives, so that a report never depends on an
 * installed program (docs/decisions/0003-svg-by-ours.md). The page is well-formed XML as well as
 * HTML.
 *
 * Everything in the input may come from a candidate or a model and is treated as hostile: markup is
 * escaped, bytes that are no UTF-8 and control characters are replaced, characters that reorder
 * text are made visible, and the page's own policy forbids scripts and every outside resource. A
 * NULL string reads as "". Parents that are missing, later than their child or circular hang from
 * the baseline. Who uses it: engine and command. Threads: any; pure.
 */
#ifndef KOPE_REPORT_REPORT_H
#define KOPE_REPORT_REPORT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "graph/graph.h"

#include <stdbool.h>
#include <stddef.h>

struct report_input {
    const struct graph_run *run;            /* run->best_decision names the best; "" where none */
    const struct graph_decision *decisions; /* in order */
    size_t decision_count;
    const struct case_result
        *best_cases; /* of the best decision's confirmation where there is one, else its outcome */
    size_t best_case_count;
    const struct graph_finding *findings;
    size_t finding_count;
    const char *reference_source, *best_source; /* best_source NULL: the baseline stands */
    const char *environment;                    /* lines "name: value" */

    /* Optional; zero where unknown. */
    const char *baseline;                 /* "gcc-12 -O3 -march=native"; else "the baseline" */
    double confirmed_low, confirmed_high; /* interval of the confirmed log-ratio; else the weighted
                                             mean of the cases' interval ends, which is wider */
    const char *reproduce;                /* commands, one a line; else made from the run */
};

/* Appends the page to `out`. ERR_LIMIT where it does not fit `out`'s cap. */
bool report_html(const struct report_input *input, struct buf *out, struct err *err);

/* A line diff (Myers 1986) of two texts as text, each line with ' ', '+' or '-' in front; removed
 * lines stand before the added ones that replace them. Matches of nothing but braces or blanks
 * between two changes count as changed. */
char *report_diff(const char *before, const char *after, struct arena *arena);

#endif
