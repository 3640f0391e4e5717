/* Clusters of failures, on forty failures of five causes with host faults and flaky ones between;
 * and the shrinking of a source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/str.h"
#include "rule/cluster.h"
#include "rule/shrink.h"

#include <string.h>

enum { CAUSES = 5, EACH = 8, FAULTS = 10, MOST = CAUSES * EACH + FAULTS + 8 };

/* What a compiler says, and a source of which it does; %d is another number each time. */
static const struct {
    const char *source, *diagnostics, *key, *predicate;
} causes[CAUSES] = {
    {"void f(float *y)\n{\n    float a%d = 0.0f;\n    y[0] = b%d;\n}\n",
     "candidate.c:4:12: error: 'b%d' undeclared (first use in this function)\n", "undeclared-name",
     "undeclared-name"},
    {"void f(float *y)\n{\n    y[%d] = 0\n    y[1] = %d;\n}\n",
     "candidate.c:3:11: error: expected ';' before 'y'\n"
     "candidate.c:4:5: error: 'q%d' undeclared (first use in this function)\n",
     "missing-semicolon", "missing-semicolon"},
    {"#include <immintrin.h>\nvoid f(float *y)\n{\n    __m256 v%d = _mm256_tanh_ps(_mm256_set1_ps"
     "(%d));\n    _mm256_storeu_ps(y, v);\n}\n",
     "candidate.c:4:18: warning: implicit declaration of function '_mm256_tanh_ps' "
     "[-Wimplicit-function-declaration]\n"
     "candidate.c:4:18: error: incompatible types when initializing type '__m256' using type "
     "'int'\n",
     "undeclared-function _mm256_tanh_ps", "undefined _mm256_tanh_ps"},
    {"#include <immintrin.h>\nvoid f(float *y)\n{\n    float s%d = _mm256_set1_ps(%d);\n    y[0] = "
     "s;\n}\n",
     "candidate.c:4:15: error: incompatible types when initializing type 'float' using type "
     "'__m256'\n",
     "incompatible-types float from __m256", "sequence float $name = _mm256_set1_ps ( $number )"},
    {"void f(const float *x%d, float *y)\n{\n    for (int i = 0; i < %d; i++) {\n        y[i] = "
     "1;\n}"
     "\n",
     "candidate.c:6:1: error: expected declaration or statement at end of input\n", "open-bracket",
     "open-brace"},
};

struct history {
    struct observation all[MOST];
    const char *sources[MOST];
    size_t count;
    struct arena arena;
};

static char *numbered(const char *text, int number, struct arena *arena)
{
    char *out = arena_strdup(arena, "");
    for (const char *at = strstr(text, "%d"); at; at = strstr(text, "%d")) {
        out = arena_printf(arena, "%s%.*s%d", out, (int)(at - text), text, number);
        text = at + 2;
    }
    return arena_printf(arena, "%s%s", out, text);
}

static void add(struct history *h, const char *source, const struct failure *failure)
{
    struct observation *o = &h->all[h->count];
    h->sources[h->count++] = source;
    *o = (struct observation){
        .decision_id = arena_printf(&h->arena, "decision %zu", h->count),
        .candidate = arena_strdup(&h->arena, hash_content(source, strlen(source)).text),
        .target_id = "here",
        .is_built = failure == NULL};
    if (failure)
        o->cause = cause_of(failure, &h->arena);
}

static void add_failure(struct history *h, size_t cause, int number)
{
    add(h, numbered(causes[cause].source, number, &h->arena),
        &(struct failure){.kind = VERDICT_BUILD_FAILED,
                          .mechanism = "compiler",
                          .entry = "f",
                          .diagnostics = numbered(causes[cause].diagnostics, number, &h->arena)});
}

static void add_host_fault(struct history *h, int number)
{
    static const char *const said[] = {
        "gcc: fatal error: Killed signal terminated program cc1\n",
        "candidate.c:9:1: fatal error: error writing to /tmp/cc.s: No space left on device\n",
        "virtual memory exhausted: Cannot allocate memory\n"};
    add(h, numbered(causes[0].source, 1000 + number, &h->arena),
        &(struct failure){.kind = VERDICT_BUILD_FAILED,
                          .mechanism = "compiler",
                          .evidence = said[number % 3],
                          .diagnostics = said[number % 3]});
}

static void fill(struct history *h)
{
    for (int i = 0; i < EACH; i++) {
        for (size_t k = 0; k < CAUSES; k++)
            add_failure(h, (k + (size_t)i) % CAUSES, i + 1);
    }
    for (int i = 0; i < FAULTS; i++)
        add_host_fault(h, i);
}

static void rule_cluster__forty_failures_of_five_causes__five_rules(void **state)
{
    (void)state;
    struct history h = {0};
    fill(&h);
    const struct clusters found = rule_cluster(h.all, h.count, &h.arena);
    assert_int_equal(found.count, CAUSES);
    assert_int_equal(found.host_faults, FAULTS);
    for (size_t i = 0; i < found.count; i++) {
        const struct cluster *cluster = &found.items[i];
        struct rule_sample samples[EACH];
        size_t covered = 0, which = 0;
        assert_true(cluster->makes_rule);
        assert_int_equal(cluster->count, EACH);
        assert_int_equal(cluster->candidates, EACH);
        for (size_t k = 0; k < EACH; k++) {
            const size_t at = cluster->members[k];
            samples[k] = (struct rule_sample){
                rule_source_read(&(struct rule_candidate){.source = h.sources[at]}, &h.arena),
                h.all[at].cause.line, h.all[at].cause.column};
        }
        while (which < CAUSES && !str_equal(causes[which].key, cluster->cause.key))
            which++;
        assert_true(which < CAUSES);
        const char *predicate =
            rule_find_predicate(&cluster->cause, samples, EACH, NULL, 0, &covered, &h.arena);
        assert_non_null(predicate);
        assert_int_equal(covered, EACH);
        if (!str_starts_with(predicate, causes[which].predicate))
            fail_msg("%s: '%s'", cluster->cause.key, predicate);
    }
    arena_free(&h.arena);
}

static void rule_cluster__one_candidate_many_times__no_rule(void **state)
{
    (void)state;
    struct history h = {0};
    for (int i = 0; i < EACH; i++)
        add_failure(&h, 0, 7);
    const struct clusters found = rule_cluster(h.all, h.count, &h.arena);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.items[0].candidates, 1);
    assert_false(found.items[0].makes_rule);
    arena_free(&h.arena);
}

static void rule_cluster__judged_in_two_ways__counts_nowhere(void **state)
{
    (void)state;
    struct history h = {0};
    add_failure(&h, 0, 1);
    add_failure(&h, 0, 2);
    add_failure(&h, 0, 3);
    assert_true(rule_cluster(h.all, h.count, &h.arena).items[0].makes_rule);
    /* The third one was built another time. */
    add(&h, h.sources[2], NULL);
    struct clusters found = rule_cluster(h.all, h.count, &h.arena);
    assert_int_equal(found.items[0].count, 2);
    assert_int_equal(found.flaky, 1);
    assert_false(found.items[0].makes_rule);
    /* On another machine it may well be. */
    h.all[3].target_id = "elsewhere";
    assert_true(rule_cluster(h.all, h.count, &h.arena).items[0].makes_rule);
    h.count--;
    /* Failed of another cause: neither counts. */
    add_failure(&h, 1, 9);
    h.all[3].candidate = h.all[2].candidate;
    found = rule_cluster(h.all, h.count, &h.arena);
    assert_int_equal(found.flaky, 2);
    assert_int_equal(found.count, 1);
    h.count--;
    /* What the host did to it says nothing. */
    add_host_fault(&h, 1);
    h.all[3].candidate = h.all[2].candidate;
    assert_true(rule_cluster(h.all, h.count, &h.arena).items[0].makes_rule);
    arena_free(&h.arena);
}

static void rule_cluster__decided_by_a_rule__was_not_seen(void **state)
{
    (void)state;
    struct history h = {0};
    for (int i = 0; i < EACH; i++) {
        add_failure(&h, 0, i);
        h.all[i].is_cancelled = true;
    }
    const struct clusters found = rule_cluster(h.all, h.count, &h.arena);
    assert_int_equal(found.count, 0);
    assert_int_equal(found.host_faults, 0);
    arena_free(&h.arena);
}

static void rule_find_predicate__fires_on_what_passed__another_is_found(void **state)
{
    (void)state;
    struct history h = {0};
    struct rule_sample samples[3];
    size_t covered = 0;
    for (int i = 0; i < 3; i++) {
        add_failure(&h, 3, i + 1);
        samples[i] = (struct rule_sample){
            rule_source_read(&(struct rule_candidate){.source = h.sources[i]}, &h.arena),
            h.all[i].cause.line, h.all[i].cause.column};
    }
    const struct rule_source *passed = rule_source_read(
        &(struct rule_candidate){.source = "void f(float *y) { float s = _mm256_set1_ps(1)[0]; }"},
        &h.arena);
    const char *predicate =
        rule_find_predicate(&h.all[0].cause, samples, 3, &passed, 1, &covered, &h.arena);
    assert_non_null(predicate);
    assert_false(rule_predicate_holds(predicate, passed));
    /* What failed and passed cannot be told apart. */
    passed = samples[1].source;
    assert_null(rule_find_predicate(&h.all[0].cause, samples, 3, &passed, 1, &covered, &h.arena));
    arena_free(&h.arena);
}

/* Random histories: whatever the order, a candidate that was seen to end in two ways is in no
 * cluster, and every other failure that is a lesson is in exactly one. */
static void rule_cluster__random_histories__flaky_outcomes_never_count(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(3);
    for (int round = 0; round < 300; round++) {
        struct history h = {0};
        size_t expected = 0, counted = 0;
        for (size_t i = 0; i < 40; i++) {
            const int number = (int)rng_below(&rng, 12);
            const size_t kind = rng_below(&rng, 9);
            if (kind < CAUSES)
                add_failure(&h, kind, number);
            else if (kind < 7)
                add(&h, numbered(causes[0].source, number, &h.arena), NULL);
            else
                add_host_fault(&h, number);
            h.all[i].candidate = arena_printf(&h.arena, "candidate %d", number);
            h.all[i].is_cancelled = rng_below(&rng, 10) == 0;
        }
        const struct clusters found = rule_cluster(h.all, h.count, &h.arena);
        for (size_t i = 0; i < h.count; i++) {
            const struct observation *a = &h.all[i];
            bool is_flaky = false;
            if (!a->cause.is_lesson)
                continue;
            for (size_t k = 0; k < h.count; k++) {
                const struct observation *b = &h.all[k];
                is_flaky |=
                    str_equal(a->candidate, b->candidate) && !b->is_cancelled &&
                    (b->is_built || (b->cause.is_lesson && !str_equal(b->cause.key, a->cause.key)));
            }
            expected += !a->is_cancelled && !is_flaky;
            for (size_t c = 0; c < found.count; c++) {
                for (size_t k = 0; k < found.items[c].count; k++)
                    assert_false(found.items[c].members[k] == i && is_flaky);
            }
        }
        for (size_t c = 0; c < found.count; c++)
            counted += found.items[c].count;
        assert_int_equal(counted, expected);
        arena_free(&h.arena);
    }
}

struct wanted {
    const char *words[2];
};

static bool has_words(void *context, const char *source, bool *fails, struct err *err)
{
    const struct wanted *wanted = context;
    (void)err;
    *fails = strstr(source, wanted->words[0]) && strstr(source, wanted->words[1]);
    return true;
}

static void rule_shrink__two_words_matter__they_are_left(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct err err;
    struct shrunk out;
    struct wanted wanted = {{"needle", "thread"}};
    char *source = arena_strdup(&arena, "#include <math.h>\n");
    for (int i = 0; i < 40; i++)
        source = arena_printf(&arena, "%sfloat a%d = %d; /* %s */\n%s", source, i, i, "hay",
                              i == 17   ? "int needle = 3;\n"
                              : i == 31 ? "int k = thread + 1;\n"
                                        : "");
    assert_true(
        rule_shrink(source, 500, &(struct shrink_test){has_words, &wanted}, &arena, &out, &err));
    assert_string_equal(out.source, "needle thread\n");
    assert_true(out.is_minimal);
    assert_true(out.tests < 200);
    arena_free(&arena);
}

static void rule_shrink__few_tests__stops_and_says_so(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct err err;
    struct shrunk out;
    struct wanted wanted = {{"a", "b"}};
    const struct shrink_test test = {has_words, &wanted};
    assert_true(rule_shrink("a\nx\ny\nz\nb\n", 3, &test, &arena, &out, &err));
    assert_int_equal(out.tests, 3);
    assert_false(out.is_minimal);
    assert_true(strstr(out.source, "a") && strstr(out.source, "b"));
    assert_false(rule_shrink("c\n", 9, &test, &arena, &out, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    arena_free(&arena);
}

static void rule_source_text__read_again__same_tokens(void **state)
{
    (void)state;
    struct arena arena = {0};
    const char *text = "#include <a.h> /* x */\n#define M(a) \\\n  (a)\nint f(void) { return "
                       "\"a // b\"[0] + 'c' - 1.5e-3f / x->y; } // end\n";
    const struct rule_source *a =
        rule_source_read(&(struct rule_candidate){.source = text}, &arena);
    const struct rule_source *b = rule_source_read(
        &(struct rule_candidate){.source = rule_source_text(a, NULL, &arena)}, &arena);
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++)
        assert_string_equal(a->tokens[i].text, b->tokens[i].text);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rule_cluster__forty_failures_of_five_causes__five_rules),
        cmocka_unit_test(rule_cluster__one_candidate_many_times__no_rule),
        cmocka_unit_test(rule_cluster__judged_in_two_ways__counts_nowhere),
        cmocka_unit_test(rule_cluster__decided_by_a_rule__was_not_seen),
        cmocka_unit_test(rule_cluster__random_histories__flaky_outcomes_never_count),
        cmocka_unit_test(rule_find_predicate__fires_on_what_passed__another_is_found),
        cmocka_unit_test(rule_shrink__two_words_matter__they_are_left),
        cmocka_unit_test(rule_shrink__few_tests__stops_and_says_so),
        cmocka_unit_test(rule_source_text__read_again__same_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
