/* Failures that say nothing about the candidate. */
#include "rule/internal.h"

#include "base/str.h"

#include <string.h>

/* As tools say it: errno's words, the drivers' own, and how a killed child is told. */
static const struct {
    const char *words, *fault;
} faults[] = {
    {"No space left on device", "the disk was full"},
    {"Disk quota exceeded", "the disk was full"},
    {"Input/output error", "the disk failed"},
    {"Read-only file system", "the disk was read-only"},
    {"Stale file handle", "the disk failed"},
    {"Cannot allocate memory", "memory was short"},
    {"cannot allocate memory", "memory was short"},
    {"out of memory", "memory was short"},
    {"virtual memory exhausted", "memory was short"},
    {"memory exhausted", "memory was short"},
    {"Resource temporarily unavailable", "the host refused a process"},
    {"Too many open files", "the host refused a file"},
    {"Text file busy", "the host refused a file"},
    {"Killed", "the compiler was killed"},
    {"Terminated", "the compiler was killed"},
    {"unable to execute command", "the compiler could not be run"},
    {"cannot execute", "the compiler could not be run"},
    {"posix_spawn", "the compiler could not be run"},
    {"vfork", "the compiler could not be run"},
    {"error writing to", "the disk failed"},
    {"error closing", "the disk failed"},
    {"unable to make temporary file", "the disk failed"},
    {"Cannot create temporary file", "the disk failed"},
    {"Connection refused", "the network failed"},
    {"Connection timed out", "the network failed"},
    {"Network is unreachable", "the network failed"},
};

static const char *fault_in(const char *text)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (strstr(text, faults[i].words))
            return faults[i].fault;
    }
    return NULL;
}

/* An error of a place in a source may quote what the source says: '#error Killed' is no fault. A
 * fatal one of that kind is told by the tool itself, or at the end of the candidate's name. */
static bool is_of_tool(const struct diagnostic *d)
{
    return d->severity == SEVERITY_ERROR && (d->line == 0 || str_starts_with(d->message, "error "));
}

const char *host_fault(const struct failure *failure, const struct diagnostics *diagnostics)
{
    const char *evidence = failure->evidence ? failure->evidence : "";
    if (failure->kind == VERDICT_TOO_NOISY)
        return "the host was too noisy";
    if (failure->kind == VERDICT_TIMED_OUT || str_starts_with(evidence, "not done after"))
        return "a time limit depends on the load";
    if (strstr(evidence, " died of signal "))
        return "the compiler was killed";
    if (str_starts_with(evidence, "signal 9:"))
        return "it was killed from outside";
    for (size_t i = 0; i < diagnostics->count; i++) {
        const char *fault =
            is_of_tool(&diagnostics->items[i]) ? fault_in(diagnostics->items[i].message) : NULL;
        if (fault)
            return fault;
    }
    /* Tools that say no more than a line. */
    return diagnostics->count == 0 && failure->kind == VERDICT_BUILD_FAILED ? fault_in(evidence)
                                                                            : NULL;
}
