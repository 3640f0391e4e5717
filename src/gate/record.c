/* Verdicts by machine code: code that was judged on this target and task is not judged again. */
#include "gate/internal.h"

#include "base/str.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>

struct record {
    struct verdict verdict; /* memory of the gate's arena */
    double lost_to;         /* of a race that ended early: what it lost to; else -INFINITY */
};

/*
 * What is known of the code for good: a time in every case, a wrong result, or a rule broken by the
 * code itself. A disturbed measurement is no knowledge, a race that ended early says only 'slower
 * than that best', what the host may have had a part in (a crash for lack of memory, a limit of
 * time, CPU time that does not agree) is tried again, and a build that failed has no code.
 */
static bool is_lasting(const struct gate *gate, const struct verdict *verdict)
{
    size_t searched = 0;
    for (size_t i = 0; i < gate->task->case_count; i++)
        searched += !gate->task->cases[i].held_out;
    switch (verdict->kind) {
    case VERDICT_TIMED:
        return verdict->case_count == searched;
    case VERDICT_WRONG:
        return true;
    case VERDICT_REJECTED:
        return !str_starts_with(verdict->mechanism, "M8");
    case VERDICT_BUILD_FAILED:
    case VERDICT_CRASHED:
    case VERDICT_TIMED_OUT:
    case VERDICT_TOO_NOISY:
    case VERDICT_COUNT:
        break;
    }
    return false;
}

static struct record *find(const struct gate *gate, const struct hash_id *code_id)
{
    for (size_t i = 0; i < gate->record_count; i++)
        if (str_equal(gate->records[i].verdict.code_id.text, code_id->text))
            return &gate->records[i];
    return NULL;
}

const struct verdict *record_find(const struct gate *gate, const struct hash_id *code_id,
                                  double race_log_ratio)
{
    const struct record *record = find(gate, code_id);
    return record && record->lost_to <= race_log_ratio ? &record->verdict : NULL;
}

static void put(struct gate *gate, const struct verdict *verdict, double lost_to)
{
    struct record *record = find(gate, &verdict->code_id);
    if (record && lost_to >= record->lost_to)
        return;
    if (!record) {
        gate->records = vec_reserve_one(gate->records, gate->record_count, &gate->record_capacity,
                                        sizeof *gate->records);
        record = &gate->records[gate->record_count++];
    }
    *record = (struct record){verdict_copy(verdict, &gate->arena), lost_to};
}

void record_add(struct gate *gate, const struct verdict *verdict, double race_log_ratio)
{
    if (verdict->code_id.text[0] == '\0')
        return;
    if (is_lasting(gate, verdict))
        put(gate, verdict, -(double)INFINITY);
    else if (verdict->kind == VERDICT_TIMED)
        put(gate, verdict, race_log_ratio);
}

void records_free(struct gate *gate)
{
    free(gate->records);
    gate->records = NULL;
    gate->record_count = 0;
    gate->record_capacity = 0;
}

bool gate_recall(struct gate *gate, const struct verdict *earlier)
{
    if (!str_equal(earlier->gate_id.text, gate->id.text) || earlier->confirmed ||
        !is_lasting(gate, earlier))
        return false;
    const size_t before = gate->record_count;
    record_add(gate, earlier, -(double)INFINITY);
    return gate->record_count > before;
}
