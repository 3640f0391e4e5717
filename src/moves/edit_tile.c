#include "moves/clip.h"
#include "moves/edit.h"

#include "base/buf.h"

/* `for (j...) { TYPE acc = init; NEST finish }`, where the nest adds to acc and the finish stores
 * it. */
struct site {
    struct loop outer; /* over j */
    size_t type, acc, init,
        nest; /* acc's declaration; init is [init, nest - 1); the nest is one for statement */
    size_t finish, finish_end; /* what follows the nest in the body */
    struct loop inner; /* the deepest loop whose body holds every use of acc and j in the nest */
};

static bool refuse(const char **refusal, const char *why)
{
    *refusal = why;
    return false;
}

/* The parts of the body, by their form alone. */
static bool read_form(const struct tokens *tokens, struct site *site)
{
    const struct loop *outer = &site->outer;
    if (!token_is(tokens, outer->body, "{"))
        return false;
    site->type = outer->body + 1;
    size_t at = site->type;
    while (token_is_identifier(tokens, at))
        at++;
    if (at < site->type + 2 || !token_is(tokens, at, "=") || token_is(tokens, site->type, "const"))
        return false;
    site->acc = at - 1;
    site->init = at + 1;
    site->nest = source_statement_end(tokens, site->type);
    for (size_t i = site->init; i < site->nest; i++)
        if (token_is(tokens, i, ",") || token_is(tokens, i, "="))
            return false;
    if (!token_is(tokens, site->nest, "for"))
        return false;
    site->finish = source_statement_end(tokens, site->nest);
    site->finish_end = outer->body_end - 1;
    return site->finish < site->finish_end;
}

static size_t count_both(const struct tokens *tokens, const struct site *site, size_t begin,
                         size_t end)
{
    return token_count_uses(tokens, site->acc, begin, end) +
           token_count_uses(tokens, site->outer.var, begin, end);
}

/* The deepest loop of the nest that holds all that depends on j. */
static bool find_inner(const struct tokens *tokens, struct site *site)
{
    const size_t all = count_both(tokens, site, site->nest, site->finish);
    bool found = false;
    for (size_t i = site->nest; i < site->finish; i++) {
        struct loop loop;
        if (source_read_loop(tokens, i, &loop) &&
            count_both(tokens, site, loop.body, loop.body_end) == all) {
            site->inner = loop;
            found = true;
        }
    }
    return found && site->inner.is_innermost;
}

/* In the nest only acc and what its own turns declare is written; acc by += or -= alone. */
static bool check_nest(const struct tokens *tokens, const struct site *site, const char **refusal)
{
    struct write writes[SOURCE_MAX_WRITES];
    size_t count = 0, sums = 0;
    const struct loop *inner = &site->inner;
    if (!source_list_writes(tokens, site->nest, site->finish, writes, &count))
        return refuse(refusal, "the loop nest is too long");
    for (size_t i = 0; i < count; i++) {
        const struct write *w = &writes[i];
        if (w->kind == WRITE_DECLARATION)
            continue;
        if (w->kind != WRITE_SCALAR)
            return refuse(refusal, "the loop nest writes more than its sum");
        const bool is_inside = w->name >= inner->body && w->name < inner->body_end;
        if (token_same(tokens, w->name, site->acc)) {
            if (!token_is(tokens, w->operator, "+=") && !token_is(tokens, w->operator, "-="))
                return refuse(refusal, "the running value is no plain sum");
            sums++;
        } else if (is_inside ? !source_is_declared_in(tokens, w->name, inner->body, inner->body_end)
                             : !source_is_declared_in(tokens, w->name, site->nest, site->finish)) {
            return refuse(refusal, "the loop nest writes more than its sum");
        }
    }
    if (sums == 0 || sums != token_count_uses(tokens, site->acc, site->nest, site->finish))
        return refuse(refusal, "the running value is used while it is summed");
    return true;
}

/* The sum [begin, end) may read the buffer of the array that is written. */
static bool may_read(const struct tokens *tokens, const struct definition *d, size_t begin,
                     size_t end, size_t array)
{
    const size_t buffer = source_buffer_of(tokens, d, array);
    if (buffer == TOKEN_NONE)
        return true;
    for (size_t i = begin; i < end; i++) {
        if (!token_is_identifier(tokens, i))
            continue;
        const size_t other = source_buffer_of(tokens, d, i);
        if (other == buffer || (other == TOKEN_NONE && token_is(tokens, i + 1, "[")))
            return true;
    }
    return false;
}

/* Why one write of the finish may reach the sum of a later turn; NULL where it cannot. */
static const char *reaches_later_sum(const struct tokens *tokens, const struct definition *d,
                                     const struct site *site, const struct write *w)
{
    if (w->kind == WRITE_DECLARATION)
        return NULL;
    if (w->kind == WRITE_UNKNOWN || token_same(tokens, w->name, site->outer.var))
        return "the loop writes through an expression";
    if (w->kind == WRITE_ARRAY)
        return may_read(tokens, d, site->init, site->finish, w->name)
                   ? "a sum may read what the one before it wrote"
                   : NULL;
    const struct loop *o = &site->outer;
    const bool is_used = token_count_uses(tokens, w->name, site->init, site->finish) > 0 ||
                         token_count_uses(tokens, w->name, o->from, o->bound_end) > 0;
    return is_used && !token_same(tokens, w->name, site->acc) ? "a sum depends on the one before it"
                                                              : NULL;
}

static bool check_finish(const struct tokens *tokens, const struct definition *d,
                         const struct site *site, const char **refusal)
{
    struct write writes[SOURCE_MAX_WRITES];
    size_t count = 0;
    if (!source_list_writes(tokens, site->finish, site->finish_end, writes, &count))
        return refuse(refusal, "the loop is too long");
    for (size_t i = 0; i < count; i++) {
        const char *why = reaches_later_sum(tokens, d, site, &writes[i]);
        if (why)
            return refuse(refusal, why);
    }
    return true;
}

/* j, or a variable made from it in the inner body. */
static bool depends_on_j(const struct tokens *tokens, const struct site *site, size_t name)
{
    if (token_same(tokens, name, site->outer.var))
        return true;
    const struct loop *inner = &site->inner;
    for (size_t i = inner->body; i < inner->body_end; i++)
        if (token_is_identifier(tokens, i) && token_same(tokens, i, name) &&
            token_is(tokens, i + 1, "=") &&
            token_count_uses(tokens, site->outer.var, i, source_statement_end(tokens, i)) > 0)
            return true;
    return false;
}

/* Is the token, or a parenthesis around it, a factor or a divisor within the subscript [begin,
 * end)? */
static bool is_scaled(const struct tokens *tokens, size_t at, size_t begin, size_t end)
{
    size_t left = at, right = at;
    for (;;) {
        static const char *const scales[] = {"*", "/", "%", "<<", ">>"};
        for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
            if ((left > begin && token_is(tokens, left - 1, scales[i])) ||
                (right + 1 < end && token_is(tokens, right + 1, scales[i])))
                return true;
        size_t open = left;
        while (open > begin &&
               !(token_is(tokens, open - 1, "(") && tokens->items[open - 1].match > right))
            open--;
        if (open == begin)
            return false;
        left = open - 1;
        right = tokens->items[left].match;
    }
}

/* Profitable only where consecutive j read consecutive memory. */
static bool reads_in_order(const struct tokens *tokens, const struct site *site)
{
    bool any = false;
    for (size_t i = site->inner.body; i < site->inner.body_end; i++) {
        if (!token_is(tokens, i, "["))
            continue;
        const size_t close = tokens->items[i].match;
        for (size_t j = i + 1; j < close; j++) {
            if (!token_is_identifier(tokens, j) || !depends_on_j(tokens, site, j))
                continue;
            any = true;
            if (token_is(tokens, j + 1, "[") || is_scaled(tokens, j, i + 1, close))
                return false;
        }
    }
    return any;
}

static bool read_site(const struct tokens *tokens, const struct definition *d, size_t at,
                      struct site *site, struct arena *arena, const char **refusal)
{
    if (!source_read_loop(tokens, at, &site->outer) || !read_form(tokens, site))
        return false;
    if (!find_inner(tokens, site))
        return refuse(refusal, "the sum is spread over several loops");
    if (source_has_directive(tokens, site->outer.keyword, site->outer.body_end))
        return refuse(refusal, "the loop has directives of its own");
    const char *obstacle = source_find_obstacle(tokens, site->init, site->finish_end, false, arena);
    if (obstacle)
        return refuse(refusal, arena_printf(arena, "'%s' in the loop nest", obstacle));
    if (!check_nest(tokens, site, refusal) || !check_finish(tokens, d, site, refusal))
        return false;
    return reads_in_order(tokens, site) ||
           refuse(refusal, "neighbouring sums do not read neighbouring elements");
}

/* Every use of acc in [begin, end) becomes an element of the strip. */
static void rename_acc(const struct tokens *tokens, const struct site *site, size_t begin,
                       size_t end, const char *element, struct patches *patches,
                       struct arena *arena)
{
    for (size_t i = begin; i < end; i++)
        if (token_is_identifier(tokens, i) && token_same(tokens, i, site->acc))
            edit_add(patches, arena, tokens->items[i].begin,
                     tokens->items[i].end - tokens->items[i].begin, element);
}

/* The white space at the beginning of the token's line. */
static const char *indent_of(const struct tokens *tokens, size_t at, struct arena *arena)
{
    const char *text = tokens->text;
    size_t line = tokens->items[at].begin;
    while (line > 0 && text[line - 1] != '\n')
        line--;
    size_t end = line;
    while (text[end] == ' ' || text[end] == '\t')
        end++;
    return arena_strndup(arena, text + line, end - line);
}

/* The strip loop, its bound, the accumulators and their first values. */
static const char *strip_head(const struct tokens *tokens, const struct site *site, int width,
                              const char *head, const char *element, struct arena *arena)
{
    const struct loop *o = &site->outer;
    const char *in = indent_of(tokens, o->keyword, arena);
    const char *type = token_range_text(tokens, o->type, o->var, arena);
    const char *j = token_text(tokens, o->var, arena);
    const char *bound = token_range_text(tokens, o->bound, o->bound_end, arena);
    return arena_printf(arena,
                        "for (%s %s_strip = %s; %s_strip < %s; %s_strip += %d) {\n"
                        "%s    const %s %s_end = (%s) - %s_strip < %d ? (%s) : %s_strip + %d;\n"
                        "%s    %s %s_strip[%d];\n"
                        "%s    %s\n"
                        "%s        %s = %s;",
                        type, j, token_range_text(tokens, o->from, o->from_end, arena), j, bound, j,
                        width, in, type, j, bound, j, width, bound, j, width, in,
                        token_range_text(tokens, site->type, site->acc, arena),
                        token_text(tokens, site->acc, arena), width, in, head, in, element,
                        token_range_text(tokens, site->init, site->nest - 1, arena));
}

/* In front of the innermost body: the loop over j, its bounds first where they are clipped. */
static const char *inner_head(const struct tokens *tokens, const struct site *site,
                              const struct clip *clip, const char *head, struct arena *arena)
{
    const char *in = indent_of(tokens, site->inner.keyword, arena);
    if (!clip)
        return token_is(tokens, site->inner.body, "{")
                   ? arena_printf(arena, "\n%s    %s ", in, head)
                   : arena_printf(arena, "%s\n%s        ", head, in);
    const char *type = token_range_text(tokens, site->outer.type, site->outer.var, arena);
    const char *j = token_text(tokens, site->outer.var, arena);
    CLEANUP(buf_free) struct buf text = {0};
    (void)buf_printf(&text, "{\n%s    %s %s_low = %s_strip, %s_high = %s_end;\n", in, type, j, j, j,
                     j);
    for (size_t i = 0; i < clip->low_count; i++)
        (void)buf_printf(&text, "%s    if (%s_low < %s)\n%s        %s_low = %s;\n", in, j,
                         clip->low[i], in, j, clip->low[i]);
    for (size_t i = 0; i < clip->high_count; i++)
        (void)buf_printf(&text, "%s    if (%s_high > %s)\n%s        %s_high = %s;\n", in, j,
                         clip->high[i], in, j, clip->high[i]);
    (void)buf_printf(&text, "%s    for (%s %s = %s_low; %s < %s_high; %s++) ", in, type, j, j, j, j,
                     j);
    return arena_strdup(arena, buf_text(&text));
}

static void write_inner(const struct tokens *tokens, const struct definition *d,
                        const struct site *site, const char *head, const char *element,
                        struct patches *patches, struct arena *arena)
{
    const struct loop *inner = &site->inner;
    struct clip clip;
    const bool is_clipped = clip_find(tokens, d, site->outer.type, site->outer.var, inner->body,
                                      inner->body_end, arena, &clip);
    edit_add(patches, arena, tokens->items[inner->body].begin, 0,
             inner_head(tokens, site, is_clipped ? &clip : NULL, head, arena));
    rename_acc(tokens, site, inner->body, inner->body_end, element, patches, arena);
    if (!is_clipped)
        return;
    const size_t from = tokens->items[clip.condition].begin;
    edit_add(patches, arena, from, tokens->items[clip.condition_end - 1].end - from,
             clip.rest ? clip.rest : "");
    edit_add(patches, arena, tokens->items[inner->body_end - 1].end, 0,
             arena_printf(arena, "\n%s}", indent_of(tokens, inner->keyword, arena)));
}

static void write_site(const struct tokens *tokens, const struct definition *d,
                       const struct site *site, int width, struct patches *patches,
                       struct arena *arena)
{
    const struct loop *o = &site->outer;
    const char *j = token_text(tokens, o->var, arena);
    const char *in = indent_of(tokens, o->keyword, arena);
    const char *head =
        arena_printf(arena, "for (%s %s = %s_strip; %s < %s_end; %s++)",
                     token_range_text(tokens, o->type, o->var, arena), j, j, j, j, j);
    const char *element =
        arena_printf(arena, "%s_strip[%s - %s_strip]", token_text(tokens, site->acc, arena), j, j);
    const size_t first = tokens->items[o->keyword].begin;
    edit_add(patches, arena, first, tokens->items[site->nest - 1].end - first,
             strip_head(tokens, site, width, head, element, arena));
    write_inner(tokens, d, site, head, element, patches, arena);
    edit_add(patches, arena, tokens->items[site->finish].begin, 0,
             arena_printf(arena, "%s {\n%s        ", head, in));
    rename_acc(tokens, site, site->finish, site->finish_end, element, patches, arena);
    edit_add(patches, arena, tokens->items[site->finish_end].begin, 0,
             arena_printf(arena, "    }\n%s", in));
}

/* The names that the edit would make up are in use already. */
static bool has_clash(const char *text, const struct tokens *tokens, const struct site *site,
                      struct arena *arena)
{
    struct tokens names;
    const char *why = NULL;
    const char *j = token_text(tokens, site->outer.var, arena);
    const char *made = arena_printf(arena, "%s_strip %s_end %s_low %s_high %s_strip", j, j, j, j,
                                    token_text(tokens, site->acc, arena));
    if (!lex(arena_printf(arena, "%s\n%s", made, text), arena, &names, &why))
        return true;
    for (size_t i = 0; i < 5; i++)
        if (token_count_uses(&names, i, 5, names.count) > 0)
            return true;
    return token_same(tokens, site->outer.var, site->acc);
}

char *edit_tile(const char *text, const struct task *task, int width, struct arena *arena,
                const char **refusal)
{
    struct tokens tokens;
    struct definition d;
    if (!lex(text, arena, &tokens, refusal) || !source_find_definition(&tokens, task, &d, refusal))
        return NULL;
    struct patches patches = {0};
    *refusal = "no loop sums into a scalar and stores it";
    for (size_t i = d.body; i < d.body_close; i++) {
        struct site site = {0};
        if (!read_site(&tokens, &d, i, &site, arena, refusal) ||
            has_clash(text, &tokens, &site, arena))
            continue;
        write_site(&tokens, &d, &site, width, &patches, arena);
        i = site.outer.body_end - 1;
    }
    return patches.count > 0 ? edit_apply(text, &patches, arena) : NULL;
}
