#include "suite/suite.h"

#include "base/str.h"
#include "os/file.h"
#include "propose/propose.h"
#include "search/search.h"
#include "yaml/yaml.h"

#include <ctype.h>
#include <string.h>

enum { MOST = 1000000000 };

static const struct suite_arm *find_arm(const struct suite_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->arm_count; i++) {
        if (str_equal(plan->arms[i].name, name))
            return &plan->arms[i];
    }
    return NULL;
}

static bool read_name(const struct yaml *node, const struct suite_plan *plan, const char **out,
                      struct err *err)
{
    const struct yaml *value = yaml_get(node, "name");
    if (!yaml_read_string(node, "name", true, out, err))
        return false;
    for (const char *c = *out; *c != '\0'; c++) {
        if (!isalnum((unsigned char)*c) && *c != '-' && *c != '_')
            return yaml_error(value, err,
                              "the name of an arm has letters, digits, '-' and '_' only");
    }
    if ((*out)[0] == '\0' || strlen(*out) > 64)
        return yaml_error(value, err, "the name of an arm has 1 to 64 characters");
    return !find_arm(plan, *out) || yaml_error(value, err, "there is an arm '%s' already", *out);
}

/* What memory the arm begins with, and where that comes from. */
static bool read_memory(const struct yaml *node, const struct suite_plan *plan, const char *dir,
                        struct arena *arena, struct suite_arm *arm, struct err *err)
{
    static const char *const kinds[] = {"off", "on", "frozen"};
    static const char *const left_out[] = {"nothing", "task", "family"};
    size_t kind = SUITE_OFF;
    size_t leave_out = SUITE_NOTHING;
    const struct yaml *from = yaml_get(node, "from");
    if (!yaml_read_word(node, "memory", false, kinds, 3, &kind, err) ||
        !yaml_read_word(node, "leave_out", false, left_out, 3, &leave_out, err) ||
        !yaml_read_string(node, "from", false, &arm->from, err))
        return false;
    arm->memory = (enum suite_memory)kind;
    arm->leave_out = (enum suite_leave_out)leave_out;
    if (arm->leave_out != SUITE_NOTHING && arm->memory != SUITE_ON)
        return yaml_error(yaml_get(node, "leave_out"), err, "leave_out goes with memory: on");
    const bool needs_from = arm->memory == SUITE_FROZEN || arm->leave_out != SUITE_NOTHING;
    if (needs_from != (arm->from != NULL))
        return yaml_error(from ? from : node, err, "%s",
                          needs_from ? "it needs 'from': the memory that is frozen, or with "
                                       "leave_out the arm whose runs are remembered"
                                     : "'from' goes with memory: frozen, or with leave_out");
    if (arm->memory == SUITE_FROZEN) {
        if (arm->from[0] != '/')
            arm->from = os_path_join(arena, dir, arm->from);
        arm->place = arena_printf(arena, "%s:%d:%d", from->file, from->line, from->column);
        return true;
    }
    const struct suite_arm *teacher = needs_from ? find_arm(plan, arm->from) : NULL;
    if (needs_from && !teacher)
        return yaml_error(from, err, "no arm '%s' stands before this one", arm->from);
    return !teacher || teacher->memory == SUITE_OFF ||
           yaml_error(from, err,
                      "arm '%s' does not begin with an empty memory: its runs may know "
                      "of what is to be left out",
                      arm->from);
}

/* Mistakes of names that another module knows, at their place. */
static bool check_at(const struct yaml *node, const char *key, const struct err *problem,
                     struct err *err)
{
    (void)yaml_error(yaml_get(node, key), err, "%s", problem->message);
    return problem->hint[0] == '\0' || err_hint(err, "%s", problem->hint);
}

static bool read_arm(const struct yaml *node, const struct suite_plan *plan, const char *dir,
                     struct arena *arena, struct suite_arm *arm, struct err *err)
{
    static const char *const keys[] = {"name",   "memory",   "leave_out", "from",     "context",
                                       "policy", "proposer", "model",     "findings", NULL};
    static const char *const contexts[] = {"active", "passive"};
    static const char *const uses[] = {"off", "on"};
    size_t context = 0, findings = 0;
    struct proposer_spec spec;
    struct err problem = {0};
    if (!yaml_check_keys(node, keys, err) || !read_name(node, plan, &arm->name, err) ||
        !read_memory(node, plan, dir, arena, arm, err) ||
        !yaml_read_word(node, "context", false, contexts, 2, &context, err) ||
        !yaml_read_word(node, "findings", false, uses, 2, &findings, err) ||
        !yaml_read_string(node, "policy", false, &arm->policy, err) ||
        !yaml_read_string(node, "proposer", false, &arm->proposer, err) ||
        !yaml_read_string(node, "model", false, &arm->model, err))
        return false;
    arm->passive = context == 1;
    arm->use_findings = findings == 1;
    if (arm->policy && !search_check_policy(arm->policy, &problem)) {
        (void)check_at(node, "policy", &problem, err);
        return false;
    }
    if (!proposer_spec_parse(arm->proposer, arena, &spec, &problem)) {
        (void)check_at(node, "proposer", &problem, err);
        return false;
    }
    if (str_equal(spec.kind, "replay"))
        return yaml_error(yaml_get(node, "proposer"), err, "a suite cannot replay a run");
    return true;
}

static bool read_budget(const struct yaml *root, struct suite_plan *plan, struct err *err)
{
    static const char *const keys[] = {"candidates", "seconds", "tokens", NULL};
    const struct yaml *budget = yaml_get(root, "budget");
    if (!budget)
        return yaml_error(root, err, "it needs 'budget': the same for each arm");
    if (!yaml_check_keys(budget, keys, err) ||
        !yaml_read_int(budget, "candidates", false, 1, MOST, &plan->candidates, err) ||
        !yaml_read_int(budget, "seconds", false, 1, MOST, &plan->seconds, err) ||
        !yaml_read_int(budget, "tokens", false, 1, MOST, &plan->tokens, err))
        return false;
    return plan->candidates || plan->seconds || plan->tokens ||
           yaml_error(budget, err, "it limits nothing: write candidates, seconds or tokens");
}

static bool read_timing(const struct yaml *root, struct suite_plan *plan, struct err *err)
{
    static const char *const keys[] = {"case_ms", "confirm_ms", "half_width", NULL};
    const struct yaml *timing = yaml_get(root, "timing");
    if (!timing)
        return true;
    if (!yaml_check_keys(timing, keys, err) ||
        !yaml_read_int(timing, "case_ms", false, 1, MOST, &plan->case_ms, err) ||
        !yaml_read_int(timing, "confirm_ms", false, 1, MOST, &plan->confirm_ms, err) ||
        !yaml_read_real(timing, "half_width", false, &plan->half_width, err))
        return false;
    const struct yaml *width = yaml_get(timing, "half_width");
    return !width || (plan->half_width >= 0.001 && plan->half_width <= 0.2) ||
           yaml_error(width, err, "a half-width in log-ratio is from 0.001 to 0.2");
}

static bool read_root(const struct yaml *root, const char *dir, struct arena *arena,
                      struct suite_plan *plan, struct err *err)
{
    static const char *const keys[] = {"budget", "timing", "arms", "reuse", NULL};
    const struct yaml *list = yaml_get(root, "arms");
    struct suite_arm *arms = arena_array(arena, SUITE_MAX_ARMS, sizeof *arms);
    plan->arms = arms;
    if (!yaml_check_keys(root, keys, err) || !read_budget(root, plan, err) ||
        !read_timing(root, plan, err))
        return false;
    plan->is_reused = plan->seconds == 0;
    if (!yaml_read_bool(root, "reuse", false, &plan->is_reused, err))
        return false;
    if (plan->is_reused && plan->seconds > 0)
        return yaml_error(yaml_get(root, "reuse"), err,
                          "with a budget of seconds, reuse would give later arms more of them");
    if (!list || list->type != YAML_SEQUENCE || list->count == 0)
        return yaml_error(list ? list : root, err, "it needs 'arms': a list of at least one");
    if (list->count > SUITE_MAX_ARMS)
        return yaml_error(list, err, "at most %d arms", SUITE_MAX_ARMS);
    for (const struct yaml *node = list->first; node; node = node->next) {
        if (!read_arm(node, plan, dir, arena, &arms[plan->arm_count], err))
            return false;
        plan->arm_count++;
    }
    return true;
}

bool suite_read_arms(const char *path, struct arena *arena, struct suite_plan *out, struct err *err)
{
    struct suite_plan plan = {0};
    const struct yaml *root = NULL;
    char *text = NULL;
    size_t length = 0;
    if (!os_read_file(path, YAML_MAX_BYTES, arena, &text, &length, err) ||
        !yaml_parse(text, length, path, arena, &root, err) ||
        !read_root(root, os_path_dir(arena, path), arena, &plan, err))
        return false;
    plan.text = text;
    *out = plan;
    return true;
}
