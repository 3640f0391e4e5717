#include "base/str.h"
#include "context/internal.h"

#include <stdlib.h>
#include <string.h>

void context_epoch_free(struct context_epoch *epoch)
{
    arena_free(&epoch->arena);
    *epoch = (struct context_epoch){0};
}

static bool is_kept(const struct context_item *item)
{
    return str_equal(item->section, "cold") || str_equal(item->section, "warm");
}

/* Replaces what the epoch held; the new may point into the old. */
static void keep(struct context_epoch *epoch, const char *prefix, size_t length,
                 const struct context_item *items, size_t count)
{
    struct arena fresh = {0};
    struct context_item *copy = arena_array(&fresh, count + 1, sizeof *copy);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_kept(&items[i]))
            continue;
        copy[kept] = items[i];
        copy[kept].section = str_equal(items[i].section, "cold") ? "cold" : "warm";
        copy[kept].kind = arena_strdup(&fresh, items[i].kind);
        copy[kept].ref = arena_strdup(&fresh, items[i].ref);
        kept++;
    }
    epoch->prefix = arena_strndup(&fresh, prefix, length);
    epoch->items = copy;
    epoch->item_count = kept;
    arena_free(&epoch->arena);
    epoch->arena = fresh;
}

void epoch_keep(struct context_epoch *epoch, const struct context *context)
{
    keep(epoch, context->user_text, strlen(context->user_text) - strlen(context->hot),
         context->items, context->item_count);
}

void context_epoch_copy(const struct context_epoch *from, struct context_epoch *to)
{
    if (!from->prefix) {
        context_epoch_free(to);
        return;
    }
    keep(to, from->prefix, strlen(from->prefix), from->items, from->item_count);
    to->number = from->number;
}

void context_epoch_restore(struct context_epoch *epoch, const char *text, const char *system_text,
                           const struct context_item *items, size_t item_count)
{
    const size_t system = strlen(system_text);
    const size_t length = strlen(text);
    int64_t hot = -1;
    for (size_t i = 0; i < item_count; i++) {
        if (str_equal(items[i].section, "hot") && str_equal(items[i].kind, "state"))
            hot = items[i].bytes;
    }
    if (hot < 0 || !str_starts_with(text, system_text) || text[system] != '\n' ||
        (size_t)hot + system + 1 > length)
        return;
    keep(epoch, text + system + 1, length - system - 1 - (size_t)hot, items, item_count);
    epoch->number++;
}

const char *context_label_ref(const struct context_item *items, size_t count, const char *label)
{
    int64_t wanted = 0;
    if (label[0] != 'E' || !str_parse_int64(label + 1, &wanted))
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (str_equal(items[i].section, "warm") && --wanted == 0)
            return items[i].withheld ? NULL : items[i].ref;
    }
    return NULL;
}
