#include "journal/event.h"

#include "journal/fields.h"

#include <string.h>

static const struct field prune_fields[] = {
    {"reason", FIELD_TEXT, true, offsetof(struct prune_event, reason)},
};
static const struct field_table prune_table = {EVENT_PRUNE, prune_fields,
                                               sizeof prune_fields / sizeof *prune_fields};

void event_write_prune(const struct prune_event *e, struct buf *out)
{
    struct json_writer w = {.out = out};
    if (e->id_count > PRUNE_MAX_IDS)
        BUG("%zu ids in an event", e->id_count);
    json_begin_object(&w);
    fields_write(&prune_table, e, &w);
    json_key(&w, "ids");
    json_begin_array(&w);
    for (size_t i = 0; i < e->id_count; i++)
        json_write_string(&w, e->ids[i].text);
    json_end_array(&w);
    json_end_object(&w);
}

bool event_read_prune(const struct json *body, struct arena *arena, struct prune_event *out,
                      struct err *err)
{
    struct prune_event event = {0};
    const struct json *ids = NULL;
    if (!fields_read(&prune_table, body, arena, &event, err) ||
        !field_read_array(EVENT_PRUNE, body, "ids", PRUNE_MAX_IDS, &ids, err))
        return false;
    struct hash_id *list = arena_array(arena, ids ? ids->count : 0, sizeof *list);
    for (const struct json *id = ids ? ids->first : NULL; id; id = id->next) {
        if (id->type != JSON_STRING || id->string_length != HASH_ID_CHARS ||
            strspn(id->string, "0123456789abcdef") != HASH_ID_CHARS)
            return err_set(err, ERR_CORRUPT, "event 'prune': field 'ids' holds no id");
        memcpy(list[event.id_count++].text, id->string, HASH_ID_BYTES);
    }
    event.ids = list;
    *out = event;
    return true;
}
