#include "journal/event.h"

#include "journal/fields.h"

#include <string.h>

static const struct field decision_fields[] = {
    {"run_id", FIELD_ID, true, offsetof(struct decision_event, run_id)},
    {"parent", FIELD_ID, false, offsetof(struct decision_event, parent)},
    {"sequence", FIELD_INT, false, offsetof(struct decision_event, sequence)},
    {"step", FIELD_NAME, false, offsetof(struct decision_event, step)},
    {"proposer", FIELD_NAME, false, offsetof(struct decision_event, proposer)},
    {"intent", FIELD_TEXT, false, offsetof(struct decision_event, intent)},
    {"hypothesis", FIELD_TEXT, false, offsetof(struct decision_event, hypothesis)},
    {"predicted_log_ratio", FIELD_REAL, false,
     offsetof(struct decision_event, predicted_log_ratio)},
    {"recipe", FIELD_TEXT, false, offsetof(struct decision_event, recipe)},
    {"compiler", FIELD_NAME, false, offsetof(struct decision_event, compiler)},
    {"flags", FIELD_TEXT, false, offsetof(struct decision_event, flags)},
    {"source_body", FIELD_ID, false, offsetof(struct decision_event, source_body)},
    {"candidate_id", FIELD_ID, false, offsetof(struct decision_event, candidate_id)},
    {"context_id", FIELD_ID, false, offsetof(struct decision_event, context_id)},
    {"derived_from", FIELD_ID, false, offsetof(struct decision_event, derived_from)},
    {"tokens_in", FIELD_INT, false, offsetof(struct decision_event, tokens_in)},
    {"tokens_out", FIELD_INT, false, offsetof(struct decision_event, tokens_out)},
    {"exchange_body", FIELD_ID, false, offsetof(struct decision_event, exchange_body)},
    {"exchange_id", FIELD_ID, false, offsetof(struct decision_event, exchange_id)},
    {"exchange_index", FIELD_INT, false, offsetof(struct decision_event, exchange_index)},
    {"uses", FIELD_TEXT, false, offsetof(struct decision_event, uses)},
    {"failure", FIELD_TEXT, false, offsetof(struct decision_event, failure)},
};

static const struct field_table decision_table = {EVENT_DECISION, decision_fields,
                                                  sizeof decision_fields / sizeof *decision_fields};

void event_write_decision(const struct decision_event *e, struct buf *out)
{
    struct json_writer w = {.out = out};
    if (e->move_count > DECISION_MAX_MOVES)
        BUG("a decision of %zu moves", e->move_count);
    json_begin_object(&w);
    fields_write(&decision_table, e, &w);
    json_key(&w, "moves");
    json_begin_array(&w);
    for (size_t i = 0; i < e->move_count; i++)
        json_write_string(&w, e->moves[i]);
    json_end_array(&w);
    json_end_object(&w);
}

bool event_read_decision(const struct json *body, struct arena *arena, struct decision_event *out,
                         struct err *err)
{
    struct decision_event event = {0};
    const struct json *moves = NULL;
    if (!fields_read(&decision_table, body, arena, &event, err) ||
        !field_read_array(EVENT_DECISION, body, "moves", DECISION_MAX_MOVES, &moves, err))
        return false;
    for (const struct json *move = moves ? moves->first : NULL; move; move = move->next) {
        if (move->type != JSON_STRING || move->string_length == 0 ||
            move->string_length > FIELD_NAME_BYTES || strlen(move->string) != move->string_length)
            return err_set(err, ERR_CORRUPT, "event 'decision': field 'moves' holds no name");
        event.moves[event.move_count++] = arena_strdup(arena, move->string);
    }
    *out = event;
    return true;
}
