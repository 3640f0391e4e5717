#include "target/cpu/cpu.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 96 };

int watch_open(pid_t pid)
{
    char path[PATH_ROOM];
    (void)snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* The number after a name at the beginning of a line; 0 where it is not there. */
static int64_t field(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? strtoll(at + strlen(name), NULL, 10) : 0;
}

static struct child_status read_status(int fd)
{
    static const char state[] = "\nState:\t";
    char text[4096];
    const ssize_t length = fd >= 0 ? pread(fd, text, sizeof text - 1, 0) : -1;
    if (length <= 0)
        return (struct child_status){.state = '?'};
    text[length] = '\0';
    const char *at = strstr(text, state);
    return (struct child_status){
        .state = at ? at[sizeof state - 1] : '?',
        .threads = field(text, "\nThreads:"),
        .voluntary = field(text, "\nvoluntary_ctxt_switches:"),
        .involuntary = field(text, "\nnonvoluntary_ctxt_switches:"),
    };
}

/* Does a thread other than the first run? */
static bool another_runs(pid_t pid)
{
    char path[PATH_ROOM];
    bool runs = false;
    (void)snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    DIR *threads = opendir(path);
    for (struct dirent *entry = threads ? readdir(threads) : NULL; entry && !runs;
         entry = readdir(threads)) {
        const long id = strtol(entry->d_name, NULL, 10);
        if (id <= 0 || id == (long)pid)
            continue;
        (void)snprintf(path, sizeof path, "/proc/%ld/task/%ld/status", (long)pid, id);
        const int fd = open(path, O_RDONLY | O_CLOEXEC);
        runs = read_status(fd).state == 'R';
        if (fd >= 0)
            (void)close(fd);
    }
    if (threads)
        (void)closedir(threads);
    return runs;
}

struct child_status watch_status(const struct cpu_session *session)
{
    struct child_status status = read_status(session->status_fd);
    if (session->threads > 1 && status.state == 'S' && another_runs(session->pid))
        status.state = 'R';
    return status;
}
