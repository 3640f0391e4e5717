/* Statements of the C subset; what is not of it becomes an opaque statement. */
#include "moves/nest/edit.h"
#include "moves/nest/reader.h"
#include "moves/nest/taken.h"

#include "base/str.h"
#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool reader_fail(struct reader *r, const char *format, ...)
{
    char text[256];
    va_list list;
    if (r->why)
        return false;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    r->why = arena_strdup(r->arena, text);
    return false;
}

int reader_line(const struct reader *r, size_t at)
{
    int line = 1;
    const size_t end = at < r->tokens.count ? r->tokens.items[at].begin : strlen(r->tokens.text);
    for (size_t i = 0; i < end; i++)
        line += r->tokens.text[i] == '\n';
    return line;
}

bool reader_count(struct reader *r)
{
    return ++r->nodes <= NEST_MAX_NODES ||
           reader_fail(r, "more than %d expressions", NEST_MAX_NODES);
}

static struct nest_symbol *find_visible(const struct reader *r, const char *name)
{
    for (size_t i = r->visible_count; i-- > 0;) {
        if (str_equal(r->visible[i]->name, name))
            return r->visible[i];
    }
    return NULL;
}

struct nest_symbol *reader_find(struct reader *r, size_t at)
{
    struct nest_symbol *symbol = NULL;
    for (size_t i = r->visible_count; i-- > 0 && !symbol;) {
        if (token_is(&r->tokens, at, r->visible[i]->name))
            symbol = r->visible[i];
    }
    if (!symbol || !symbol->same)
        return symbol;
    struct nest_symbol *same = find_visible(r, symbol->same->name);
    if (same == symbol->same)
        return same;
    (void)reader_fail(r, "'%s' is the buffer of '%s', whose name is another thing's here",
                      symbol->name, symbol->same->name);
    return NULL;
}

struct nest_symbol *reader_declare(struct reader *r, enum nest_symbol_kind kind, const char *name,
                                   const char *type)
{
    struct nest *nest = r->nest;
    if (r->visible_count == NEST_MAX_VISIBLE) {
        (void)reader_fail(r, "more than %d names at once", NEST_MAX_VISIBLE);
        return NULL;
    }
    struct nest_symbol *symbol = arena_alloc(r->arena, sizeof *symbol);
    *symbol = (struct nest_symbol){.kind = kind,
                                   .name = name,
                                   .type = type,
                                   .is_integer = type_is_integer(type),
                                   .argument = -1};
    nest->symbols = vec_reserve_one(nest->symbols, nest->symbol_count, &r->symbol_capacity,
                                    sizeof *nest->symbols);
    nest->symbols[nest->symbol_count++] = symbol;
    r->visible[r->visible_count++] = symbol;
    return symbol;
}

static struct nest_stmt *new_stmt(struct reader *r, enum nest_stmt_kind kind, size_t at)
{
    struct nest_stmt *stmt = arena_alloc(r->arena, sizeof *stmt);
    stmt->kind = kind;
    stmt->line = reader_line(r, at);
    return stmt;
}

static bool expect(struct reader *r, size_t *at, const char *text)
{
    if (!token_is(&r->tokens, *at, text))
        return reader_fail(r, "expected '%s' before '%s'", text,
                           *at < r->tokens.count ? token_text(&r->tokens, *at, r->arena) : "");
    (*at)++;
    return true;
}

/* --- declarations ------------------------------------------------------------------------------
 */

/* "float *p = x + i * n", "= &x[e]", "= x": a local pointer that stays where it is. */
static bool read_pointer(struct reader *r, size_t *at, const char *type, struct nest_stmt *stmt)
{
    const char *name = token_text(&r->tokens, *at, r->arena);
    const struct nest_expr *value = NULL;
    (*at)++;
    if (!expect(r, at, "="))
        return false;
    const bool has_address = token_is(&r->tokens, *at, "&");
    *at += has_address;
    if (!read_expr(r, at, &value))
        return false;
    const struct nest_symbol *base = NULL;
    const struct nest_expr *offset = NULL;
    if (has_address && value->kind == NEST_ACCESS && value->arg_count == 1) {
        base = value->symbol;
        offset = value->args[0];
    } else if (!has_address && value->kind == NEST_NAME) {
        base = value->symbol;
    } else if (!has_address && value->kind == NEST_BINARY && str_equal(value->text, "+") &&
               value->args[0]->kind == NEST_NAME) {
        base = value->args[0]->symbol;
        offset = value->args[1];
    }
    if (!base || (base->kind != NEST_ARRAY && base->kind != NEST_POINTER))
        return reader_fail(r, "pointer '%s' does not begin in an array by a plain sum", name);
    stmt->symbol = reader_declare(r, NEST_POINTER, name, type);
    if (!stmt->symbol)
        return false;
    stmt->symbol->base = base;
    stmt->symbol->offset = offset;
    stmt->value = value;
    stmt->op = has_address ? "&" : "";
    return true;
}

static bool read_dimensions(struct reader *r, size_t *at, struct nest_symbol *symbol)
{
    while (token_is(&r->tokens, *at, "[")) {
        const size_t close = r->tokens.items[*at].match;
        (*at)++;
        if (symbol->rank == NEST_MAX_DIMENSIONS)
            return reader_fail(r, "array '%s' has too many dimensions", symbol->name);
        if (!read_expr(r, at, &symbol->dimensions[symbol->rank++]))
            return false;
        if (*at != close)
            return reader_fail(r, "the size of array '%s' is not understood", symbol->name);
        *at = close + 1;
    }
    return true;
}

/* One declarator; `*at` is left at the ',' or ';'. */
static bool read_declarator(struct reader *r, size_t *at, const char *type, struct nest_stmt *stmt)
{
    if (token_is(&r->tokens, *at, "*")) {
        (*at)++;
        while (token_is(&r->tokens, *at, "restrict") || token_is(&r->tokens, *at, "const"))
            (*at)++;
        return read_pointer(r, at, type, stmt);
    }
    if (!token_is_identifier(&r->tokens, *at))
        return reader_fail(r, "a declaration that is not understood");
    const char *name = token_text(&r->tokens, *at, r->arena);
    (*at)++;
    if (token_is(&r->tokens, *at, "[")) {
        stmt->symbol = reader_declare(r, NEST_ARRAY, name, type);
        if (!stmt->symbol || !read_dimensions(r, at, stmt->symbol))
            return false;
        return !token_is(&r->tokens, *at, "=") ||
               reader_fail(r, "array '%s' has an initialiser", name);
    }
    if (token_is(&r->tokens, *at, "=")) {
        (*at)++;
        if (!read_expr(r, at, &stmt->value)) /* before the name is in scope */
            return false;
    }
    stmt->symbol = reader_declare(r, NEST_SCALAR, name, type);
    return stmt->symbol != NULL;
}

static bool read_declaration(struct reader *r, size_t *at, const char *type,
                             struct nest_stmt **first)
{
    struct nest_stmt **tail = first;
    for (;;) {
        struct nest_stmt *stmt = new_stmt(r, NEST_DECLARE, *at);
        if (!read_declarator(r, at, type, stmt))
            return false;
        *tail = stmt;
        tail = &stmt->next;
        if (!token_is(&r->tokens, *at, ","))
            return expect(r, at, ";");
        (*at)++;
    }
}

/* --- assignments -------------------------------------------------------------------------------
 */

static const struct nest_expr *number_one(struct reader *r)
{
    struct nest_expr *one = arena_alloc(r->arena, sizeof *one);
    one->kind = NEST_NUMBER;
    one->text = "1";
    return one;
}

static bool mark_written(struct reader *r, const struct nest_expr *target)
{
    const bool is_vector =
        target->kind == NEST_CALL && str_equal(target->text, "vreal_at") && target->arg_count == 2;
    if (is_vector)
        target = target->args[0];
    if (target->kind != NEST_NAME && target->kind != NEST_ACCESS)
        return reader_fail(r, "what is assigned to is no variable and no element");
    /* The symbols are the reader's own; only their users see them as constant. */
    struct nest_symbol *symbol = NULL;
    for (size_t i = 0; i < r->nest->symbol_count && !symbol; i++)
        symbol = r->nest->symbols[i] == target->symbol ? r->nest->symbols[i] : NULL;
    if (!symbol)
        BUG("nest: a symbol that was never declared");
    if (!is_vector && target->kind == NEST_NAME && symbol->kind != NEST_SCALAR)
        return reader_fail(r,
                           symbol->kind == NEST_COUNTER
                               ? "the counter '%s' is assigned in its loop"
                               : "'%s' is assigned, which only a variable can be",
                           symbol->name);
    symbol->is_written = true;
    for (const struct nest_symbol *base = symbol->base; base; base = base->base) {
        for (size_t i = 0; i < r->nest->symbol_count; i++) {
            if (r->nest->symbols[i] == base)
                r->nest->symbols[i]->is_written = true;
        }
    }
    return true;
}

/* `target op value`, `target++`, `++target`; without the ';'. */
static bool read_assignment(struct reader *r, size_t *at, struct nest_stmt *stmt)
{
    static const char *const operators[] = {
        "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", NULL};
    const bool before = token_is(&r->tokens, *at, "++") || token_is(&r->tokens, *at, "--");
    const char *step = before ? (token_is(&r->tokens, *at, "++") ? "+=" : "-=") : NULL;
    *at += before;
    if (!read_expr(r, at, &stmt->target))
        return false;
    if (!before && (token_is(&r->tokens, *at, "++") || token_is(&r->tokens, *at, "--"))) {
        step = token_is(&r->tokens, *at, "++") ? "+=" : "-=";
        (*at)++;
    }
    if (step) {
        stmt->op = step;
        stmt->value = number_one(r);
        return mark_written(r, stmt->target);
    }
    for (size_t i = 0; operators[i]; i++) {
        if (!token_is(&r->tokens, *at, operators[i]))
            continue;
        stmt->op = operators[i];
        (*at)++;
        return read_expr(r, at, &stmt->value) && mark_written(r, stmt->target);
    }
    return reader_fail(r, "a statement that is no assignment");
}

/* --- loops -------------------------------------------------------------------------------------
 */

static bool read_statement(struct reader *r, size_t *at, struct nest_stmt **out);

static bool same_name(const struct nest_expr *expr, const struct nest_symbol *symbol)
{
    return expr->kind == NEST_NAME && expr->symbol == symbol;
}

/* "i++", "++i", "i += 4", "i--", "i -= 2". */
static bool read_step(struct reader *r, size_t *at, struct nest_symbol *counter,
                      struct nest_stmt *loop)
{
    struct nest_stmt step = {0};
    int64_t by = 0;
    counter->kind = NEST_SCALAR; /* here it may be assigned */
    const bool ok = read_assignment(r, at, &step);
    counter->kind = NEST_COUNTER;
    counter->is_written = false;
    if (!ok)
        return false;
    if (!same_name(step.target, counter) || step.value->kind != NEST_NUMBER ||
        !str_parse_int64(step.value->text, &by) || by <= 0 || by > INT32_MAX ||
        (!str_equal(step.op, "+=") && !str_equal(step.op, "-=")))
        return reader_fail(r, "a loop whose step is no number");
    loop->step = str_equal(step.op, "+=") ? by : -by;
    return true;
}

/* "n * m;": no operator that binds less than the relation in front of it, which would take the
 * relation as its operand. */
static bool read_bound(struct reader *r, size_t *at, struct nest_stmt *loop)
{
    if (!read_relation_side(r, at, &loop->bound))
        return false;
    if (!token_is(&r->tokens, *at, ";"))
        return reader_fail(r, "a loop whose condition is more than one comparison");
    if (nest_expr_uses(loop->bound, loop->symbol))
        return reader_fail(r, "a loop whose bound uses its own counter '%s'", loop->symbol->name);
    (*at)++;
    return true;
}

/* `for (TYPE v = from; v < bound; v++)` up to and with the ')'. */
static bool read_head(struct reader *r, size_t *at, struct nest_stmt *loop)
{
    static const char *const relations[] = {"<", "<=", ">", ">=", NULL};
    const char *type = NULL;
    const size_t open = *at + 1;
    if (!token_is(&r->tokens, open, "("))
        return reader_fail(r, "a for without its head");
    *at = open + 1;
    if (!read_type(r, at, &type) || !token_is_identifier(&r->tokens, *at))
        return reader_fail(r, "a loop that does not declare its counter");
    if (!type_is_integer(type))
        return reader_fail(r, "a loop whose counter is no integer");
    const char *name = token_text(&r->tokens, *at, r->arena);
    (*at)++;
    if (!expect(r, at, "=") || !read_expr(r, at, &loop->from) || !expect(r, at, ";"))
        return false;
    loop->symbol = reader_declare(r, NEST_COUNTER, name, type);
    if (!loop->symbol)
        return false;
    if (reader_find(r, *at) != loop->symbol)
        return reader_fail(r, "a loop whose condition does not begin with its counter");
    (*at)++;
    for (size_t i = 0; relations[i] && !loop->op; i++)
        loop->op = token_is(&r->tokens, *at, relations[i]) ? relations[i] : NULL;
    if (!loop->op)
        return reader_fail(r, "a loop whose condition is not <, <=, > or >=");
    (*at)++;
    if (!read_bound(r, at, loop) || !read_step(r, at, loop->symbol, loop))
        return false;
    if ((loop->step > 0) != (loop->op[0] == '<'))
        return reader_fail(r, "a loop that runs away from its bound");
    return expect(r, at, ")");
}

struct bound_check {
    const struct nest_stmt *body;
    const struct nest_symbol *changed;
};

/* Assigned to, an element of an array by any name too. */
static bool changes(const struct nest_stmt *first, const struct nest_symbol *base)
{
    for (const struct nest_stmt *s = first; s; s = s->next) {
        const struct nest_expr *target = s->kind == NEST_ASSIGN ? s->target : NULL;
        if (target && target->kind == NEST_CALL) /* "vreal_at(x, i) = ..." */
            target = target->args[0];
        if ((target && nest_base_of(target->symbol) == base) || changes(s->body, base) ||
            changes(s->otherwise, base))
            return true;
    }
    return false;
}

static bool check_bound_name(void *context, const struct nest_expr *expr, bool is_target)
{
    struct bound_check *check = context;
    (void)is_target;
    if ((expr->kind == NEST_NAME || expr->kind == NEST_ACCESS) &&
        changes(check->body, nest_base_of(expr->symbol)))
        check->changed = expr->symbol;
    return check->changed == NULL;
}

/* The number of rounds is fixed when the loop begins. */
static bool check_bound(struct reader *r, const struct nest_stmt *loop)
{
    struct bound_check check = {.body = loop->body};
    const struct nest_stmt bound = {.kind = NEST_IF, .value = loop->bound};
    (void)nest_walk_exprs(&bound, check_bound_name, &check);
    return !check.changed ||
           reader_fail(r, "a loop whose bound '%s' changes in its body", check.changed->name);
}

static bool read_loop(struct reader *r, size_t *at, struct nest_stmt **out)
{
    struct nest_stmt *loop = new_stmt(r, NEST_FOR, *at);
    const size_t outside = r->visible_count;
    if (!read_head(r, at, loop) || !read_statement(r, at, &loop->body))
        return false;
    r->visible_count = outside;
    if (!check_bound(r, loop))
        return false;
    *out = loop;
    return true;
}

/* --- other statements --------------------------------------------------------------------------
 */

static bool read_if(struct reader *r, size_t *at, struct nest_stmt **out)
{
    struct nest_stmt *stmt = new_stmt(r, NEST_IF, *at);
    (*at)++;
    if (!expect(r, at, "(") || !read_expr(r, at, &stmt->value) || !expect(r, at, ")") ||
        !read_statement(r, at, &stmt->body))
        return false;
    if (token_is(&r->tokens, *at, "else")) {
        (*at)++;
        if (!read_statement(r, at, &stmt->otherwise))
            return false;
    }
    *out = stmt;
    return true;
}

/* Statements up to `close`; each is understood or opaque. */
static struct nest_stmt *read_list(struct reader *r, size_t at, size_t close)
{
    struct nest_stmt *first = NULL;
    struct nest_stmt **tail = &first;
    while (at < close) {
        struct nest_stmt *stmt = NULL;
        if (token_is(&r->tokens, at, ";")) {
            at++;
            continue;
        }
        (void)read_statement(r, &at, &stmt);
        while (stmt) {
            *tail = stmt;
            tail = &stmt->next;
            stmt = stmt->next;
        }
    }
    return first;
}

static bool read_block(struct reader *r, size_t *at, struct nest_stmt **out)
{
    struct nest_stmt *block = new_stmt(r, NEST_BLOCK, *at);
    const size_t outside = r->visible_count;
    const size_t close = r->tokens.items[*at].match;
    block->body = read_list(r, *at + 1, close);
    r->visible_count = outside;
    *at = close + 1;
    *out = block;
    return true;
}

/* An OpenMP pragma belongs to the loop behind it. */
static bool read_directive(struct reader *r, size_t *at, struct nest_stmt **out)
{
    const char *text = token_text(&r->tokens, *at, r->arena);
    if (!str_starts_with(text, "#pragma omp ") || !token_is(&r->tokens, *at + 1, "for"))
        return reader_fail(r, "a directive");
    (*at)++;
    if (!read_loop(r, at, out))
        return false;
    (*out)->pragma = text;
    return true;
}

/* Statements that begin with what no nest has: false with what would be understood instead. */
static bool check_words(struct reader *r, size_t at)
{
    static const struct {
        const char *word, *instead;
    } words[] = {
        {"while", "a 'for' that counts by a number would be"},
        {"do", "a 'for' that counts by a number would be"},
        {"switch", "'if' would be"},
        {"goto", "loops and 'if' would be"},
        {"break", "a loop that runs to its end would be"},
        {"continue", "an 'if' around the rest of the body would be"},
        {"return", "an 'if' around the rest of the function would be"},
        {"static", "a constant of the file would be"},
        {"struct", "plain variables and arrays would be"},
        {"union", "plain variables and arrays would be"},
        {"volatile", "plain variables and arrays would be"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (token_is(&r->tokens, at, words[i].word))
            return reader_fail(r, "'%s' is not understood: %s", words[i].word, words[i].instead);
    }
    if (r->tokens.items[at].kind == TOKEN_IDENTIFIER && token_is(&r->tokens, at + 1, ":"))
        return reader_fail(r, "a label is not understood: loops and 'if' would be");
    return true;
}

static bool read_understood(struct reader *r, size_t *at, struct nest_stmt **out)
{
    const char *type = NULL;
    if (r->tokens.items[*at].kind == TOKEN_DIRECTIVE)
        return read_directive(r, at, out);
    if (token_is(&r->tokens, *at, "{"))
        return read_block(r, at, out);
    if (token_is(&r->tokens, *at, "for"))
        return read_loop(r, at, out);
    if (token_is(&r->tokens, *at, "if"))
        return read_if(r, at, out);
    if (!check_words(r, *at))
        return false;
    if (read_type(r, at, &type))
        return read_declaration(r, at, type, out);
    struct nest_stmt *stmt = new_stmt(r, NEST_ASSIGN, *at);
    if (!read_assignment(r, at, stmt) || !expect(r, at, ";"))
        return false;
    *out = stmt;
    return true;
}

/* What it declares is not known afterwards, so that what uses it is opaque too. */
static struct nest_stmt *make_opaque(struct reader *r, size_t begin, size_t end)
{
    struct nest_stmt *stmt = new_stmt(r, NEST_OPAQUE, begin);
    stmt->text = token_range_text(&r->tokens, begin, end, r->arena);
    stmt->reason = r->why;
    return stmt;
}

static bool read_statement(struct reader *r, size_t *at, struct nest_stmt **out)
{
    const size_t begin = *at;
    const size_t visible = r->visible_count;
    const size_t symbols = r->nest->symbol_count;
    const int depth = r->depth;
    if (++r->depth <= NEST_MAX_DEPTH && read_understood(r, at, out)) {
        r->depth = depth;
        return true;
    }
    if (r->depth > NEST_MAX_DEPTH)
        (void)reader_fail(r, "statements are nested more than %d deep", NEST_MAX_DEPTH);
    r->depth = depth;
    r->visible_count = visible;
    r->nest->symbol_count = symbols;
    const size_t end = source_statement_end(&r->tokens, begin);
    *at = end > begin ? end : begin + 1;
    *out = make_opaque(r, begin, *at);
    r->why = NULL;
    return true;
}

/* --- the file ----------------------------------------------------------------------------------
 */

/* What stands at a place of the entry point's signature: arguments, attributes, axes. */
static const char *name_at(const struct task *task, size_t place)
{
    if (place < task->arg_count)
        return task->args[place].name;
    place -= task->arg_count;
    if (place < task->attr_count)
        return task->attrs[place].name;
    place -= task->attr_count;
    return place < task->axis_count ? task->axes[place].name : NULL;
}

/* Parameters are the task's by their place: their names are the source's own. By their names where
 * there are more or fewer, which no call of the task fits. They are the symbols from `first` on. */
static void join_task(const struct reader *r, size_t first)
{
    const struct task *task = r->task;
    const size_t count = r->nest->symbol_count - first;
    const bool fits = task && count == task->arg_count + task->attr_count + task->axis_count;
    for (size_t place = 0; place < count; place++) {
        struct nest_symbol *symbol = r->nest->symbols[first + place];
        symbol->task_name = fits ? name_at(task, place) : symbol->name;
        for (size_t i = 0; task && i < task->arg_count && symbol->argument < 0; i++) {
            if (str_equal(task->args[i].name, symbol->task_name))
                symbol->argument = (int)i;
        }
    }
}

/* "const real *x" or "int64_t n", in [at, end). */
static bool read_parameter(struct reader *r, size_t at, size_t end)
{
    const char *type = NULL;
    if (!read_type(r, &at, &type))
        return reader_fail(r, "a parameter of the entry point is not understood");
    const bool is_pointer = token_is(&r->tokens, at, "*");
    while (at < end && (token_is(&r->tokens, at, "*") || token_is(&r->tokens, at, "restrict") ||
                        token_is(&r->tokens, at, "const")))
        at++;
    if (at + 1 != end || !token_is_identifier(&r->tokens, at))
        return reader_fail(r, "a parameter of the entry point is not understood");
    struct nest_symbol *symbol = reader_declare(r, is_pointer ? NEST_ARRAY : NEST_SCALAR,
                                                token_text(&r->tokens, at, r->arena), type);
    if (!symbol)
        return false;
    symbol->is_parameter = true;
    return true;
}

/* Inputs whose buffer an output has: by place, whatever the source calls them. The output stands
 * for both, because it may be written. Parameters are the symbols from `first` on. */
static bool join_shared(struct reader *r, size_t first)
{
    const struct task *task = r->task;
    struct nest_symbol **symbols = r->nest->symbols + first;
    const size_t count = r->nest->symbol_count - first;
    for (size_t i = 0; task && i < task->arg_count; i++) {
        if (!task->args[i].has_alias)
            continue;
        const size_t other = task->args[i].alias;
        if (i >= count || other >= count || symbols[i]->kind != NEST_ARRAY ||
            symbols[other]->kind != NEST_ARRAY)
            return reader_fail(r, "'%s' and '%s' are one buffer, but no two pointers here",
                               task->args[other].name, task->args[i].name);
        symbols[other]->same = symbols[i];
    }
    return true;
}

static bool read_parameters(struct reader *r, const struct definition *definition)
{
    const size_t first = r->nest->symbol_count;
    size_t begin = definition->open + 1;
    for (size_t at = begin; at <= definition->close; at++) {
        if (at != definition->close && !token_is(&r->tokens, at, ","))
            continue;
        if (!read_parameter(r, begin, at))
            return false;
        begin = at + 1;
    }
    join_task(r, first);
    return join_shared(r, first);
}

/* Enumerators, object-like macros and functions in front of the entry point. */
static bool read_prologue(struct reader *r, size_t end)
{
    for (size_t at = 0; at < end; at++) {
        if (token_is(&r->tokens, at, "enum")) {
            while (at < end && !token_is(&r->tokens, at, "{"))
                at++;
            const size_t close = at < end ? r->tokens.items[at].match : end;
            for (size_t i = at; i < close; i++) {
                const bool begins = token_is(&r->tokens, i, "{") || token_is(&r->tokens, i, ",");
                if (begins && token_is_identifier(&r->tokens, i + 1) &&
                    !reader_declare(r, NEST_CONSTANT, token_text(&r->tokens, i + 1, r->arena),
                                    "int"))
                    return false;
            }
            at = close;
        } else if (token_is(&r->tokens, at, "(")) {
            const size_t close = r->tokens.items[at].match;
            if (at > 0 && token_is_identifier(&r->tokens, at - 1) &&
                token_is(&r->tokens, close + 1, "{")) {
                if (!reader_declare(r, NEST_FUNCTION, token_text(&r->tokens, at - 1, r->arena),
                                    "real"))
                    return false;
                at = r->tokens.items[close + 1].match;
            } else {
                at = close;
            }
        } else if (r->tokens.items[at].kind == TOKEN_DIRECTIVE) {
            char name[64];
            const char *text = token_text(&r->tokens, at, r->arena);
            if (sscanf(text, "# define %63[A-Za-z0-9_]", name) == 1 &&
                strchr(" \t", text[(size_t)(strstr(text, name) - text) + strlen(name)]) &&
                !reader_declare(r, NEST_CONSTANT, arena_strdup(r->arena, name), "int"))
                return false;
        }
    }
    return true;
}

static bool count_statement(void *context, struct nest_stmt *stmt, int depth)
{
    struct nest *nest = context;
    (void)depth;
    nest->statement_count++;
    nest->opaque_count += stmt->kind == NEST_OPAQUE;
    nest->loop_count += stmt->kind == NEST_FOR;
    return true;
}

/* Loops have unique names: the counter's, or with a number from 2 behind it. */
struct loop_names {
    struct taken taken;
    struct arena *arena;
};

static bool name_loop(void *context, struct nest_stmt *stmt, int depth)
{
    struct loop_names *names = context;
    (void)depth;
    if (stmt->kind != NEST_FOR)
        return true;
    if (taken_has(&names->taken, stmt->symbol->name)) {
        stmt->name = taken_number(&names->taken, stmt->symbol->name, names->arena);
        return true;
    }
    stmt->name = arena_strdup(names->arena, stmt->symbol->name);
    taken_add(&names->taken, stmt->name);
    return true;
}

static void name_loops(const struct reader *r)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct loop_names names = {.taken = taken_begin(r->nest->loop_count, &scratch),
                               .arena = r->arena};
    (void)nest_walk(r->nest->body, name_loop, &names);
}

static bool read_file(struct reader *r, struct nest *nest, const char **why)
{
    struct definition definition;
    if (!source_find_definition(&r->tokens, r->task, &definition, why))
        return false;
    const struct token *items = r->tokens.items;
    nest->prologue = arena_strndup(r->arena, r->tokens.text, items[definition.first].begin);
    nest->epilogue = arena_strdup(r->arena, r->tokens.text + items[definition.body_close].end);
    nest->signature = arena_strndup(r->arena, r->tokens.text + items[definition.first].begin,
                                    items[definition.close].end - items[definition.first].begin);
    if (!read_prologue(r, definition.first) || !read_parameters(r, &definition)) {
        *why = r->why;
        return false;
    }
    nest->body = read_list(r, definition.body + 1, definition.body_close);
    (void)nest_walk(nest->body, count_statement, nest);
    name_loops(r);
    return true;
}

bool nest_read(const struct task *task, const char *source, struct arena *arena, struct nest **out,
               const char **why)
{
    struct nest *nest = arena_alloc(arena, sizeof *nest);
    struct reader r = {.task = task, .arena = arena, .nest = nest};
    nest->task = task;
    if (!lex(source, arena, &r.tokens, why))
        return false;
    const bool ok = read_file(&r, nest, why);
    struct nest_symbol **symbols = nest->symbols;
    nest->symbols =
        symbols ? arena_memdup(arena, symbols, nest->symbol_count * sizeof *symbols) : NULL;
    free(symbols);
    if (ok)
        *out = nest;
    return ok;
}
