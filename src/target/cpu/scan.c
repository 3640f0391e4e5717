#include "target/cpu/cpu.h"

#include "base/str.h"

#include <string.h>

/*
 * Instructions that no kernel needs: ways into the system, clocks, transactions, and ways to change
 * the floating-point environment or the thread's base. The first defence; code that hides them
 * between the lines of a linear disassembly meets seccomp, the trapped clock and the comparison of
 * the environment in the child.
 */
static const char *const refused[] = {
    "syscall",  "sysenter", "sysexit",  "sysret",  "int",       "rdtsc",    "rdtscp",   "rdpmc",
    "rdpru",    "rdpid",    "xbegin",   "xabort",  "xend",      "wrfsbase", "wrgsbase", "rdfsbase",
    "rdgsbase", "ldmxcsr",  "vldmxcsr", "fxrstor", "fxrstor64", "xrstor",   "xrstor64", "xrstors",
    "fldenv",   "frstor",   "in",       "out",     "insb",      "insl",     "outsb",    "outsl",
    "hlt",      "cli",      "sti",      "vmcall",  "vmmcall",   "wrpkru",   "rdpkru",   "umwait",
    "tpause",   "umonitor", "enclu",    "ljmp",    "lcall",     "lret",     "svc",      "hvc",
};

static bool is_refused(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (strlen(refused[i]) == length && memcmp(refused[i], word, length) == 0)
            return true;
    }
    return false;
}

/* A line is "  12:<tab>mnemonic operands"; prefixes ("rep", "data16") may stand before it. */
static const char *scan_line(const char *line, size_t length, struct arena *arena)
{
    enum { MOST_PREFIXES = 4 };
    const char *end = line + length;
    const char *at = memchr(line, '\t', length);
    for (int words = 0; at && at < end && words < MOST_PREFIXES; words++) {
        while (at < end && (*at == '\t' || *at == ' '))
            at++;
        size_t word = 0;
        while (at + word < end && at[word] != '\t' && at[word] != ' ')
            word++;
        if (is_refused(at, word))
            return arena_printf(arena, "it has the instruction '%.*s'", (int)word, at);
        at += word;
    }
    return NULL;
}

const char *scan_instructions(const char *disassembly, struct arena *arena)
{
    for (const char *line = disassembly; *line;) {
        const size_t length = strcspn(line, "\n");
        const char *found = scan_line(line, length, arena);
        if (found)
            return found;
        line += length + (line[length] == '\n');
    }
    return NULL;
}
