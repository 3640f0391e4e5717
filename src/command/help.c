#include "command/internal.h"

#include "base/str.h"

#include <string.h>

void command_write_overview(struct buf *out)
{
    (void)buf_append_str(out, "kope - makes compute kernels faster and remembers how\n\n"
                              "use: kope COMMAND [ARGUMENTS] [--json] [--quiet]\n\n");
    for (size_t i = 0; i < command_count; i++)
        (void)buf_printf(out, "  %-16s %s\n", command_table[i]->name, command_table[i]->summary);
    (void)buf_append_str(
        out,
        "\nA first try:\n"
        "  kope optimize examples/softmax       # a faster softmax, checked and measured\n"
        "  kope report last --html report.html  # what was tried, as a page\n"
        "  kope task new my/kernel              # a folder to describe a kernel of your own\n"
        "\n'kope help COMMAND' explains one. Exit codes: 0 done; 2 usage; 3 bad input; 4 not "
        "found;\n"
        "5 a tool is missing; 6 unsupported; 7 over a limit; 8 system; 9 corrupt; 10 busy; 11 "
        "network;\n"
        "12 budget; 130 interrupted; `check`: 20 build-failed, 21 rejected, 22 wrong, 23 crashed,\n"
        "24 timed-out, 25 too-noisy.\n");
}

static void write_usage(const struct command *command, struct buf *out)
{
    (void)buf_printf(out, "kope %s", command->name);
    for (const struct param *p = command->params; p->name; p++) {
        if (p->positional)
            (void)buf_printf(out, p->required ? " %s" : " [%s]", p->value);
    }
    for (const struct param *p = command->params; p->name; p++) {
        if (!p->positional)
            (void)buf_printf(out, p->value ? " [--%s %s]" : " [--%s]", p->name,
                             p->value ? p->value : "");
    }
}

void command_write_help(const struct command *command, struct buf *out)
{
    (void)buf_printf(out, "kope %s - %s\n\nuse: ", command->name, command->summary);
    write_usage(command, out);
    (void)buf_printf(out, "\n\n%s\n", command->description);
    if (command->params->name)
        (void)buf_append_str(out, "\n");
    for (const struct param *p = command->params; p->name; p++) {
        struct buf left = {0};
        if (p->positional)
            (void)buf_printf(&left, "%s", p->value);
        else
            (void)buf_printf(&left, p->value ? "--%s %s" : "--%s%s", p->name,
                             p->value ? p->value : "");
        (void)buf_printf(out, "  %-20s %s", buf_text(&left), p->help);
        if (p->choices)
            (void)buf_printf(out, " (%s)", p->choices);
        if (p->otherwise)
            (void)buf_printf(out, " [%s]", p->otherwise);
        (void)buf_append_str(out, "\n");
        buf_free(&left);
    }
    if (command->examples)
        (void)buf_printf(out, "\nexamples:\n%s\n", command->examples);
}

/* Text in roff: backslashes and leading dots are escaped, hyphens stay copyable. */
static void write_roff(const char *text, struct buf *out)
{
    bool line_start = true;
    for (; *text != '\0'; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            (void)buf_append_str(out, "\\&");
        if (*text == '\\')
            (void)buf_append_str(out, "\\e");
        else if (*text == '-')
            (void)buf_append_str(out, "\\-");
        else
            (void)buf_append_char(out, *text);
        line_start = *text == '\n';
    }
}

static void write_command_man(const struct command *command, struct buf *out)
{
    struct buf usage = {0};
    write_usage(command, &usage);
    (void)buf_append_str(out, ".SS ");
    write_roff(buf_text(&usage), out);
    (void)buf_append_str(out, "\n");
    write_roff(command->description, out);
    (void)buf_append_str(out, "\n");
    for (const struct param *p = command->params; p->name; p++) {
        (void)buf_append_str(out, ".TP\n.B ");
        if (!p->positional)
            (void)buf_printf(out, "\\-\\-%s ", p->name);
        (void)buf_printf(out, "%s\n", p->value ? p->value : "");
        write_roff(p->help, out);
        if (p->choices)
            (void)buf_printf(out, " (%s)", p->choices);
        if (p->otherwise) {
            (void)buf_append_str(out, " [");
            write_roff(p->otherwise, out);
            (void)buf_append_str(out, "]");
        }
        (void)buf_append_str(out, "\n");
    }
    if (command->examples) {
        (void)buf_append_str(out, ".PP\n.nf\n");
        write_roff(command->examples, out);
        (void)buf_append_str(out, "\n.fi\n");
    }
    buf_free(&usage);
}

void command_write_man(struct buf *out)
{
    (void)buf_append_str(
        out, ".TH KOPE 1 \"\" \"kope " KOPE_VERSION "\" \"User commands\"\n"
             ".SH NAME\nkope \\- makes compute kernels faster and remembers how\n"
             ".SH SYNOPSIS\n.B kope\n.I COMMAND\n[ARGUMENTS] [\\-\\-json] [\\-\\-quiet]\n"
             ".SH DESCRIPTION\n"
             "A task describes a kernel: a reference in plain C, its shapes and its precision. "
             "kope proposes candidates, builds,\n"
             "checks and times each in a gate that does not trust them, records every decision "
             "with its measured outcome, and starts\n"
             "the next step, the next task and the next machine from that experience. It needs no "
             "network.\n"
             ".SH COMMANDS\n");
    for (size_t i = 0; i < command_count; i++)
        write_command_man(command_table[i], out);
    (void)buf_append_str(out, ".SH GLOBAL OPTIONS\n"
                              ".TP\n.B \\-\\-json\nprint JSON: one document, and for long commands "
                              "an event on each line before it\n"
                              ".TP\n.B \\-\\-quiet\nno progress\n"
                              ".TP\n.B \\-\\-help\nhelp of the command\n"
                              ".SH EXIT STATUS\n.nf\n");
    for (int kind = ERR_NONE; kind < ERR_KIND_COUNT; kind++)
        (void)buf_printf(out, "%3d  %s\n", err_kind_exit_code((enum err_kind)kind),
                         kind == ERR_NONE ? "done" : err_kind_name((enum err_kind)kind));
    for (int kind = 0; kind < VERDICT_COUNT; kind++) {
        if (kind != VERDICT_TIMED)
            (void)buf_printf(out, "%3d  check: %s\n",
                             verdict_kind_exit_code((enum verdict_kind)kind),
                             verdict_kind_name((enum verdict_kind)kind));
    }
    (void)buf_append_str(out, ".fi\n.SH ENVIRONMENT\n"
                              ".TP\n.B KOPE_MEMORY\nfolder of the memory\n"
                              ".TP\n.B KOPE_RUNNER\npath of kope\\-runner\n"
                              ".TP\n.B NO_COLOR\nno colours on a terminal\n"
                              ".TP\n.B OPENAI_BASE_URL, OPENAI_API_KEY\nwhere the model of "
                              "\\-\\-proposer llm is, and its key\n"
                              ".SH SEE ALSO\nkope\\-task(5)\n");
}

bool command_write_completion(const char *shell, struct buf *out, struct err *err)
{
    if (!str_equal(shell, "bash") && !str_equal(shell, "zsh") && !str_equal(shell, "fish"))
        return err_set(err, ERR_USAGE, "no completion for shell '%s'", shell);
    if (str_equal(shell, "fish")) {
        for (size_t i = 0; i < command_count; i++) {
            const char *name = command_table[i]->name;
            const size_t first = strcspn(name, " ");
            (void)buf_printf(out, "complete -c kope -n __fish_use_subcommand -a %.*s -d '%s'\n",
                             (int)first, name, command_table[i]->summary);
            if (name[first] == ' ')
                (void)buf_printf(out,
                                 "complete -c kope -n '__fish_seen_subcommand_from %.*s' -a %s\n",
                                 (int)first, name, name + first + 1);
            for (const struct param *p = command_table[i]->params; p->name; p++) {
                if (!p->positional)
                    (void)buf_printf(
                        out, "complete -c kope -n '__fish_seen_subcommand_from %.*s' -l %s%s\n",
                        (int)first, name, p->name, p->value ? " -r" : "");
            }
        }
        return true;
    }
    if (str_equal(shell, "zsh"))
        (void)buf_append_str(out, "autoload -U +X bashcompinit && bashcompinit\n");
    (void)buf_append_str(out, "_kope() {\n  local cur=${COMP_WORDS[COMP_CWORD]} words\n  case "
                              "\"${COMP_WORDS[1]} ${COMP_WORDS[2]}\" in\n");
    /* Longer names first, so that 'memory stats' is seen before 'memory'. */
    for (int words = 2; words >= 1; words--) {
        for (size_t i = 0; i < command_count; i++) {
            const bool two = strchr(command_table[i]->name, ' ') != NULL;
            if (two != (words == 2))
                continue;
            (void)buf_printf(out, two ? "  \"%s\") words=\"" : "  \"%s \"*) words=\"",
                             command_table[i]->name);
            for (const struct param *p = command_table[i]->params; p->name; p++) {
                if (!p->positional)
                    (void)buf_printf(out, "--%s ", p->name);
            }
            (void)buf_append_str(out, "--json --quiet --help\";;\n");
        }
    }
    (void)buf_append_str(
        out, "  \"memory \"*) words=\"stats verify rebuild\";;\n  \"target \"*) words=\"list "
             "probe\";;\n  \"task \"*) words=\"new check\";;\n  *) words=\"");
    for (size_t i = 0; i < command_count; i++)
        (void)buf_printf(out, "%.*s ", (int)strcspn(command_table[i]->name, " "),
                         command_table[i]->name);
    (void)buf_append_str(out, "\";;\n  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\") "
                              "$(compgen -f -- \"$cur\"))\n}\ncomplete -F _kope kope\n");
    return true;
}
