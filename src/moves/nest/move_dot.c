/* dot(i:6,j:64,p:4): sums over p of products of narrow integers, 6 rows by 64 columns at a time and
 * four rounds of p to a lane. What the columns read is packed for each panel of 64. */
#include "moves/nest/affine.h"
#include "moves/nest/dot.h"
#include "moves/nest/edit.h"
#include "moves/nest/move.h"
#include "moves/nest/vector_tile.h"

#include "base/buf.h"
#include "base/str.h"

#include <string.h>

enum { LEAST_PANEL_BYTES = 16384, MOST_PANEL_BYTES = 262144, MOST_SUMS = 64 };

/* An operand: its array, and by how much its subscript grows with each of the loops. */
struct operand {
    const struct nest_expr *access;
    struct dot_element element;
};

struct product {
    struct nest_edit *edit;
    const char **refusal;
    struct nest_stmt *rows, *columns, *sum; /* the loops */
    const struct nest_stmt *added;          /* the one statement of the sum */
    struct operand row, column;
    struct dot_shape shape;
};

/* --- what is there -----------------------------------------------------------------------------
 */

static enum dtype dtype_of(const struct nest_edit *edit, const char *type)
{
    const struct task *task = edit->nest->task;
    type = nest_plain_type(edit, type);
    if (str_equal(type, "real"))
        return task->dtype;
    if (str_equal(type, "real_acc"))
        return task->accumulate;
    if (str_equal(type, "int"))
        return DTYPE_I32;
    for (int d = 0; d < DTYPE_COUNT; d++) {
        if (str_equal(type, dtype_c_name((enum dtype)d)))
            return (enum dtype)d;
    }
    return DTYPE_COUNT;
}

static bool is_sum_type(const struct nest_edit *edit, const char *type)
{
    return dtype_of(edit, type) == DTYPE_I32 || str_equal(nest_plain_type(edit, type), "uint32_t");
}

/* Behind conversions to what sums are kept in, which change no value. */
static const struct nest_expr *behind_casts(const struct nest_edit *edit,
                                            const struct nest_expr *expr)
{
    while ((expr->kind == NEST_CAST && is_sum_type(edit, expr->text)) ||
           (expr->kind == NEST_CALL && str_equal(expr->text, "real_load") &&
            is_sum_type(edit, "real_acc")))
        expr = expr->args[0];
    return expr;
}

static bool read_operand(const struct product *p, const struct nest_expr *expr, struct operand *out)
{
    const struct nest_expr *access = behind_casts(p->edit, expr);
    if (access->kind != NEST_ACCESS || access->symbol->kind != NEST_ARRAY || access->arg_count != 1)
        return nest_refuse(p->edit, p->refusal,
                           "loop '%s' does not add products of elements of two arrays",
                           p->sum->name);
    const enum dtype dtype = dtype_of(p->edit, access->symbol->type);
    if (dtype != DTYPE_I8 && dtype != DTYPE_U8 && dtype != DTYPE_I16)
        return nest_refuse(p->edit, p->refusal, "'%s' does not hold int8, uint8 or int16",
                           access->symbol->name);
    *out = (struct operand){
        .access = access,
        .element = {.bits = dtype == DTYPE_I16 ? 16 : 8, .is_signed = dtype != DTYPE_U8}};
    return true;
}

/* "sum += x[...] * y[...]", or "sum = sum + ..."; NULL. */
static const struct nest_expr *product_of(const struct nest_stmt *s)
{
    if (!s || s->next || s->kind != NEST_ASSIGN)
        return NULL;
    const struct nest_expr *value = s->value;
    if (str_equal(s->op, "=") && value->kind == NEST_BINARY && str_equal(value->text, "+") &&
        nest_expr_same(value->args[0], s->target))
        value = value->args[1];
    else if (!str_equal(s->op, "+="))
        return NULL;
    return value->kind == NEST_BINARY && str_equal(value->text, "*") ? value : NULL;
}

static bool find_sum(struct product *p)
{
    struct nest_edit *edit = p->edit;
    const struct nest_expr *product = product_of(p->sum->body);
    if (nest_only_loop(p->rows) != p->columns || nest_parent(edit->nest, p->sum) != p->columns)
        return nest_refuse(edit, p->refusal, "loop '%s' is not all of loop '%s', or '%s' not in it",
                           p->columns->name, p->rows->name, p->sum->name);
    if (!product || nest_expr_uses(p->sum->body->target, p->sum->symbol))
        return nest_refuse(edit, p->refusal, "loop '%s' does not add products into one place",
                           p->sum->name);
    p->added = p->sum->body;
    const struct nest_symbol *into = p->added->target->symbol;
    if (!into || !is_sum_type(edit, into->type))
        return nest_refuse(edit, p->refusal, "loop '%s' does not add in 32 bits", p->sum->name);
    return read_operand(p, product->args[0], &p->row) &&
           read_operand(p, product->args[1], &p->column);
}

/* The operand that the columns read is the one with their counter. */
static bool find_sides(struct product *p)
{
    if (nest_expr_uses(p->row.access, p->columns->symbol)) {
        const struct operand row = p->row;
        p->row = p->column;
        p->column = row;
    }
    if (nest_expr_uses(p->row.access, p->columns->symbol) ||
        nest_expr_uses(p->column.access, p->rows->symbol))
        return nest_refuse(p->edit, p->refusal,
                           "the products are not of what differs by '%s' alone and what differs by "
                           "'%s' alone",
                           p->rows->name, p->columns->name);
    return true;
}

static bool check_loop(const struct product *p, const struct nest_stmt *loop)
{
    if (loop->pragma)
        return nest_refuse(p->edit, p->refusal, "loop '%s' has a pragma", loop->name);
    if (!nest_counts_upward(p->edit, loop, p->refusal))
        return false;
    if (loop->step != 1 || !nest_end(p->edit, loop))
        return nest_refuse(p->edit, p->refusal, "loop '%s' does not count up by 1", loop->name);
    if (!nest_has_fixed_bounds(p->edit->nest, loop) ||
        nest_expr_uses(loop->bound, p->rows->symbol) ||
        nest_expr_uses(loop->from, p->rows->symbol) ||
        nest_expr_uses(loop->bound, p->columns->symbol) ||
        nest_expr_uses(loop->from, p->columns->symbol))
        return nest_refuse(p->edit, p->refusal, "the bounds of loop '%s' change inside '%s'",
                           loop->name, p->rows->name);
    if (nest_list_declares_any(p->rows->body, loop->from) ||
        nest_list_declares_any(p->rows->body, loop->bound))
        return nest_refuse(p->edit, p->refusal, "a bound of loop '%s' is declared inside '%s'",
                           loop->name, p->rows->name);
    return true;
}

static bool is_read_only(void *context, const struct nest_expr *expr, bool is_target)
{
    const struct product *p = context;
    const bool is_operand = expr->symbol && (expr->symbol == p->row.access->symbol ||
                                             expr->symbol == p->column.access->symbol);
    return !is_operand || (!is_target && expr->kind == NEST_ACCESS);
}

static bool reads_only(void *context, struct nest_stmt *stmt, int depth)
{
    (void)depth;
    return stmt->kind != NEST_OPAQUE &&
           (stmt->kind != NEST_DECLARE || stmt->symbol->kind != NEST_POINTER) &&
           nest_walk_exprs(stmt, is_read_only, context);
}

/* Both arrays are as they were in front of the rows until the last of them is through. */
static bool are_read_only(struct product *p)
{
    return nest_walk(p->rows->body, reads_only, p) &&
           !nest_list_points_into(p->rows->body, p->row.access->symbol) &&
           !nest_list_points_into(p->rows->body, p->column.access->symbol);
}

/* What stands beside the loop's counter in a term: the same in every round of all three loops; NULL
 * where it is not. */
static const struct nest_expr *factor_of(const struct product *p, const struct poly_term *term,
                                         const struct nest_stmt *loop)
{
    const struct nest_expr *factor = nest_number(p->edit, term->factor);
    size_t uses = 0;
    for (size_t s = 0; s < term->degree; s++) {
        const struct nest_symbol *symbol = term->symbols[s];
        if (symbol == loop->symbol) {
            uses++;
            continue;
        }
        if (symbol == p->rows->symbol || symbol == p->columns->symbol || symbol == p->sum->symbol)
            return NULL;
        factor = nest_index(p->edit, "*", factor, nest_name(p->edit, symbol));
    }
    return uses == 1 ? factor : NULL;
}

static bool is_in(const struct poly_term *term, const struct nest_symbol *symbol)
{
    for (size_t s = 0; s < term->degree; s++) {
        if (term->symbols[s] == symbol)
            return true;
    }
    return false;
}

/* Nothing in the term is made or changed in the loops, and its factors can be negative; else false,
 * with the refusal where that says more than that elements are not the same distance apart. */
static bool is_known(const struct product *p, const struct poly_term *term)
{
    for (size_t s = 0; s < term->degree; s++) {
        const struct nest_symbol *symbol = term->symbols[s];
        if (symbol->kind == NEST_POINTER || nest_list_declares(p->rows->body, symbol) ||
            nest_list_assigns(p->rows->body, symbol))
            return false;
        if (symbol->kind != NEST_COUNTER && nest_type_wraps(symbol->type))
            return nest_refuse(p->edit, p->refusal,
                               "'%s' has 32 bits without a sign: how far elements of a loop are "
                               "apart may be less than 0",
                               symbol->name);
    }
    return true;
}

/* By how much the subscript grows with a round of the loop, as an expression; NULL where that
 * changes. */
static const struct nest_expr *stride_of(const struct product *p, const struct nest_expr *access,
                                         const struct nest_stmt *loop)
{
    struct poly poly;
    const struct nest_expr *stride = NULL;
    if (!poly_of(access->args[0], &poly))
        return NULL;
    for (size_t t = 0; t < poly.count; t++) {
        if (!is_known(p, &poly.terms[t]))
            return NULL;
        if (!is_in(&poly.terms[t], loop->symbol))
            continue;
        const struct nest_expr *factor = factor_of(p, &poly.terms[t], loop);
        if (!factor)
            return NULL;
        stride = stride ? nest_index(p->edit, "+", stride, factor) : factor;
    }
    return stride ? stride : nest_number(p->edit, 0);
}

static bool check_access(const struct product *p, const struct nest_expr *access,
                         const struct nest_stmt *loop)
{
    *p->refusal = NULL;
    if (stride_of(p, access, loop) && stride_of(p, access, p->sum))
        return true;
    return *p->refusal ? false
                       : nest_refuse(p->edit, p->refusal,
                                     "elements of '%s' are not the same distance apart in every "
                                     "round",
                                     access->symbol->name);
}

/* --- what is made of it ------------------------------------------------------------------------
 */

/* "&x[...], step, next": the element of the first rounds, how far the next round's is from it and
 * the next column's; of a row the other way around. */
static void print_operand(const struct product *p, const struct nest_expr *access,
                          const struct nest_stmt *loop, bool is_row, struct buf *out)
{
    const struct nest_expr *strides[2] = {stride_of(p, access, p->sum), stride_of(p, access, loop)};
    access = nest_replace(p->edit, access, loop->symbol, loop->from);
    access = nest_replace(p->edit, access, p->sum->symbol, p->sum->from);
    (void)buf_append_char(out, '&');
    nest_print_expr(access, out);
    for (int i = 0; i < 2; i++) {
        (void)buf_append_str(out, ", ");
        nest_print_expr(strides[is_row ? 1 - i : i], out);
    }
    (void)buf_append_str(out, ", ");
}

static struct nest_stmt *declare(const struct product *p, const char *name, const char *type,
                                 int64_t elements)
{
    struct nest_stmt *stmt = nest_new_stmt(p->edit, NEST_DECLARE, p->rows->line);
    stmt->symbol = nest_new_symbol(p->edit, NEST_ARRAY, name,
                                   arena_printf(p->edit->arena, "_Alignas(64) %s", type));
    stmt->symbol->dimensions[stmt->symbol->rank++] = nest_number(p->edit, elements);
    stmt->symbol->is_written = true;
    return stmt;
}

static struct nest_stmt *call_of(const struct product *p, const struct buf *text)
{
    struct nest_stmt *stmt = nest_new_stmt(p->edit, NEST_OPAQUE, p->rows->line);
    stmt->text = arena_strdup(p->edit->arena, buf_text(text));
    stmt->reason = "products of narrow integers, several to a lane";
    return stmt;
}

/* "end - begin", as text behind what is there. */
static void print_count(const struct product *p, const struct nest_stmt *loop, struct buf *out)
{
    nest_print_expr(nest_index(p->edit, "-", nest_end(p->edit, loop), loop->from), out);
}

/* The products of a tile in place of the loop that adds them: "sum = (T)((uint32_t)sum +
 * sum_dot[...])", which wraps around as it does in the lanes: what fits in the end is exact. */
static void use_sums(const struct product *p, const struct nest_symbol *sums)
{
    struct nest_edit *edit = p->edit;
    const struct nest_stmt *s = p->added;
    const struct nest_expr *at = nest_index(
        edit, "+",
        nest_index(edit, "*",
                   nest_index(edit, "-", nest_name(edit, p->rows->symbol), p->rows->from),
                   nest_number(edit, dot_columns(&p->shape))),
        nest_index(edit, "-", nest_name(edit, p->columns->symbol), p->columns->from));
    struct nest_expr *wide = arena_alloc(edit->arena, sizeof *wide);
    *wide = (struct nest_expr){
        .kind = NEST_CAST, .text = "uint32_t", .args = {s->target}, .arg_count = 1};
    struct nest_expr *back = arena_alloc(edit->arena, sizeof *back);
    *back =
        (struct nest_expr){.kind = NEST_CAST,
                           .text = nest_plain_type(edit, s->target->symbol->type),
                           .args = {nest_binary(edit, "+", wide, nest_access(edit, sums, &at, 1))},
                           .arg_count = 1};
    struct nest_stmt *added = nest_assign(edit, s->target, "=", back, s->line);
    added->next = p->sum->next;
    *nest_link(edit->nest, p->sum) = added;
}

/* The loops where there is a row that reads a panel and room for what is in it, and as they were
 * elsewhere. */
static struct nest_stmt *add_branch(const struct product *p)
{
    struct nest_edit *edit = p->edit;
    struct nest_stmt **link = nest_link(edit->nest, p->rows);
    struct nest_stmt *branch = nest_new_stmt(edit, NEST_IF, p->rows->line);
    const struct nest_expr *rounds = nest_index(edit, "-", nest_end(edit, p->sum), p->sum->from);
    /* Sums of no rounds, or of less than none, have nothing to pack. */
    const struct nest_expr *has_rows =
        nest_binary(edit, "<", p->rows->from, nest_end(edit, p->rows));
    const struct nest_expr *has_rounds =
        nest_binary(edit, "<", p->sum->from, nest_end(edit, p->sum));
    branch->value =
        nest_binary(edit, "&&", nest_binary(edit, "&&", has_rows, has_rounds),
                    nest_binary(edit, "<=", rounds, nest_number(edit, p->shape.most_rounds)));
    branch->next = p->rows->next;
    p->rows->next = NULL;
    branch->otherwise = nest_copy_list(edit, p->rows);
    branch->body = p->rows;
    *link = branch;
    return branch;
}

/* The panel and what fills it: "T b_panel[...]; dot_pack(b_panel, ...);". */
static struct nest_stmt *make_panel(const struct product *p, const struct nest_symbol **panel)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct arena *arena = p->edit->arena;
    struct nest_stmt *declared =
        declare(p, arena_printf(arena, "%s_panel", p->column.access->symbol->name),
                dot_panel_type(&p->shape), dot_panel_elements(&p->shape));
    *panel = declared->symbol;
    (void)buf_printf(&text, "%s(%s, ", dot_pack_name(&p->shape, arena), declared->symbol->name);
    print_operand(p, p->column.access, p->columns, false, &text);
    print_count(p, p->sum, &text);
    (void)buf_append_str(&text, ", ");
    print_count(p, p->columns, &text);
    (void)buf_append_str(&text, ");");
    declared->next = call_of(p, &text);
    return declared;
}

/* The sums of a tile: "uint32_t sum_sums[...]; dot_tile(sum_sums, ...);". */
static struct nest_stmt *make_tile(const struct product *p, const struct nest_symbol *panel)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct arena *arena = p->edit->arena;
    struct nest_stmt *declared =
        declare(p, arena_printf(arena, "%s_sums", p->added->target->symbol->name), "uint32_t",
                p->shape.rows * dot_columns(&p->shape));
    (void)buf_printf(&text, "%s(%s, ", dot_tile_name(&p->shape, arena), declared->symbol->name);
    print_operand(p, p->row.access, p->rows, true, &text);
    print_count(p, p->rows, &text);
    (void)buf_printf(&text, ", %s, ", panel->name);
    print_count(p, p->sum, &text);
    (void)buf_append_str(&text, ", ");
    print_count(p, p->columns, &text);
    (void)buf_append_str(&text, ");");
    declared->next = call_of(p, &text);
    return declared;
}

/* for j_s { panel of columns; for i_s { sums of a tile; for i for j what is made of them } } */
static bool rewrite(struct product *p)
{
    struct nest_edit *edit = p->edit;
    const struct nest_symbol *panel = NULL;
    struct nest_stmt *branch = add_branch(p);
    struct nest_stmt *row_strips = nest_strip(edit, p->rows, p->shape.rows, p->refusal);
    struct nest_stmt *strips =
        row_strips ? nest_strip(edit, p->columns, dot_columns(&p->shape), p->refusal) : NULL;
    if (!strips)
        return false;
    p->rows->body = p->columns; /* the strips of columns go around those of rows */
    branch->body = strips;
    struct nest_stmt *packed = make_panel(p, &panel);
    struct nest_stmt *summed = make_tile(p, panel);
    use_sums(p, summed->symbol);
    strips->body = nest_append(packed, row_strips);
    row_strips->body = nest_append(summed, p->rows);
    dot_need(edit, &p->shape);
    return true;
}

/* --- the step ----------------------------------------------------------------------------------
 */

/* Does the machine multiply bytes in groups of four? It is not known: the text says it all. */
static bool has_byte_products(const struct nest_target *target)
{
    return !target->isa || strstr(target->isa, "avx512_vnni") || strstr(target->isa, "avx_vnni");
}

static bool check_group(const struct product *p)
{
    const struct dot_shape *shape = &p->shape;
    if (shape->group != 2 && shape->group != 4)
        return nest_refuse(p->edit, p->refusal, "a lane adds groups of 2 or 4 rounds of '%s'",
                           p->sum->name);
    if (shape->group == 2)
        return true;
    if (p->row.element.bits != 8 || p->column.element.bits != 8)
        return nest_refuse(p->edit, p->refusal, "groups of 4 are of bytes: take 2");
    if (!p->row.element.is_signed && !p->column.element.is_signed)
        return nest_refuse(p->edit, p->refusal,
                           "groups of 4 need an operand with a sign, and '%s' and '%s' have none: "
                           "take 2",
                           p->row.access->symbol->name, p->column.access->symbol->name);
    return has_byte_products(&p->edit->target) ||
           nest_refuse(p->edit, p->refusal,
                       "the machine has no products of bytes in groups of 4: take 2");
}

static bool set_shape(struct product *p, int64_t rows, int64_t columns, int64_t group)
{
    struct dot_shape *shape = &p->shape;
    const int64_t bytes = p->edit->target.vector_bytes;
    if (bytes < 16)
        return nest_refuse(p->edit, p->refusal, "the target has no vectors that are known");
    *shape = (struct dot_shape){.vector_bytes = bytes,
                                .lanes = bytes / 4,
                                .rows = rows,
                                .group = group,
                                .row = p->row.element,
                                .packed = p->column.element};
    shape->vectors = columns / shape->lanes;
    if (columns % shape->lanes != 0)
        return nest_refuse(p->edit, p->refusal,
                           "a vector has %lld sums here, which do not divide %lld",
                           (long long)shape->lanes, (long long)columns);
    if (rows * shape->vectors > MOST_SUMS)
        return nest_refuse(p->edit, p->refusal, "more than %d vectors of sums", MOST_SUMS);
    const int64_t cache = p->edit->target.cache_bytes[1] / 4;
    const int64_t most = cache < LEAST_PANEL_BYTES  ? LEAST_PANEL_BYTES
                         : cache > MOST_PANEL_BYTES ? MOST_PANEL_BYTES
                                                    : cache;
    shape->most_rounds = most / (columns * (group == 4 ? 1 : 2)) / 4 * 4;
    return shape->most_rounds > 0 ||
           nest_refuse(p->edit, p->refusal, "there is no room for so wide a panel");
}

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    struct product p = {.edit = edit, .refusal = refusal};
    int64_t sizes[3];
    struct nest_stmt **const loops[] = {&p.rows, &p.columns, &p.sum};
    if (!nest_step_count(edit, step, 3, 3, refusal))
        return false;
    for (size_t i = 0; i < 3; i++) {
        *loops[i] = nest_step_loop(edit, step, i, refusal);
        if (!*loops[i] || !nest_step_number(edit, step, i, i == 2 ? 2 : 1, &sizes[i], refusal))
            return false;
    }
    if (!edit->nest->task)
        return nest_refuse(edit, refusal, "there is no task that says what types are");
    if (!find_sum(&p) || !find_sides(&p) || !set_shape(&p, sizes[0], sizes[1], sizes[2]) ||
        !check_group(&p) || !check_loop(&p, p.rows) || !check_loop(&p, p.columns) ||
        !check_loop(&p, p.sum))
        return false;
    if (!are_read_only(&p))
        return nest_refuse(edit, refusal,
                           "loop '%s' does more with '%s' or '%s' than to read elements, or holds "
                           "what is not understood",
                           p.rows->name, p.row.access->symbol->name, p.column.access->symbol->name);
    return check_access(&p, p.row.access, p.rows) && check_access(&p, p.column.access, p.columns) &&
           vector_independent(edit, p.rows, refusal) &&
           vector_independent(edit, p.columns, refusal) && rewrite(&p);
}

const struct nest_move nest_move_dot = {
    .name = "dot",
    .group = "machine",
    .intent = "adds products of narrow integers several to a lane, in tiles of sums in registers",
    .parameters = "dot(ROWS:N,COLUMNS:N,SUM:GROUP); COLUMNS a multiple of the sums of a vector, "
                  "the product in vectors at most the registers; GROUP 4 for bytes where the "
                  "machine has such products and one operand has a sign, else 2",
    .precondition = "two loops directly in each other with independent rounds, and in them a loop "
                    "that adds products of int8, uint8 or int16 in 32 bits; one operand differs by "
                    "rows, the other by columns",
    .effect = "two or four products to a lane and instruction: 5 to 10 times over vectors of int32",
    .breaks = "packing costs, where there are few rows; code twice, for sums too long to pack",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
};
