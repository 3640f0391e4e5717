#include "random_nest.h"

#include "base/buf.h"

#include <stdlib.h>

const struct task random_nest_task = {
    .name = "f",
    .entry = "f",
    .dtype = DTYPE_F32,
    .precision = PRECISION_RELAXED,
    .allow_reassociate = true,
    .axes = {{.name = "n", .minimum = RANDOM_NEST_MIN, .maximum = RANDOM_NEST_MAX, .multiple = 1},
             {.name = "m", .minimum = RANDOM_NEST_MIN, .maximum = RANDOM_NEST_MAX, .multiple = 1}},
    .axis_count = 2,
    .args = {{.name = "a", .rank = 2, .shape_text = {"n", "m"}, .role = ARG_INOUT},
             {.name = "b", .rank = 2, .shape_text = {"n", "m"}, .role = ARG_IN},
             {.name = "c", .rank = 2, .shape_text = {"m", "n"}, .role = ARG_INOUT},
             {.name = "x", .rank = 1, .shape_text = {"m"}, .role = ARG_INOUT},
             {.name = "y", .rank = 1, .shape_text = {"n"}, .role = ARG_INOUT},
             {.name = "k", .rank = 1, .shape_text = {"m"}, .role = ARG_IN}},
    .arg_count = 6,
};

const struct task random_nest_in_place_task = {
    .name = "f",
    .entry = "f",
    .dtype = DTYPE_F32,
    .precision = PRECISION_EXACT,
    .axes = {{.name = "n", .minimum = RANDOM_NEST_MIN, .maximum = RANDOM_NEST_MAX, .multiple = 1},
             {.name = "m", .minimum = RANDOM_NEST_MIN, .maximum = RANDOM_NEST_MAX, .multiple = 1}},
    .axis_count = 2,
    .args = {{.name = "a",
              .rank = 2,
              .shape_text = {"n", "m"},
              .role = ARG_OUT,
              .has_alias = true,
              .alias = 1},
             {.name = "b", .rank = 2, .shape_text = {"n", "m"}, .role = ARG_IN},
             {.name = "c", .rank = 2, .shape_text = {"m", "n"}, .role = ARG_INOUT},
             {.name = "x", .rank = 1, .shape_text = {"m"}, .role = ARG_INOUT},
             {.name = "y", .rank = 1, .shape_text = {"n"}, .role = ARG_INOUT},
             {.name = "k", .rank = 1, .shape_text = {"m"}, .role = ARG_IN}},
    .arg_count = 6,
};

enum { MAX_LOOPS = 4, MAX_SCALARS = 6 };

/* A counter with how far a subscript may lie from it, and which size it runs over: 'n', 'm', or '4'
 * for a short loop. */
struct counter {
    const char *name;
    char size;
    int below, above;
};

struct generator {
    struct rng *rng;
    struct buf *out;
    struct arena *arena;
    struct counter loops[MAX_LOOPS];
    int depth;
    const char *scalars[MAX_SCALARS];
    int scalar_count, names;
    bool is_real;     /* then nothing that is written is read but to accumulate */
    bool is_in_place; /* but for b, which is a: reals stay in range, and no order may change */
    int statements;
};

static int pick(struct generator *g, int below)
{
    return (int)rng_below(g->rng, (uint64_t)below);
}

static bool chance(struct generator *g, int percent)
{
    return pick(g, 100) < percent;
}

static void indent(struct generator *g)
{
    for (int i = 0; i <= g->depth; i++)
        (void)buf_append_str(g->out, "    ");
}

/* A loop over this size; a short one is below every size. */
static const struct counter *find_counter(struct generator *g, char size)
{
    const struct counter *found[MAX_LOOPS];
    int count = 0;
    for (int i = 0; i < g->depth; i++) {
        if (g->loops[i].size == size || g->loops[i].size == '4')
            found[count++] = &g->loops[i];
    }
    return count ? found[pick(g, count)] : NULL;
}

/* A subscript within a dimension. */
static const char *subscript(struct generator *g, char size)
{
    const struct counter *counter = find_counter(g, size);
    if (!counter || chance(g, 6))
        return arena_printf(g->arena, "%d", pick(g, RANDOM_NEST_MIN));
    if (counter->size == '4' && chance(g, 20))
        return arena_printf(g->arena, "%s + %d", counter->name, 1 + pick(g, 2));
    const int offset =
        counter->size == '4' ? 0 : pick(g, counter->below + counter->above + 1) - counter->below;
    if (counter->size != '4' && offset == 0 && chance(g, 6))
        return arena_printf(g->arena, "(%c - 1 - %s)", size, counter->name);
    if (offset == 0)
        return counter->name;
    return arena_printf(g->arena, "(%s %c %d)", counter->name, offset > 0 ? '+' : '-', abs(offset));
}

static const char *element(struct generator *g, char array)
{
    switch (array) {
    case 'a':
    case 'b':
        return arena_printf(g->arena, "%c[%s * m + %s]", array, subscript(g, 'n'),
                            subscript(g, 'm'));
    case 'c':
        return arena_printf(g->arena, "c[%s * n + %s]", subscript(g, 'm'), subscript(g, 'n'));
    case 'x':
        if (chance(g, 6))
            return arena_printf(g->arena, "x[k[%s]]", subscript(g, 'm'));
        return arena_printf(g->arena, "x[%s]", subscript(g, 'm'));
    default:
        return arena_printf(g->arena, "y[%s]", subscript(g, 'n'));
    }
}

static const char *operand(struct generator *g)
{
    static const char reads[] = "abbcxy";
    if (g->scalar_count > 0 && chance(g, 25))
        return g->scalars[pick(g, g->scalar_count)];
    if (chance(g, 15))
        return arena_printf(g->arena, "%d", 1 + pick(g, 3));
    return element(g, g->is_real ? 'b' : reads[pick(g, 6)]);
}

static const char *value(struct generator *g)
{
    static const char operators[] = "+-*";
    const char *first = operand(g);
    if (chance(g, 30))
        return first;
    const char *second = operand(g);
    if (chance(g, 8))
        return arena_printf(g->arena, "%s > %s ? %s : %s", first, second, first, second);
    if (g->is_real && g->is_in_place)
        return arena_printf(g->arena, "(%s + %s) * (real)0.5", first, second);
    return arena_printf(g->arena, "%s %c %s", first, operators[pick(g, g->is_real ? 2 : 3)],
                        second);
}

static const char *target(struct generator *g)
{
    static const char writes[] = "aacxy";
    return element(g, writes[pick(g, 5)]);
}

static bool adds(struct generator *g, int percent)
{
    return !(g->is_real && g->is_in_place) && chance(g, percent);
}

static const char *condition(struct generator *g)
{
    if (g->depth > 0 && chance(g, 70)) {
        const struct counter *a = &g->loops[pick(g, g->depth)];
        const struct counter *b = &g->loops[pick(g, g->depth)];
        if (a != b && chance(g, 50))
            return arena_printf(g->arena, "%s < %s", a->name, b->name);
        return arena_printf(g->arena, "%s %s %d", a->name, chance(g, 50) ? ">" : "<=", pick(g, 5));
    }
    return arena_printf(g->arena, "%s > 2", element(g, 'b'));
}

static void put_list(struct generator *g, int most);

static void put_loop(struct generator *g)
{
    static const char sizes[] = "nmmn4";
    static const char *const names[] = {"i", "j", "p", "q"};
    struct counter counter = {.name = names[g->depth], .size = sizes[pick(g, 5)]};
    indent(g);
    if (counter.size == '4') {
        (void)buf_printf(g->out, "for (int64_t %s = 0; %s < %d; %s++) {\n", counter.name,
                         counter.name, 2 + pick(g, 3), counter.name);
    } else {
        counter.below = pick(g, 3);
        counter.above = pick(g, 3);
        const int step = chance(g, 8) ? 2 : 1;
        if (chance(g, 6))
            (void)buf_printf(g->out, "for (int64_t %s = %c - %d; %s >= %d; %s -= %d) {\n",
                             counter.name, counter.size, counter.above + 1, counter.name,
                             counter.below, counter.name, step);
        else
            (void)buf_printf(g->out, "for (int64_t %s = %d; %s < %c - %d; %s += %d) {\n",
                             counter.name, counter.below, counter.name, counter.size, counter.above,
                             counter.name, step);
    }
    g->loops[g->depth++] = counter;
    put_list(g, g->depth == MAX_LOOPS ? 2 : 3);
    g->depth--;
    indent(g);
    (void)buf_append_str(g->out, "}\n");
}

/* A scalar, a loop that accumulates into it, and what is made of it. */
static void put_reduction(struct generator *g)
{
    const char *name = arena_printf(g->arena, "s%d", g->names++);
    const char *type = g->is_real ? "real" : "uint32_t";
    const int kind = g->is_real && g->is_in_place ? 1 : pick(g, 3);
    indent(g);
    (void)buf_printf(g->out, "%s %s = %s;\n", type, name, kind == 0 ? "0" : operand(g));
    indent(g);
    (void)buf_printf(g->out, "for (int64_t r%d = 0; r%d < %s; r%d++) {\n", g->names, g->names,
                     chance(g, 70) ? "m" : "4", g->names);
    g->loops[g->depth++] =
        (struct counter){.name = arena_printf(g->arena, "r%d", g->names), .size = 'm'};
    g->names++;
    indent(g);
    const char *added = element(g, 'b');
    if (kind == 1)
        (void)buf_printf(g->out, "if (%s > %s)\n            %s = %s;\n", added, name, name, added);
    else if (chance(g, 20))
        (void)buf_printf(g->out, "if (%s)\n            %s += %s;\n", condition(g), name, added);
    else
        (void)buf_printf(g->out, "%s += %s;\n", name, added);
    g->depth--;
    indent(g);
    (void)buf_append_str(g->out, "}\n");
    indent(g);
    (void)buf_printf(g->out, "%s = %s;\n", target(g), name);
}

/* Where in a row the first of the largest or smallest elements is. */
static void put_search(struct generator *g)
{
    const char *best = arena_printf(g->arena, "best%d", g->names++);
    const char *most = chance(g, 40) ? arena_printf(g->arena, "most%d", g->names++) : NULL;
    const char *counter = arena_printf(g->arena, "%c%d", RANDOM_NEST_SEARCH, g->names++);
    const char *row = subscript(g, 'n');
    const char *now = arena_printf(g->arena, "b[%s * m + %s]", row, counter);
    const char *start = most ? most : arena_printf(g->arena, "b[%s * m + %s]", row, best);
    indent(g);
    (void)buf_printf(g->out, "%s %s = 0;\n", chance(g, 50) ? "int32_t" : "int64_t", best);
    if (most) {
        indent(g);
        (void)buf_printf(g->out, "real %s = %d;\n", most, pick(g, 8));
    }
    indent(g);
    (void)buf_printf(g->out, "for (int64_t %s = %d; %s < m; %s++)\n", counter, pick(g, 3), counter,
                     counter);
    indent(g);
    (void)buf_printf(g->out, "    if (%s %c %s) {\n", now, chance(g, 50) ? '>' : '<', start);
    if (most)
        (void)buf_printf(g->out, "%s = %s;\n", most, now);
    (void)buf_printf(g->out, "%s = %s;\n", best, counter);
    indent(g);
    (void)buf_append_str(g->out, "    }\n");
    indent(g);
    (void)buf_printf(g->out, "%s %s %s;\n", target(g), chance(g, 50) ? "+=" : "=", best);
}

/* A row that one loop fills and another one reads. */
static void put_row(struct generator *g)
{
    const char *name = arena_printf(g->arena, "row%d", g->names++);
    indent(g);
    (void)buf_printf(g->out, "%s %s[%d];\n", g->is_real ? "real" : "uint32_t", name,
                     RANDOM_NEST_MAX);
    for (int half = 0; half < 2; half++) {
        const char *counter = arena_printf(g->arena, "e%d", g->names++);
        indent(g);
        (void)buf_printf(g->out, "for (int64_t %s = 0; %s < m; %s++)\n", counter, counter, counter);
        g->loops[g->depth++] = (struct counter){.name = counter, .size = 'm'};
        indent(g);
        if (half == 0)
            (void)buf_printf(g->out, "%s[%s] = %s;\n", name, counter, element(g, 'b'));
        else
            (void)buf_printf(g->out, "a[%s * m + %s] = %s[%s];\n", subscript(g, 'n'), counter, name,
                             chance(g, 50) ? counter
                                           : arena_printf(g->arena, "m - 1 - %s", counter));
        g->depth--;
    }
}

static void put_statement(struct generator *g)
{
    const int kind = pick(g, 100);
    g->statements++;
    if (kind < 15 && g->scalar_count < MAX_SCALARS) {
        const char *name = arena_printf(g->arena, "t%d", g->names++);
        indent(g);
        (void)buf_printf(g->out, "const %s %s = %s;\n", g->is_real ? "real" : "uint32_t", name,
                         value(g));
        g->scalars[g->scalar_count++] = name;
    } else if (kind < 27 && g->depth > 0) {
        indent(g);
        (void)buf_printf(g->out, "if (%s)\n        %s %s %s;\n", condition(g), target(g),
                         adds(g, g->is_real ? 100 : 50) ? "+=" : "=", value(g));
    } else if (kind < 40 && g->depth < MAX_LOOPS) {
        put_reduction(g);
    } else if (kind < 46 && g->depth > 0 && g->depth < MAX_LOOPS) {
        put_row(g);
    } else if (kind < 56 && g->is_real) {
        put_search(g);
    } else {
        indent(g);
        (void)buf_printf(g->out, "%s %s %s;\n", target(g),
                         adds(g, g->is_real ? 60 : 30) ? "+=" : "=", value(g));
    }
}

/* All of a matrix, elements by elements. */
static void put_matrix(struct generator *g)
{
    static const char *const others[] = {"b[i * m + j]", "x[j]", "y[i]", "c[j * n + i]"};
    const int first = chance(g, 50) ? 0 : pick(g, 3);
    (void)buf_printf(g->out,
                     "    for (int64_t i = %d; i < n; i++)\n"
                     "        for (int64_t j = %d; j < m; j++)\n"
                     "            a[i * m + j] %s %s%s;\n",
                     pick(g, 5) / 4, pick(g, 5) / 4, adds(g, 30) ? "+=" : "=",
                     g->is_real ? "b[i * m + j]" : others[first], chance(g, 50) ? " + 1" : "");
}

/* The head of a loop over a size, whose subscripts reach one or two to each side. */
static void put_head(struct generator *g, const char *name, char size)
{
    const struct counter counter = {
        .name = name, .size = size, .below = 1 + pick(g, 2), .above = 1 + pick(g, 2)};
    indent(g);
    (void)buf_printf(g->out, "for (int64_t %s = %d; %s < %c - %d; %s++) {\n", name, counter.below,
                     name, size, counter.above, name);
    g->loops[g->depth++] = counter;
}

/* An element near that of the round of i (and j). */
static const char *neighbour(struct generator *g, char array, bool is_flat)
{
    const struct counter *i = &g->loops[0];
    const struct counter *j = &g->loops[1];
    const char *row = arena_printf(g->arena, "(i + %d)", pick(g, 1 + i->above));
    const char *column = arena_printf(g->arena, "%d", pick(g, RANDOM_NEST_MIN));
    if (chance(g, 50))
        row = arena_printf(g->arena, "(i - %d)", pick(g, 1 + i->below));
    if (!is_flat)
        column = chance(g, 50) ? arena_printf(g->arena, "j + %d", pick(g, 1 + j->above))
                               : arena_printf(g->arena, "j - %d", pick(g, 1 + j->below));
    if (array == 'y')
        return arena_printf(g->arena, "y[%s]", row);
    return array == 'c' ? arena_printf(g->arena, "c[(%s) * n + %s]", column, row)
                        : arena_printf(g->arena, "%c[%s * m + %s]", array, row, column);
}

/* One sweep over rows, mostly over whole matrices. */
static void put_sweep(struct generator *g)
{
    static const char written[] = "aaaacy";
    static const char read[] = "aaabbcy";
    const bool is_flat = chance(g, 25);
    put_head(g, "i", 'n');
    if (!is_flat)
        put_head(g, "j", 'm');
    if (chance(g, 10))
        put_statement(g);
    const char *place = neighbour(g, g->is_real ? 'a' : written[pick(g, 6)], is_flat);
    const char *first = neighbour(g, g->is_real ? 'b' : read[pick(g, 7)], is_flat);
    const char *second = neighbour(g, g->is_real ? 'b' : read[pick(g, 7)], is_flat);
    indent(g);
    (void)buf_printf(g->out, g->is_real ? "%s = (%s + %s) * (real)0.5;\n" : "%s = %s + %s;\n",
                     place, first, second);
    while (g->depth > 0) {
        g->depth--;
        indent(g);
        (void)buf_append_str(g->out, "}\n");
    }
}

/* A few of them in a loop over time steps, whose counter they do not name. */
static void put_time(struct generator *g)
{
    const int scalars = g->scalar_count;
    (void)buf_printf(g->out, "    for (int64_t %s = %d; %s < %s; %s++) {\n", RANDOM_NEST_TIME,
                     pick(g, 2), RANDOM_NEST_TIME, chance(g, 50) ? "5" : "m - 3", RANDOM_NEST_TIME);
    for (int i = 0, count = 1 + pick(g, 3); i < count; i++) {
        put_sweep(g);
        g->scalar_count = scalars;
    }
    (void)buf_append_str(g->out, "    }\n");
}

/* Statements and loops; what is declared here ends here. */
static void put_list(struct generator *g, int most)
{
    const int scalars = g->scalar_count;
    const int count = 1 + (chance(g, 45) ? pick(g, most) : 0);
    for (int i = 0; i < count; i++) {
        const bool can_nest = g->depth < MAX_LOOPS - 1;
        if (g->depth == 0 && chance(g, 12))
            put_matrix(g);
        else if (g->depth == 0 && (!g->is_real || g->is_in_place) && chance(g, 25))
            put_time(g);
        else if (g->depth == 0 || (can_nest && chance(g, g->depth == 1 ? 65 : 35)))
            put_loop(g);
        else
            put_statement(g);
    }
    g->scalar_count = scalars;
}

/* Sums of products of narrow integers; nothing else is narrow. In 32 bits without a sign, where the
 * sums could be too large for those with one. */
static void put_products(struct generator *g, bool is_wide)
{
    const char *type = is_wide || chance(g, 50) ? "uint32_t" : "int32_t";
    const int column = pick(g, 3);
    const char *rounds = column == 0   ? chance(g, 50) ? "(n < m ? n : m)" : "6"
                         : column == 1 ? "m"
                                       : "(n < m ? n : m)";
    const char *columns = column == 1 ? "(n < m ? n : m)" : "m";
    const char *row = chance(g, 80) ? "b[i * m + p]"
                      : column == 2 ? "c[i + p * n]"
                                    : "c[p * n + i]";
    const char *read = column == 0 ? "b[p * m + j]" : column == 1 ? "c[p * n + j]" : "c[j * n + p]";
    const char *first = chance(g, 50) ? row : read;
    const char *cast = chance(g, 30) ? "(int32_t)" : "";
    (void)buf_printf(g->out,
                     "    for (int64_t i = %d; i < n - %d; i++) {\n"
                     "        for (int64_t j = %d; j < %s - %d; j++) {\n"
                     "            %s s = %s;\n"
                     "            for (int64_t p = %d; p < %s; p++)\n"
                     "                s += %s%s * %s%s;\n"
                     "            a[i * m + j] %s s;\n"
                     "        }\n"
                     "    }\n",
                     pick(g, 3), pick(g, 3), pick(g, 3), columns, pick(g, 3), type,
                     chance(g, 60) ? "0" : "y[i]", pick(g, 3), rounds, cast, first, cast,
                     first == row ? read : row, chance(g, 30) ? "+=" : "=");
}

static char *random_products(struct generator *g, struct arena *arena)
{
    static const char *const types[] = {"int8_t", "uint8_t", "int16_t"};
    const int b = pick(g, 3);
    const int c = pick(g, 3);
    (void)buf_printf(
        g->out,
        "#include <stdint.h>\n\nvoid f(uint32_t *a, const %s *b, const %s *c, uint32_t "
        "*x, const uint8_t *y, const int32_t *k, int64_t n,\n       int64_t m)\n{\n",
        types[b], types[c]);
    for (int i = 0, count = 1 + pick(g, 2); i < count; i++)
        put_products(g, b == 2 || c == 2);
    (void)buf_append_str(g->out, "}\n");
    return arena_strdup(arena, buf_text(g->out));
}

char *random_nest(struct rng *rng, bool is_in_place, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct generator g = {.rng = rng, .out = &text, .arena = arena, .is_in_place = is_in_place};
    if (!is_in_place && chance(&g, 12))
        return random_products(&g, arena);
    g.is_real = chance(&g, 40);
    const char *type = g.is_real ? "real" : "uint32_t";
    (void)buf_printf(&text,
                     "#include <stdint.h>\n\nvoid f(%s *a, const %s *b, %s *c, %s *x, %s *y, const "
                     "int32_t *k, int64_t n,\n       int64_t m)\n{\n",
                     type, type, type, type, type);
    put_list(&g, 3);
    (void)buf_append_str(&text, "}\n");
    return arena_strdup(arena, buf_text(&text));
}
