#include "journal/event.h"

#include "journal/fields.h"

enum { CONTEXT_MAX_RECORDED_ITEMS = 4096 };

static const struct field context_fields[] = {
    {"run_id", FIELD_ID, true, offsetof(struct context_event, run_id)},
    {"budget_tokens", FIELD_INT, false, offsetof(struct context_event, budget_tokens)},
    {"used_tokens", FIELD_INT, false, offsetof(struct context_event, used_tokens)},
    {"prefix_hash", FIELD_ID, false, offsetof(struct context_event, prefix_hash)},
    {"text_body", FIELD_ID, false, offsetof(struct context_event, text_body)},
};

static const struct field item_fields[] = {
    {"section", FIELD_NAME, true, offsetof(struct context_item, section)},
    {"kind", FIELD_NAME, true, offsetof(struct context_item, kind)},
    {"ref", FIELD_NAME, false, offsetof(struct context_item, ref)},
    {"bytes", FIELD_INT, false, offsetof(struct context_item, bytes)},
    {"tokens", FIELD_INT, false, offsetof(struct context_item, tokens)},
    {"score", FIELD_REAL, false, offsetof(struct context_item, score)},
    {"propensity", FIELD_REAL, false, offsetof(struct context_item, propensity)},
    {"withheld", FIELD_BOOL, false, offsetof(struct context_item, withheld)},
};

static const struct field_table context_table = {EVENT_CONTEXT, context_fields,
                                                 sizeof context_fields / sizeof *context_fields};
static const struct field_table item_table = {EVENT_CONTEXT, item_fields,
                                              sizeof item_fields / sizeof *item_fields};

void event_write_context(const struct context_event *e, struct buf *out)
{
    struct json_writer w = {.out = out};
    if (e->item_count > CONTEXT_MAX_RECORDED_ITEMS)
        BUG("a context of %zu items", e->item_count);
    json_begin_object(&w);
    fields_write(&context_table, e, &w);
    json_key(&w, "items");
    json_begin_array(&w);
    for (size_t i = 0; i < e->item_count; i++) {
        json_begin_object(&w);
        fields_write(&item_table, &e->items[i], &w);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_end_object(&w);
}

bool event_read_context(const struct json *body, struct arena *arena, struct context_event *out,
                        struct err *err)
{
    struct context_event event = {0};
    const struct json *items = NULL;
    if (!fields_read(&context_table, body, arena, &event, err) ||
        !field_read_array(EVENT_CONTEXT, body, "items", CONTEXT_MAX_RECORDED_ITEMS, &items, err))
        return false;
    if (items && items->count != 0) {
        struct context_item *list = arena_array(arena, items->count, sizeof *list);
        for (const struct json *item = items->first; item; item = item->next) {
            if (!fields_read(&item_table, item, arena, &list[event.item_count++], err))
                return false;
        }
        event.items = list;
    }
    *out = event;
    return true;
}
