/* Inside command/: the rows, one file for each group, and what they share. */
#ifndef KOPE_COMMAND_INTERNAL_H
#define KOPE_COMMAND_INTERNAL_H

#include "command/command.h"

#include "json/json.h"

extern const struct command command_optimize, command_resume, command_check, command_compare,
    command_profile, command_report, command_context, command_context_value, command_runs,
    command_replay, command_suite_run, command_suite_report;
extern const struct command command_memory_stats, command_memory_verify, command_memory_rebuild,
    command_memory_merge, command_memory_search, command_memory_show, command_memory_path,
    command_memory_export, command_memory_prune, command_memory_compact;
extern const struct command command_ablate, command_skill_list, command_skill_show,
    command_skill_verify, command_skill_learn, command_skill_export, command_skill_import;
extern const struct command command_rule_list, command_rule_show, command_rule_verify,
    command_rule_learn;
extern const struct command command_target_list, command_target_probe, command_task_new,
    command_task_check, command_task_explain;
extern const struct command command_model_list, command_model_ping, command_model_count,
    command_model_dialects;
extern const struct command command_mcp, command_doctor, command_help, command_completion,
    command_man, command_version;

/* Parameters that several commands have. */
#define PARAM_MEMORY                                                                               \
    {                                                                                              \
        "memory", "DIR", "the memory to use", "$KOPE_MEMORY, else ~/.local/share/kope",            \
            PARAM_PATH, false, false, NULL                                                         \
    }
#define PARAM_TASK                                                                                 \
    {                                                                                              \
        "task", "TASK", "folder with task.yaml and reference.c", NULL, PARAM_PATH, true, true,     \
            NULL                                                                                   \
    }

/* "3.4 ms", "12.1 us", "2m05s" in the arena. */
const char *command_time_text(int64_t ns, struct arena *arena);

/* The result of a run, for people and for programs. */
void command_write_result(const struct optimize_result *result, const char *output_path,
                          struct arena *arena, struct command_result *out);
/* A verdict with its cases as text. */
void command_write_verdict(const struct verdict *verdict, struct arena *arena, struct buf *out);
/* Its cases as a table. */
void command_write_cases(const struct verdict *verdict, struct arena *arena, struct buf *out);
/* A table of the times with cold caches, where there are any; `sides` are headings of the two. */
void command_write_cold(const struct verdict *verdict, const char *const sides[2],
                        struct arena *arena, struct buf *out);

#endif
