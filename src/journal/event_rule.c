#include "journal/event.h"

#include "base/str.h"
#include "journal/fields.h"

#define AT(member) offsetof(struct rule_event, member)

static const struct field define_fields[] = {
    {"rule_id", FIELD_ID, true, AT(rule_id)},
    {"action", FIELD_NAME, true, AT(action)},
    {"cause", FIELD_NAME, true, AT(cause)},
    {"words", FIELD_NAME, true, AT(words)},
    {"predicate", FIELD_NAME, true, AT(predicate)},
    {"reproducer_body", FIELD_ID, true, AT(reproducer_body)},
    {"flags", FIELD_TEXT, false, AT(flags)},
    {"dtype", FIELD_NAME, false, AT(dtype)},
    {"task_id", FIELD_ID, false, AT(task_id)},
    {"task_dir", FIELD_TEXT, false, AT(task_dir)},
    {"evidence", FIELD_TEXT, true, AT(evidence)},
    {"occurrences", FIELD_INT, false, AT(occurrences)},
    {"candidates", FIELD_INT, false, AT(candidates)},
};

static const struct field check_fields[] = {
    {"rule_id", FIELD_ID, true, AT(rule_id)},
    {"action", FIELD_NAME, true, AT(action)},
    {"result", FIELD_NAME, true, AT(result)},
    {"compiler", FIELD_NAME, true, AT(compiler)},
    {"compiler_family", FIELD_NAME, true, AT(compiler_family)},
    {"compiler_version", FIELD_NAME, true, AT(compiler_version)},
    {"target_id", FIELD_ID, true, AT(target_id)},
    {"decision_id", FIELD_ID, false, AT(decision_id)},
    {"reason", FIELD_TEXT, false, AT(reason)},
};

static const struct field_table define_table = {EVENT_RULE, define_fields,
                                                sizeof define_fields / sizeof *define_fields};
static const struct field_table check_table = {EVENT_RULE, check_fields,
                                               sizeof check_fields / sizeof *check_fields};

static const struct field_table *table_of(const char *action)
{
    return str_equal(action, RULE_DEFINE)  ? &define_table
           : str_equal(action, RULE_CHECK) ? &check_table
                                           : NULL;
}

void event_write_rule(const struct rule_event *e, struct buf *out)
{
    struct json_writer w = {.out = out};
    const struct field_table *table = table_of(e->action);
    if (!table)
        BUG("a rule event with action '%s'", e->action);
    json_begin_object(&w);
    fields_write(table, e, &w);
    json_end_object(&w);
}

bool event_read_rule(const struct json *body, struct arena *arena, struct rule_event *out,
                     struct err *err)
{
    struct rule_event event = {0};
    if (!field_check_object(EVENT_RULE, body, err))
        return false;
    const char *action = json_string(json_get(body, "action"), "");
    const struct field_table *table = table_of(action);
    if (!table)
        return err_set(err, ERR_CORRUPT, "event 'rule': field 'action' is '%.40s'", action);
    if (!fields_read(table, body, arena, &event, err))
        return false;
    *out = event;
    return true;
}
