/* The table of all decisions. */
#include "report/internal.h"

#include <inttypes.h>
#include <string.h>

enum { INTENT_CHARACTERS = 80, EVIDENCE_CHARACTERS = 90 };

static void write_parent(struct page *page, size_t index)
{
    const size_t parent = page->parents[index];
    if (parent == REPORT_NO_DECISION)
        (void)buf_append_str(page->out, "<td class=\"n\">base</td>");
    else
        (void)buf_printf(page->out, "<td class=\"n\">#%" PRId64 "</td>",
                         page->input->decisions[parent].sequence);
}

/* Compiler or flags are others than those of the decision that it came from. */
static bool changes_build(const struct page *page, size_t index)
{
    const struct graph_decision *d = &page->input->decisions[index];
    const size_t parent = page->parents[index];
    const struct graph_decision *from =
        parent == REPORT_NO_DECISION ? NULL : &page->input->decisions[parent];
    return strcmp(text_or_empty(d->compiler), from ? text_or_empty(from->compiler) : "") != 0 ||
           strcmp(text_or_empty(d->flags), from ? text_or_empty(from->flags) : "") != 0;
}

/* The text of a <details>: what is too long or too much for the table. */
static void write_more(struct page *page, size_t index, bool has_build, bool is_cut)
{
    const struct graph_decision *d = &page->input->decisions[index];
    struct buf *out = page->out;
    if (is_cut) {
        (void)buf_append_str(out, "<p>");
        markup_text(out, d->intent);
        (void)buf_append_str(out, "</p>");
    }
    if (*text_or_empty(d->hypothesis)) {
        (void)buf_append_str(out, "<p>");
        markup_text(out, d->hypothesis);
        (void)buf_append_str(out, "</p>");
    }
    if (has_build) {
        (void)buf_append_str(out, "<p class=\"flags\">");
        markup_text(out, d->compiler);
        (void)buf_append_char(out, ' ');
        markup_text(out, d->flags);
        (void)buf_append_str(out, "</p>");
    }
}

/* Intent and moves; folded: the rest of the intent, the hypothesis, what changed of the build. */
static void write_what(struct page *page, size_t index)
{
    const struct graph_decision *d = &page->input->decisions[index];
    struct buf *out = page->out;
    CLEANUP(buf_free) struct buf intent = {0};
    const bool is_cut = markup_clipped(&intent, d->intent, INTENT_CHARACTERS);
    const bool has_build = changes_build(page, index);
    (void)buf_append_str(out, "<td class=\"what\">");
    if (is_cut || has_build || *text_or_empty(d->hypothesis)) {
        (void)buf_printf(out, "<details><summary>%s</summary>", buf_text(&intent));
        write_more(page, index, has_build, is_cut);
        (void)buf_append_str(out, "</details>");
    } else {
        (void)buf_append_str(out, buf_text(&intent));
    }
    if (*text_or_empty(d->moves)) {
        (void)buf_append_str(out, "<div class=\"moves\">");
        markup_text(out, d->moves);
        (void)buf_append_str(out, "</div>");
    }
    (void)buf_append_str(out, "</td>");
}

/* Predicted and measured, both against the parent, and measured against the baseline. */
static void write_numbers(struct page *page, size_t index)
{
    const struct graph_decision *d = &page->input->decisions[index];
    const size_t parent = page->parents[index];
    const bool has_ratio = decision_has_ratio(d);
    const bool has_step = has_ratio && (parent == REPORT_NO_DECISION ||
                                        decision_has_ratio(&page->input->decisions[parent]));
    const double before =
        parent == REPORT_NO_DECISION ? 0 : page->input->decisions[parent].log_ratio;
    (void)buf_printf(page->out, "<td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">",
                     d->predicted_log_ratio < 0 || d->predicted_log_ratio > 0
                         ? label_ratio(d->predicted_log_ratio).text
                         : "–",
                     has_step ? label_ratio(d->log_ratio - before).text : "–");
    if (has_ratio)
        (void)buf_printf(page->out, "<b>%s</b><div class=\"interval\">%s</div>",
                         label_ratio(d->log_ratio).text,
                         label_interval(d->log_low, d->log_high).text);
    else
        (void)buf_append_str(page->out, "–");
    (void)buf_append_str(page->out, "</td>");
}

/* The verdict's name, what decided, and the evidence; long evidence is folded. */
static void write_verdict(struct page *page, const struct graph_decision *d)
{
    struct buf *out = page->out;
    const enum look look = look_of(d);
    const char *evidence = text_or_empty(d->has_outcome ? d->evidence : d->failure);
    CLEANUP(buf_free) struct buf brief = {0};
    (void)buf_append_str(out, "<td class=\"verdict\"><span class=\"look\">");
    look_draw_inline(out, look);
    (void)buf_append_str(out, look_style(look)->name);
    if (d->is_confirmed)
        (void)buf_append_str(out, ", confirmed");
    else if (d->confirm_failed)
        (void)buf_append_str(out, ": did not hold when confirmed");
    (void)buf_append_str(out, "</span>");
    if (d->mechanism && *d->mechanism) {
        (void)buf_append_str(out, " <code>");
        (void)markup_clipped(out, d->mechanism, 40);
        (void)buf_append_str(out, "</code>");
    }
    if (markup_clipped(&brief, evidence, EVIDENCE_CHARACTERS)) {
        (void)buf_printf(out, "<details><summary>%s</summary><p>", buf_text(&brief));
        markup_text(out, evidence);
        (void)buf_append_str(out, "</p></details>");
    } else if (brief.length > 0) {
        (void)buf_printf(out, "<div class=\"evidence\">%s</div>", buf_text(&brief));
    }
    (void)buf_append_str(out, "</td>");
}

static void write_row(struct page *page, size_t index)
{
    const struct graph_decision *d = &page->input->decisions[index];
    struct buf *out = page->out;
    (void)buf_printf(out, "<tr%s><th scope=\"row\">#%" PRId64 "</th>",
                     page->on_best_path[index] ? " class=\"best\"" : "", d->sequence);
    write_parent(page, index);
    (void)buf_append_str(out, "<td>");
    markup_text(out, d->step);
    (void)buf_append_str(out, "</td>");
    write_what(page, index);
    write_numbers(page, index);
    write_verdict(page, d);
    (void)buf_append_str(out, "</tr>\n");
}

void page_write_decisions(struct page *page)
{
    static const char *const titles[] = {"#",          ">From", "Step",     "What and why",
                                         ">Predicted", ">Gain", ">Speedup", "Verdict and evidence",
                                         NULL};
    if (page->input->decision_count == 0)
        return;
    (void)buf_append_str(page->out, "<section>\n<h2>All decisions</h2>\n");
    page_table_open(
        page, "decisions",
        "Every decision in order. Predicted and measured gain are over the decision that "
        "it came from, the speedup is over the baseline. Marked rows lead to the best.");
    page_table_head(page, titles);
    for (size_t i = 0; i < page->input->decision_count; i++)
        write_row(page, i);
    page_table_close(page);
    (void)buf_append_str(page->out, "</section>\n");
}
