/* llvm-mca's report on the body of a loop, as text: what its iterations wait for. */
#include "profile/internal.h"

#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RESOURCES = 64, MOST_NAME_BYTES = 40, CLASSES = INSTRUCTION_CALL + 1 };
/* From these on something holds the loop up: a wait for earlier results, as a share of what is
 * needed without it; a unit that is busy, as a share of the time. */
#define CHAIN_RATIO 1.2
#define BUSY_SHARE 0.85
#define MOST_NUMBER 1e9

struct resource {
    const char *name;
    double cycles;            /* of an iteration */
    double by_class[CLASSES]; /* of it */
};

struct report {
    double iterations, cycles, uops, width, block; /* cycles and uops of all iterations */
    double registers;                              /* share of cycles that wait for them, 0..1 */
    struct resource resources[MOST_RESOURCES];
    size_t resource_count;
};

/* The number behind the first "NAME" of a text; 0 where there is none that can be. */
static double number_of(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    if (!at)
        return 0.0;
    const double value = strtod(at + strlen(name), NULL);
    return value > 0.0 && value < MOST_NUMBER ? value : 0.0;
}

/* The line behind the first that begins with `heading`; NULL. */
static const char *after(const char *text, const char *heading)
{
    const char *at = text;
    while (at && !str_starts_with(at, heading)) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    at = at ? strchr(at, '\n') : NULL;
    return at ? at + 1 : NULL;
}

static const char *next_line(const char *at)
{
    at += strcspn(at, "\n");
    return *at ? at + 1 : at;
}

/* "[0]   - SKXDivider", up to an empty line. */
static void read_resources(const char *at, struct arena *arena, struct report *out)
{
    for (; at && *at == '[' && out->resource_count < MOST_RESOURCES; at = next_line(at)) {
        const char *name = strstr(at, "- ");
        const size_t length = strcspn(at, "\n");
        if (!name || (size_t)(name - at) > length)
            return;
        name += 2;
        const size_t left = length - (size_t)(name - at);
        char *copy = arena_strndup(arena, name, str_cut_length(name, left, MOST_NAME_BYTES));
        str_make_printable(copy);
        out->resources[out->resource_count++].name = copy;
    }
}

/* As many cells as there are resources; what follows them. NULL where there are fewer. */
static const char *read_cells(const char *at, const struct report *report, double *cells)
{
    for (size_t i = 0; i < report->resource_count; i++) {
        char *end = NULL;
        at += strspn(at, " \t");
        if (*at == '\n' || *at == '\0')
            return NULL;
        cells[i] = 0.0;
        if (at[0] == '-' && (at[1] == ' ' || at[1] == '\n' || at[1] == '\t')) {
            at++;
            continue;
        }
        cells[i] = strtod(at, &end);
        if (end == at || !(cells[i] >= 0.0 && cells[i] < MOST_NUMBER))
            return NULL;
        at = end;
    }
    return at + strspn(at, " \t");
}

static void read_pressure(const char *text, struct arena *arena, struct report *out)
{
    double cells[MOST_RESOURCES];
    const char *at = after(text, "Resource pressure per iteration:");
    if (at && read_cells(next_line(at), out, cells)) {
        for (size_t i = 0; i < out->resource_count; i++)
            out->resources[i].cycles = cells[i];
    }
    at = after(text, "Resource pressure by instruction:");
    at = at ? next_line(at) : NULL;
    while (at && *at && *at != '\n') {
        const char *instruction = read_cells(at, out, cells);
        if (!instruction)
            return;
        const enum instruction_class class =
            instruction_of(arena_strndup(arena, instruction, strcspn(instruction, "\n"))).class;
        for (size_t i = 0; i < out->resource_count; i++)
            out->resources[i].by_class[class] += cells[i];
        at = next_line(at);
    }
}

static bool read_report(const char *text, struct arena *arena, struct report *out, struct err *err)
{
    *out = (struct report){.iterations = number_of(text, "Iterations:"),
                           .cycles = number_of(text, "Total Cycles:"),
                           .uops = number_of(text, "Total uOps:"),
                           .width = number_of(text, "Dispatch Width:"),
                           .block = number_of(text, "Block RThroughput:"),
                           .registers = number_of(text, "Register Dependencies [") / 100.0};
    if (out->iterations < 1.0 || out->cycles < 1.0)
        return err_set(err, ERR_BAD_INPUT, "there is no count of cycles in it");
    read_resources(after(text, "Resources:"), arena, out);
    read_pressure(text, arena, out);
    return true;
}

static const struct resource *busiest(const struct report *report)
{
    const struct resource *best = NULL;
    for (size_t i = 0; i < report->resource_count; i++) {
        if (!best || report->resources[i].cycles > best->cycles)
            best = &report->resources[i];
    }
    return best;
}

/* What most of a resource's time goes to. */
static enum instruction_class main_class(const struct resource *resource)
{
    size_t best = INSTRUCTION_OTHER;
    for (size_t i = 0; i < CLASSES; i++) {
        if (resource->by_class[i] > resource->by_class[best])
            best = i;
    }
    return (enum instruction_class)best;
}

static const struct {
    enum finding_kind kind;
    const char *words;
} of_class[CLASSES] = {
    [INSTRUCTION_OTHER] = {FINDING_FRONT_END, "addresses, counters and branches"},
    [INSTRUCTION_LOAD] = {FINDING_LOADS, "loads"},
    [INSTRUCTION_STORE] = {FINDING_STORES, "stores"},
    [INSTRUCTION_ARITHMETIC] = {FINDING_ARITHMETIC, "arithmetic"},
    [INSTRUCTION_DIVIDE] = {FINDING_DIVIDES, "divisions and roots"},
    [INSTRUCTION_SHUFFLE] = {FINDING_SHUFFLES, "shuffles"},
    [INSTRUCTION_GATHER] = {FINDING_STRIDE, "gathers and scatters"},
    [INSTRUCTION_CALL] = {FINDING_CALLS, "calls"},
};

static struct finding of_chain(const struct loop *loop, double cycles, double needed,
                               const char *name, struct arena *arena)
{
    size_t links = 0;
    const char *through = loop_chain(loop, &links, arena);
    return (struct finding){
        .kind = FINDING_CHAIN,
        .number = cycles / needed,
        .text =
            arena_printf(arena,
                         "%s takes %.3g cycles an iteration where its instructions need %.3g: "
                         "each waits for the one before%s",
                         name, cycles, needed,
                         links > 1 ? arena_printf(arena, ", through %zu %s in turn", links, through)
                         : links   ? arena_printf(arena, ", through a %s", through)
                                   : "")};
}

static struct finding of_unit(const struct resource *unit, double cycles, const char *name,
                              struct arena *arena)
{
    const enum instruction_class class = main_class(unit);
    return (struct finding){
        .kind = of_class[class].kind,
        .number = fmin(unit->cycles / cycles, 1.0),
        .text = arena_printf(arena,
                             "%s keeps %s busy in %.0f %% of its %.3g cycles an iteration, %.3g of "
                             "them with %s",
                             name, unit->name, 100.0 * fmin(unit->cycles / cycles, 1.0), cycles,
                             unit->by_class[class], of_class[class].words)};
}

static struct finding of_front_end(const struct report *r, double cycles, const char *name,
                                   struct arena *arena)
{
    const double issued = r->uops / r->cycles;
    return (struct finding){
        .kind = FINDING_FRONT_END,
        .number = issued / r->width,
        .text = arena_printf(arena,
                             "%s issues %.3g of at most %.3g operations a cycle, %.3g cycles an "
                             "iteration: it is bound by the number of its instructions",
                             name, issued, r->width, cycles)};
}

bool profile_read_mca(const char *text, const char *tool, const struct loop *loop,
                      struct arena *arena, struct finding *out, size_t capacity, size_t *out_count,
                      struct err *err)
{
    struct report r;
    if (!read_report(text, arena, &r, err))
        return false;
    const char *name = loop_name(loop, arena);
    const struct resource *unit = busiest(&r);
    const double cycles = r.cycles / r.iterations;
    const double issue = r.width > 0.0 ? r.uops / r.iterations / r.width : 0.0;
    const double needed = fmax(fmax(r.block, issue), unit ? unit->cycles : 0.0);
    struct finding found[2];
    size_t count = 0;
    if (needed > 0.0 && cycles > CHAIN_RATIO * needed && r.registers > 0.0)
        found[count++] = of_chain(loop, cycles, needed, name, arena);
    else if (unit && unit->cycles > BUSY_SHARE * cycles)
        found[count++] = of_unit(unit, cycles, name, arena);
    if (count == 0 && issue > BUSY_SHARE * cycles)
        found[count++] = of_front_end(&r, cycles, name, arena);
    count = count < capacity ? count : capacity;
    for (size_t i = 0; i < count; i++) {
        out[i] = found[i];
        out[i].tool = tool;
        out[i].line = loop->line;
    }
    *out_count = count;
    return true;
}
