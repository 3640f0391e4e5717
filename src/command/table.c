#include "command/internal.h"

/* In the order of help and man page. */
const struct command *const command_table[] = {
    &command_optimize,
    &command_resume,
    &command_check,
    &command_compare,
    &command_report,
    &command_context,
    &command_runs,
    &command_replay,
    &command_memory_stats,
    &command_memory_verify,
    &command_memory_rebuild,
    &command_memory_merge,
    &command_mcp,
    &command_target_list,
    &command_target_probe,
    &command_task_new,
    &command_task_check,
    &command_task_explain,
    &command_model_list,
    &command_model_ping,
    &command_model_count,
    &command_model_dialects,
    &command_doctor,
    &command_help,
    &command_completion,
    &command_man,
    &command_version,
};
const size_t command_count = sizeof command_table / sizeof *command_table;
