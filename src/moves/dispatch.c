#include "moves/dispatch.h"

#include "moves/source.h"
#include "moves/toplevel.h"

#include "base/buf.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

/* Names are found by looking through all of them; this is more than a person would read. */
enum { MAX_ITEMS = 256, MAX_BYTES = 128 * 1024 };
enum { MAX_COLUMNS = 96 };

/* A name that is written otherwise in the common text. */
struct renamed {
    const char *from, *to;
};

/* One of the two texts. */
struct side {
    const char *suffix; /* "_small" */
    struct toplevel top;
    bool *is_shared; /* items: both texts have them, and they stand once */
    struct renamed *renames;
    size_t rename_count;
};

struct merge {
    const struct dispatch_parts *parts;
    struct arena *arena;
    struct side sides[2];
    struct toplevel entry; /* what is new */
    const char *entry_text;
    const char **refusal;
};

static bool refuse(struct merge *m, const char *why)
{
    *m->refusal = why;
    return false;
}

/* --- words ------------------------------------------------------------------------------------ */

struct word_search {
    const char *text; /* that the identifiers are in */
    const char *word;
};

static bool is_other(void *context, size_t begin, size_t end)
{
    const struct word_search *s = context;
    return strlen(s->word) != end - begin || strncmp(s->text + begin, s->word, end - begin) != 0;
}

static bool item_mentions(const struct toplevel *top, size_t item, const char *word)
{
    struct word_search search = {top->tokens.text, word};
    return !toplevel_identifiers(top, &top->items[item], is_other, &search);
}

static bool text_mentions(const struct toplevel *top, const char *word)
{
    for (size_t i = 0; i < top->count; i++) {
        if (item_mentions(top, i, word))
            return true;
    }
    return false;
}

static bool declares(const struct toplevel_item *item, const char *word)
{
    for (size_t i = 0; i < item->name_count; i++) {
        if (str_equal(item->names[i], word))
            return true;
    }
    return false;
}

/* --- what both have --------------------------------------------------------------------------- */

static bool same_items(const struct toplevel *a, const struct toplevel_item *x,
                       const struct toplevel *b, const struct toplevel_item *y)
{
    if (x->end - x->begin != y->end - y->begin)
        return false;
    for (size_t i = 0; i < x->end - x->begin; i++) {
        const struct token *s = &a->tokens.items[x->begin + i];
        const struct token *t = &b->tokens.items[y->begin + i];
        if (s->kind != t->kind || s->end - s->begin != t->end - t->begin ||
            memcmp(a->tokens.text + s->begin, b->tokens.text + t->begin, s->end - s->begin) != 0)
            return false;
    }
    return true;
}

static bool has_twin(const struct toplevel *a, size_t item, const struct toplevel *b)
{
    for (size_t i = 0; i < b->count; i++) {
        if (same_items(a, &a->items[item], b, &b->items[i]))
            return true;
    }
    return false;
}

/* Does some item that does not stand for both declare it? */
static bool is_own(const struct merge *m, const char *name)
{
    for (int s = 0; s < 2; s++) {
        const struct side *side = &m->sides[s];
        for (size_t i = 0; i < side->top.count; i++) {
            if (!side->is_shared[i] && declares(&side->top.items[i], name))
                return true;
        }
    }
    return false;
}

struct own_search {
    const struct merge *merge;
    const struct toplevel *top;
};

static bool is_not_own(void *context, size_t begin, size_t end)
{
    const struct own_search *s = context;
    CLEANUP(arena_free) struct arena scratch = {0};
    return !is_own(s->merge, arena_strndup(&scratch, s->top->tokens.text + begin, end - begin));
}

/* One that uses what is not of both is not of both: until nothing changes. */
static void unshare_users(struct merge *m)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (int s = 0; s < 2; s++) {
            struct side *side = &m->sides[s];
            struct own_search search = {m, &side->top};
            for (size_t i = 0; i < side->top.count; i++) {
                if (!side->is_shared[i] ||
                    toplevel_identifiers(&side->top, &side->top.items[i], is_not_own, &search))
                    continue;
                side->is_shared[i] = false;
                changed = true;
            }
        }
    }
}

/* Where text is there under a condition, or a name is taken back, each keeps all of its own. */
static bool has_conditions(const struct merge *m, const struct side *side)
{
    static const char *const words[] = {"if",   "ifdef", "ifndef", "else",
                                        "elif", "endif", "undef",  NULL};
    for (size_t i = 0; i < side->top.count; i++) {
        const char *word = toplevel_directive(&side->top, &side->top.items[i], m->arena);
        for (size_t w = 0; words[w]; w++) {
            if (str_equal(word, words[w]))
                return true;
        }
    }
    return false;
}

static void share(struct merge *m)
{
    const bool apart = has_conditions(m, &m->sides[0]) || has_conditions(m, &m->sides[1]);
    for (int s = 0; s < 2; s++) {
        struct side *side = &m->sides[s];
        side->is_shared = arena_array(m->arena, side->top.count + 1, sizeof *side->is_shared);
        for (size_t i = 0; i < side->top.count; i++)
            side->is_shared[i] = !apart && !declares(&side->top.items[i], m->parts->task->entry) &&
                                 has_twin(&side->top, i, &m->sides[1 - s].top);
    }
    unshare_users(m);
}

/* --- new names -------------------------------------------------------------------------------- */

static bool is_taken(const struct merge *m, const char *name)
{
    return text_mentions(&m->sides[0].top, name) || text_mentions(&m->sides[1].top, name) ||
           text_mentions(&m->entry, name);
}

static const char *rename_of(const struct side *side, const char *name)
{
    for (size_t i = 0; i < side->rename_count; i++) {
        if (str_equal(side->renames[i].from, name))
            return side->renames[i].to;
    }
    return NULL;
}

static void rename_in(struct merge *m, struct side *side, const char *name)
{
    const char *to = arena_printf(m->arena, "%s%s", name, side->suffix);
    for (int i = 2; is_taken(m, to) && !str_equal(name, m->parts->task->entry); i++)
        to = arena_printf(m->arena, "%s%s%d", name, side->suffix, i);
    side->renames[side->rename_count++] = (struct renamed){name, to};
}

/* Names that the rest of the common text has too, for whatever. */
static void choose_names(struct merge *m)
{
    for (int s = 0; s < 2; s++) {
        struct side *side = &m->sides[s];
        size_t most = 0;
        for (size_t i = 0; i < side->top.count; i++)
            most += side->top.items[i].name_count;
        side->renames = arena_array(m->arena, most + 1, sizeof *side->renames);
        for (size_t i = 0; i < side->top.count; i++) {
            const struct toplevel_item *item = &side->top.items[i];
            for (size_t n = 0; !side->is_shared[i] && n < item->name_count; n++) {
                if (!rename_of(side, item->names[n]) &&
                    (text_mentions(&m->sides[1 - s].top, item->names[n]) ||
                     text_mentions(&m->entry, item->names[n])))
                    rename_in(m, side, item->names[n]);
            }
        }
    }
}

/* --- what cannot be done ---------------------------------------------------------------------- */

/* A macro that pastes names makes others of them than their new ones would. */
static bool pastes_renamed(const struct side *side, size_t macro)
{
    const struct toplevel *top = &side->top;
    const char *name = top->items[macro].names[0];
    for (size_t r = 0; r < side->rename_count; r++) {
        if (!str_equal(side->renames[r].from, name) &&
            item_mentions(top, macro, side->renames[r].from))
            return true;
    }
    for (size_t i = 0; i < top->tokens.count; i++) {
        if (!token_is(&top->tokens, i, name) || !token_is(&top->tokens, i + 1, "("))
            continue;
        const size_t close = top->tokens.items[i + 1].match;
        for (size_t a = i + 2; a < close; a++) {
            for (size_t r = 0; r < side->rename_count; r++) {
                if (token_is(&top->tokens, a, side->renames[r].from))
                    return true;
            }
        }
    }
    return false;
}

static bool can_rename(struct merge *m)
{
    for (int s = 0; s < 2; s++) {
        const struct side *side = &m->sides[s];
        for (size_t i = 0; i < side->top.count; i++) {
            const struct toplevel_item *item = &side->top.items[i];
            if (!item->is_directive || item->name_count == 0)
                continue;
            const char *text =
                token_range_text(&side->top.tokens, item->begin, item->end, m->arena);
            if (strstr(text, "##") && pastes_renamed(side, i))
                return refuse(m, "a macro pastes together a name that is not that of one of the "
                                 "two candidates alone");
        }
    }
    return true;
}

static bool read_side(struct merge *m, struct side *side, const char *source)
{
    struct definition definition;
    if (!toplevel_read(source, m->arena, &side->top, m->refusal) ||
        !source_find_definition(&side->top.tokens, m->parts->task, &definition, m->refusal))
        return false;
    if (side->top.count > MAX_ITEMS || strlen(source) > MAX_BYTES)
        return refuse(m, "a candidate is too long to be one of two");
    for (int s = 0; s < 2; s++) {
        const char *suffix = m->sides[s].suffix;
        if (text_mentions(&side->top,
                          arena_printf(m->arena, "%s%s", m->parts->task->entry, suffix)))
            return refuse(m, "a candidate has names that the two would be called by");
    }
    for (size_t i = 0; i < side->top.count; i++) {
        if (str_equal(toplevel_directive(&side->top, &side->top.items[i], m->arena), "pragma"))
            return refuse(m, "a pragma outside of functions would hold for both candidates");
    }
    return true;
}

/* --- the text --------------------------------------------------------------------------------- */

struct writer {
    const struct side *side;
    const char *text;
    size_t at; /* up to here it is written */
    struct buf *out;
};

static bool write_identifier(void *context, size_t begin, size_t end)
{
    struct writer *w = context;
    CLEANUP(arena_free) struct arena scratch = {0};
    const char *to = rename_of(w->side, arena_strndup(&scratch, w->text + begin, end - begin));
    (void)buf_append(w->out, w->text + w->at, begin - w->at);
    if (to)
        (void)buf_append_str(w->out, to);
    else
        (void)buf_append(w->out, w->text + begin, end - begin);
    w->at = end;
    return true;
}

/* A word for a comment: nothing in it ends it. */
static void write_word(const char *word, size_t length, struct buf *out)
{
    for (size_t i = 0; i < length; i++) {
        (void)buf_append_char(out, word[i]);
        if (word[i] == '*' && word[i + 1] == '/')
            (void)buf_append_char(out, ' ');
    }
}

static void write_comment(const char *condition, const char *words, struct buf *out)
{
    static const char blanks[] = " \t\n\v\f\r";
    size_t column = strlen("/* For ") + strlen(condition);
    (void)buf_printf(out, "/* For %s%s", condition, words[0] ? ":" : "");
    for (words += strspn(words, blanks); *words; words += strspn(words, blanks)) {
        const size_t length = strcspn(words, blanks);
        const bool fits = column + length < MAX_COLUMNS;
        (void)buf_append_str(out, fits ? " " : "\n * ");
        write_word(words, length, out);
        column = (fits ? column + 1 : strlen(" * ")) + length;
        words += length;
    }
    (void)buf_append_str(out, " */\n");
}

static bool is_static(const struct toplevel *top, const struct toplevel_item *item)
{
    for (size_t i = item->begin; i < item->end && !token_is(&top->tokens, i, "("); i++) {
        if (token_is(&top->tokens, i, "static"))
            return true;
    }
    return false;
}

/* The entry point of one of them: seen by nobody else, and compiled as it was judged. */
static void write_before_entry(const struct merge *m, const struct side *side,
                               const struct toplevel_item *item, struct buf *out)
{
    const bool is_small = side == &m->sides[0];
    const struct dispatch_part *part = is_small ? &m->parts->small : &m->parts->large;
    if (token_is(&side->top.tokens, item->end - 1, "}"))
        write_comment(is_small ? m->parts->condition : arena_printf(m->arena, "larger sizes"),
                      part->words, out);
    if (!is_static(&side->top, item))
        (void)buf_append_str(out, "static ");
    (void)buf_append_str(out, "__attribute__((noinline)) ");
}

static void write_side(const struct merge *m, const struct side *side, bool with_shared,
                       struct buf *out)
{
    const struct toplevel *top = &side->top;
    const char *text = top->tokens.text;
    bool is_first = true;
    size_t at = 0;
    for (size_t i = 0; i < top->count; i++) {
        const struct toplevel_item *item = &top->items[i];
        const size_t begin = top->tokens.items[item->begin].begin;
        const size_t end = top->tokens.items[item->end - 1].end;
        if (with_shared || !side->is_shared[i]) {
            struct writer w = {.side = side, .text = text, .at = begin, .out = out};
            while (is_first && at < begin && isspace((unsigned char)text[at]))
                at++;
            is_first = false;
            (void)buf_append(out, text + at, begin - at);
            if (declares(item, m->parts->task->entry))
                write_before_entry(m, side, item, out);
            (void)toplevel_identifiers(top, item, write_identifier, &w);
            (void)buf_append(out, text + w.at, end - w.at);
        }
        at = end;
    }
    (void)buf_append_str(out, text + at);
}

static void call_text(const struct merge *m, int side, struct buf *out)
{
    const struct task *task = m->parts->task;
    const char *comma = "";
    (void)buf_printf(out, "%s%s(", task->entry, m->sides[side].suffix);
    for (size_t i = 0; i < task->arg_count; i++, comma = ", ")
        (void)buf_printf(out, "%s%s", comma, task->args[i].name);
    for (size_t i = 0; i < task->attr_count; i++, comma = ", ")
        (void)buf_printf(out, "%s%s", comma, task->attrs[i].name);
    for (size_t i = 0; i < task->axis_count; i++, comma = ", ")
        (void)buf_printf(out, "%s%s", comma, task->axes[i].name);
    (void)buf_append_str(out, ");\n");
}

static bool make_entry(struct merge *m)
{
    CLEANUP(buf_free) struct buf text = {0};
    (void)buf_printf(&text, "%s\n{\n    if (%s)\n        ",
                     task_signature(m->parts->task, "real", m->arena), m->parts->condition);
    call_text(m, 0, &text);
    (void)buf_append_str(&text, "    else\n        ");
    call_text(m, 1, &text);
    (void)buf_append_str(&text, "}\n");
    m->entry_text = arena_strdup(m->arena, buf_text(&text));
    return toplevel_read(m->entry_text, m->arena, &m->entry, m->refusal);
}

bool dispatch_source(const struct dispatch_parts *parts, struct arena *arena, const char **out,
                     const char **refusal)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct merge m = {.parts = parts,
                      .arena = arena,
                      .sides = {{.suffix = "_small"}, {.suffix = "_large"}},
                      .refusal = refusal};
    if (!make_entry(&m) || !read_side(&m, &m.sides[0], parts->small.source) ||
        !read_side(&m, &m.sides[1], parts->large.source))
        return false;
    share(&m);
    choose_names(&m);
    if (!can_rename(&m))
        return false;
    write_side(&m, &m.sides[0], true, &text);
    (void)buf_append_str(&text, "\n");
    write_side(&m, &m.sides[1], false, &text);
    (void)buf_append_str(&text, "\n");
    (void)buf_append_str(&text, m.entry_text);
    *out = arena_strdup(arena, buf_text(&text));
    return true;
}
