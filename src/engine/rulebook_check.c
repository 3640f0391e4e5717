/* Reproducers, built again. */
#include "engine/internal.h"
#include "engine/rulebook_internal.h"

#include "base/str.h"

bool rulebook_build(struct rulebook *book, const struct task *task,
                    const struct candidate *candidate, bool *is_built, struct arena *arena,
                    struct cause *out, struct err *err)
{
    static const enum verdict_kind kinds[] = {[BUILD_OK] = VERDICT_TIMED,
                                              [BUILD_FAILED] = VERDICT_BUILD_FAILED,
                                              [BUILD_REJECTED] = VERDICT_REJECTED,
                                              [BUILD_TIMED_OUT] = VERDICT_TIMED_OUT};
    const struct build_request request = {
        .task = task, .candidate = candidate, .real_name = dtype_c_name(task->dtype)};
    struct build_result result = {0};
    if (!target_build(book->target, &request, arena, &result, err))
        return false;
    *is_built = result.status == BUILD_OK;
    *out = cause_of(&(struct failure){.kind = kinds[result.status],
                                      .mechanism = result.mechanism,
                                      .evidence = result.evidence,
                                      .diagnostics = result.diagnostics,
                                      .entry = task->entry},
                    arena);
    return true;
}

/* The task that a rule's reproducer is built for; NULL where it is not to be had any more. */
static const struct task *task_of(const struct rulebook *book, const struct graph_rule *rule,
                                  struct arena *arena)
{
    const struct task *task = NULL;
    struct err ignored;
    if (rule->task_id[0] == '\0')
        return book->probes[str_equal(rule->dtype, "float64")];
    if (book->task && str_equal(book->task->id.text, rule->task_id))
        return book->task;
    if (rule->task_dir[0] == '\0' || !task_load(rule->task_dir, arena, &task, &ignored) ||
        !str_equal(task->id.text, rule->task_id))
        return NULL;
    return task;
}

/* `*tried` is false where nothing can be said: the task is gone, or the host failed. */
static bool reproduce(struct rulebook *book, const struct graph_rule *rule, const char *compiler,
                      bool *tried, bool *holds, const char **reason, struct arena *arena,
                      struct err *err)
{
    struct candidate candidate = {.compiler = compiler};
    struct cause cause;
    bool is_built = false;
    const struct task *task = task_of(book, rule, arena);
    *tried = false;
    *reason = "the task that it needs is not there";
    if (!task)
        return true;
    if (!memory_get_text(book->memory, rule->reproducer_body, arena, &candidate.source, err))
        return err_within(err, "reading the reproducer of rule %.12s", rule->id);
    *reason = "it has too many flags";
    if (!candidate_parse_flags(rule->flags, arena, &candidate))
        return true;
    if (!rulebook_build(book, task, &candidate, &is_built, arena, &cause, err))
        return false;
    *tried = is_built || cause.is_lesson;
    *holds = cause.is_lesson && str_equal(cause.key, rule->cause);
    *reason = is_built ? "its reproducer is built now"
              : cause.is_lesson
                  ? arena_printf(arena, "its reproducer fails otherwise: %s", cause.key)
                  : cause.why_not;
    return true;
}

static bool check(struct rulebook *book, struct rulebook_rule *rule, size_t compiler,
                  const char **reason, struct arena *arena, struct err *err)
{
    bool tried = false, holds = false;
    const char *name = target_features(book->target)->compilers[compiler].name;
    if (!reproduce(book, &rule->rule, name, &tried, &holds, reason, arena, err))
        return false;
    rule->cannot_check[compiler] = !tried;
    if (!tried)
        return true;
    rule->standing[compiler] = holds ? STANDING_HOLDS : STANDING_STALE;
    rule->held_before |= holds;
    return rulebook_write_check(book, rule, compiler, holds ? RULE_HOLDS : RULE_STALE, "",
                                holds ? "" : *reason, err);
}

bool rulebook_check(struct rulebook *book, struct rulebook_rule *rule, size_t compiler,
                    struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    const char *reason = "";
    if (rule->standing[compiler] != STANDING_UNKNOWN || rule->cannot_check[compiler])
        return true;
    return check(book, rule, compiler, &reason, &scratch, err);
}

bool rulebook_verify(struct rulebook *book, size_t which, struct arena *arena,
                     struct rule_checked **out, size_t *out_count, struct err *err)
{
    const struct target_features *f = target_features(book->target);
    struct rule_checked *all = arena_array(arena, book->count * f->compiler_count + 1, sizeof *all);
    size_t count = 0;
    for (size_t i = 0; i < book->count; i++) {
        struct rulebook_rule *rule = &book->rules[i];
        if ((which != SIZE_MAX && which != i) || rule->is_retired || !rule->is_readable)
            continue;
        for (size_t k = 0; k < f->compiler_count; k++) {
            const char *reason = "";
            if (!check(book, rule, k, &reason, arena, err))
                return false;
            const bool unknown = rule->cannot_check[k];
            const enum rule_standing now = unknown ? STANDING_UNKNOWN : rule->standing[k];
            all[count++] =
                (struct rule_checked){&rule->rule, f->compilers[k].name, f->compilers[k].version,
                                      now, now == STANDING_HOLDS ? "" : reason};
        }
    }
    *out = all;
    *out_count = count;
    return true;
}
