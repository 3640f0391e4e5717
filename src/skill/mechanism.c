#include "skill/mechanism.h"

#include "base/str.h"
#include "moves/moves.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

struct row {
    const char *intent, *applies, *needs, *change, *breaks;
};

static const struct row rows[] = {
    [MECHANISM_PREFETCH] = {"ask for data before the loop that needs it, while another still works",
                            "loops >= 2", "", "", "nothing; too early or too late it costs"},
    [MECHANISM_STREAM_STORE] = {"store results past the caches, when nobody reads them soon",
                                "float and gathers == 0", "arch == x86_64", "",
                                "later readers miss; needs aligned addresses"},
    [MECHANISM_PIN] = {"hold a value in a register through an empty assembler statement, where the "
                       "compiler would load it again",
                       "sums > 0", "compiler(gcc)", "", "nothing"},
    [MECHANISM_HINT] = {"tell the compiler what it cannot know: alignment, the likely branch",
                        "loops > 0", "", "", "crashes where the hint is false"},
    [MECHANISM_UNROLL] = {"unroll the loop, so that independent steps overlap", "loops > 0", "",
                          "unroll=loops", ""},
    [MECHANISM_RECIPROCAL] = {"divide once and multiply by the reciprocal",
                              "float and approximate and divisions > 0", "", "fast=reciprocal",
                              "quotients differ in the last digit"},
    [MECHANISM_SIZE] = {"work on several independent elements or partial results at once",
                        "loops > 0", "", "", "the order of sums"},
    [MECHANISM_VECTOR_MATH] = {"replace calls of the mathematical library by functions that run on "
                               "vectors",
                               "float and approximate and calls > 0", "",
                               "fast=no-errno,no-trapping veclib=libmvec simd=map?,reduce?",
                               "function values differ by a few ulp"},
    [MECHANISM_SIMD] = {"mark loops for vectors, with the reductions in them", "loops > 0",
                        "vector_bytes >= 16", "simd=map?,reduce?,extremum?", "the order of sums"},
    [MECHANISM_LOOP_ORDER] = {"put the loop innermost that walks memory in order",
                              "depth >= 2 and understood", "", "", "the order of sums"},
    [MECHANISM_RESTRICT] = {"tell the compiler that the arguments do not overlap", "loops > 0", "",
                            "restrict=1", ""},
    [MECHANISM_FLAG] = {"build with", "", "", "", "see the compiler's manual"},
    [MECHANISM_STRUCTURE] = {"order loops, tile them and run them on vectors as these moves do",
                             "loops > 0", "", "", "the order of sums"},
};
static_assert(sizeof rows / sizeof *rows == MECHANISM_COUNT, "describe each mechanism");

/* Letters and digits with single hyphens between. */
static char *as_name(const char *text, struct arena *arena)
{
    char *out = arena_alloc(arena, strlen(text) + 1);
    size_t length = 0;
    for (const char *c = text; *c; c++) {
        if (isalnum((unsigned char)*c))
            out[length++] = (char)tolower((unsigned char)*c);
        else if (length > 0 && out[length - 1] != '-')
            out[length++] = '-';
    }
    while (length > 0 && out[length - 1] == '-')
        length--;
    out[length] = '\0';
    return out;
}

static char *cut_name(char *name)
{
    if (strlen(name) > SKILL_NAME_BYTES) {
        name[SKILL_NAME_BYTES] = '\0';
        for (size_t end = SKILL_NAME_BYTES; end > 0 && name[end - 1] == '-'; end--)
            name[end - 1] = '\0';
    }
    return name;
}

static void describe_flag(const char *flag, struct arena *arena, struct graph_skill *out)
{
    const char *change = moves_change_of_flag(flag, arena);
    out->intent = arena_printf(arena, "build with %s", flag);
    out->change = change ? change : "";
    const bool is_of_floats = str_starts_with(out->change, "fast=") ||
                              str_starts_with(out->change, "contract=") ||
                              str_starts_with(out->change, "veclib=");
    out->applies = is_of_floats ? "float" : "";
}

void skill_of_structure(const char *moves, const struct skill_facts *facts, const char *task_name,
                        struct arena *arena, struct graph_skill *out)
{
    skill_of_mechanism(MECHANISM_STRUCTURE, "", task_name, arena, out);
    out->intent = arena_printf(arena, "%s; as an expert's kernel for %s", out->intent, task_name);
    out->applies = skill_facts_predicate(facts, arena);
    out->change = arena_printf(arena, "do=%s", moves);
    /* Another machine may come to other moves for the same task: that is another skill. */
    const unsigned mark = (unsigned)hash_fnv1a(out->change, strlen(out->change)) & 0xffffu;
    const char *name = as_name(arena_printf(arena, "structure-of-%s", task_name), arena);
    out->name = arena_printf(arena, "%.*s-%04x", SKILL_NAME_BYTES - 5, name, mark);
}

void skill_as_example(struct graph_skill *skill, const char *task_name, struct arena *arena)
{
    skill->change = "";
    skill->name = cut_name(as_name(arena_printf(arena, "%s-in-%s", skill->name, task_name), arena));
}

void skill_of_mechanism(enum mechanism mechanism, const char *what, const char *task_name,
                        struct arena *arena, struct graph_skill *out)
{
    const struct row *row = &rows[mechanism];
    const bool is_named = what[0] != '\0' && mechanism != MECHANISM_RECIPROCAL;
    *out = skill_blank("lineage");
    out->name = cut_name(as_name(arena_printf(arena, "%s%s%s", mechanism_name(mechanism),
                                              is_named ? "-" : "", is_named ? what : ""),
                                 arena));
    out->intent = row->intent;
    out->applies = row->applies;
    out->needs = row->needs;
    out->change = row->change;
    out->breaks = row->breaks;
    if (mechanism == MECHANISM_FLAG)
        describe_flag(what, arena, out);
    else if (mechanism == MECHANISM_SIZE)
        out->intent = arena_printf(arena, "%s (%s)", row->intent, what);
    if (out->change[0] == '\0')
        skill_as_example(out, task_name, arena);
}
