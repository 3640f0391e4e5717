#include "report/report.h"

#include "report/internal.h"

#include <math.h>
#include <string.h>

const char *text_or_empty(const char *text)
{
    return text ? text : "";
}

static size_t find_before(const struct report_input *input, const char *id, size_t before)
{
    for (size_t i = before; *id && i-- > 0;) {
        if (strcmp(text_or_empty(input->decisions[i].id), id) == 0)
            return i;
    }
    return REPORT_NO_DECISION;
}

/* The interval of the result: what the caller knows, else the weighted mean of the searched cases'
 * ends (as if their errors were one error: the widest that they can make), else the search's. */
static void find_interval(struct page *page, const struct graph_decision *best)
{
    const struct report_input *input = page->input;
    double weight = 0;
    double low = 0;
    double high = 0;
    for (size_t i = 0; i < input->best_case_count; i++) {
        const struct case_result *c = &input->best_cases[i];
        if (c->held_out)
            continue;
        weight += c->weight;
        low += c->weight * c->log_low;
        high += c->weight * c->log_high;
    }
    page->best_low = low / weight;
    page->best_high = high / weight;
    if (input->confirmed_low < input->confirmed_high) {
        page->best_low = input->confirmed_low;
        page->best_high = input->confirmed_high;
    } else if (!(weight > 0) && !best->is_confirmed) {
        page->best_low = best->log_low;
        page->best_high = best->log_high;
    }
    page->has_interval = page->best_low <= page->best_log_ratio &&
                         page->best_log_ratio <= page->best_high && page->best_low > -30 &&
                         page->best_high < 30;
}

/* Of a run that did not end: the fastest that has not failed its confirmation. */
static size_t best_so_far(const struct report_input *input)
{
    size_t best = REPORT_NO_DECISION;
    for (size_t i = 0; i < input->decision_count && !input->run->has_ended; i++) {
        const struct graph_decision *d = &input->decisions[i];
        if (look_of(d) == LOOK_WIN && decision_has_ratio(d) &&
            (best == REPORT_NO_DECISION || d->log_ratio > input->decisions[best].log_ratio))
            best = i;
    }
    return best;
}

static void find_best(struct page *page)
{
    const struct report_input *input = page->input;
    const char *id = text_or_empty(input->run->best_decision);
    page->best = *id ? find_before(input, id, input->decision_count) : best_so_far(input);
    if (page->best == REPORT_NO_DECISION)
        return;
    const struct graph_decision *best = &input->decisions[page->best];
    page->best_log_ratio = best->is_confirmed ? best->confirmed_log_ratio : best->log_ratio;
    if (!decision_has_ratio(best) || !isfinite(page->best_log_ratio) ||
        fabs(page->best_log_ratio) >= 30) {
        page->best = REPORT_NO_DECISION;
        return;
    }
    page->is_verified = best->is_confirmed && page->best_log_ratio > 0 && input->best_source;
    find_interval(page, best);
    for (size_t i = page->best; i != REPORT_NO_DECISION; i = page->parents[i])
        page->on_best_path[i] = true;
}

static void write_page(struct page *page)
{
    (void)buf_append_str(
        page->out, "<!DOCTYPE html>\n"
                   "<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
                   "<meta charset=\"utf-8\"/>\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                   "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
                   "<meta name=\"referrer\" content=\"no-referrer\"/>\n"
                   "<meta http-equiv=\"Content-Security-Policy\" "
                   "content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n<title>");
    markup_text(page->out, page->input->run->task_name);
    (void)buf_append_str(page->out, " – KOPE report</title>\n");
    page_write_style(page);
    (void)buf_append_str(page->out, "</head>\n<body>\n<main>\n");
    page_write_result(page);
    page_write_path(page);
    page_write_search(page);
    page_write_tree(page);
    page_write_cases(page);
    page_write_source(page);
    page_write_parts(page);
    page_write_findings(page);
    page_write_decisions(page);
    page_write_environment(page);
    page_write_reproduce(page);
    (void)buf_append_str(page->out, "</main>\n</body>\n</html>\n");
}

bool report_html(const struct report_input *input, struct buf *out, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(buf_free) struct buf body = {.limit = out->limit};
    struct page page = {.input = input, .arena = &arena, .out = &body};
    const size_t limit = out->limit ? out->limit : BUF_DEFAULT_LIMIT_BYTES;

    page.parents = arena_array(&arena, input->decision_count + 1, sizeof *page.parents);
    page.on_best_path = arena_array(&arena, input->decision_count + 1, sizeof *page.on_best_path);
    for (size_t i = 0; i < input->decision_count; i++)
        page.parents[i] = find_before(input, text_or_empty(input->decisions[i].parent), i);
    find_best(&page);
    write_page(&page);
    if (body.truncated || body.length > limit - out->length) {
        (void)err_set(err, ERR_LIMIT, "the report is larger than %zu bytes", limit);
        return err_hint(err, "the run has %zu decisions; a run with a smaller budget fits",
                        input->decision_count);
    }
    return buf_append(out, body.data, body.length);
}
