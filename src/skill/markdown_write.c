#include "skill/markdown.h"

#include "base/str.h"
#include "json/json.h"

#include <math.h>
#include <string.h>

enum { EVIDENCE_ROWS = 20, EXAMPLE_LINES = 180 };

/* A text in double quotes as JSON has it is one in YAML too. */
static void put_quoted(struct buf *out, const char *key, const char *text)
{
    struct json_writer w = {.out = out};
    (void)buf_printf(out, "%s: ", key);
    json_write_string(&w, text);
    (void)buf_append_char(out, '\n');
}

/* Cut at a character, and at the cap of the format. */
static const char *description_of(const struct graph_skill *skill, struct arena *arena)
{
    char *text = arena_printf(arena, "%s. Makes compute kernels in C faster; use it where %s.",
                              skill->intent, skill->applies[0] ? skill->applies : "it fits");
    size_t end = strlen(text);
    if (end > SKILL_DESCRIPTION_CHARS) {
        end = SKILL_DESCRIPTION_CHARS;
        while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
            end--;
        text[end] = '\0';
    }
    str_make_printable(text);
    return text;
}

static void put_front_matter(const struct skill_document *d, struct arena *arena, struct buf *out)
{
    const struct graph_skill *s = d->skill;
    (void)buf_printf(out, "---\nname: %s\n", s->name);
    put_quoted(out, "description", description_of(s, arena));
    put_quoted(out, "compatibility",
               s->needs[0] ? arena_printf(arena, "needs a machine with %.400s", s->needs)
                           : "any machine with a C compiler");
    (void)buf_append_str(out, "metadata:\n");
    put_quoted(out, "  kope-id", s->id);
    put_quoted(out, "  kope-state", s->state);
    put_quoted(out, "  kope-origin", s->origin);
    put_quoted(out, "  kope-intent", s->intent);
    put_quoted(out, "  kope-applies", s->applies);
    put_quoted(out, "  kope-needs", s->needs);
    put_quoted(out, "  kope-change", s->change);
    put_quoted(out, "  kope-breaks", s->breaks);
    put_quoted(out, "  kope-build", s->build);
    put_quoted(out, "  kope-evidence", skill_evidence_text(d->belief, arena));
    (void)buf_append_str(out, "---\n");
}

static void put_evidence(const struct skill_document *d, struct buf *out)
{
    const size_t first = d->evidence_count > EVIDENCE_ROWS ? d->evidence_count - EVIDENCE_ROWS : 0;
    if (d->evidence_count == 0)
        return;
    (void)buf_append_str(out, "\n## Evidence\n\n| kind | task | result |\n|---|---|---|\n");
    for (size_t i = first; i < d->evidence_count; i++) {
        const struct graph_skill_evidence *e = &d->evidence[i];
        if (str_equal(e->verdict, "timed"))
            (void)buf_printf(out, "| %s | %s (%s, %s) | %.2fx [%.2f, %.2f] |\n", e->kind,
                             e->task_name, e->family, e->regime, exp(e->log_ratio), exp(e->log_low),
                             exp(e->log_high));
        else
            (void)buf_printf(out, "| %s | %s (%s) | %s: %.160s |\n", e->kind, e->task_name,
                             e->family, e->verdict, e->text);
    }
}

static bool is_short(const char *text)
{
    size_t lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines <= EXAMPLE_LINES;
}

static void put_example(const struct skill_document *d, struct buf *out)
{
    if (d->after[0] == '\0')
        return;
    (void)buf_append_str(out, "\n## Example\n\n`references/before.c` without it, "
                              "`references/after.c` with it; both passed the same checks.\n");
    if (is_short(d->after))
        (void)buf_printf(out, "\n~~~~~c\n%s%s~~~~~\n", d->after,
                         str_ends_with(d->after, "\n") ? "" : "\n");
}

void skill_write_markdown(const struct skill_document *d, struct buf *out)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    const struct graph_skill *s = d->skill;
    put_front_matter(d, &scratch, out);
    (void)buf_printf(out, "\n# %s\n\n%s\n\n## When\n\n", s->name, s->intent);
    (void)buf_printf(out, "- The task: `%s`\n", s->applies[0] ? s->applies : "any");
    if (s->needs[0])
        (void)buf_printf(out, "- The machine: `%s`\n", s->needs);
    if (s->breaks[0])
        (void)buf_printf(out, "- It can break: %s\n", s->breaks);
    (void)buf_append_str(out, "\n`kope skill show NAME --on TASK` checks this by program.\n");
    if (s->change[0])
        (void)buf_printf(out,
                         "\n## Change\n\nIn the words of a recipe, as `kope` applies it:\n\n"
                         "    %s\n",
                         s->change);
    put_example(d, out);
    put_evidence(d, out);
    (void)buf_printf(out, "\nState: %s%s%s. Judge what you make by `kope check TASK FILE`.\n",
                     s->state, s->reason[0] ? ", " : "", s->reason);
}
