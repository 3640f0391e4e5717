/* The head of the page: what was found, how sure it is, and the path that led to it. */
#include "report/internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *baseline_name(const struct page *page)
{
    const char *name = page->input->baseline;
    return name && *name ? name : NULL;
}

static void write_baseline(struct page *page)
{
    if (!baseline_name(page)) {
        (void)buf_append_str(page->out, "the baseline");
        return;
    }
    (void)buf_append_str(page->out, "<code>");
    markup_text(page->out, baseline_name(page));
    (void)buf_append_str(page->out, "</code>");
}

static bool has_held_out(const struct page *page)
{
    for (size_t i = 0; i < page->input->best_case_count; i++) {
        if (page->input->best_cases[i].held_out)
            return true;
    }
    return false;
}

static void write_verified(struct page *page)
{
    struct buf *out = page->out;
    const struct graph_decision *best = &page->input->decisions[page->best];
    (void)buf_printf(out,
                     "<p class=\"result\"><span class=\"factor\">%s</span> "
                     "<span class=\"versus\">faster than ",
                     label_ratio(page->best_log_ratio).text);
    write_baseline(page);
    (void)buf_append_str(out, "</span></p>\n<p class=\"sureness\">");
    if (page->has_interval)
        (void)buf_printf(out, "95&#160;%% interval <b>%s</b>, ",
                         label_interval(page->best_low, page->best_high).text);
    (void)buf_append_str(out, page->has_interval ? "confirmed" : "Confirmed");
    if (!has_held_out(page))
        (void)buf_append_str(out, " with a new seed and a clean build; the task has no "
                                  "held-out shapes.");
    else
        (void)buf_printf(out,
                         " with a new seed, a clean build and held-out shapes, "
                         "which the search never saw (<b>%s</b> there).",
                         label_ratio(best->held_out_log_ratio).text);
    (void)buf_printf(out, " In the search it had measured %s.", label_ratio(best->log_ratio).text);
    (void)buf_append_str(out, "</p>\n");
}

/* The candidate that a page without a verified gain speaks of: the best, else the fastest of those
 * that failed their confirmation, else none. */
static const struct graph_decision *find_contender(const struct page *page)
{
    const struct graph_decision *contender = NULL;
    if (page->best != REPORT_NO_DECISION)
        return &page->input->decisions[page->best];
    for (size_t i = 0; i < page->input->decision_count; i++) {
        const struct graph_decision *d = &page->input->decisions[i];
        if (d->confirm_failed && decision_has_ratio(d) &&
            (!contender || d->log_ratio > contender->log_ratio))
            contender = d;
    }
    return contender;
}

static void write_unverified(struct page *page)
{
    struct buf *out = page->out;
    const struct graph_decision *contender = find_contender(page);
    (void)buf_append_str(out, "<p class=\"result none\"><span class=\"factor\">No verified gain"
                              "</span> <span class=\"versus\">the baseline stands</span></p>\n"
                              "<p class=\"sureness\">");
    if (contender && contender->log_ratio > 0) {
        (void)buf_printf(out, "The best candidate, #%" PRId64 ", measured %s in the search, ",
                         contender->sequence, label_ratio(contender->log_ratio).text);
        (void)buf_append_str(out, contender->confirm_failed
                                      ? "but the gain did not hold when it was measured again."
                                      : "but was not confirmed, so it is no result yet.");
    } else if (page->input->decision_count == 0) {
        (void)buf_append_str(out, "No candidate was proposed.");
    } else {
        (void)buf_append_str(out, "No candidate beat ");
        write_baseline(page);
        (void)buf_append_str(out, " by more than the noise of this machine.");
    }
    (void)buf_append_str(out, "</p>\n");
}

static void write_fact(struct page *page, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    (void)buf_append_str(page->out, "<div><dt>");
    markup_text(page->out, name);
    (void)buf_append_str(page->out, "</dt><dd>");
    (void)markup_clipped(page->out, value, 60);
    (void)buf_append_str(page->out, "</dd></div>\n");
}

static void write_facts(struct page *page)
{
    const struct graph_run *run = page->input->run;
    int64_t tokens = 0;
    int64_t judged = 0;
    for (size_t i = 0; i < page->input->decision_count; i++) {
        const struct graph_decision *d = &page->input->decisions[i];
        judged += d->has_outcome;
        (void)__builtin_add_overflow(tokens, d->tokens_in, &tokens);
        (void)__builtin_add_overflow(tokens, d->tokens_out, &tokens);
    }
    (void)buf_append_str(page->out, "<dl class=\"facts\">\n");
    write_fact(page, "Candidates judged",
               arena_printf(page->arena, "%s of %s", label_count(judged).text,
                            label_count(run->budget > judged ? run->budget : judged).text));
    write_fact(page, "Duration", run->run_ns > 0 ? label_duration(run->run_ns).text : NULL);
    write_fact(page, "Ended by", run->has_ended ? run->end_reason : "not ended");
    write_fact(page, "Proposer", run->proposer);
    write_fact(page, "Search", run->policy);
    write_fact(page, "Tokens", tokens > 0 ? label_count(tokens).text : NULL);
    (void)buf_append_str(page->out, "</dl>\n");
}

void page_write_result(struct page *page)
{
    const struct graph_run *run = page->input->run;
    struct buf *out = page->out;
    (void)buf_append_str(out, "<header>\n<p class=\"kicker\">KOPE optimization report<span>");
    if (run->wall_ms > 0)
        (void)buf_append_str(out, label_date(run->wall_ms).text);
    (void)buf_append_str(out, "</span></p>\n<h1>");
    markup_text(out, run->task_name);
    (void)buf_append_str(out, "</h1>\n");
    if (page->is_verified)
        write_verified(page);
    else
        write_unverified(page);
    write_facts(page);
    (void)buf_append_str(
        out, "</header>\n<p class=\"reading\">A ratio is baseline time over candidate time, so "
             "above 1 is faster. Each is the median of paired log-ratios: baseline and candidate "
             "ran alternately, in random order, on the same inputs. A candidate counts as faster "
             "only when the pessimistic end of its interval beats the larger of 2&#160;% and three "
             "times the noise measured between two copies of the baseline.</p>\n");
}

/* Decisions from the baseline to the best, as the rows of a table. */
static void write_step(struct page *page, size_t index)
{
    struct buf *out = page->out;
    const struct graph_decision *d = &page->input->decisions[index];
    const size_t parent = page->parents[index];
    const double before =
        parent == REPORT_NO_DECISION ? 0 : page->input->decisions[parent].log_ratio;
    (void)buf_printf(out, "<tr><td>#%" PRId64 "</td><td class=\"what\">", d->sequence);
    markup_text(out, d->intent);
    (void)buf_append_str(out, "</td><td class=\"moves\">");
    markup_text(out, d->moves);
    (void)buf_printf(out, "</td><td class=\"n\">%s</td><td class=\"n\"><b>%s</b></td></tr>\n",
                     label_ratio(d->log_ratio - before).text, label_ratio(d->log_ratio).text);
}

void page_write_path(struct page *page)
{
    static const char *const titles[] = {"#", "What it did", "Moves", ">Gain", ">Speedup", NULL};
    size_t *path = arena_array(page->arena, page->input->decision_count + 1, sizeof *path);
    size_t length = 0;
    if (page->best == REPORT_NO_DECISION)
        return;
    for (size_t i = page->best; i != REPORT_NO_DECISION; i = page->parents[i])
        path[length++] = i;
    (void)buf_append_str(page->out, "<section>\n<h2>How it got there</h2>\n");
    page_table_open(
        page, "path",
        "From the baseline to the best candidate, as the search measured it. The gain is "
        "over the decision before, the speedup over the baseline.");
    page_table_head(page, titles);
    while (length-- > 0)
        write_step(page, path[length]);
    page_table_close(page);
    (void)buf_append_str(page->out, "</section>\n");
}
