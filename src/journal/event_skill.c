#include "journal/event.h"

#include "base/str.h"
#include "journal/fields.h"

#define AT(member) offsetof(struct skill_event, member)

static const struct field define_fields[] = {
    {"skill_id", FIELD_ID, true, AT(skill_id)},
    {"action", FIELD_NAME, true, AT(action)},
    {"name", FIELD_NAME, true, AT(name)},
    {"intent", FIELD_TEXT, true, AT(intent)},
    {"applies", FIELD_NAME, false, AT(applies)},
    {"needs", FIELD_NAME, false, AT(needs)},
    {"change", FIELD_NAME, false, AT(change)},
    {"breaks", FIELD_TEXT, false, AT(breaks)},
    {"origin", FIELD_NAME, true, AT(origin)},
    {"learned_on", FIELD_ID, false, AT(learned_on)},
    {"before_body", FIELD_ID, false, AT(before_body)},
    {"after_body", FIELD_ID, false, AT(after_body)},
    {"build", FIELD_NAME, false, AT(build)},
};

static const struct field evidence_fields[] = {
    {"skill_id", FIELD_ID, true, AT(skill_id)},
    {"action", FIELD_NAME, true, AT(action)},
    {"evidence", FIELD_NAME, true, AT(evidence)},
    {"decision_id", FIELD_ID, false, AT(decision_id)},
    {"task_id", FIELD_ID, false, AT(task_id)},
    {"task_name", FIELD_NAME, false, AT(task_name)},
    {"family", FIELD_NAME, false, AT(family)},
    {"regime", FIELD_NAME, false, AT(regime)},
    {"target_id", FIELD_ID, false, AT(target_id)},
    {"verdict", FIELD_NAME, true, AT(verdict)},
    {"text", FIELD_TEXT, false, AT(text)},
    {"log_ratio", FIELD_REAL, false, AT(log_ratio)},
    {"log_low", FIELD_REAL, false, AT(log_low)},
    {"log_high", FIELD_REAL, false, AT(log_high)},
};

static const struct field state_fields[] = {
    {"skill_id", FIELD_ID, true, AT(skill_id)},
    {"action", FIELD_NAME, true, AT(action)},
    {"state", FIELD_NAME, true, AT(state)},
    {"reason", FIELD_TEXT, false, AT(reason)},
};

static const struct {
    const char *action;
    struct field_table table;
} actions[] = {
    {SKILL_DEFINE, {EVENT_SKILL, define_fields, sizeof define_fields / sizeof *define_fields}},
    {SKILL_EVIDENCE,
     {EVENT_SKILL, evidence_fields, sizeof evidence_fields / sizeof *evidence_fields}},
    {SKILL_STATE, {EVENT_SKILL, state_fields, sizeof state_fields / sizeof *state_fields}},
};

static const struct field_table *table_of(const char *action)
{
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (str_equal(actions[i].action, action))
            return &actions[i].table;
    }
    return NULL;
}

void event_write_skill(const struct skill_event *e, struct buf *out)
{
    struct json_writer w = {.out = out};
    const struct field_table *table = table_of(e->action);
    if (!table)
        BUG("a skill event with action '%s'", e->action);
    json_begin_object(&w);
    fields_write(table, e, &w);
    json_end_object(&w);
}

bool event_read_skill(const struct json *body, struct arena *arena, struct skill_event *out,
                      struct err *err)
{
    struct skill_event event = {0};
    if (!field_check_object(EVENT_SKILL, body, err))
        return false;
    const char *action = json_string(json_get(body, "action"), "");
    const struct field_table *table = table_of(action);
    if (!table)
        return err_set(err, ERR_CORRUPT, "event 'skill': field 'action' is '%.40s'", action);
    if (!fields_read(table, body, arena, &event, err))
        return false;
    *out = event;
    return true;
}
