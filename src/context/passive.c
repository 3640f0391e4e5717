/*
 * The passive context: no retrieval and no choice, the run's own history grows from step to step
 * until the window is full, and then loses its oldest attempt. What active context is compared
 * with.
 */
#include "context/internal.h"

#include "base/buf.h"
#include "base/str.h"
#include "base/tokens.h"

#include <string.h>

enum { DEFAULT_WINDOW_TOKENS = 200000 };

static char *attempt_text(const struct context_attempt *attempt, size_t number, struct arena *arena)
{
    return arena_printf(arena, "### Attempt %zu\n\n%s```c\n%s\n```\n\n", number, attempt->outcome,
                        attempt->source);
}

/* From the attempt `first` on, all of it. */
static void grow(const struct context_request *request, const struct draft *draft, size_t first,
                 struct arena *arena, struct context *out)
{
    struct buf prefix = {0};
    (void)buf_append_str(&prefix, draft->facts);
    (void)buf_append_str(&prefix, draft->task);
    if (first < request->history_count)
        (void)buf_append_str(&prefix, "## What was tried in this run\n\n");
    for (size_t i = first; i < request->history_count; i++)
        (void)buf_append_str(&prefix, attempt_text(&request->history[i], i + 1, arena));
    context_put_together(draft, buf_text(&prefix), arena, out);
    buf_free(&prefix);
}

static void list_history(const struct context_request *request, const struct draft *draft,
                         size_t first, struct arena *arena, struct context *out)
{
    struct context_item *items =
        arena_array(arena, CONTEXT_REQUIRED_ITEMS + request->history_count, sizeof *items);
    size_t count = CONTEXT_REQUIRED_ITEMS;
    context_add_required(draft, items);
    for (size_t i = first; i < request->history_count; i++) {
        const char *text = attempt_text(&request->history[i], i + 1, arena);
        items[count++] = (struct context_item){.section = "history",
                                               .kind = "attempt",
                                               .ref = request->history[i].decision_id,
                                               .bytes = (int64_t)strlen(text),
                                               .tokens = tokens_bound(text, strlen(text)),
                                               .propensity = 1.0};
    }
    out->items = items;
    out->item_count = count;
}

bool context_build_passive(const struct context_request *request, struct arena *arena,
                           struct context *out, struct err *err)
{
    const int64_t window = request->budget_tokens ? request->budget_tokens : DEFAULT_WINDOW_TOKENS;
    struct draft draft = {0};
    struct context built = {.budget_tokens = window};
    size_t first = 0;
    context_draft(request, arena, &draft);
    for (; first <= request->history_count; first++) {
        grow(request, &draft, first, arena, &built);
        if (built.tokens <= window)
            break;
    }
    if (built.tokens > window)
        return err_set(err, ERR_BUDGET,
                       "the required part of the context needs %lld tokens, the window is %lld",
                       (long long)built.tokens, (long long)window);
    list_history(request, &draft, first, arena, &built);
    *out = built;
    return true;
}
