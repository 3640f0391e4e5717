/* Numbered figures and tables, and the sections that hold the figures. */
#include "report/internal.h"

#include <inttypes.h>

void page_figure_open(struct page *page)
{
    (void)buf_append_str(page->out,
                         "<figure>\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
                         "aria-label=\"figure\">\n");
}

void page_figure_close(struct page *page, const char *caption)
{
    (void)buf_printf(page->out,
                     "</div>\n<figcaption><b>Figure %d.</b> %s</figcaption>\n</figure>\n",
                     ++page->figures, caption);
}

void page_table_open(struct page *page, const char *class, const char *caption)
{
    page->tables++;
    (void)buf_printf(page->out,
                     "<figure class=\"tabular\">\n<figcaption id=\"table-%d\"><b>Table %d.</b> "
                     "%s</figcaption>\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
                     "aria-label=\"table %d\">\n<table class=\"%s\" "
                     "aria-labelledby=\"table-%d\">\n",
                     page->tables, page->tables, caption, page->tables, class, page->tables);
}

void page_table_head(struct page *page, const char *const *titles)
{
    (void)buf_append_str(page->out, "<thead><tr>");
    for (; *titles; titles++) {
        const bool is_number = **titles == '>';
        (void)buf_append_str(page->out,
                             is_number ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">");
        markup_text(page->out, *titles + is_number);
        (void)buf_append_str(page->out, "</th>");
    }
    (void)buf_append_str(page->out, "</tr></thead>\n<tbody>\n");
}

void page_table_close(struct page *page)
{
    (void)buf_append_str(page->out, "</tbody>\n</table>\n</div>\n</figure>\n");
}

/* What the marks mean, with how many there are of each; looks that do not occur are left out. */
static void write_legend(struct page *page)
{
    size_t counts[LOOK_COUNT] = {0};
    for (size_t i = 0; i < page->input->decision_count; i++)
        counts[look_of(&page->input->decisions[i])]++;
    (void)buf_append_str(page->out, "<ul class=\"legend\">\n");
    for (int look = 0; look < LOOK_COUNT; look++) {
        if (counts[look] == 0)
            continue;
        (void)buf_append_str(page->out, "<li>");
        look_draw_inline(page->out, (enum look)look);
        (void)buf_printf(page->out, "<b>%zu</b> %s</li>\n", counts[look],
                         look_style((enum look)look)->name);
    }
    (void)buf_append_str(page->out, "</ul>\n");
}

void page_write_search(struct page *page)
{
    if (page->input->decision_count == 0)
        return;
    (void)buf_append_str(page->out, "<section>\n<h2>The search</h2>\n");
    write_legend(page);
    page_figure_open(page);
    figure_draw_search(page);
    page_figure_close(page,
                      "Each decision by the verdict of the gate. The line is the best so far; "
                      "whiskers are 95&#160;% intervals; candidates without a time stand below the "
                      "axis. A candidate far slower than the baseline is drawn at the lower edge.");
    (void)buf_append_str(page->out, "</section>\n");
}

void page_write_tree(struct page *page)
{
    const size_t count = page->input->decision_count;
    size_t shown = 0;
    if (count == 0)
        return;
    (void)buf_append_str(page->out, "<section>\n<h2>The decision tree</h2>\n");
    page_figure_open(page);
    figure_draw_tree(page, &shown);
    const char *more =
        shown == count
            ? ""
            : arena_printf(page->arena,
                           " It shows %zu of the %zu decisions: the first, and the path to the "
                           "best.",
                           shown, count);
    page_figure_close(
        page,
        arena_printf(page->arena,
                     "Each decision hangs from the candidate that it changed. "
                     "Dashed: a large step.%s%s",
                     page->best == REPORT_NO_DECISION ? "" : " Bold: the path to the best.", more));
    (void)buf_append_str(page->out, "</section>\n");
}

static bool has_cold(const struct page *page)
{
    for (size_t i = 0; i < page->input->best_case_count; i++)
        if (page->input->best_cases[i].cold.pairs > 0)
            return true;
    return false;
}

/* What a call takes that finds nothing in a cache. */
static void write_cold_row(struct page *page, const struct case_result *c)
{
    struct buf *out = page->out;
    const struct cold_result *cold = &c->cold;
    (void)buf_append_str(out, "<tr><th scope=\"row\">");
    markup_text(out, c->name);
    if (cold->pairs == 0) {
        (void)buf_append_str(out, "</th><td class=\"n\" colspan=\"5\">not measured</td></tr>\n");
        return;
    }
    (void)buf_printf(out,
                     "%s</th><td class=\"n\">%s</td><td class=\"n\">%s</td>"
                     "<td class=\"n\"><b>%s</b></td><td class=\"n\">%s</td>"
                     "<td class=\"n\">%s</td></tr>\n",
                     c->held_out ? " <span class=\"tag\">held out</span>" : "",
                     label_duration(cold->baseline_ns).text,
                     label_duration(cold->candidate_ns).text, label_ratio(cold->log_ratio).text,
                     label_interval(cold->log_low, cold->log_high).text,
                     label_count(cold->pairs).text);
}

static void write_cold(struct page *page)
{
    static const char *const titles[] = {"Case",  ">Baseline", ">Candidate", ">Ratio",
                                         ">95 %", ">Pairs",    NULL};
    if (!has_cold(page))
        return;
    page_table_open(page, "cold",
                    "With cold caches: the data of every call lies in memory, in no cache. The "
                    "times above are warm.");
    page_table_head(page, titles);
    for (size_t i = 0; i < page->input->best_case_count; i++)
        write_cold_row(page, &page->input->best_cases[i]);
    page_table_close(page);
}

static void write_case_row(struct page *page, const struct case_result *c)
{
    struct buf *out = page->out;
    (void)buf_append_str(out, "<tr><th scope=\"row\">");
    markup_text(out, c->name);
    (void)buf_printf(out,
                     "%s</th><td class=\"n\">%s</td><td class=\"n\">%s</td>"
                     "<td class=\"n\"><b>%s</b></td><td class=\"n\">%s</td>",
                     c->held_out ? " <span class=\"tag\">held out</span>" : "",
                     label_duration(c->baseline_ns).text, label_duration(c->candidate_ns).text,
                     label_ratio(c->log_ratio).text, label_interval(c->log_low, c->log_high).text);
    (void)buf_printf(out,
                     "<td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n",
                     label_count(c->pairs).text, label_percent(c->noise).text,
                     c->roofline > 0 ? label_percent(c->roofline).text : "–");
}

void page_write_cases(struct page *page)
{
    static const char *const titles[] = {"Case",   ">Baseline", ">Candidate", ">Ratio", ">95 %",
                                         ">Pairs", ">Noise",    ">Roofline",  NULL};
    if (page->input->best_case_count == 0)
        return;
    (void)buf_append_str(page->out, "<section>\n<h2>Case by case</h2>\n");
    page_figure_open(page);
    figure_draw_cases(page);
    page_figure_close(page,
                      "Median ratio and 95&#160;% interval of each case. Grey: differences that "
                      "count as none on this machine. Squares: shapes held out of the search. "
                      "Diamond: weighted geometric mean of the searched cases.");
    page_table_open(page, "cases",
                    "The same in numbers. Times are medians of one call; noise is the rms "
                    "difference between two copies of the baseline; roofline is the share of what "
                    "the machine could reach.");
    page_table_head(page, titles);
    for (size_t i = 0; i < page->input->best_case_count; i++)
        write_case_row(page, &page->input->best_cases[i]);
    page_table_close(page);
    write_cold(page);
    (void)buf_append_str(page->out, "</section>\n");
}
