#include "profile/read.h"

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 8 };

/* Two loops around one that sums in order, and one that comes back from code that lies elsewhere.
 */
static const char sums[] = "\t.file 1 \"candidate.c\"\n"
                           "f:\n"
                           ".L3:\n"
                           "\t.loc 1 6 9\n"
                           "\txorl\t%eax, %eax\n"
                           ".L10:\n"
                           "\tvxorps\t%xmm1, %xmm1, %xmm1\n"
                           "\tje\t.L11\n"
                           ".L5:\n"
                           "\t.loc 1 10 21 discriminator 3\n"
                           "\tvmovss\t(%rax), %xmm0\n"
                           "\tvmulss\t(%rcx,%rax,4), %xmm0, %xmm0\n"
                           "\tvaddss\t%xmm1, %xmm0, %xmm1\n"
                           "\t.loc 1 9 35\n"
                           "\tcmpq\t%rax, %rcx\n"
                           "\tjne\t.L5\n"
                           ".L4:\n"
                           "\tvmovss\t%xmm1, (%rdx)\n"
                           "\tjne\t.L10\n"
                           "\tjne\t.L3\n"
                           "\tret\n"
                           ".L11:\n"
                           "\tvaddss\t%xmm7, %xmm7, %xmm7\n"
                           "\tjmp\t.L4\n";

static size_t loops_of(const char *assembly, struct arena *arena, struct loop *out)
{
    return profile_find_loops(assembly, 0, arena, out, MOST);
}

static void instruction_of__names_and_operands__class_and_width(void **state)
{
    static const struct {
        const char *text;
        enum instruction_class class;
        int width;
        bool is_scalar;
    } rows[] = {
        {"vaddss\t%xmm1, %xmm0, %xmm1", INSTRUCTION_ARITHMETIC, 4, true},
        {"vfmadd231pd\t(%rax), %zmm1, %zmm2", INSTRUCTION_ARITHMETIC, 64, false},
        {"vpaddd\t%ymm1, %ymm2, %ymm3", INSTRUCTION_ARITHMETIC, 32, false},
        {"vdivps\t%ymm1, %ymm2, %ymm3", INSTRUCTION_DIVIDE, 32, false},
        {"idivq\t%rcx", INSTRUCTION_DIVIDE, 0, false},
        {"vmovups\t(%rax), %zmm5", INSTRUCTION_LOAD, 64, false},
        {"vmovups\t%zmm5, (%rax)", INSTRUCTION_STORE, 64, false},
        {"vmovups\t%zmm5, (%rax){%k1}", INSTRUCTION_STORE, 64, false},
        {"vshufps\t$85, %xmm1, %xmm1, %xmm4", INSTRUCTION_SHUFFLE, 16, false},
        {"vgatherdps\t(%rax,%ymm1,4), %ymm0{%k1}", INSTRUCTION_GATHER, 32, false},
        {"call\texpf@PLT", INSTRUCTION_CALL, 0, false},
        {"cmpl\t$3, (%rax)", INSTRUCTION_OTHER, 0, false},
        {"addq\t$64, %rax", INSTRUCTION_OTHER, 0, false},
        {"", INSTRUCTION_OTHER, 0, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct instruction in = instruction_of(rows[i].text);
        if (in.class != rows[i].class || in.width != rows[i].width ||
            in.is_scalar != rows[i].is_scalar)
            fail_msg("'%s' is of class %d, %d bytes, scalar %d", rows[i].text, (int)in.class,
                     in.width, in.is_scalar);
    }
}

static void profile_find_loops__nested_and_code_elsewhere__the_inner_loop_alone(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    struct loop loops[MOST];
    assert_int_equal(loops_of(sums, &arena, loops), 1);
    assert_int_equal(loops[0].count, 5);
    assert_int_equal(loops[0].depth, 3);
    assert_int_equal(loops[0].line, 10);
    assert_int_equal(loops[0].first_line, 9);
    assert_int_equal(loops[0].last_line, 10);
    assert_string_equal(loops[0].items[2].text, "vaddss\t%xmm1, %xmm0, %xmm1");
}

static void profile_find_loops__another_file__no_lines(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    struct loop loops[MOST];
    const size_t count = loops_of("\t.file 1 \"/usr/include/math.h\"\n"
                                  ".L1:\n\t.loc 1 77 1\n\tincq\t%rax\n\tjne\t.L1\n",
                                  &arena, loops);
    assert_int_equal(count, 1);
    assert_int_equal(loops[0].line, 0);
}

static void profile_find_loops__line_beyond_the_source__no_line(void **state)
{
    static const struct {
        const char *line;
        int expected;
    } rows[] = {{"12", 12}, {"13", 0}, {"900000000", 0}, {"99999999999999999999", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        struct loop loops[MOST];
        const char *text = arena_printf(&arena,
                                        "\t.file 1 \"candidate.c\"\n"
                                        ".L1:\n\t.loc 1 %s 1\n\tincq\t%%rax\n\tjne\t.L1\n",
                                        rows[i].line);
        assert_int_equal(profile_find_loops(text, 12, &arena, loops, MOST), 1);
        assert_int_equal(loops[0].line, rows[i].expected);
    }
}

static void profile_read_gcc__line_beyond_the_source__no_finding(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    struct finding found[MOST];
    const struct record record = {.text = "candidate.c:900000:1: missed: couldn't vectorize loop\n"
                                          "candidate.c:7:1: missed: couldn't vectorize loop\n",
                                  .tool = "gcc-12",
                                  .line_count = 20};
    assert_int_equal(profile_read_gcc(&record, &arena, found, MOST), 1);
    assert_int_equal(found[0].line, 7);
}

/* 59 letters, then a character of two bytes, of which one would have room; a byte that steers. */
static void profile_read_loop__long_and_strange_callee__whole_characters(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    struct loop loops[MOST];
    struct finding found[MOST];
    const char *text = ".L1:\n\tcall\ta\033b45678901234567890123456789"
                       "012345678901234567890123456789\303\251x\n\tjne\t.L1\n";
    assert_int_equal(loops_of(text, &arena, loops), 1);
    assert_int_equal(profile_read_loop(&loops[0], "gcc-12", 64, &arena, found, MOST), 1);
    assert_string_equal(found[0].text, "the hot loop calls a?b45678901234567890123456789"
                                       "012345678901234567890123456789, 1 call in its body");
}

static void profile_find_loops__vectors_and_their_rest__the_vectors_first(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    struct loop loops[MOST];
    const size_t count = loops_of("f:\n"
                                  ".LBB0_1:\n\tvaddss\t%xmm1, %xmm0, %xmm0\n\tjne\t.LBB0_1\n"
                                  ".LBB0_2:\t# =>This Inner Loop Header: Depth=1\n"
                                  "\tvaddps\t%ymm1, %ymm0, %ymm0 # a comment\n\tjne\t.LBB0_2\n",
                                  &arena, loops);
    assert_int_equal(count, 2);
    assert_string_equal(loops[0].items[0].text, "vaddps\t%ymm1, %ymm0, %ymm0");
    assert_string_equal(loop_block(&loops[0], &arena),
                        "\tvaddps\t%ymm1, %ymm0, %ymm0\n\tjne\t.LBB0_2\n");
}

static void profile_read_loop__scalar_narrow_calls_spills__each_with_its_number(void **state)
{
    static const struct {
        const char *body, *text;
        enum finding_kind kind;
        double number;
    } rows[] = {
        {"\tvaddss\t%xmm1, %xmm0, %xmm0\n",
         "the hot loop does 1 of its 1 floating-point operations on one element at a time",
         FINDING_SCALAR, 1.0},
        {"\tvaddps\t%ymm1, %ymm0, %ymm0\n",
         "the hot loop works on vectors of 32 bytes, this machine has 64", FINDING_NARROW, 32.0},
        {"\tcall\texpf@PLT\n\tvmovss\t%xmm0, 8(%rsp)\n",
         "the hot loop calls expf, 1 call in its body", FINDING_CALLS, 1.0},
        {"\tvmovups\t%zmm0, 8(%rsp)\n\tvmovups\t64(%rsp), %zmm1\n",
         "the hot loop goes to the stack 2 times: it has more values than registers",
         FINDING_SPILLS, 2.0},
        {"\tvgatherdps\t(%rax,%zmm1,4), %zmm0\n",
         "the hot loop gathers or scatters 1 vector element by element", FINDING_STRIDE, 1.0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        struct loop loops[MOST];
        struct finding found[MOST];
        const char *text = arena_printf(&arena, ".L1:\n%s\tjne\t.L1\n", rows[i].body);
        assert_int_equal(loops_of(text, &arena, loops), 1);
        assert_int_equal(profile_read_loop(&loops[0], "gcc-12", 64, &arena, found, MOST), 1);
        assert_string_equal(found[0].text, rows[i].text);
        assert_int_equal(found[0].kind, rows[i].kind);
        assert_true(found[0].number >= rows[i].number && found[0].number <= rows[i].number);
        assert_string_equal(found[0].tool, "gcc-12");
    }
}

static void profile_read_gcc__reasons__kinds_and_lines(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    struct finding found[MOST];
    const struct record record = {
        .text = "candidate.c:3:16: optimized: loop vectorized using 64 byte vectors\n"
                "candidate.c:5:55: missed: couldn't vectorize loop\n"
                "candidate.c:5:69: missed: not vectorized: no vectype for stmt: _5 = *_4;\n"
                " scalar_type: real\n"
                "candidate.c:7:5: missed: couldn't vectorize loop\n"
                "candidate.c:8:9: missed: statement clobbers memory: _6 = expf (_4);\n"
                "candidate.c:8:9: missed: not vectorized: control flow in loop.\n"
                "prelude.h:9:9: missed: couldn't vectorize loop\n"
                "candidate.c:x: missed: couldn't vectorize loop\n"
                "candidate.c:99999999999999999999:1: missed: couldn't vectorize loop\n"
                "candidate.c:9:85: missed: couldn't vectorize loop\n",
        .tool = "gcc-12",
        .lanes = 16};
    assert_int_equal(profile_read_gcc(&record, &arena, found, MOST), 3);
    assert_int_equal(found[0].kind, FINDING_NOT_VECTORIZED);
    assert_int_equal(found[0].line, 5);
    assert_int_equal(found[1].kind, FINDING_CALLS);
    assert_int_equal(found[1].line, 7);
    assert_string_equal(found[1].text,
                        "the loop at line 7 is not vectorized, where a register has room for 16 "
                        "elements: statement clobbers memory: _6 = expf (_4)");
    assert_int_equal(found[2].line, 9);
    assert_string_equal(found[2].text, "the loop at line 9 is not vectorized, where a register has "
                                       "room for 16 elements");
}

static void profile_read_gcc__outer_loops__are_left_out(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    struct loop loops[MOST];
    struct finding found[MOST];
    const struct record record = {.text = "candidate.c:6:1: missed: couldn't vectorize loop\n"
                                          "candidate.c:6:1: missed: not vectorized: multiple "
                                          "nested loops.\n"
                                          "candidate.c:9:1: missed: couldn't vectorize loop\n"
                                          "candidate.c:10:1: missed: not vectorized: possible "
                                          "alias\n",
                                  .tool = "gcc-12",
                                  .loops = loops,
                                  .loop_count = loops_of(sums, &arena, loops)};
    assert_int_equal(profile_read_gcc(&record, &arena, found, MOST), 1);
    assert_int_equal(found[0].line, 9);
    assert_int_equal(found[0].kind, FINDING_ALIASING);
}

/* Loops of lines 5 and 9; the second with `body` at its heart. */
static size_t missed_beside(const char *body, struct arena *arena, struct finding *found)
{
    struct loop loops[MOST];
    const char *assembly = arena_printf(arena,
                                        "\t.file 1 \"candidate.c\"\n"
                                        ".L1:\n\t.loc 1 5 1\n\tvaddss\t%%xmm1, %%xmm0, %%xmm0\n"
                                        "\tjne\t.L1\n"
                                        ".L2:\n\t.loc 1 9 1\n%s\tjne\t.L2\n",
                                        body);
    const struct record record = {.text = "candidate.c:5:1: missed: couldn't vectorize loop\n"
                                          "candidate.c:9:1: missed: couldn't vectorize loop\n",
                                  .tool = "gcc-12",
                                  .loops = loops,
                                  .loop_count = loops_of(assembly, arena, loops)};
    assert_int_equal(record.loop_count, 2);
    return profile_read_gcc(&record, arena, found, MOST);
}

static void profile_read_gcc__vectors_by_hand__neither_they_nor_their_rest(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    struct finding found[MOST];
    assert_int_equal(missed_beside("\tvaddps\t%zmm1, %zmm0, %zmm0\n", &arena, found), 0);
    assert_int_equal(missed_beside("\tvaddss\t%xmm1, %xmm0, %xmm0\n\tcall\texpf\n", &arena, found),
                     2);
    assert_int_equal(found[0].line, 9);
}

static const char clang_record[] =
    "--- !Analysis\nPass:            loop-vectorize\nName:            UnsafeDep\n"
    "DebugLoc:        { File: candidate.c, Line: 5, Column: 67 }\nFunction:        g\nArgs:\n"
    "  - String:          'loop not vectorized: '\n"
    "  - String:          'unsafe dependent memory operations in loop. Use #pragma'\n"
    "  - String:          \"\\nBackward loop carried data dependence.\"\n"
    "  - Location:        'a.c:5:68'\n    DebugLoc:        { File: a.c, Line: 5, Column: 68 }\n"
    "...\n"
    "--- !Missed\nPass:            loop-vectorize\nName:            MissedDetails\n"
    "DebugLoc:        { File: candidate.c, Line: 4, Column: 41 }\nFunction:        g\nArgs:\n"
    "  - String:          loop not vectorized\n...\n"
    "--- !AnalysisFPCommute\nPass:            loop-vectorize\nName:            CantReorderFPOps\n"
    "DebugLoc:        { File: candidate.c, Line: 8, Column: 9 }\nFunction:        h\nArgs:\n"
    "  - String:          'loop not vectorized: cannot prove it is safe to reorder floating-point "
    "operations'\n...\n"
    "--- !Missed\nPass:            loop-vectorize\nName:            MissedDetails\n"
    "DebugLoc:        { File: candidate.c, Line: 7, Column: 1 }\nFunction:        h\n"
    "...\n"
    "--- !Missed\nPass:            regalloc\nName:            X\nFunction:        h\n...\n"
    "--- !Missed\nPass:            loop-vectorize\nName:            X\n"
    "DebugLoc:        { File: other.h, Line: 7, Column: 1 }\nFunction:        i\n...\n";

static void profile_read_clang__documents__reason_and_loop_belong_together(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    struct finding found[MOST];
    struct err err;
    size_t count = 0;
    const struct record record = {.text = clang_record, .tool = "clang-19", .lanes = 1};
    assert_true(profile_read_clang(&record, &arena, found, MOST, &count, &err));
    assert_int_equal(count, 2);
    assert_int_equal(found[0].kind, FINDING_DEPENDENCE);
    assert_int_equal(found[0].line, 4);
    assert_string_equal(
        found[0].text,
        "the loop at line 4 is not vectorized: unsafe dependent memory operations in loop");
    assert_int_equal(found[1].kind, FINDING_SUM_ORDER);
    assert_int_equal(found[1].line, 7);
}

static void profile_read_clang__cut_in_the_middle__the_whole_documents(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    struct finding found[MOST];
    struct err err;
    size_t count = 0;
    const char *cut = arena_printf(&arena, "%s--- !Missed\nPass:   {", clang_record);
    const struct record record = {.text = cut, .tool = "clang-19", .lanes = 1};
    assert_true(profile_read_clang(&record, &arena, found, MOST, &count, &err));
    assert_int_equal(count, 2);
}

static void profile_read_clang__no_yaml__an_error_and_outputs_untouched(void **state)
{
    static const char *const texts[] = {"--- !Missed\n{", "--- [1, 2]\n", "- a\n- b\n",
                                        "--- !Missed\na: 1\na: 2\n", "--- !Missed\na: *b\n"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        struct finding found[MOST];
        struct err err;
        size_t count = 77;
        const struct record record = {.text = texts[i], .tool = "clang-19"};
        assert_false(profile_read_clang(&record, &arena, found, MOST, &count, &err));
        assert_int_equal(count, 77);
        assert_true(str_starts_with(err.message, "record:"));
    }
}

/* As llvm-mca 14 writes it; a cycle count and rows of two units. */
static const char *mca_report(int cycles, const char *iteration, const char *instruction,
                              struct arena *arena)
{
    return arena_printf(arena,
                        "Iterations:        100\nInstructions:      500\nTotal Cycles:      %d\n"
                        "Total uOps:        500\n\nDispatch Width:    6\nBlock RThroughput: 1.0\n\n"
                        "  - Register Dependencies [ 60.00%% ]\n\n"
                        "Resources:\n[0]   - UnitA\n[1]   - UnitB\n\n\n"
                        "Resource pressure per iteration:\n[0]    [1]    \n%s\n\n"
                        "Resource pressure by instruction:\n[0]    [1]    Instructions:\n%s\n",
                        cycles, iteration, instruction);
}

static void profile_read_mca__waits_or_busy_units__named_with_numbers(void **state)
{
    static const struct {
        int cycles;
        const char *iteration, *instruction, *text;
        enum finding_kind kind;
    } rows[] = {
        {1600, " 1.00   4.00  ", " 1.00   4.00   vaddss\t%xmm1, %xmm0, %xmm1",
         "the loop in lines 9 to 10 takes 16 cycles an iteration where its instructions need 4: "
         "each waits for the one before, through a vaddss",
         FINDING_CHAIN},
        {400, " 1.00   4.00  ",
         " -      3.00   vshufps\t$1, %xmm0, %xmm1, %xmm1\n 1.00   1.00   vaddps\t%xmm1, %xmm0, "
         "%xmm0",
         "the loop in lines 9 to 10 keeps UnitB busy in 100 % of its 4 cycles an iteration, 3 of "
         "them with shuffles",
         FINDING_SHUFFLES},
        {90, " 0.50   0.50  ", " 0.50   0.50   addq\t$1, %rax",
         "the loop in lines 9 to 10 issues 5.56 of at most 6 operations a cycle, 0.9 cycles an "
         "iteration: it is bound by the number of its instructions",
         FINDING_FRONT_END},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        struct loop loops[MOST];
        struct finding found[MOST];
        struct err err;
        size_t count = 0;
        assert_int_equal(loops_of(sums, &arena, loops), 1);
        const char *text =
            mca_report(rows[i].cycles, rows[i].iteration, rows[i].instruction, &arena);
        assert_true(
            profile_read_mca(text, "llvm-mca-14", &loops[0], &arena, found, MOST, &count, &err));
        if (rows[i].kind == FINDING_FRONT_END && count == 0)
            fail_msg("nothing found");
        assert_int_equal(count, 1);
        assert_string_equal(found[0].text, rows[i].text);
        assert_int_equal(found[0].kind, rows[i].kind);
        assert_int_equal(found[0].line, 10);
    }
}

static void profile_read_mca__no_report__an_error(void **state)
{
    static const char *const texts[] = {"", "Iterations: 100\n", "Iterations: nan\nTotal Cycles: 1",
                                        "Total Cycles: 1e300\nIterations: 5"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        const struct loop loop = {.line = 1};
        struct finding found[MOST];
        struct err err;
        size_t count = 77;
        assert_false(profile_read_mca(texts[i], "m", &loop, &arena, found, MOST, &count, &err));
        assert_int_equal(count, 77);
    }
}

static void finding_kinds__all__have_names_and_moves(void **state)
{
    (void)state;
    for (size_t i = 0; i < FINDING_KINDS; i++) {
        enum finding_kind kind = FINDING_KINDS;
        const char *name = finding_kind_name((enum finding_kind)i);
        assert_true(finding_kind_parse(name, &kind));
        assert_int_equal(kind, i);
        assert_non_null(finding_moves(kind)[0]);
    }
    enum finding_kind kind;
    assert_false(finding_kind_parse("memory", &kind));
    assert_int_equal(finding_move_rank(FINDING_SUM_ORDER, "reassociate"), 0);
    assert_int_equal(finding_move_rank(FINDING_SUM_ORDER, "nest-vectors-4"), 1);
    assert_int_equal(finding_move_rank(FINDING_SUM_ORDER, "nest-vectorsx"), -1);
}

static void profile_plan__by_class__tools_that_can_tell_something(void **state)
{
    (void)state;
    assert_false(profile_plan(ROOFLINE_COMPUTE, 0.95).record);
    assert_true(profile_plan(ROOFLINE_MEMORY, 0.8).record);
    assert_false(profile_plan(ROOFLINE_MEMORY, 0.8).throughput);
    assert_true(profile_plan(ROOFLINE_MEMORY, 0.4).throughput);
    assert_true(profile_plan(ROOFLINE_LATENCY, 0.1).throughput);
    assert_true(profile_plan(ROOFLINE_UNKNOWN, 0.0).throughput);
    assert_false(profile_plan(ROOFLINE_COMPUTE, 0.95).samples);
    assert_true(profile_plan(ROOFLINE_MEMORY, 0.8).samples);
    assert_true(profile_plan(ROOFLINE_LATENCY, 0.1).samples);
    assert_true(profile_plan(ROOFLINE_MEMORY, 0.8).misses);
    assert_false(profile_plan(ROOFLINE_COMPUTE, 0.5).misses);
}

/* 4096 lines of cache; a line beyond the source, another file and what is no number do not count.
 */
static void profile_read_misses__more_than_the_data__each_level_and_its_line(void **state)
{
    static const char text[] = "desc: I1 cache:         49152 B, 64 B, 12-way associative\n"
                               "desc: D1 cache:         49152 B, 64 B, 12-way associative\n"
                               "desc: LL cache:         2097152 B, 64 B, 16-way associative\n"
                               "cmd: ./call\n"
                               "events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw \n"
                               "fl=/tmp/x/call.c\nfn=main\n7 9 0 0 900000 800000 7000 1 0 0\n"
                               "fl=/tmp/x/candidate.c\nfn=k\n"
                               "12 100 0 0 40000 20000 900 0 0 0\n"
                               "12 100 0 0 0 0 0 10000 5000 100\n"
                               "14 100 0 0 5000 1000 10 x 700 7\n"
                               "99 1 0 0 900000 900000 900000 1 1 1\n"
                               "fl=/usr/include/candidate.c.h\n12 1 0 0 5 5000000 5 5 5 5\n"
                               "summary: 300 0 0 900000 800000 7000 1 0 0\n";
    struct miss_record record = {
        .text = text, .tool = "c", .shape = "n=1", .bytes = 4096.0 * 64.0, .line_count = 50};
    CLEANUP(arena_free) struct arena arena = {0};
    struct finding found[MOST];
    struct err err;
    size_t count = 0;
    double again = 0.0;
    (void)state;
    assert_true(profile_read_misses(&record, &arena, found, MOST, &count, &again, &err));
    assert_int_equal(count, 1); /* the second level holds all data */
    assert_int_equal(found[0].kind, FINDING_L1_MISSES);
    assert_int_equal(found[0].line, 12);
    assert_true(again > 6.34 && again < 6.35 && found[0].number > 6.34 && found[0].number < 6.35);
    assert_string_equal(found[0].text,
                        "at n=1 a first cache of 48 KiB is missed 2.6e+04 times, 6.35 times as "
                        "often as the data have lines of cache; 96 % of it at line 12, in 50 % of "
                        "its accesses");
    record.bytes = 100.0 * 4096.0 * 64.0;
    assert_true(profile_read_misses(&record, &arena, found, MOST, &count, &again, &err));
    assert_int_equal(count, 0);
    record.bytes = 49152.0;
    assert_true(profile_read_misses(&record, &arena, found, MOST, &count, &again, &err));
    assert_int_equal(count, 0); /* once in the first cache they stay */
}

static void profile_read_misses__no_counts__an_error(void **state)
{
    static const char *const texts[] = {"", "fl=candidate.c\n12 1 2 3\n",
                                        "events: Dr D1mr\nfl=other.c\n12 1 2\n",
                                        "events:\nfl=candidate.c\n12 1 2\n"};
    CLEANUP(arena_free) struct arena arena = {0};
    struct finding found[MOST];
    struct err err;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct miss_record record = {
            .text = texts[i], .tool = "c", .shape = "", .bytes = 1e6};
        size_t count = 77;
        double again = 7.0;
        assert_false(profile_read_misses(&record, &arena, found, MOST, &count, &again, &err));
        assert_int_equal(count, 77);
    }
}

/* What was inlined counts where it was inlined; another file, a line that the source does not have,
 * and a place that is named twice or was not asked for do not count. */
/* A transposition: many instructions by llvm-mca, and data that they wait for. */
static void profile_drop_front_end__misses_in_the_hot_loop__it_gives_way(void **state)
{
    const struct finding front_end = {.kind = FINDING_FRONT_END, .line = 5};
    const struct finding misses = {.kind = FINDING_L1_MISSES, .line = 6};
    const struct finding narrow = {.kind = FINDING_NARROW, .line = 5};
    const struct loop hot = {.line = 5, .first_line = 5, .last_line = 6};
    const struct loop other = {.line = 9, .first_line = 9, .last_line = 9};
    const struct loop unknown = {.line = 0};
    struct finding found[] = {front_end, narrow, misses};
    (void)state;
    assert_int_equal(profile_drop_front_end(found, 3, &other), 3);
    assert_int_equal(profile_drop_front_end(found, 2, &hot), 2); /* no misses */
    assert_int_equal(profile_drop_front_end(found, 3, &hot), 2);
    assert_int_equal(found[0].kind, FINDING_NARROW);
    assert_int_equal(found[1].kind, FINDING_L1_MISSES);
    struct finding again[] = {misses, front_end};
    assert_int_equal(profile_drop_front_end(again, 2, &unknown), 1);
    assert_int_equal(again[0].kind, FINDING_L1_MISSES);
}

static void profile_read_lines__inlined_strange_and_twice__the_candidates_own(void **state)
{
    static const char text[] = "candidate.c:3\n"
                               "0x0000000000000010\n/tmp/x/candidate.c:12 (discriminator 3)\n"
                               "0x20\n/usr/include/avxintrin.h:900\n/tmp/x/candidate.c:14\n"
                               "/tmp/x/candidate.c:7\n"
                               "0x10\n/tmp/x/candidate.c:13\n"
                               "0x30\n/tmp/x/notcandidate.c:12\n??:?\n"
                               "0x40\n/tmp/x/candidate.c:99\n"
                               "0x50\n/tmp/x/candidate.c:12\n"
                               "0x58\n/tmp/x/candidate.c:12";
    static const struct sample_place places[] = {{0x10, 5}, {0x20, 40}, {0x30, 7},
                                                 {0x40, 9}, {0x58, 6},  {0x60, 1}};
    CLEANUP(arena_free) struct arena arena = {0};
    struct line_hits lines[MOST];
    (void)state;
    assert_int_equal(profile_read_lines(text, places, 6, 20, &arena, lines, MOST), 2);
    assert_int_equal(lines[0].line, 14);
    assert_int_equal(lines[0].hits, 40);
    assert_int_equal(lines[1].line, 12);
    assert_int_equal(lines[1].hits, 11);
    assert_int_equal(profile_read_lines(text, places, 6, 20, &arena, lines, 1), 1);
    assert_int_equal(profile_read_lines(text, places, 0, 20, &arena, lines, MOST), 0);
}

/* By its code the loop in vectors, at line 5, is the hot one. */
static const char two_loops[] = "\t.file 1 \"candidate.c\"\n"
                                ".L2:\n\t.loc 1 5 1\n\tvaddps\t%zmm0, %zmm1, %zmm1\n\tjne\t.L2\n"
                                ".L3:\n\t.loc 1 9 1\n\tvaddss\t%xmm0, %xmm1, %xmm1\n\tjne\t.L3\n";

static void profile_weigh_loops__samples_elsewhere__that_loop_first(void **state)
{
    static const struct line_hits lines[] = {{9, 900}, {7, 50}, {5, 40}};
    CLEANUP(arena_free) struct arena arena = {0};
    struct loop loops[MOST];
    (void)state;
    assert_int_equal(loops_of(two_loops, &arena, loops), 2);
    assert_int_equal(loops[0].line, 5);
    assert_true(profile_weigh_loops(loops, 2, lines, 3));
    assert_int_equal(loops[0].line, 9);
    assert_int_equal(loops[0].hits, 900);
    assert_int_equal(loops[1].hits, 40);
}

/* Most of the time is in a function that is called: the few hits of loops are no fact. */
static void profile_weigh_loops__few_hits__the_order_stays(void **state)
{
    static const struct line_hits lines[] = {{7, 900}, {9, 29}, {5, 1}};
    CLEANUP(arena_free) struct arena arena = {0};
    struct loop loops[MOST];
    (void)state;
    assert_int_equal(loops_of(two_loops, &arena, loops), 2);
    assert_false(profile_weigh_loops(loops, 2, lines, 3));
    assert_int_equal(loops[0].line, 5);
    assert_int_equal(loops[0].hits, 1);
    assert_int_equal(loops[1].hits, 29);
    assert_false(profile_weigh_loops(loops, 0, lines, 3));
}

static void profile_read_samples__enough__shares_with_intervals(void **state)
{
    static const struct loop loops[] = {
        {.line = 12, .first_line = 12, .last_line = 12, .hits = 600},
        {.line = 14, .first_line = 14, .last_line = 15, .hits = 300},
        {.line = 20, .first_line = 20, .last_line = 20, .hits = 29}};
    static const struct line_hits lines[] = {{12, 600}, {14, 300}, {20, 29}};
    static const struct sample_function functions[] = {{"ex\npf", 400}};
    const struct session_samples samples = {
        .inside = 929, .called = 400, .functions = functions, .function_count = 1};
    const struct sampled sampled = {.tool = "t",
                                    .samples = &samples,
                                    .lines = lines,
                                    .line_count = 3,
                                    .loops = loops,
                                    .loop_count = 3};
    CLEANUP(arena_free) struct arena arena = {0};
    struct finding found[MOST];
    (void)state;
    assert_int_equal(profile_read_samples(&sampled, &arena, found, MOST), 3);
    assert_int_equal(found[0].kind, FINDING_HOT_LINE);
    assert_int_equal(found[0].line, 12);
    assert_string_equal(found[0].text, "line 12 takes 45 % [42, 48] of the time, line 14 23 % [20, "
                                       "25]");
    assert_int_equal(found[1].kind, FINDING_PASSES);
    assert_true(found[1].number == 2.0);
    assert_non_null(strstr(found[1].text, "2 loops share the time: 45 % [42, 48] in the loop at "
                                          "line 12, 23 % [20, 25] in the loop in lines 14 to 15"));
    assert_int_equal(found[2].kind, FINDING_CALLS);
    assert_int_equal(found[2].line, 0);
    assert_null(strchr(found[2].text, '\n'));
    assert_int_equal(profile_read_samples(&sampled, &arena, found, 1), 1);
}

static void profile_read_samples__few_or_spread__nothing_is_said(void **state)
{
    static const struct line_hits lines[] = {{12, 90}, {14, 5}};
    static const struct line_hits spread[] = {{1, 260}, {2, 250}, {3, 250}, {4, 240}};
    struct session_samples samples = {.inside = 99};
    struct sampled sampled = {.tool = "t", .samples = &samples, .lines = lines, .line_count = 2};
    CLEANUP(arena_free) struct arena arena = {0};
    struct finding found[MOST];
    (void)state;
    assert_int_equal(profile_read_samples(&sampled, &arena, found, MOST), 0);
    samples.inside = 1000; /* 260 of it: perhaps less than a quarter */
    sampled.lines = spread;
    sampled.line_count = 4;
    assert_int_equal(profile_read_samples(&sampled, &arena, found, MOST), 0);
}

/* The first half of a call, all of it in one line: what the other half did is unknown. */
static void profile_read_samples__many_lost__nothing_is_said_and_why(void **state)
{
    static const struct line_hits lines[] = {{12, 4096}};
    struct session_samples samples = {.inside = 4096, .lost = 4096};
    const struct sampled sampled = {
        .tool = "t", .samples = &samples, .lines = lines, .line_count = 1};
    CLEANUP(arena_free) struct arena arena = {0};
    struct finding found[MOST];
    (void)state;
    assert_int_equal(profile_read_samples(&sampled, &arena, found, MOST), 0);
    assert_string_equal(profile_doubt_samples(&samples, &arena),
                        "4096 samples were lost beside 4096 that were kept: where the time of "
                        "those went nobody knows");
    samples.lost = 40; /* less than any interval is wide */
    assert_int_equal(profile_read_samples(&sampled, &arena, found, MOST), 1);
    assert_null(profile_doubt_samples(&samples, &arena));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instruction_of__names_and_operands__class_and_width),
        cmocka_unit_test(profile_find_loops__nested_and_code_elsewhere__the_inner_loop_alone),
        cmocka_unit_test(profile_find_loops__another_file__no_lines),
        cmocka_unit_test(profile_find_loops__line_beyond_the_source__no_line),
        cmocka_unit_test(profile_read_gcc__line_beyond_the_source__no_finding),
        cmocka_unit_test(profile_read_loop__long_and_strange_callee__whole_characters),
        cmocka_unit_test(profile_find_loops__vectors_and_their_rest__the_vectors_first),
        cmocka_unit_test(profile_read_loop__scalar_narrow_calls_spills__each_with_its_number),
        cmocka_unit_test(profile_read_gcc__reasons__kinds_and_lines),
        cmocka_unit_test(profile_read_gcc__outer_loops__are_left_out),
        cmocka_unit_test(profile_read_gcc__vectors_by_hand__neither_they_nor_their_rest),
        cmocka_unit_test(profile_read_clang__documents__reason_and_loop_belong_together),
        cmocka_unit_test(profile_read_clang__cut_in_the_middle__the_whole_documents),
        cmocka_unit_test(profile_read_clang__no_yaml__an_error_and_outputs_untouched),
        cmocka_unit_test(profile_read_mca__waits_or_busy_units__named_with_numbers),
        cmocka_unit_test(profile_read_mca__no_report__an_error),
        cmocka_unit_test(finding_kinds__all__have_names_and_moves),
        cmocka_unit_test(profile_plan__by_class__tools_that_can_tell_something),
        cmocka_unit_test(profile_read_misses__more_than_the_data__each_level_and_its_line),
        cmocka_unit_test(profile_read_misses__no_counts__an_error),
        cmocka_unit_test(profile_drop_front_end__misses_in_the_hot_loop__it_gives_way),
        cmocka_unit_test(profile_read_lines__inlined_strange_and_twice__the_candidates_own),
        cmocka_unit_test(profile_weigh_loops__samples_elsewhere__that_loop_first),
        cmocka_unit_test(profile_weigh_loops__few_hits__the_order_stays),
        cmocka_unit_test(profile_read_samples__enough__shares_with_intervals),
        cmocka_unit_test(profile_read_samples__few_or_spread__nothing_is_said),
        cmocka_unit_test(profile_read_samples__many_lost__nothing_is_said_and_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
