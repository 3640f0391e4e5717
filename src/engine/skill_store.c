#include "engine/skill_store.h"

#include "base/str.h"
#include "skill/seeds.h"

#include <stdlib.h>

static bool append(struct memory *memory, const struct skill_event *event, struct err *err)
{
    CLEANUP(buf_free) struct buf body = {0};
    event_write_skill(event, &body);
    return memory_append(memory, EVENT_SKILL, &body, NULL, err);
}

bool skill_store_define(struct memory *memory, const struct graph_skill *skill, bool *is_new,
                        struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    const struct graph_skill *known = NULL;
    size_t count = 0;
    if (!graph_skills(memory->graph, &scratch, &known, &count, err))
        return false;
    *is_new = true;
    for (size_t i = 0; i < count; i++)
        *is_new = *is_new && !str_equal(known[i].id, skill->id);
    if (!*is_new)
        return true;
    return append(memory,
                  &(struct skill_event){.skill_id = skill->id,
                                        .action = SKILL_DEFINE,
                                        .name = skill->name,
                                        .intent = skill->intent,
                                        .applies = skill->applies,
                                        .needs = skill->needs,
                                        .change = skill->change,
                                        .breaks = skill->breaks,
                                        .origin = skill->origin,
                                        .learned_on = skill->learned_on,
                                        .before_body = skill->before_body,
                                        .after_body = skill->after_body,
                                        .build = skill->build},
                  err);
}

bool skill_store_state(struct memory *memory, const char *skill_id, enum skill_state state,
                       const char *reason, struct err *err)
{
    return append(memory,
                  &(struct skill_event){.skill_id = skill_id,
                                        .action = SKILL_STATE,
                                        .state = skill_state_name(state),
                                        .reason = reason},
                  err);
}

bool skill_store_evidence(struct run *run, const struct skill_measurement *m, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct skill_facts facts = {0};
    skill_facts_of_task(run->task, &scratch, &facts);
    return append(&run->memory,
                  &(struct skill_event){.skill_id = m->skill_id,
                                        .action = SKILL_EVIDENCE,
                                        .evidence = m->kind,
                                        .decision_id = m->decision_id,
                                        .task_id = run->task->id.text,
                                        .task_name = run->task->name,
                                        .family = run->task->family,
                                        .regime = facts.word[FACT_REGIME],
                                        .target_id = run->features->id.text,
                                        .verdict = m->verdict,
                                        .text = m->text,
                                        .log_ratio = m->log_ratio,
                                        .log_low = m->log_low,
                                        .log_high = m->log_high},
                  err);
}

bool skill_believe_now(struct memory *memory, const char *skill_id, const struct skill_scope *scope,
                       struct arena *arena, struct skill_belief *out, struct err *err)
{
    const struct graph_skill_evidence *evidence = NULL;
    size_t count = 0;
    if (!graph_skill_evidence(memory->graph, skill_id, arena, &evidence, &count, err))
        return false;
    *out = skill_believe(evidence, count, scope);
    return true;
}

bool skill_settle(struct run *run, const struct graph_skill *skill, int sign, bool is_elsewhere,
                  struct skill_trial *out, struct err *err)
{
    if (!skill_believe_now(&run->memory, skill->id, NULL, run->arena, &out->belief, err))
        return false;
    out->before = skill_state_from_name(skill->state);
    out->after =
        skill_next_state(out->before, sign, is_elsewhere, &out->belief, run->arena, &out->reason);
    return !out->reason || skill_store_state(&run->memory, skill->id, out->after, out->reason, err);
}

static int by_name(const void *a, const void *b)
{
    const struct graph_skill *x = a;
    const struct graph_skill *y = b;
    const int order = strcmp(x->name, y->name);
    return order != 0 ? order : strcmp(x->id, y->id);
}

static bool has_id(const struct graph_skill *skills, size_t count, const char *id)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal(skills[i].id, id))
            return true;
    }
    return false;
}

bool skill_list_all(struct memory *memory, const struct target *target, struct arena *arena,
                    const struct graph_skill **out, size_t *out_count, struct err *err)
{
    const struct moves_env env = run_moves_env(target, NULL, arena);
    const struct move *moves = NULL;
    size_t move_count = 0;
    struct graph_skill *seeds = NULL;
    const struct graph_skill *known = NULL;
    size_t known_count = 0;
    if (!moves_catalogue(&env, arena, &moves, &move_count))
        return err_set(err, ERR_UNSUPPORTED, "there are no moves for this target");
    if (memory->graph && !graph_skills(memory->graph, arena, &known, &known_count, err))
        return false;
    skill_seeds(moves, move_count, arena, &seeds);
    struct graph_skill *all = arena_array(arena, known_count + move_count + 1, sizeof *all);
    size_t count = 0;
    for (; count < known_count; count++)
        all[count] = known[count];
    for (size_t i = 0; i < move_count; i++) {
        if (!has_id(known, known_count, seeds[i].id))
            all[count++] = seeds[i];
    }
    qsort(all, count, sizeof *all, by_name);
    *out = all;
    *out_count = count;
    return true;
}

void skill_facts_of_target(const struct target *target, struct arena *arena,
                           struct skill_facts *out)
{
    const struct target_features *f = target_features(target);
    CLEANUP(buf_free) struct buf families = {0};
    for (size_t i = 0; i < f->compiler_count; i++)
        (void)buf_printf(&families, "%s%s", i ? "," : "", f->compilers[i].family);
    skill_facts_of_machine(&(struct skill_machine){.arch = f->arch,
                                                   .isa = f->isa,
                                                   .compilers = buf_text(&families),
                                                   .vector_bytes = f->vector_bytes,
                                                   .cores = f->cores},
                           arena, out);
}

void skill_facts_of_run(const struct run *run, struct skill_facts *out)
{
    *out = (struct skill_facts){0};
    skill_facts_of_task(run->task, run->arena, out);
    skill_facts_of_target(run->target, run->arena, out);
}

struct skill_scope skill_scope_of(const struct skill_facts *facts, const struct run *run)
{
    return (struct skill_scope){.family = run->task->family,
                                .target_id = run->features->id.text,
                                .regime = facts->word[FACT_REGIME]};
}
