/* The report: right statements, well-formed markup, nothing alive from outside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report_fixture.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Well-formedness, strict: every tag closed in order, attributes in double quotes, entities known,
 * no control characters. Also: no scripts, no event handlers, no outside resources. Each returns
 * NULL or what is wrong. */
enum { MAX_DEPTH = 64, NAME_BYTES = 24 };

struct checker {
    const char *at;
    char open[MAX_DEPTH][NAME_BYTES];
    int depth;
};

static const char *read_name(struct checker *c, char name[NAME_BYTES])
{
    size_t n = 0;
    while (isalnum((unsigned char)*c->at) || *c->at == '-' || *c->at == ':') {
        if (n + 1 == NAME_BYTES)
            return "name is too long";
        name[n++] = *c->at++;
    }
    name[n] = '\0';
    return n ? NULL : "name is missing";
}

static const char *check_entity(const char *at)
{
    static const char *const known[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;", "&#160;"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strncmp(at, known[i], strlen(known[i])) == 0)
            return NULL;
    }
    return "unknown entity";
}

static const char *check_attribute(struct checker *c)
{
    char name[NAME_BYTES];
    const char *wrong = read_name(c, name);
    if (wrong)
        return wrong;
    if (strncmp(name, "on", 2) == 0)
        return "event handler";
    if (strcmp(name, "src") == 0 || strcmp(name, "href") == 0)
        return "outside resource";
    if (c->at[0] != '=' || c->at[1] != '"')
        return "attribute is not quoted";
    for (c->at += 2; *c->at && *c->at != '"'; c->at++) {
        if (*c->at == '<' || (*c->at == '&' && check_entity(c->at)))
            return "attribute is not escaped";
    }
    return *c->at++ ? NULL : "attribute does not end";
}

static const char *check_close_tag(struct checker *c)
{
    char name[NAME_BYTES];
    c->at += 2;
    const char *wrong = read_name(c, name);
    if (wrong || *c->at++ != '>')
        return "bad closing tag";
    if (c->depth == 0 || strcmp(c->open[c->depth - 1], name) != 0)
        return "closing tag does not match";
    c->depth--;
    return NULL;
}

static const char *check_open_tag(struct checker *c)
{
    char name[NAME_BYTES];
    c->at++;
    const char *wrong = read_name(c, name);
    if (wrong)
        return wrong;
    if (strcmp(name, "script") == 0 || strcmp(name, "img") == 0 || strcmp(name, "link") == 0)
        return "forbidden element";
    while (isspace((unsigned char)*c->at)) {
        c->at++;
        if ((wrong = check_attribute(c)))
            return wrong;
    }
    if (strncmp(c->at, "/>", 2) == 0) {
        c->at += 2;
        return NULL;
    }
    if (*c->at++ != '>' || c->depth == MAX_DEPTH)
        return "bad opening tag";
    (void)memcpy(c->open[c->depth++], name, NAME_BYTES);
    return NULL;
}

static const char *check_markup(const char *text)
{
    static const char doctype[] = "<!DOCTYPE html>";
    struct checker c = {.at = text};
    const char *wrong = NULL;
    if (strncmp(text, doctype, strlen(doctype)) != 0)
        return "no doctype";
    c.at += strlen(doctype);
    while (*c.at && !wrong) {
        if (strncmp(c.at, "</", 2) == 0)
            wrong = check_close_tag(&c);
        else if (*c.at == '<')
            wrong = check_open_tag(&c);
        else if (*c.at == '&')
            wrong = check_entity(c.at++);
        else if ((unsigned char)*c.at < 0x20 && *c.at != '\n' && *c.at != '\t')
            wrong = "control character";
        else
            c.at++;
    }
    return wrong ? wrong : c.depth ? "a tag is not closed" : NULL;
}

/* A second opinion where xmllint is installed: also catches bad UTF-8 and doubled ids. */
static void assert_xmllint_agrees(const struct buf *page)
{
    char path[] = "/tmp/kope-report-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, page->data, page->length), page->length);
    assert_int_equal(close(fd), 0);
    char command[128];
    (void)snprintf(command, sizeof command, "! command -v xmllint >/dev/null || xmllint --noout %s",
                   path);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
    assert_int_equal(unlink(path), 0);
}

static void render(const struct report_input *input, struct buf *page)
{
    struct err err = {0};
    buf_clear(page);
    assert_true(report_html(input, page, &err));
    const char *wrong = check_markup(buf_text(page));
    if (wrong)
        fail_msg("the page is not well-formed: %s", wrong);
    assert_xmllint_agrees(page);
}

static void assert_says(const struct buf *page, const char *text)
{
    if (!strstr(buf_text(page), text))
        fail_msg("the page does not say '%s'", text);
}

static void assert_not_says(const struct buf *page, const char *text)
{
    if (strstr(buf_text(page), text))
        fail_msg("the page says '%s'", text);
}

/* Also writes the page to $KOPE_REPORT_TEST_PAGE, to look at. */
static void report_html__confirmed_win__says_ratio_interval_and_held_out(void **state)
{
    (void)state;
    static struct fixture f;
    CLEANUP(buf_free) struct buf page = {0};
    fixture_fill(&f, false);
    render(&f.input, &page);
    const char *path = getenv("KOPE_REPORT_TEST_PAGE");
    if (path) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_int_equal(fwrite(page.data, 1, page.length, file), page.length);
        assert_int_equal(fclose(file), 0);
    }
    assert_says(&page, "<span class=\"factor\">8.25×</span>");
    assert_says(&page, "<code>gcc-12 -O3 -march=native</code>");
    assert_says(&page, "95&#160;% interval <b>8.17–8.34</b>");
    assert_says(&page, "(<b>7.73×</b> there)");
    assert_says(&page, "<b>26</b> faster");
    assert_says(&page, "#33");
    arena_free(&f.arena);
}

static void report_html__interval_is_given__is_used(void **state)
{
    (void)state;
    static struct fixture f;
    CLEANUP(buf_free) struct buf page = {0};
    fixture_fill(&f, false);
    f.input.confirmed_low = log(8.1);
    f.input.confirmed_high = log(8.7);
    render(&f.input, &page);
    assert_says(&page, "95&#160;% interval <b>8.10–8.70</b>");
    arena_free(&f.arena);
}

static void report_html__hostile_input__stays_text(void **state)
{
    (void)state;
    static struct fixture f;
    CLEANUP(buf_free) struct buf page = {0};
    fixture_fill(&f, true);
    render(&f.input, &page);
    assert_not_says(&page, "<img");
    assert_not_says(&page, "onerror=\"");
    assert_not_says(&page, "\xe2\x80\xae");
    assert_not_says(&page, ">nan");
    assert_not_says(&page, ">inf");
    assert_not_says(&page, "\"nan");
    assert_not_says(&page, "\"inf");
    assert_not_says(&page, "\"-nan");
    assert_says(&page, "[U+202E]");
    arena_free(&f.arena);
}

static void report_html__no_decisions__baseline_stands(void **state)
{
    (void)state;
    CLEANUP(buf_free) struct buf page = {0};
    const struct graph_run run = {.task_name = "gelu"};
    render(&(struct report_input){.run = &run}, &page);
    assert_says(&page, "No verified gain");
    assert_says(&page, "No candidate was proposed.");
}

static void report_html__no_best__baseline_stands(void **state)
{
    (void)state;
    static struct fixture f;
    CLEANUP(buf_free) struct buf page = {0};
    fixture_fill(&f, false);
    f.run.best_decision = "";
    f.input.best_source = NULL;
    f.input.best_case_count = 0;
    render(&f.input, &page);
    assert_says(&page, "No verified gain");
    assert_says(&page, "The reference");
    assert_not_says(&page, "How it got there");
    arena_free(&f.arena);
}

static void report_html__best_is_not_confirmed__is_no_result(void **state)
{
    (void)state;
    static struct fixture f;
    CLEANUP(buf_free) struct buf page = {0};
    fixture_fill(&f, false);
    f.decisions[FIXTURE_BEST - 1].is_confirmed = false;
    render(&f.input, &page);
    assert_says(&page, "No verified gain");
    assert_says(&page, "was not confirmed");
    f.decisions[FIXTURE_BEST - 1].confirm_failed = true;
    render(&f.input, &page);
    assert_says(&page, "did not hold when it was measured again");
    f.run.best_decision = "";
    f.input.best_source = NULL;
    render(&f.input, &page);
    assert_says(&page,
                "The best candidate, #33, measured 8.46× in the search, but the gain did not");
    arena_free(&f.arena);
}

static void report_html__run_did_not_end__names_the_best_so_far(void **state)
{
    (void)state;
    static struct fixture f;
    CLEANUP(buf_free) struct buf page = {0};
    fixture_fill(&f, false);
    f.run.best_decision = "";
    f.run.has_ended = false;
    f.decisions[FIXTURE_BEST - 1].is_confirmed = false;
    render(&f.input, &page);
    assert_says(&page, "The best candidate, #33, measured 8.46×");
    assert_says(&page, "not ended");
    arena_free(&f.arena);
}

static void report_html__environment_holds_a_fact__is_said_once(void **state)
{
    (void)state;
    static struct fixture f;
    CLEANUP(buf_free) struct buf page = {0};
    fixture_fill(&f, false);
    f.input.environment = "machine: bench-3\nnote without colon\nseed: 70\n";
    render(&f.input, &page);
    assert_says(&page, "<dt>machine</dt><dd>bench-3</dd>");
    assert_says(&page, "<dt>note</dt><dd>note without colon</dd>");
    assert_says(&page, "<dt>seed</dt><dd>7</dd>");
    assert_not_says(&page, "<dt>host</dt>");
    arena_free(&f.arena);
}

static void report_html__confirmation_is_not_finite__is_no_result(void **state)
{
    (void)state;
    static struct fixture f;
    CLEANUP(buf_free) struct buf page = {0};
    fixture_fill(&f, false);
    f.decisions[FIXTURE_BEST - 1].confirmed_log_ratio = (double)NAN;
    render(&f.input, &page);
    assert_says(&page, "No verified gain");
    arena_free(&f.arena);
}

static void report_html__parents_are_circular__hang_from_the_baseline(void **state)
{
    (void)state;
    static struct fixture f;
    CLEANUP(buf_free) struct buf page = {0};
    fixture_fill(&f, false);
    for (int i = 0; i < FIXTURE_DECISIONS; i++) {
        f.decisions[i].id = "same";
        f.decisions[i].parent = i % 2 ? "same" : "d40";
        f.decisions[i].sequence = i % 2 ? INT64_MIN : INT64_MAX;
    }
    f.run.best_decision = "same";
    render(&f.input, &page);
    arena_free(&f.arena);
}

static void report_html__chain_of_many_decisions__draws_the_first_and_the_best(void **state)
{
    (void)state;
    enum { MANY = 900 };
    struct arena arena = {0};
    CLEANUP(buf_free) struct buf page = {0};
    struct graph_decision *decisions = arena_array(&arena, MANY, sizeof *decisions);
    for (int i = 0; i < MANY; i++)
        decisions[i] = (struct graph_decision){
            .id = arena_printf(&arena, "d%d", i),
            .parent = i % 3 == 0 && i > 0 ? arena_printf(&arena, "d%d", i - 3) : "",
            .sequence = i + 1,
            .has_outcome = true,
            .kind = VERDICT_TIMED,
            .is_win = true,
            .log_ratio = 0.001 * i};
    const struct graph_run run = {.task_name = "long", .best_decision = "d300"};
    render(&(struct report_input){.run = &run, .decisions = decisions, .decision_count = MANY},
           &page);
    assert_says(&page, "200 of the 900 decisions");
    assert_says(&page, "class=\"chip best\"><title>#301, ");
    arena_free(&arena);
}

static void report_html__right_and_not_a_win__is_behind_or_no_gain(void **state)
{
    (void)state;
    CLEANUP(buf_free) struct buf page = {0};
    const double lows[] = {log(3), log(1.5), -0.01};
    struct graph_decision decisions[3];
    for (int i = 0; i < 3; i++)
        decisions[i] = (struct graph_decision){.id = "d",
                                               .parent = "",
                                               .sequence = i + 1,
                                               .has_outcome = true,
                                               .kind = VERDICT_TIMED,
                                               .is_win = i == 0,
                                               .log_ratio = lows[i] + 0.01,
                                               .log_low = lows[i],
                                               .log_high = lows[i] + 0.02};
    const struct graph_run run = {.task_name = "race"};
    render(&(struct report_input){.run = &run, .decisions = decisions, .decision_count = 3}, &page);
    assert_says(&page, "<b>1</b> faster</li>");
    assert_says(&page, "<b>1</b> faster, but behind</li>");
    assert_says(&page, "<b>1</b> no gain</li>");
}

static void report_html__page_is_over_the_cap__is_err_limit_and_output_untouched(void **state)
{
    (void)state;
    static struct fixture f;
    struct err err = {0};
    CLEANUP(buf_free) struct buf page = {.limit = 20000};
    fixture_fill(&f, false);
    assert_true(buf_append_str(&page, "before"));
    assert_false(report_html(&f.input, &page, &err));
    assert_int_equal(err.kind, ERR_LIMIT);
    assert_string_equal(buf_text(&page), "before");
    assert_false(page.truncated);
    arena_free(&f.arena);
}

static void report_html__folder_with_quote_and_spaces__command_is_quoted(void **state)
{
    (void)state;
    static struct fixture f;
    CLEANUP(buf_free) struct buf page = {0};
    fixture_fill(&f, false);
    f.run.task_dir = "it's; rm -rf ~";
    render(&f.input, &page);
    assert_says(&page,
                "kope optimize &#39;it&#39;\\&#39;&#39;s; rm -rf ~&#39; --budget 40 --seed 7");
    f.input.reproduce = "kope optimize x";
    render(&f.input, &page);
    assert_says(&page, "tabindex=\"0\">kope optimize x</pre>");
    arena_free(&f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(report_html__confirmed_win__says_ratio_interval_and_held_out),
        cmocka_unit_test(report_html__interval_is_given__is_used),
        cmocka_unit_test(report_html__hostile_input__stays_text),
        cmocka_unit_test(report_html__no_decisions__baseline_stands),
        cmocka_unit_test(report_html__no_best__baseline_stands),
        cmocka_unit_test(report_html__best_is_not_confirmed__is_no_result),
        cmocka_unit_test(report_html__run_did_not_end__names_the_best_so_far),
        cmocka_unit_test(report_html__environment_holds_a_fact__is_said_once),
        cmocka_unit_test(report_html__confirmation_is_not_finite__is_no_result),
        cmocka_unit_test(report_html__parents_are_circular__hang_from_the_baseline),
        cmocka_unit_test(report_html__chain_of_many_decisions__draws_the_first_and_the_best),
        cmocka_unit_test(report_html__right_and_not_a_win__is_behind_or_no_gain),
        cmocka_unit_test(report_html__page_is_over_the_cap__is_err_limit_and_output_untouched),
        cmocka_unit_test(report_html__folder_with_quote_and_spaces__command_is_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
