#include "skill/facts.h"

#include "skill/predicate.h"

#include "base/buf.h"
#include "base/str.h"

#include <assert.h>
#include <string.h>

static const struct fact_info facts[] = {
    [FACT_FAMILY] = {"family", FACT_WORD, "as the task says: reduction, normalization, ...", false},
    [FACT_DTYPE] = {"dtype", FACT_WORD, "float32, int8, ...", false},
    [FACT_PRECISION] = {"precision", FACT_WORD, "exact, strict, normal or relaxed", false},
    [FACT_REGIME] = {"regime", FACT_WORD, "of the largest case: tiny, small, medium, large", false},
    [FACT_ARCH] = {"arch", FACT_WORD, "of the machine: x86_64", true},
    [FACT_CALL] = {"call", FACT_SET, "functions that the loops call: call(exp), call(tanh)", false},
    [FACT_ISA] = {"isa", FACT_SET, "of the machine: isa(avx2), isa(fma)", true},
    [FACT_COMPILER] = {"compiler", FACT_SET, "families there are: compiler(gcc)", true},
    [FACT_FLOAT] = {"float", FACT_NUMBER, "1: floating-point numbers", false},
    [FACT_REASSOCIATE] = {"reassociate", FACT_NUMBER, "1: the order of sums may change", false},
    [FACT_APPROXIMATE] = {"approximate", FACT_NUMBER, "1: functions may be approximated", false},
    [FACT_FINITE] = {"finite", FACT_NUMBER, "1: inputs are promised to be finite", false},
    [FACT_THREADS] = {"threads", FACT_NUMBER, "that a candidate may use", false},
    [FACT_UNDERSTOOD] = {"understood", FACT_NUMBER, "1: the reference was read as a nest", false},
    [FACT_LOOPS] = {"loops", FACT_NUMBER, "loops", false},
    [FACT_DEPTH] = {"depth", FACT_NUMBER, "loops around the innermost statement", false},
    [FACT_NESTS] = {"nests", FACT_NUMBER, "innermost loops", false},
    [FACT_STATEMENTS] = {"statements", FACT_NUMBER, "statements", false},
    [FACT_OPAQUE] = {"opaque", FACT_NUMBER, "statements that were not understood", false},
    [FACT_SUMS] = {"sums", FACT_NUMBER, "statements that add to what a loop keeps", false},
    [FACT_EXTREMA] = {"extrema", FACT_NUMBER, "statements that keep a maximum or minimum", false},
    [FACT_SCANS] = {"scans", FACT_NUMBER, "loops that store a running sum", false},
    [FACT_CALLS] = {"calls", FACT_NUMBER, "calls of functions in loops", false},
    [FACT_DIVISIONS] = {"divisions", FACT_NUMBER, "divisions in innermost loops", false},
    [FACT_GATHERS] = {"gathers", FACT_NUMBER, "accesses through an index that was loaded", false},
    [FACT_STRIDED] = {"strided", FACT_NUMBER, "accesses that an innermost loop walks with a stride",
                      false},
    [FACT_ACCESSES] = {"accesses", FACT_NUMBER, "accesses to arrays", false},
    [FACT_INPUTS] = {"inputs", FACT_NUMBER, "array arguments that are read", false},
    [FACT_OUTPUTS] = {"outputs", FACT_NUMBER, "array arguments that are written", false},
    [FACT_VECTOR_BYTES] = {"vector_bytes", FACT_NUMBER, "widest vector of the machine", true},
    [FACT_CORES] = {"cores", FACT_NUMBER, "of the machine", true},
};
static_assert(sizeof facts / sizeof *facts == FACT_COUNT, "describe each fact");

const struct fact_info *fact_info(enum fact fact)
{
    return &facts[fact];
}

bool fact_find(const char *name, size_t length, enum fact *out)
{
    for (int i = 0; i < FACT_COUNT; i++) {
        if (strlen(facts[i].name) == length && memcmp(facts[i].name, name, length) == 0) {
            *out = (enum fact)i;
            return true;
        }
    }
    return false;
}

void skill_facts_of_machine(const struct skill_machine *machine, struct arena *arena,
                            struct skill_facts *out)
{
    out->word[FACT_ARCH] = arena_strdup(arena, machine->arch);
    out->word[FACT_ISA] = arena_printf(arena, ",%s,", machine->isa);
    out->word[FACT_COMPILER] = arena_printf(arena, ",%s,", machine->compilers);
    out->number[FACT_VECTOR_BYTES] = (double)machine->vector_bytes;
    out->number[FACT_CORES] = (double)machine->cores;
}

char *skill_facts_predicate(const struct skill_facts *f, struct arena *arena)
{
    static const enum fact of_loops[] = {FACT_SUMS,    FACT_EXTREMA, FACT_SCANS,
                                         FACT_GATHERS, FACT_STRIDED, FACT_CALLS};
    CLEANUP(buf_free) struct buf text = {0};
    (void)buf_printf(&text, "depth == %.0f", f->number[FACT_DEPTH]);
    for (size_t i = 0; i < sizeof of_loops / sizeof *of_loops; i++)
        (void)buf_printf(&text, " and %s %s 0", facts[of_loops[i]].name,
                         f->number[of_loops[i]] > 0.0 ? ">" : "==");
    (void)buf_printf(&text, " and %sfloat", f->number[FACT_FLOAT] > 0.0 ? "" : "not ");
    const char *calls = f->word[FACT_CALL] ? f->word[FACT_CALL] : "";
    while (*(calls += strspn(calls, ","))) {
        const int length = (int)strcspn(calls, ",");
        if (text.length + (size_t)length + sizeof " and call()" <= PREDICATE_MAX_BYTES)
            (void)buf_printf(&text, " and call(%.*s)", length, calls);
        calls += length;
    }
    return arena_strdup(arena, buf_text(&text));
}

char *skill_facts_words(const struct skill_facts *f, struct arena *arena)
{
    CLEANUP(buf_free) struct buf words = {0};
    for (int i = 0; i < FACT_COUNT; i++) {
        if (facts[i].is_of_machine)
            continue;
        if (facts[i].kind == FACT_NUMBER && f->number[i] > 0.0)
            (void)buf_printf(&words, "%s ", facts[i].name);
        else if (facts[i].kind != FACT_NUMBER && f->word[i])
            (void)buf_printf(&words, "%s ", f->word[i]);
    }
    return arena_strdup(arena, buf_text(&words));
}
