/* Source, findings, environment, and how to run it again. */
#include "report/internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIFF_CONTEXT = 3, DIFF_FOLD = 10 };

static void write_diff_line(struct page *page, const struct diff_line *line)
{
    const char *class = line->sign == '+' ? "add" : line->sign == '-' ? "del" : "same";
    const struct diff_line *l = line;
    char before[24] = "";
    char after[24] = "";
    if (l->before)
        (void)snprintf(before, sizeof before, "%zu", l->before);
    if (l->after)
        (void)snprintf(after, sizeof after, "%zu", l->after);
    (void)buf_printf(page->out, "<span class=\"%s\"><span class=\"ln\">%4s %4s</span>%c ", class,
                     before, after, l->sign);
    markup_span(page->out, l->text, l->length);
    (void)buf_append_str(page->out, "\n</span>");
}

/* Unchanged lines from `from` on. */
static size_t same_run(const struct diff *diff, size_t from)
{
    size_t run = 0;
    while (from + run < diff->count && diff->lines[from + run].sign == ' ')
        run++;
    return run;
}

static void write_diff(struct page *page, const struct diff *diff)
{
    (void)buf_append_str(page->out, "<pre class=\"diff\" tabindex=\"0\">");
    for (size_t i = 0; i < diff->count; i++) {
        const size_t run = same_run(diff, i);
        const size_t head = i == 0 ? 0 : DIFF_CONTEXT;
        if (run > DIFF_FOLD) {
            const size_t tail = i + run == diff->count ? 0 : DIFF_CONTEXT;
            for (size_t k = 0; k < head; k++)
                write_diff_line(page, &diff->lines[i + k]);
            (void)buf_printf(page->out, "<span class=\"fold\">… %zu unchanged lines\n</span>",
                             run - head - tail);
            for (size_t k = run - tail; k < run; k++)
                write_diff_line(page, &diff->lines[i + k]);
        } else {
            for (size_t k = 0; k < run; k++)
                write_diff_line(page, &diff->lines[i + k]);
        }
        i += run;
        if (i < diff->count)
            write_diff_line(page, &diff->lines[i]);
    }
    (void)buf_append_str(page->out, "</pre>\n");
}

static void write_source_body(struct page *page, const char *summary, const char *source)
{
    if (!source || !*source)
        return;
    (void)buf_printf(page->out, "<details class=\"source\"><summary>%s</summary>\n<pre>", summary);
    markup_text(page->out, source);
    (void)buf_append_str(page->out, "</pre></details>\n");
}

void page_write_source(struct page *page)
{
    const struct report_input *input = page->input;
    if (!input->best_source) {
        if (!input->reference_source || !*input->reference_source)
            return;
        (void)buf_append_str(page->out, "<section>\n<h2>The source</h2>\n");
        write_source_body(page, "The reference", input->reference_source);
        (void)buf_append_str(page->out, "</section>\n");
        return;
    }
    const struct diff diff = diff_texts(input->reference_source, input->best_source, page->arena);
    (void)buf_append_str(page->out, "<section>\n<h2>The source</h2>\n");
    (void)buf_printf(
        page->out,
        "<p>From the reference to the best candidate: <span class=\"plus\">+%zu</span> "
        "<span class=\"minus\">−%zu</span> lines.</p>\n",
        diff.added, diff.removed);
    write_diff(page, &diff);
    write_source_body(page, "The best candidate in full", input->best_source);
    (void)buf_append_str(page->out, "</section>\n");
}

static const struct graph_decision *find_decision(const struct page *page, const char *id)
{
    for (size_t i = 0; id && *id && i < page->input->decision_count; i++) {
        if (strcmp(text_or_empty(page->input->decisions[i].id), id) == 0)
            return &page->input->decisions[i];
    }
    return NULL;
}

/* Who says so, and which moves answer it. */
static void write_answer(struct page *page, const struct graph_finding *f)
{
    if (f->tool && *f->tool) {
        (void)buf_append_str(page->out, " (");
        markup_text(page->out, f->tool);
        (void)buf_append_str(page->out, ")");
    }
    if (f->moves && *f->moves) {
        (void)buf_append_str(page->out, " &rarr; ");
        markup_text(page->out, f->moves);
    }
}

static bool is_part(const struct graph_finding *f)
{
    return f->bottleneck && strcmp(f->bottleneck, "ablation") == 0 && f->moves && *f->moves;
}

static int by_gain(const void *a, const void *b)
{
    const struct graph_finding *const *x = a, *const *y = b;
    return ((*x)->number < (*y)->number) - ((*x)->number > (*y)->number);
}

/* Of each part of the winner what was measured last, the largest gain first. */
static size_t find_parts(const struct page *page, const struct graph_finding **out)
{
    size_t count = 0;
    for (size_t i = 0; i < page->input->finding_count; i++) {
        const struct graph_finding *f = &page->input->findings[i];
        size_t at = 0;
        if (!is_part(f))
            continue;
        while (at < count && strcmp(out[at]->moves, f->moves) != 0)
            at++;
        out[at] = f;
        count += at == count;
    }
    if (count)
        qsort(out, count, sizeof *out, by_gain);
    return count;
}

void page_write_parts(struct page *page)
{
    const struct graph_finding **parts =
        arena_array(page->arena, page->input->finding_count + 1, sizeof *parts);
    const size_t count = find_parts(page, parts);
    if (count == 0)
        return;
    static const char *const titles[] = {"part", ">gain", "measured", NULL};
    (void)buf_append_str(page->out, "<section>\n<h2>What each part of the winner is worth</h2>\n");
    page_table_open(page, "parts",
                    "The winner against itself without the part. Parts interact: their gains do "
                    "not multiply to the whole.");
    page_table_head(page, titles);
    for (size_t i = 0; i < count; i++) {
        (void)buf_append_str(page->out, "<tr><td><code>");
        markup_text(page->out, parts[i]->moves);
        (void)buf_append_str(page->out, "</code></td><td class=\"n\">");
        if (parts[i]->number > 0)
            (void)buf_printf(page->out, "%.2fx", parts[i]->number);
        (void)buf_append_str(page->out, "</td><td>");
        markup_text(page->out, parts[i]->text);
        (void)buf_append_str(page->out, "</td></tr>\n");
    }
    page_table_close(page);
    (void)buf_append_str(page->out, "</section>\n");
}

void page_write_findings(struct page *page)
{
    size_t others = 0;
    for (size_t i = 0; i < page->input->finding_count; i++)
        others += !is_part(&page->input->findings[i]);
    if (others == 0)
        return;
    (void)buf_append_str(page->out, "<section>\n<h2>Findings</h2>\n<ul class=\"findings\">\n");
    for (size_t i = 0; i < page->input->finding_count; i++) {
        const struct graph_finding *f = &page->input->findings[i];
        if (is_part(f))
            continue;
        const struct graph_decision *d = find_decision(page, f->decision_id);
        (void)buf_append_str(page->out, "<li><span class=\"where\">");
        if (d)
            (void)buf_printf(page->out, "#%" PRId64, d->sequence);
        if (f->line > 0)
            (void)buf_printf(page->out, "%sline %" PRId64, d ? ", " : "", f->line);
        (void)buf_append_str(page->out, "</span> ");
        if (f->bottleneck && *f->bottleneck) {
            (void)buf_append_str(page->out, "<span class=\"tag\">");
            (void)markup_clipped(page->out, f->bottleneck, 24);
            (void)buf_append_str(page->out, "</span> ");
        }
        markup_text(page->out, f->text);
        write_answer(page, f);
        (void)buf_append_str(page->out, "</li>\n");
    }
    (void)buf_append_str(page->out, "</ul>\n</section>\n");
}

static void write_pair(struct page *page, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    (void)buf_append_str(page->out, "<dt>");
    markup_text(page->out, name);
    (void)buf_append_str(page->out, "</dt><dd>");
    markup_text(page->out, value);
    (void)buf_append_str(page->out, "</dd>\n");
}

/* The lines "name: value" that came from outside. */
static void write_environment_lines(struct page *page, const char *text)
{
    while (*text) {
        const size_t length = strcspn(text, "\n");
        const char *line = arena_strndup(page->arena, text, length);
        const char *colon = strchr(line, ':');
        if (colon)
            write_pair(page, arena_strndup(page->arena, line, (size_t)(colon - line)),
                       colon + 1 + strspn(colon + 1, " "));
        else
            write_pair(page, "note", line);
        text += length + (text[length] == '\n');
    }
}

/* A fact of the run, where the lines do not hold it already. */
static void write_fact_once(struct page *page, const char *name, const char *value)
{
    const char *at = text_or_empty(page->input->environment);
    const size_t length = strlen(text_or_empty(value));
    while (length > 0 && (at = strstr(at, value))) {
        if (at[length] == '\n' || at[length] == '\0')
            return;
        at++;
    }
    write_pair(page, name, value);
}

void page_write_environment(struct page *page)
{
    const struct graph_run *run = page->input->run;
    (void)buf_append_str(page->out,
                         "<section>\n<h2>Where it was measured</h2>\n<dl class=\"environment\">\n");
    write_environment_lines(page, text_or_empty(page->input->environment));
    write_fact_once(page, "host", run->host);
    write_fact_once(page, "kernel", run->kernel);
    if (run->load_average >= 0 && run->load_average < 1e6)
        write_fact_once(page, "load average at start",
                        arena_printf(page->arena, "%.2f", run->load_average));
    write_fact_once(page, "kope", run->kope_version);
    write_fact_once(page, "gate", run->gate_id);
    write_fact_once(page, "target", run->target_id);
    write_fact_once(page, "task", run->task_id);
    write_fact_once(page, "run", run->id);
    write_fact_once(page, "seed", arena_printf(page->arena, "%" PRIu64, run->seed));
    (void)buf_append_str(page->out, "</dl>\n</section>\n");
}

/* A word of a shell command: quoted where a shell would read more into it. */
static const char *shell_word(const char *word, struct arena *arena)
{
    size_t quotes = 0;
    bool is_plain = *word != '\0' && *word != '-';
    for (const char *c = word; *c; c++) {
        quotes += *c == '\'';
        is_plain = is_plain && (isalnum((unsigned char)*c) || strchr("_./+-@%,:", *c));
    }
    if (is_plain)
        return word;
    char *quoted = arena_alloc(arena, strlen(word) + 3 * quotes + 3);
    char *at = quoted;
    *at++ = '\'';
    for (const char *c = word; *c; c++) {
        const char one[] = {*c, '\0'};
        for (const char *from = *c == '\'' ? "'\\''" : one; *from; from++)
            *at++ = *from;
    }
    *at = '\'';
    return quoted;
}

static const char *default_commands(const struct page *page)
{
    const struct graph_run *run = page->input->run;
    struct arena *arena = page->arena;
    const char *task =
        run->task_dir && *run->task_dir ? run->task_dir : text_or_empty(run->task_name);
    const char *proposer =
        run->proposer && *run->proposer
            ? arena_printf(arena, " --proposer %s", shell_word(run->proposer, arena))
            : "";
    const char *policy = run->policy && *run->policy
                             ? arena_printf(arena, " --policy %s", shell_word(run->policy, arena))
                             : "";
    return arena_printf(arena,
                        "kope optimize %s --budget %" PRId64 " --seed %" PRIu64 "%s%s\n"
                        "kope report %s",
                        shell_word(task, arena), run->budget, run->seed, proposer, policy,
                        shell_word(text_or_empty(run->id), arena));
}

void page_write_reproduce(struct page *page)
{
    const char *commands = page->input->reproduce && *page->input->reproduce
                               ? page->input->reproduce
                               : default_commands(page);
    (void)buf_append_str(
        page->out, "<section>\n<h2>Run it again</h2>\n<pre class=\"commands\" tabindex=\"0\">");
    markup_text(page->out, commands);
    (void)buf_append_str(
        page->out, "</pre>\n<p class=\"small\">The same seed gives the same offline proposals as "
                   "long as the gate gives the same verdicts; times vary with the machine, and the "
                   "gate draws new data for every run.</p>\n</section>\n");
}
