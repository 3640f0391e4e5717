/*
 * A search for a planted key. The server knows the key and says it wherever it can: in replies,
 * sources, names and errors. Afterwards everything that kope leaves behind or starts is searched:
 * journal, decompressed store, graph, what was printed, spans with their content, report, MCP, the
 * environment of every child, and what a crash leaves.
 */
#include "engine_llm_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define PLANTED "sk-planted-4f1c9be27d6a40e38bb1"
#define KOPE KOPE_BUILD_DIR "/kope"
#define TINY KOPE_SOURCE_DIR "/tests/cli/data/tiny" /* quick to open with a real compiler */

/* Bytes of a file hold the key. Binary files too. */
static bool holds(const char *data, size_t length)
{
    const size_t key = strlen(PLANTED);
    for (size_t i = 0; i + key <= length; i++) {
        if (memcmp(data + i, PLANTED, key) == 0)
            return true;
    }
    return false;
}

static bool ends_with_zst(const char *path)
{
    return str_ends_with(path, ".zst");
}

/* Files that were searched; fails at the first that holds the key. */
static int search_below(struct place *p, const char *dir)
{
    char **names = NULL;
    size_t count = 0;
    int files = 0;
    assert_true(os_list_dir(dir, &p->arena, &names, &count, &p->err));
    for (size_t i = 0; i < count; i++) {
        char *text = NULL;
        size_t length = 0;
        const char *path = os_path_join(&p->arena, dir, names[i]);
        if (os_path_is_dir(path)) {
            files += search_below(p, path);
            continue;
        }
        assert_true(os_read_file(path, 1 << 26, &p->arena, &text, &length, &p->err));
        if (holds(text, length))
            fail_msg("'%s' holds the key", path);
        files++;
    }
    return files;
}

/* The bodies as they are when decompressed; the store's own reader checks them. */
static int search_store(struct place *p)
{
    CLEANUP(memory_close) struct memory memory = open_graph(p);
    char **folders = NULL;
    size_t folder_count = 0;
    int bodies = 0;
    const char *store = os_path_join(&p->arena, p->opts.memory_dir, "store");
    assert_true(os_list_dir(store, &p->arena, &folders, &folder_count, &p->err));
    for (size_t i = 0; i < folder_count; i++) {
        char **names = NULL;
        size_t count = 0;
        const char *folder = os_path_join(&p->arena, store, folders[i]);
        assert_true(os_list_dir(folder, &p->arena, &names, &count, &p->err));
        for (size_t j = 0; j < count; j++) {
            char *text = NULL;
            size_t length = 0;
            assert_true(ends_with_zst(names[j]));
            const char *id =
                arena_printf(&p->arena, "%s%.*s", folders[i], (int)strlen(names[j]) - 4, names[j]);
            assert_true(journal_store_get(memory.journal, id, &p->arena, &text, &length, &p->err));
            if (holds(text, length))
                fail_msg("body %s holds the key", id);
            bodies++;
        }
    }
    return bodies;
}

/* What the children of `parent` have in their environment, at any depth. */
struct watch {
    pid_t parent;
    int seen, compilers, runners;
    bool leaked;
};

static size_t read_proc(pid_t pid, const char *name, char *out, size_t capacity)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    ssize_t got = 0;
    if (fd < 0)
        return 0;
    while (length + 1 < capacity && (got = read(fd, out + length, capacity - length - 1)) > 0)
        length += (size_t)got;
    (void)close(fd);
    out[length] = '\0';
    return length;
}

static pid_t parent_of(pid_t pid)
{
    char stat[1024];
    const size_t length = read_proc(pid, "stat", stat, sizeof stat);
    const char *after = length ? strrchr(stat, ')') : NULL;
    return after ? (pid_t)strtol(after + 4, NULL, 10) : 0;
}

static bool descends(pid_t pid, pid_t from)
{
    for (int depth = 0; depth < 16 && pid > 1; depth++) {
        pid = parent_of(pid);
        if (pid == from)
            return true;
    }
    return false;
}

static void look_once(struct watch *watch)
{
    static char environ_text[256 * 1024];
    char command[64];
    DIR *proc = opendir("/proc");
    assert_non_null(proc);
    for (struct dirent *entry = readdir(proc); entry; entry = readdir(proc)) {
        const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid <= 1 || !descends(pid, watch->parent))
            continue;
        (void)read_proc(pid, "comm", command, sizeof command);
        if (str_starts_with(command, "kope\n"))
            continue; /* forked and not yet another program: the image is kope's own */
        const size_t length = read_proc(pid, "environ", environ_text, sizeof environ_text);
        watch->seen++;
        watch->compilers += str_starts_with(command, "cc1") || str_starts_with(command, "clang") ||
                            str_starts_with(command, "as\n") || str_starts_with(command, "gcc");
        watch->runners += str_starts_with(command, "kope-runner");
        watch->leaked = watch->leaked || holds(environ_text, length);
    }
    (void)closedir(proc);
}

/* Starts kope with the key in its environment, both streams into a file. */
static pid_t start(const char *const *argv, const char *dir, const char *input, const char *output)
{
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid != 0)
        return pid;
    const int fd = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int in = open(input, O_RDONLY);
    char *words[24];
    size_t count = 0;
    for (; argv[count] && count < 23; count++)
        words[count] = strdup(argv[count]);
    words[count] = NULL;
    if (fd < 0 || in < 0 || chdir(dir) != 0 || dup2(in, 0) < 0 || dup2(fd, 1) < 0 ||
        dup2(fd, 2) < 0)
        _exit(99);
    (void)execv(words[0], words);
    _exit(98);
}

static void script(struct place *p)
{
    char *source = NULL;
    assert_true(os_read_file(TINY "/reference.c", 1 << 16, &p->arena, &source, NULL, &p->err));
    (void)setenv("OPENAI_API_KEY", PLANTED, 1);
    p->steps[p->step_count++] = (struct http_peer_step){
        .status = "429 " PLANTED,
        .headers = "retry-after-ms: 1\r\nx-request-id: " PLANTED "\r\n",
        .body = "{\"error\":{\"message\":\"slow down, " PLANTED "\",\"code\":\"" PLANTED "\"}}"};
    say(p, "not JSON, but " PLANTED);
    const char *file =
        arena_printf(&p->arena, "%s\n/* %s */\nstatic const char leak[] = \"%s\";\n#error %s\n",
                     source, PLANTED, PLANTED, PLANTED);
    say(p, arena_printf(&p->arena, "{\"proposals\":[%s]}",
                        proposal(p, "send " PLANTED, 0.5, file, NULL, NULL)));
    say(p, arena_printf(&p->arena, "{\"proposals\":[%s]}",
                        proposal(p, PLANTED, 0.5,
                                 arena_printf(&p->arena, "%s/* %s */\n", source, PLANTED), NULL,
                                 NULL)));
    p->steps[p->step_count++] = (struct http_peer_step){
        .status = "401 Unauthorized",
        .body = "{\"error\":{\"message\":\"bad key " PLANTED "\",\"type\":\"" PLANTED "\"}}"};
    serve(p);
    (void)setenv("OPENAI_API_KEY", PLANTED, 1);
}

static const char *path_in(struct place *p, const char *name)
{
    return os_path_join(&p->arena, p->dir, name);
}

/* The memory and the report as an MCP client sees them; what is printed is searched with the rest.
 */
static void ask_over_mcp(struct place *p)
{
    static const char lines[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n"
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":"
        "\"kope_search_memory\",\"arguments\":{\"words\":\"it does less key\"}}}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":"
        "\"kope_report\",\"arguments\":{\"run\":\"last\"}}}\n";
    const char *const argv[] = {KOPE, "mcp", NULL};
    const char *input = path_in(p, "mcp.in");
    char *printed = NULL;
    int status = 0;
    assert_true(os_write_file(input, lines, sizeof lines - 1, false, &p->err));
    (void)setenv("KOPE_MEMORY", p->opts.memory_dir, 1);
    assert_true(waitpid(start(argv, p->dir, input, path_in(p, "mcp.txt")), &status, 0) > 0);
    (void)unsetenv("KOPE_MEMORY");
    assert_true(os_read_file(path_in(p, "mcp.txt"), 1 << 24, &p->arena, &printed, NULL, &p->err));
    assert_non_null(strstr(printed, "\"id\":3"));
}

static void kope__key_planted_everywhere__is_nowhere_to_be_found(void **state)
{
    struct place *p = *state;
    struct watch watch = {0};
    int status = 0;
    script(p);
    const char *const argv[] = {KOPE,
                                "optimize",
                                TINY,
                                "--proposer",
                                "llm:m",
                                "--base-url",
                                p->peer.url,
                                "--memory",
                                p->opts.memory_dir,
                                "--budget",
                                "3",
                                "--json",
                                "--trace",
                                path_in(p, "spans.json"),
                                "--trace-content",
                                NULL};
    watch.parent = start(argv, p->dir, "/dev/null", path_in(p, "printed.txt"));
    while (waitpid(watch.parent, &status, WNOHANG) == 0) {
        look_once(&watch);
        os_sleep_ns(2000000);
    }
    assert_true(WIFEXITED(status));
    assert_true(WEXITSTATUS(status) != 98 && WEXITSTATUS(status) != 99);
    assert_int_equal(requests(p), 5); /* all of it was said */
    assert_non_null(strstr(p->peer.requests[0], "Bearer " PLANTED));
    assert_false(watch.leaked);
    assert_true(watch.compilers > 0 && watch.runners > 0);

    const char *const report[] = {
        KOPE, "report", "last", "--memory", p->opts.memory_dir, "--html", path_in(p, "report.html"),
        NULL};
    assert_int_equal(
        waitpid(start(report, p->dir, "/dev/null", path_in(p, "report.txt")), &status, 0) > 0, 1);
    assert_int_equal(status, 0);
    assert_true(os_file_size(path_in(p, "report.html")) > 1000);
    assert_true(os_file_size(path_in(p, "spans.json")) > 1000);

    ask_over_mcp(p);

    /* Redacted, not left out: the reply is there with a word in the key's place. */
    struct graph_run run;
    struct memory memory = open_graph(p);
    assert_true(graph_find_run(memory.graph, "last", &p->arena, &run, &p->err));
    p->result.run_id = run.id;
    memory_close(&memory);
    assert_string_equal(decisions(p).items[1].intent, "[key]");

    const int bodies = search_store(p);
    const int files = search_below(p, p->dir);
    print_message("searched: %d files, %d bodies, %d looks at children (%d compilers, %d "
                  "runners)\n",
                  files, bodies, watch.seen, watch.compilers, watch.runners);
    assert_true(bodies >= 8 && files > bodies);
}

/* A server that holds the connection, so that the key is in use when the crash comes. */
static void kope__crashes_while_it_asks__leaves_no_core(void **state)
{
    struct place *p = *state;
    char pattern[256] = "";
    int status = 0;
    p->steps[p->step_count++] = (struct http_peer_step){.hold_open = true};
    serve(p);
    (void)setenv("OPENAI_API_KEY", PLANTED, 1);
    const char *const argv[] = {
        KOPE,        "optimize", p->opts.task_path,  "--proposer", "llm:m", "--base-url",
        p->peer.url, "--memory", p->opts.memory_dir, "--target",   "fake",  NULL};
    const int fd = open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        const ssize_t got = read(fd, pattern, sizeof pattern - 1);
        pattern[got > 0 ? got - 1 : 0] = '\0';
        (void)close(fd);
    }
    const struct rlimit wanted = {RLIM_INFINITY, RLIM_INFINITY};
    (void)setrlimit(RLIMIT_CORE, &wanted);
    const pid_t pid = start(argv, p->dir, "/dev/null", path_in(p, "printed.txt"));
    for (int i = 0; i < 3000 && requests(p) == 0; i++)
        os_sleep_ns(10000000);
    assert_int_equal(requests(p), 1);
    char limits[4096];
    (void)read_proc(pid, "limits", limits, sizeof limits);
    const char *core = strstr(limits, "Max core file size");
    assert_non_null(core);
    assert_non_null(strstr(core, " 0 "));
    /* Dumps core where any does, and sanitizers have no handler of their own for it. */
    assert_int_equal(kill(pid, SIGABRT), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(status & 0x80, 0); /* the bit that says that a core was dumped */
    print_message("core_pattern is '%s', the limit of kope is 0: no core\n", pattern);
    (void)search_below(p, p->dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLACE(kope__key_planted_everywhere__is_nowhere_to_be_found),
        PLACE(kope__crashes_while_it_asks__leaves_no_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
