/* Sets and maps of linear constraints from the text that depend*.c write, without isl's reader: it
 * understands piecewise forms, and takes three quarters of a question's time. */
#include "moves/nest/depend_internal.h"

#include "base/str.h"

#include <isl/id.h>
#include <isl/mat.h>
#include <isl/space.h>
#include <isl/val.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_QUOTIENTS = 16,
    MOST_COLUMNS = 1 + DEPEND_MAX_PARAMS + 2 * NEST_MAX_DEPTH + MOST_QUOTIENTS
};

struct name {
    const char *at;
    size_t length;
};

/* One linear form: [0] is the constant, then a factor for each name, then for each quotient of a
 * "mod". */
struct form {
    int64_t factors[MOST_COLUMNS];
};

struct reading {
    struct arena *arena;
    const char *at;
    /* Parameters, then counters of the first and second tuple. */
    struct name names[MOST_COLUMNS - MOST_QUOTIENTS - 1];
    size_t count, quotient_count;
    struct name tuples[2]; /* their names; empty: none */
    size_t param_count, tuple_ends[2], tuple_count;
    int64_t *rows[2]; /* that are 0, and that are 0 or more: `columns` factors each */
    size_t row_count[2], most_rows, columns;
};

enum { ZERO, NOT_NEGATIVE };

/* Sums of a few of these do not overflow. */
static const int64_t MOST_CONSTANT = INT64_C(1) << 48;

static bool accept(struct reading *r, const char *text)
{
    r->at += strspn(r->at, " ");
    if (!str_starts_with(r->at, text))
        return false;
    r->at += strlen(text);
    return true;
}

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static struct name read_name(struct reading *r)
{
    struct name name = {.at = r->at += strspn(r->at, " ")};
    if (!isdigit((unsigned char)*r->at)) {
        while (is_letter(r->at[name.length]))
            name.length++;
    }
    r->at += name.length;
    return name;
}

static size_t find_name(const struct reading *r, struct name name)
{
    size_t i = 0;
    while (i < r->count &&
           (r->names[i].length != name.length || memcmp(r->names[i].at, name.at, name.length) != 0))
        i++;
    return i;
}

/* "[a, b]", each name a new one. */
static bool read_names(struct reading *r)
{
    if (!accept(r, "["))
        return false;
    for (bool is_first = true; !accept(r, "]"); is_first = false) {
        if (!is_first && !accept(r, ","))
            return false;
        const struct name name = read_name(r);
        if (name.length == 0 || r->count == sizeof r->names / sizeof *r->names ||
            find_name(r, name) < r->count)
            return false;
        r->names[r->count++] = name;
    }
    return true;
}

/* "[p, q] -> { L0[s_i] -> L1[t_i] :" */
static bool read_head(struct reading *r)
{
    if (!accept(r, "{")) {
        if (!read_names(r) || !accept(r, "->") || !accept(r, "{"))
            return false;
    }
    r->param_count = r->count;
    do {
        if (r->tuple_count == 2)
            return false;
        r->tuples[r->tuple_count] = read_name(r);
        if (!read_names(r))
            return false;
        r->tuple_ends[r->tuple_count++] = r->count;
    } while (accept(r, "->"));
    return accept(r, ":");
}

static bool add_form(struct reading *r, int64_t sign, struct form *form);

static bool read_number(struct reading *r, int64_t *out)
{
    char *end = NULL;
    r->at += strspn(r->at, " ");
    if (!isdigit((unsigned char)*r->at))
        return false;
    *out = strtoll(r->at, &end, 10);
    r->at = end;
    return *out <= MOST_CONSTANT;
}

/* "2 s_i", "5", "p_n", "(...)", added to the form. */
static bool add_term(struct reading *r, int64_t sign, struct form *form)
{
    int64_t factor = 1;
    if (accept(r, "("))
        return add_form(r, sign, form) && accept(r, ")");
    const bool has_number = read_number(r, &factor);
    const char *behind = r->at;
    struct name name = read_name(r);
    if (name.length == 3 && memcmp(name.at, "and", 3) == 0) {
        r->at = behind;
        name.length = 0;
    }
    if (name.length == 0 && !has_number)
        return false;
    const size_t column = name.length == 0 ? 0 : find_name(r, name) + 1;
    if (column > r->count)
        return false;
    form->factors[column] += sign * factor;
    return true;
}

static bool add_form(struct reading *r, int64_t sign, struct form *form)
{
    int64_t here = accept(r, "-") ? -sign : sign;
    for (;;) {
        if (!add_term(r, here, form))
            return false;
        if (accept(r, "+"))
            here = sign;
        else if (accept(r, "-"))
            here = -sign;
        else
            return true;
    }
}

static bool add_row(struct reading *r, int kind, const struct form *form)
{
    for (size_t i = 0; i < MOST_COLUMNS; i++) {
        if (form->factors[i] > MOST_CONSTANT || form->factors[i] < -MOST_CONSTANT)
            return false;
    }
    if (r->row_count[kind] == r->most_rows)
        return false;
    memcpy(&r->rows[kind][r->row_count[kind]++ * r->columns], form->factors,
           r->columns * sizeof *form->factors);
    return true;
}

/* One relation as a row. */
static bool read_relation(struct reading *r)
{
    static const struct {
        const char *text;
        int64_t left; /* the sign of what stands on the left */
        int64_t more;
        int kind;
    } relations[] = {{"<=", -1, 0, NOT_NEGATIVE},
                     {">=", 1, 0, NOT_NEGATIVE},
                     {"<", -1, -1, NOT_NEGATIVE},
                     {">", 1, -1, NOT_NEGATIVE},
                     {"=", 1, 0, ZERO}};
    struct form form = {{0}};
    if (!add_form(r, 1, &form))
        return false;
    if (accept(r, "mod")) { /* "(a) mod 4 = 0": there is a q with a = 4 q */
        int64_t divisor = 0;
        if (r->quotient_count == MOST_QUOTIENTS || !read_number(r, &divisor) || !accept(r, "= 0"))
            return false;
        form.factors[1 + r->count + r->quotient_count++] = -divisor;
        return add_row(r, ZERO, &form);
    }
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++) {
        if (!accept(r, relations[i].text))
            continue;
        for (size_t c = 0; c < MOST_COLUMNS; c++)
            form.factors[c] *= relations[i].left;
        form.factors[0] += relations[i].more;
        return add_form(r, -relations[i].left, &form) && add_row(r, relations[i].kind, &form);
    }
    return false;
}

static bool read_all(struct reading *r)
{
    for (const char *c = r->at; *c; c++)
        r->most_rows += *c == '<' || *c == '>' || *c == '=';
    if (!read_head(r))
        return false;
    r->columns = 1 + r->count + MOST_QUOTIENTS;
    for (int kind = 0; kind < 2; kind++)
        r->rows[kind] = arena_array(r->arena, (r->most_rows + 1) * r->columns, sizeof(int64_t));
    do {
        if (!read_relation(r))
            return false;
    } while (accept(r, "and"));
    return accept(r, "}") && *r->at == '\0';
}

static isl_mat *matrix_of(isl_ctx *isl, const struct reading *r, int kind)
{
    const size_t columns = 1 + r->count + r->quotient_count;
    isl_mat *mat = isl_mat_alloc(isl, (unsigned)r->row_count[kind], (unsigned)columns);
    for (size_t i = 0; i < r->row_count[kind]; i++) {
        for (size_t c = 0; c < columns; c++)
            mat = isl_mat_set_element_val(
                mat, (int)i, (int)c, isl_val_int_from_si(isl, r->rows[kind][i * r->columns + c]));
    }
    return mat;
}

static const char *text_of(const struct reading *r, struct name name)
{
    return arena_strndup(r->arena, name.at, name.length);
}

static isl_space *with_names(isl_ctx *isl, const struct reading *r, isl_space *space)
{
    for (size_t i = 0; i < r->param_count; i++)
        space = isl_space_set_dim_id(space, isl_dim_param, (unsigned)i,
                                     isl_id_alloc(isl, text_of(r, r->names[i]), NULL));
    for (size_t t = 0; t < r->tuple_count; t++) {
        const enum isl_dim_type type = r->tuple_count == 1 ? isl_dim_set
                                       : t == 0            ? isl_dim_in
                                                           : isl_dim_out;
        if (r->tuples[t].length > 0)
            space = isl_space_set_tuple_name(space, type, text_of(r, r->tuples[t]));
    }
    return space;
}

isl_set *depend_read_set(struct depend *d, const char *text)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct reading r = {.arena = &scratch, .at = text};
    if (!read_all(&r) || r.tuple_count != 1) {
        d->read_by_isl++;
        return isl_set_read_from_str(d->isl, text);
    }
    isl_space *space = isl_space_set_alloc(d->isl, (unsigned)r.param_count,
                                           (unsigned)(r.tuple_ends[0] - r.param_count));
    return isl_set_from_basic_set(isl_basic_set_from_constraint_matrices(
        with_names(d->isl, &r, space), matrix_of(d->isl, &r, ZERO),
        matrix_of(d->isl, &r, NOT_NEGATIVE), isl_dim_cst, isl_dim_param, isl_dim_set, isl_dim_div));
}

isl_map *depend_read_map(struct depend *d, const char *text)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct reading r = {.arena = &scratch, .at = text};
    if (!read_all(&r) || r.tuple_count != 2) {
        d->read_by_isl++;
        return isl_map_read_from_str(d->isl, text);
    }
    isl_space *space = isl_space_alloc(d->isl, (unsigned)r.param_count,
                                       (unsigned)(r.tuple_ends[0] - r.param_count),
                                       (unsigned)(r.tuple_ends[1] - r.tuple_ends[0]));
    return isl_map_from_basic_map(isl_basic_map_from_constraint_matrices(
        with_names(d->isl, &r, space), matrix_of(d->isl, &r, ZERO),
        matrix_of(d->isl, &r, NOT_NEGATIVE), isl_dim_cst, isl_dim_param, isl_dim_in, isl_dim_out,
        isl_dim_div));
}
