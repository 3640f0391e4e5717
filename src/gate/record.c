/* Verdicts by machine code: code that was judged on this target and task is not judged again. */
#include "gate/internal.h"

#include "base/str.h"
#include "base/vec.h"

#include <stdlib.h>

struct record {
    struct verdict verdict; /* memory of the gate's arena */
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

const struct verdict *record_find(const struct gate *gate, const struct hash_id *code_id)
{
    for (size_t i = 0; i < gate->record_count; i++)
        if (str_equal(gate->records[i].verdict.code_id.text, code_id->text))
            return &gate->records[i].verdict;
    return NULL;
}

void record_add(struct gate *gate, const struct verdict *verdict)
{
    if (!is_lasting(gate, verdict) || verdict->code_id.text[0] == '\0' ||
        record_find(gate, &verdict->code_id))
        return;
    gate->records = vec_reserve_one(gate->records, gate->record_count, &gate->record_capacity,
                                    sizeof *gate->records);
    gate->records[gate->record_count++].verdict = verdict_copy(verdict, &gate->arena);
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
    if (!str_equal(earlier->gate_id.text, gate->id.text) || earlier->confirmed)
        return false;
    const size_t before = gate->record_count;
    record_add(gate, earlier);
    return gate->record_count > before;
}
