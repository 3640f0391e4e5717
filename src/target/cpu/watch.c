#include "target/cpu/cpu.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number after a name at the beginning of a line; 0 where it is not there. */
static int64_t field(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? strtoll(at + strlen(name), NULL, 10) : 0;
}

struct child_status watch_status(const struct cpu_session *session)
{
    char text[4096];
    const ssize_t length =
        session->status_fd >= 0 ? pread(session->status_fd, text, sizeof text - 1, 0) : -1;
    if (length <= 0)
        return (struct child_status){.state = '?'};
    text[length] = '\0';
    const char *state = strstr(text, "\nState:");
    return (struct child_status){
        .state = state ? state[strlen("\nState:\t")] : '?',
        .threads = field(text, "\nThreads:"),
        .voluntary = field(text, "\nvoluntary_ctxt_switches:"),
        .involuntary = field(text, "\nnonvoluntary_ctxt_switches:"),
    };
}
