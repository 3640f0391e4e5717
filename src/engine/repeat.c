/*
 * A recipe is not its machine code: a flag that finds nothing to do, or a size that the compiler
 * would have taken by itself, gives what the run has judged already. Such a candidate of the
 * offline proposer takes nothing from the budget, which counts measurements, and the search draws
 * again: so many times in turn at most, so that a run whose moves come to nothing new ends. It is
 * journalled like any other, with the verdict on that code, from which the memory learns that its
 * moves gained nothing. A model's candidates are paid for with tokens, and count (decision 48).
 */
#include "engine/internal.h"

#include "base/str.h"

enum { MOST_REPEATS_IN_TURN = 8 };

const char *repeat_code(enum verdict_kind kind, const char *code_id)
{
    return kind == VERDICT_TIMED || kind == VERDICT_WRONG ? code_id : "";
}

/* The first that says all there is to say of the code, else the first. */
static const struct run_node *find_code(const struct run *run, const char *code_id)
{
    const struct run_node *first = NULL;
    for (size_t i = 1; i < run->node_count; i++) {
        const struct run_node *node = &run->nodes[i];
        if (!str_equal(node->code_id, code_id))
            continue;
        if (node->is_whole)
            return node;
        first = first ? first : node;
    }
    return first;
}

void repeat_mark(const struct run *run, struct arena *arena, struct verdict *verdict)
{
    const char *code_id = repeat_code(verdict->kind, verdict->code_id.text);
    if (code_id[0] == '\0' || run->repeats_in_turn >= MOST_REPEATS_IN_TURN ||
        !str_equal(run_proposer_kind(run), "offline"))
        return;
    const struct run_node *before = find_code(run, code_id);
    if (!before)
        return;
    /* A race that was lost to a best whose confirmation then failed says nothing any more: the code
     * is measured anew, and may win. */
    const bool is_whole = known_is_full(run->task, verdict->kind, verdict->case_count, false);
    if (!verdict->from_record && !before->is_whole && is_whole)
        return;
    verdict->mechanism = VERDICT_BY_REPEAT;
    verdict->evidence =
        arena_printf(arena, "the same machine code as decision %.12s%s%s", before->decision_id,
                     verdict->evidence[0] ? ": " : "", verdict->evidence);
}

void repeat_note(struct run_node *node, enum verdict_kind kind, const char *mechanism,
                 const char *code_id)
{
    node->code_id = repeat_code(kind, code_id);
    node->is_repeat = str_equal(mechanism, VERDICT_BY_REPEAT);
}
