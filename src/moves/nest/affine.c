#include "moves/nest/affine.h"

#include "base/str.h"

#include <string.h>

/* --- polynomials -------------------------------------------------------------------------------
 */

static bool same_product(const struct poly_term *a, const struct poly_term *b)
{
    return a->degree == b->degree &&
           memcmp(a->symbols, b->symbols, a->degree * sizeof *a->symbols) == 0;
}

static bool add_term(struct poly *p, const struct poly_term *term)
{
    for (size_t i = 0; i < p->count; i++) {
        if (!same_product(&p->terms[i], term))
            continue;
        if (__builtin_add_overflow(p->terms[i].factor, term->factor, &p->terms[i].factor))
            return false;
        if (p->terms[i].factor == 0)
            p->terms[i] = p->terms[--p->count];
        return true;
    }
    if (term->factor == 0)
        return true;
    if (p->count == POLY_MAX_TERMS)
        return false;
    p->terms[p->count++] = *term;
    return true;
}

bool poly_add(struct poly *a, const struct poly *b, int64_t factor)
{
    for (size_t i = 0; i < b->count; i++) {
        struct poly_term term = b->terms[i];
        if (__builtin_mul_overflow(term.factor, factor, &term.factor) || !add_term(a, &term))
            return false;
    }
    return true;
}

/* The product of two terms, its symbols sorted. */
static bool multiply_terms(const struct poly_term *a, const struct poly_term *b,
                           struct poly_term *out)
{
    *out = *a;
    if (a->degree + b->degree > POLY_MAX_DEGREE ||
        __builtin_mul_overflow(a->factor, b->factor, &out->factor))
        return false;
    for (size_t i = 0; i < b->degree; i++) {
        size_t at = out->degree++;
        for (; at > 0 && (uintptr_t)out->symbols[at - 1] > (uintptr_t)b->symbols[i]; at--)
            out->symbols[at] = out->symbols[at - 1];
        out->symbols[at] = b->symbols[i];
    }
    return true;
}

bool poly_multiply(const struct poly *a, const struct poly *b, struct poly *out)
{
    struct poly product = {0};
    for (size_t i = 0; i < a->count; i++) {
        for (size_t j = 0; j < b->count; j++) {
            struct poly_term term;
            if (!multiply_terms(&a->terms[i], &b->terms[j], &term) || !add_term(&product, &term))
                return false;
        }
    }
    *out = product;
    return true;
}

static bool poly_number(const char *text, struct poly *out)
{
    int64_t value = 0;
    if (!str_parse_int64(text, &value))
        return false;
    *out = (struct poly){.terms = {{.factor = value}}, .count = value != 0};
    return true;
}

static bool binary_of(const struct nest_expr *expr, struct poly *out)
{
    struct poly a;
    struct poly b;
    if (!poly_of(expr->args[0], &a) || !poly_of(expr->args[1], &b))
        return false;
    if (str_equal(expr->text, "*"))
        return poly_multiply(&a, &b, out);
    if (!str_equal(expr->text, "+") && !str_equal(expr->text, "-"))
        return false;
    *out = a;
    return poly_add(out, &b, expr->text[0] == '+' ? 1 : -1);
}

bool poly_of(const struct nest_expr *expr, struct poly *out)
{
    struct poly operand;
    switch (expr->kind) {
    case NEST_NUMBER:
        return poly_number(expr->text, out);
    case NEST_NAME:
        if (!expr->symbol->is_integer || expr->symbol->kind == NEST_ARRAY ||
            expr->symbol->kind == NEST_POINTER)
            return false;
        *out = (struct poly){.terms = {{.factor = 1, .symbols = {expr->symbol}, .degree = 1}},
                             .count = 1};
        return true;
    case NEST_UNARY:
        if (!poly_of(expr->args[0], &operand) || (expr->text[0] != '-' && expr->text[0] != '+'))
            return false;
        *out = (struct poly){0};
        return poly_add(out, &operand, expr->text[0] == '-' ? -1 : 1);
    case NEST_BINARY:
        return binary_of(expr, out);
    case NEST_CAST: /* a wider integer changes nothing */
        return (str_equal(expr->text, "int64_t") || str_equal(expr->text, "ptrdiff_t")) &&
               poly_of(expr->args[0], out);
    case NEST_ACCESS:
    case NEST_CONDITIONAL:
    case NEST_CALL:
        return false;
    }
    return false;
}

bool poly_equal(const struct poly *a, const struct poly *b)
{
    struct poly difference = *a;
    return poly_add(&difference, b, -1) && difference.count == 0;
}

bool poly_is_constant(const struct poly *p, int64_t *value)
{
    if (p->count > 1 || (p->count == 1 && p->terms[0].degree > 0))
        return false;
    *value = p->count ? p->terms[0].factor : 0;
    return true;
}

bool poly_is_affine(const struct poly *p)
{
    for (size_t i = 0; i < p->count; i++) {
        size_t counters = 0;
        for (size_t j = 0; j < p->terms[i].degree; j++)
            counters += p->terms[i].symbols[j]->kind == NEST_COUNTER;
        if (counters > 1)
            return false;
    }
    return true;
}

static void print_term(const struct poly_term *term, bool is_first, struct buf *out)
{
    const int64_t factor = term->factor;
    const uint64_t size = factor < 0 ? 0 - (uint64_t)factor : (uint64_t)factor;
    (void)buf_append_str(out, is_first ? (factor < 0 ? "-" : "") : factor < 0 ? " - " : " + ");
    if (term->degree == 0 || size != 1)
        (void)buf_printf(out, "%llu%s", (unsigned long long)size, term->degree ? "*" : "");
    for (size_t i = 0; i < term->degree; i++)
        (void)buf_printf(out, "%s%s", i ? "*" : "", term->symbols[i]->name);
}

void poly_print(const struct poly *p, struct buf *out)
{
    if (p->count == 0)
        (void)buf_append_char(out, '0');
    for (size_t i = 0; i < p->count; i++)
        print_term(&p->terms[i], i == 0, out);
}

/* --- dimensions --------------------------------------------------------------------------------
 */

/* Takes one `symbol` out of the term; false where it holds none. */
static bool take_symbol(struct poly_term *term, const struct nest_symbol *symbol)
{
    for (size_t i = 0; i < term->degree; i++) {
        if (term->symbols[i] != symbol)
            continue;
        for (size_t j = i + 1; j < term->degree; j++)
            term->symbols[j - 1] = term->symbols[j];
        term->symbols[--term->degree] = NULL;
        return true;
    }
    return false;
}

/* term / stride, where it divides. */
static bool divide_term(const struct poly_term *term, const struct poly_term *stride,
                        struct poly_term *out)
{
    struct poly_term rest = *term;
    if (stride->factor == 0 || term->factor % stride->factor != 0)
        return false;
    rest.factor = term->factor / stride->factor;
    for (size_t i = 0; i < stride->degree; i++) {
        if (!take_symbol(&rest, stride->symbols[i]))
            return false;
    }
    *out = rest;
    return true;
}

/* Splits `*flat` into `quotient` x stride + the rest, term by term. */
static bool divide(struct poly *flat, const struct poly_term *stride, struct poly *quotient)
{
    struct poly rest = {0};
    *quotient = (struct poly){0};
    for (size_t i = 0; i < flat->count; i++) {
        struct poly_term part;
        if (divide_term(&flat->terms[i], stride, &part)) {
            if (!add_term(quotient, &part))
                return false;
        } else if (!add_term(&rest, &flat->terms[i])) {
            return false;
        }
    }
    *flat = rest;
    return true;
}

/* The symbol of a size by the task's name for it: sizes are integer parameters. */
static const struct nest_symbol *find_size(const struct nest *nest, const char *name, size_t length)
{
    for (size_t i = 0; i < nest->symbol_count; i++) {
        const struct nest_symbol *symbol = nest->symbols[i];
        if (symbol->is_parameter && symbol->is_integer && strlen(symbol->task_name) == length &&
            strncmp(symbol->task_name, name, length) == 0)
            return symbol;
    }
    return NULL;
}

/* A declared dimension that is one size or one number, which is what users write. */
static bool read_dimension(const struct nest *nest, const char *text, struct poly_term *out)
{
    int64_t number = 0;
    const struct nest_symbol *symbol = find_size(nest, text, strlen(text));
    if (symbol) {
        *out = (struct poly_term){.factor = 1, .symbols = {symbol}, .degree = 1};
        return true;
    }
    if (!str_parse_int64(text, &number) || number <= 0)
        return false;
    *out = (struct poly_term){.factor = number};
    return true;
}

/* Dimensions of an array as terms. */
static bool dimensions_of(const struct nest *nest, const struct nest_symbol *array,
                          struct poly_term *out, size_t *rank, const char **why)
{
    const struct task_arg *arg =
        nest->task && array->argument >= 0 ? &nest->task->args[array->argument] : NULL;
    if (!arg) {
        *why = "the array is declared in the function, and not indexed by its dimensions";
        return false;
    }
    *rank = arg->rank;
    for (size_t i = 0; i < arg->rank; i++) {
        const char *text =
            i + 1 == arg->rank ? task_arg_pitch_text(nest->task, arg) : arg->shape_text[i];
        if (!read_dimension(nest, text, &out[i])) {
            *why = "a dimension of the array is an expression";
            return false;
        }
    }
    return true;
}

bool nest_shape(const struct nest *nest, const struct nest_symbol *array,
                struct poly out[NEST_MAX_DIMENSIONS], size_t *rank, const char **why)
{
    struct poly_term dimensions[TASK_MAX_RANK];
    if (!dimensions_of(nest, array, dimensions, rank, why))
        return false;
    if (nest->task->args[array->argument].has_ld) {
        *why = "the rows of the array lie apart";
        return false;
    }
    for (size_t d = 0; d < *rank; d++)
        out[d] = (struct poly){.terms = {dimensions[d]}, .count = 1};
    return true;
}

bool nest_flatten(const struct nest_expr *access, struct poly *flat,
                  const struct nest_symbol **array, const char **why)
{
    const struct nest_symbol *symbol = access->symbol;
    *why = "a subscript is no polynomial in counters and sizes";
    if (access->arg_count != 1 || !poly_of(access->args[0], flat))
        return false;
    for (; symbol->kind == NEST_POINTER; symbol = symbol->base) {
        struct poly offset;
        if (symbol->offset && (!poly_of(symbol->offset, &offset) || !poly_add(flat, &offset, 1)))
            return false;
    }
    *array = symbol;
    return true;
}

static bool subscripts_as_written(const struct nest_expr *access, struct poly *out, size_t *rank,
                                  const char **why)
{
    *why = "a subscript is no polynomial in counters and sizes";
    *rank = access->arg_count;
    for (size_t i = 0; i < access->arg_count; i++) {
        if (i == NEST_MAX_DIMENSIONS || !poly_of(access->args[i], &out[i]))
            return false;
    }
    return true;
}

bool nest_delinearize(const struct nest *nest, const struct nest_expr *access,
                      struct poly out[NEST_MAX_DIMENSIONS], size_t *rank,
                      const struct nest_symbol **array, const char **why)
{
    struct poly_term dimensions[TASK_MAX_RANK];
    struct poly flat;
    if (access->symbol->kind == NEST_ARRAY && (access->symbol->rank > 0 || access->arg_count > 1)) {
        *array = access->symbol;
        return subscripts_as_written(access, out, rank, why);
    }
    if (!nest_flatten(access, &flat, array, why) ||
        !dimensions_of(nest, *array, dimensions, rank, why))
        return false;
    for (size_t d = 0; d < *rank; d++) {
        struct poly_term stride = {.factor = 1};
        for (size_t i = d + 1; i < *rank; i++) {
            if (!multiply_terms(&stride, &dimensions[i], &stride)) {
                *why = "the strides of the array are too large";
                return false;
            }
        }
        if (!divide(&flat, &stride, &out[d])) {
            *why = "a subscript has too many terms";
            return false;
        }
    }
    return true;
}
