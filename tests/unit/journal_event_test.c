#include "journal_fixture.h"

#include <float.h>
#include <math.h>

/* Parses a body that was written. */
static const struct json *parse(struct fixture *f, struct buf *body)
{
    const struct json *value = NULL;
    assert_ok(f, json_parse(buf_text(body), body->length, "body", &f->arena, &value, &f->err));
    buf_free(body);
    return value;
}

static void task__round_trip(void **state)
{
    struct fixture *f = *state;
    struct buf body = {0};
    struct task_event out;
    const struct task_event in = {.task_id = "t1",
                                  .name = "softmax",
                                  .family = "normalization",
                                  .dtype = "float32",
                                  .precision = "normal",
                                  .dir = "/a \"b\"\n\tc\\d",
                                  .regime = "large",
                                  .reference_body = "00ff",
                                  .features = "exp r\xc3\xa9"
                                              "duction"};
    event_write_task(&in, &body);
    assert_ok(f, event_read_task(parse(f, &body), &f->arena, &out, &f->err));
    assert_string_equal(out.task_id, in.task_id);
    assert_string_equal(out.name, in.name);
    assert_string_equal(out.family, in.family);
    assert_string_equal(out.dtype, in.dtype);
    assert_string_equal(out.precision, in.precision);
    assert_string_equal(out.dir, in.dir);
    assert_string_equal(out.regime, in.regime);
    assert_string_equal(out.reference_body, in.reference_body);
    assert_string_equal(out.features, in.features);
}

static void target__round_trip(void **state)
{
    struct fixture *f = *state;
    struct buf body = {0};
    struct target_event out;
    const struct target_event in = {.target_id = "x",
                                    .name = "cpu",
                                    .cpu = "Zen 3",
                                    .arch = "x86_64",
                                    .isa = "avx2 fma",
                                    .cores = 2,
                                    .vector_bytes = 32,
                                    .peak_gflops_f32 = 0.1,
                                    .memory_gbs = 1e-300,
                                    .compilers = "gcc-12"};
    event_write_target(&in, &body);
    assert_ok(f, event_read_target(parse(f, &body), &f->arena, &out, &f->err));
    assert_string_equal(out.target_id, in.target_id);
    assert_string_equal(out.cpu, in.cpu);
    assert_string_equal(out.arch, in.arch);
    assert_string_equal(out.isa, in.isa);
    assert_string_equal(out.compilers, in.compilers);
    assert_int_equal(out.cores, 2);
    assert_int_equal(out.vector_bytes, 32);
    assert_true(out.peak_gflops_f32 == in.peak_gflops_f32 && out.memory_gbs == in.memory_gbs);
}

static void run__round_trip(void **state)
{
    struct fixture *f = *state;
    struct buf body = {0};
    struct run_event out;
    const struct run_event in = {.task_id = "t",
                                 .target_id = "x",
                                 .task_dir = "/d",
                                 .proposer = "offline",
                                 .policy = "mcts",
                                 .seed = UINT64_MAX,
                                 .budget = 40,
                                 .time_limit_ns = INT64_MAX,
                                 .token_budget = -1,
                                 .kope_version = "0.1.0",
                                 .gate_id = "ab",
                                 .host = "h",
                                 .kernel = "Linux",
                                 .load_average = -1.0,
                                 .start_decision = "s"};
    event_write_run(&in, &body);
    assert_ok(f, event_read_run(parse(f, &body), &f->arena, &out, &f->err));
    assert_string_equal(out.task_id, "t");
    assert_string_equal(out.target_id, "x");
    assert_string_equal(out.task_dir, "/d");
    assert_string_equal(out.proposer, "offline");
    assert_string_equal(out.policy, "mcts");
    assert_true(out.seed == UINT64_MAX && out.time_limit_ns == INT64_MAX);
    assert_int_equal(out.budget, 40);
    assert_int_equal(out.token_budget, -1);
    assert_string_equal(out.kope_version, "0.1.0");
    assert_string_equal(out.gate_id, "ab");
    assert_string_equal(out.host, "h");
    assert_string_equal(out.kernel, "Linux");
    assert_true(out.load_average == -1.0);
    assert_string_equal(out.start_decision, "s");
}

static void run_end__round_trip(void **state)
{
    struct fixture *f = *state;
    struct buf body = {0};
    struct run_end_event out;
    const struct run_end_event in = {.run_id = "r",
                                     .reason = "budget",
                                     .best_decision = "",
                                     .best_log_ratio = DBL_MIN,
                                     .evaluations = 3,
                                     .wall_ns = 4,
                                     .tokens = 5};
    event_write_run_end(&in, &body);
    assert_ok(f, event_read_run_end(parse(f, &body), &f->arena, &out, &f->err));
    assert_string_equal(out.run_id, "r");
    assert_string_equal(out.reason, "budget");
    assert_string_equal(out.best_decision, "");
    assert_true(out.best_log_ratio == DBL_MIN);
    assert_int_equal(out.evaluations, 3);
    assert_int_equal(out.wall_ns, 4);
    assert_int_equal(out.tokens, 5);
}

static void decision__round_trip(void **state)
{
    struct fixture *f = *state;
    struct buf body = {0};
    struct decision_event out;
    const struct decision_event in = {.run_id = "r",
                                      .parent = "p",
                                      .sequence = 9,
                                      .step = "small",
                                      .proposer = "llm",
                                      .intent = "tile",
                                      .hypothesis = "fits L1",
                                      .predicted_log_ratio = 0.25,
                                      .moves = {"tile", "unroll", "tile"},
                                      .move_count = 3,
                                      .recipe = "tile(i,8)",
                                      .compiler = "gcc-12",
                                      .flags = "-O3 -march=native",
                                      .source_body = "aa",
                                      .candidate_id = "bb",
                                      .context_id = "cc",
                                      .derived_from = "dd",
                                      .tokens_in = 10,
                                      .tokens_out = 11,
                                      .exchange_id = "ee",
                                      .exchange_index = 2,
                                      .uses = "f1 skill:tiling",
                                      .failure = "none"};
    event_write_decision(&in, &body);
    assert_ok(f, event_read_decision(parse(f, &body), &f->arena, &out, &f->err));
    assert_string_equal(out.run_id, "r");
    assert_string_equal(out.parent, "p");
    assert_int_equal(out.sequence, 9);
    assert_string_equal(out.step, "small");
    assert_string_equal(out.proposer, "llm");
    assert_string_equal(out.intent, "tile");
    assert_string_equal(out.hypothesis, "fits L1");
    assert_true(out.predicted_log_ratio == 0.25);
    assert_int_equal(out.move_count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(out.moves[i], in.moves[i]);
    assert_string_equal(out.recipe, in.recipe);
    assert_string_equal(out.compiler, in.compiler);
    assert_string_equal(out.flags, in.flags);
    assert_string_equal(out.source_body, "aa");
    assert_string_equal(out.candidate_id, "bb");
    assert_string_equal(out.context_id, "cc");
    assert_string_equal(out.derived_from, "dd");
    assert_int_equal(out.tokens_in, 10);
    assert_int_equal(out.tokens_out, 11);
    assert_string_equal(out.exchange_id, "ee");
    assert_int_equal(out.exchange_index, 2);
    assert_string_equal(out.uses, "f1 skill:tiling");
    assert_string_equal(out.failure, "none");
}

static void exchange__round_trip(void **state)
{
    struct fixture *f = *state;
    struct buf body = {0};
    struct exchange_event out;
    const struct exchange_event in = {.run_id = "r",
                                      .role = "propose",
                                      .model = "m",
                                      .parent = "p",
                                      .step = "large",
                                      .context_id = "cc",
                                      .sequence = 4,
                                      .prompt_hash = "hh",
                                      .finish_reason = "length",
                                      .tokens_in = 1,
                                      .tokens_cached = 2,
                                      .tokens_out = 3,
                                      .tokens_reasoning = 5,
                                      .tokens_lost = 6,
                                      .is_estimate = true,
                                      .is_cost_known = true,
                                      .cost_usd = 0.125,
                                      .attempts = 7,
                                      .wall_ns = 8,
                                      .body = "bb"};
    event_write_exchange(&in, &body);
    assert_ok(f, event_read_exchange(parse(f, &body), &f->arena, &out, &f->err));
    assert_string_equal(out.role, "propose");
    assert_string_equal(out.model, "m");
    assert_string_equal(out.parent, "p");
    assert_string_equal(out.step, "large");
    assert_string_equal(out.context_id, "cc");
    assert_string_equal(out.prompt_hash, "hh");
    assert_string_equal(out.finish_reason, "length");
    assert_string_equal(out.body, "bb");
    assert_int_equal(out.sequence, 4);
    assert_int_equal(out.tokens_in, 1);
    assert_int_equal(out.tokens_cached, 2);
    assert_int_equal(out.tokens_out, 3);
    assert_int_equal(out.tokens_reasoning, 5);
    assert_int_equal(out.tokens_lost, 6);
    assert_true(out.is_estimate && out.is_cost_known);
    assert_true(out.cost_usd == 0.125);
    assert_int_equal(out.attempts, 7);
    assert_int_equal(out.wall_ns, 8);
}

static void context__round_trip(void **state)
{
    struct fixture *f = *state;
    struct buf body = {0};
    struct context_event out;
    const struct context_item items[] = {
        {"hot", "task", "", 10, 3, 1.5, 1.0, false},
        {"warm", "decision", "abc", 20, 6, -0.5, 0.9, true},
    };
    const struct context_event in = {.run_id = "r",
                                     .budget_tokens = 100,
                                     .used_tokens = 9,
                                     .items = items,
                                     .item_count = 2,
                                     .prefix_hash = "pp",
                                     .text_body = "tt"};
    event_write_context(&in, &body);
    assert_ok(f, event_read_context(parse(f, &body), &f->arena, &out, &f->err));
    assert_int_equal(out.item_count, 2);
    assert_string_equal(out.items[1].section, "warm");
    assert_string_equal(out.items[1].kind, "decision");
    assert_string_equal(out.items[1].ref, "abc");
    assert_int_equal(out.items[1].bytes, 20);
    assert_int_equal(out.items[1].tokens, 6);
    assert_true(out.items[1].score == -0.5 && out.items[1].propensity == 0.9);
    assert_true(out.items[1].withheld && !out.items[0].withheld);
    assert_int_equal(out.budget_tokens, 100);
    assert_int_equal(out.used_tokens, 9);
    assert_string_equal(out.prefix_hash, "pp");
    assert_string_equal(out.text_body, "tt");
}

static struct verdict full_verdict(struct case_result *cases)
{
    cases[0] = (struct case_result){.name = "n=1 m=2",
                                    .weight = 1.0,
                                    .log_ratio = 0.1,
                                    .log_low = 0.05,
                                    .log_high = 0.15,
                                    .noise = 0.01,
                                    .pairs = 40,
                                    .baseline_ns = 900,
                                    .candidate_ns = 800,
                                    .roofline = 0.5,
                                    .error = 1.25,
                                    .processes = 6,
                                    .dropped = 3,
                                    .by_account = true,
                                    .empty_ns = 13.5,
                                    .processor = 3,
                                    .cold = {7, 0.4, 0.3, 0.5, 1900, 1300}};
    cases[1] = (struct case_result){.name = "n=3",
                                    .weight = 2.0,
                                    .held_out = true,
                                    .log_ratio = -0.1,
                                    .log_low = -0.2,
                                    .noise = 0.02,
                                    .pairs = 41,
                                    .baseline_ns = 1,
                                    .candidate_ns = 2,
                                    .error = (double)INFINITY};
    return (struct verdict){
        .kind = VERDICT_TIMED,
        .mechanism = "m",
        .evidence = "e",
        .diagnostics = "warning: \xff bad",
        .cases = cases,
        .case_count = 2,
        .log_ratio = 0.3,
        .log_low = 0.2,
        .log_high = (double)NAN,
        .held_out_log_ratio = 0.6,
        .held_out_low = 0.5,
        .held_out_high = 0.7,
        .has_held_out = true,
        .confirmed = true,
        .is_win = true,
        .code_id = hash_content("code", 4),
        .gate_id = hash_content("gate", 4),
        .from_record = true,
        .missing_layers = "landlock",
        .compiler = "gcc-12",
        .flags = "-O2 -mavx2",
        .seed = "00ff",
        .load = 1.5,
        .timings = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
    };
}

static void outcome__round_trip(void **state)
{
    struct fixture *f = *state;
    struct buf body = {0};
    struct outcome_event out;
    struct case_result cases[2];
    struct outcome_event in = {.run_id = "r",
                               .decision_id = "d",
                               .target_id = "x",
                               .task_id = "t",
                               .is_confirmation = true,
                               .diagnostics_body = "dd"};
    in.verdict = full_verdict(cases);
    event_write_outcome(&in, &body);
    assert_ok(f, event_read_outcome(parse(f, &body), &f->arena, &out, &f->err));
    assert_string_equal(out.run_id, "r");
    assert_string_equal(out.decision_id, "d");
    assert_string_equal(out.target_id, "x");
    assert_string_equal(out.task_id, "t");
    assert_true(out.is_confirmation);
    assert_string_equal(out.diagnostics_body, "dd");
    const struct verdict *v = &out.verdict;
    assert_int_equal(v->kind, VERDICT_TIMED);
    assert_string_equal(v->mechanism, "m");
    assert_string_equal(v->evidence, "e");
    assert_non_null(strstr(v->diagnostics, "bad"));
    assert_string_equal(v->missing_layers, "landlock");
    assert_true(v->log_ratio == 0.3 && v->log_low == 0.2 && v->log_high == 0.0);
    assert_true(v->held_out_log_ratio == 0.6 && v->held_out_low == 0.5 && v->held_out_high == 0.7);
    assert_true(v->has_held_out && v->confirmed && v->is_win && v->from_record);
    assert_string_equal(v->code_id.text, in.verdict.code_id.text);
    assert_string_equal(v->gate_id.text, in.verdict.gate_id.text);
    assert_memory_equal(&v->timings, &in.verdict.timings, sizeof v->timings);
    assert_int_equal(v->case_count, 2);
    assert_string_equal(v->cases[0].name, "n=1 m=2");
    assert_true(v->cases[0].weight == 1.0 && v->cases[0].noise == 0.01);
    assert_true(v->cases[0].log_ratio == 0.1 && v->cases[0].log_low == 0.05);
    assert_true(v->cases[0].log_high == 0.15 && v->cases[0].roofline == 0.5);
    assert_true(v->cases[0].error == 1.25 && !v->cases[0].held_out);
    assert_int_equal(v->cases[0].pairs, 40);
    assert_int_equal(v->cases[0].baseline_ns, 900);
    assert_int_equal(v->cases[0].candidate_ns, 800);
    assert_true(v->cases[1].held_out && isinf(v->cases[1].error));
    assert_true(v->cases[0].empty_ns == 13.5 && v->cases[0].processor == 3);
    assert_string_equal(v->compiler, "gcc-12");
    assert_string_equal(v->flags, "-O2 -mavx2");
    assert_string_equal(v->seed, "00ff");
    assert_true(v->load == 1.5);
    const struct cold_result *cold = &v->cases[0].cold;
    assert_int_equal(cold->pairs, 7);
    assert_true(cold->log_ratio == 0.4 && cold->log_low == 0.3 && cold->log_high == 0.5);
    assert_int_equal(cold->baseline_ns, 1900);
    assert_int_equal(cold->candidate_ns, 1300);
    assert_int_equal(v->cases[1].cold.pairs, 0); /* as in journals of before there were any */
}

static void outcome__each_kind_of_verdict__round_trip(void **state)
{
    struct fixture *f = *state;
    for (int kind = 0; kind < VERDICT_COUNT; kind++) {
        struct buf body = {0};
        struct outcome_event out;
        const struct outcome_event in = {
            .run_id = "r", .decision_id = "d", .verdict = {.kind = (enum verdict_kind)kind}};
        event_write_outcome(&in, &body);
        assert_ok(f, event_read_outcome(parse(f, &body), &f->arena, &out, &f->err));
        assert_int_equal(out.verdict.kind, kind);
        assert_int_equal(out.verdict.case_count, 0);
        assert_string_equal(out.verdict.evidence, "");
    }
}

static void finding_and_note__round_trip(void **state)
{
    struct fixture *f = *state;
    struct buf body = {0};
    struct finding_event finding;
    struct note_event note;
    event_write_finding(&(struct finding_event){.run_id = "r",
                                                .decision_id = "d",
                                                .bottleneck = "memory",
                                                .text = "waits for loads",
                                                .number = 0.75,
                                                .line = 12},
                        &body);
    assert_ok(f, event_read_finding(parse(f, &body), &f->arena, &finding, &f->err));
    assert_string_equal(finding.run_id, "r");
    assert_string_equal(finding.decision_id, "d");
    assert_string_equal(finding.bottleneck, "memory");
    assert_string_equal(finding.text, "waits for loads");
    assert_true(finding.number == 0.75 && finding.line == 12);
    event_write_note(&(struct note_event){.text = "hello", .about = "r"}, &body);
    assert_ok(f, event_read_note(parse(f, &body), &f->arena, &note, &f->err));
    assert_string_equal(note.text, "hello");
    assert_string_equal(note.about, "r");
}

static void strings_over_the_cap__are_cut_at_a_character_and_read_back(void **state)
{
    struct fixture *f = *state;
    struct buf body = {0};
    struct buf text = {0};
    struct note_event note;
    (void)buf_append_char(&text, 'a'); /* the cap falls into a character of two bytes */
    while (text.length < 100 * 1024)
        (void)buf_append_str(&text, "\xc3\xa9");
    event_write_note(&(struct note_event){.text = text.data, .about = ""}, &body);
    assert_ok(f, event_read_note(parse(f, &body), &f->arena, &note, &f->err));
    assert_int_equal(strlen(note.text), 64 * 1024 - 1);
    assert_memory_equal(note.text, text.data, strlen(note.text));

    buf_clear(&text); /* what is no UTF-8 grows threefold */
    while (text.length < 100 * 1024)
        (void)buf_append_char(&text, '\xff');
    event_write_note(&(struct note_event){.text = text.data, .about = ""}, &body);
    assert_ok(f, event_read_note(parse(f, &body), &f->arena, &note, &f->err));
    buf_free(&text);
}

/* Reads a hostile body as the kind named; true where it is refused as corrupt. */
static bool is_corrupt(struct fixture *f, const char *kind, const char *text)
{
    const struct json *body = NULL;
    struct decision_event decision = {.run_id = "untouched"};
    struct outcome_event outcome = {0};
    struct context_event context = {0};
    struct run_event run = {0};
    assert_ok(f, json_parse(text, strlen(text), "body", &f->arena, &body, &f->err));
    f->err = (struct err){0};
    bool ok = false;
    if (strcmp(kind, EVENT_DECISION) == 0)
        ok = event_read_decision(body, &f->arena, &decision, &f->err);
    else if (strcmp(kind, EVENT_OUTCOME) == 0)
        ok = event_read_outcome(body, &f->arena, &outcome, &f->err);
    else if (strcmp(kind, EVENT_CONTEXT) == 0)
        ok = event_read_context(body, &f->arena, &context, &f->err);
    else
        ok = event_read_run(body, &f->arena, &run, &f->err);
    return !ok && f->err.kind == ERR_CORRUPT && strcmp(decision.run_id, "untouched") == 0;
}

static void hostile_bodies__are_refused(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *kind, *text;
    } cases[] = {
        {EVENT_DECISION, "[]"},
        {EVENT_DECISION, "{}"},
        {EVENT_DECISION, "{\"run_id\":\"\"}"},
        {EVENT_DECISION, "{\"run_id\":7}"},
        {EVENT_DECISION, "{\"run_id\":null}"},
        {EVENT_DECISION, "{\"run_id\":\"r\",\"sequence\":1.5}"},
        {EVENT_DECISION, "{\"run_id\":\"r\",\"sequence\":\"1\"}"},
        {EVENT_DECISION, "{\"run_id\":\"r\",\"predicted_log_ratio\":\"x\"}"},
        {EVENT_DECISION, "{\"run_id\":\"r\",\"moves\":{}}"},
        {EVENT_DECISION, "{\"run_id\":\"r\",\"moves\":[1]}"},
        {EVENT_DECISION, "{\"run_id\":\"r\",\"moves\":[\"\"]}"},
        {EVENT_DECISION, "{\"run_id\":\"r\",\"moves\":[\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\","
                         "\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\"]}"},
        {EVENT_RUN, "{\"task_id\":\"t\",\"target_id\":\"x\",\"seed\":5}"},
        {EVENT_RUN, "{\"task_id\":\"t\",\"target_id\":\"x\",\"seed\":\"-5\"}"},
        {EVENT_RUN, "{\"task_id\":\"t\",\"target_id\":\"x\",\"seed\":\"18446744073709551616\"}"},
        {EVENT_OUTCOME, "{\"run_id\":\"r\",\"decision_id\":\"d\"}"},
        {EVENT_OUTCOME, "{\"run_id\":\"r\",\"decision_id\":\"d\",\"verdict\":{}}"},
        {EVENT_OUTCOME, "{\"run_id\":\"r\",\"decision_id\":\"d\",\"verdict\":{\"kind\":\"fast\"}}"},
        {EVENT_OUTCOME, "{\"run_id\":\"r\",\"decision_id\":\"d\",\"verdict\":{\"kind\":\"timed\","
                        "\"code_id\":\"zz\"}}"},
        {EVENT_OUTCOME, "{\"run_id\":\"r\",\"decision_id\":\"d\",\"verdict\":{\"kind\":\"timed\","
                        "\"code_id\":\"000000000000000000000000000000000\"}}"},
        {EVENT_OUTCOME, "{\"run_id\":\"r\",\"decision_id\":\"d\",\"verdict\":{\"kind\":\"timed\","
                        "\"cases\":[1]}}"},
        {EVENT_OUTCOME, "{\"run_id\":\"r\",\"decision_id\":\"d\",\"verdict\":{\"kind\":\"timed\","
                        "\"cases\":[{\"name\":\"n\",\"error\":-1}]}}"},
        {EVENT_OUTCOME, "{\"run_id\":\"r\",\"decision_id\":\"d\",\"verdict\":{\"kind\":\"timed\","
                        "\"timings\":[]}}"},
        {EVENT_OUTCOME, "{\"run_id\":\"r\",\"decision_id\":\"d\",\"verdict\":{\"kind\":\"timed\","
                        "\"is_win\":1}}"},
        {EVENT_CONTEXT, "{\"run_id\":\"r\",\"items\":[[]]}"},
        {EVENT_CONTEXT, "{\"run_id\":\"r\",\"items\":[{\"section\":\"hot\"}]}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!is_corrupt(f, cases[i].kind, cases[i].text))
            fail_msg("not refused: %s %s", cases[i].kind, cases[i].text);
    }
}

static void too_many_cases__are_refused(void **state)
{
    struct fixture *f = *state;
    struct buf text = {0};
    (void)buf_append_str(&text, "{\"run_id\":\"r\",\"decision_id\":\"d\",\"verdict\":"
                                "{\"kind\":\"timed\",\"cases\":[");
    for (int i = 0; i <= TASK_MAX_CASES; i++)
        (void)buf_printf(&text, "%s{\"name\":\"n\"}", i ? "," : "");
    (void)buf_append_str(&text, "]}}");
    assert_true(is_corrupt(f, EVENT_OUTCOME, text.data));
    buf_free(&text);
}

#define FIXTURE(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE(task__round_trip),
        FIXTURE(target__round_trip),
        FIXTURE(run__round_trip),
        FIXTURE(run_end__round_trip),
        FIXTURE(decision__round_trip),
        FIXTURE(exchange__round_trip),
        FIXTURE(context__round_trip),
        FIXTURE(outcome__round_trip),
        FIXTURE(outcome__each_kind_of_verdict__round_trip),
        FIXTURE(finding_and_note__round_trip),
        FIXTURE(strings_over_the_cap__are_cut_at_a_character_and_read_back),
        FIXTURE(hostile_bodies__are_refused),
        FIXTURE(too_many_cases__are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
