/*
 * Programs with limits. What a confined program may do is tried by this binary itself: started with
 * the name of an attempt as its argument, it makes the attempt and exits with 0 or with the errno.
 */
#define _DEFAULT_SOURCE /* syscall() */

#include "os/file.h"
#include "os/os.h"
#include "os/process.h"

#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})

static const int64_t ms = 1000000;
static int skipped;

/* A test that this kernel cannot run: counted, and the program then ends with 77. */
static void skip_counted(void)
{
    skipped++;
    skip();
}

struct fixture {
    struct arena arena;
    char *dir;  /* what a confined program may write */
    char *away; /* what it may not see */
    char *self; /* this binary */
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct err err;
    if (!f || !os_make_temp_dir("os-test", &f->arena, &f->dir, &err) ||
        !os_make_temp_dir("os-test", &f->arena, &f->away, &err) ||
        !os_path_real("/proc/self/exe", &f->arena, &f->self, &err))
        return -1;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    struct err err;
    const bool removed = os_remove_tree(f->dir, &err) && os_remove_tree(f->away, &err);
    os_interrupt_set(false);
    arena_free(&f->arena);
    free(f);
    return removed ? 0 : -1;
}

static struct process_result run(struct fixture *f, const struct process_opts *opts)
{
    struct process_result result = {0};
    struct err err;
    if (!os_run(opts, &f->arena, &result, &err))
        fail_msg("%s", err.message);
    return result;
}

static struct process_result run_shell(struct fixture *f, const char *script)
{
    return run(f, &(struct process_opts){.argv = ARGV("sh", "-c", script)});
}

/* Is there a process `pid` that has not ended? */
static bool is_alive(long pid)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct err err;
    char *text = NULL;
    const char *path = arena_printf(&arena, "/proc/%ld/stat", pid);
    if (!os_read_file(path, 4096, &arena, &text, NULL, &err))
        return false;
    const char *name_end = strrchr(text, ')');
    return name_end && name_end[2] != 'Z' && name_end[2] != 'X';
}

/* A process that was killed may take a moment to be gone. */
static void assert_dies(long pid)
{
    assert_true(pid > 1);
    for (int i = 0; i < 200 && is_alive(pid); i++)
        os_sleep_ns(10 * ms);
    assert_false(is_alive(pid));
}

static void os_run__exits_or_is_killed__result_says_which(void **state)
{
    struct fixture *f = *state;
    struct process_result result = run_shell(f, "echo out; echo err >&2; exit 7");
    assert_int_equal(result.exit_code, 7);
    assert_int_equal(result.signal, 0);
    assert_string_equal(result.out, "out\n");
    assert_string_equal(result.errors, "err\n");
    assert_false(result.timed_out || result.interrupted || result.truncated);
    assert_true(result.wall_ns > 0);

    result = run_shell(f, "kill -TERM $$");
    assert_int_equal(result.exit_code, -1);
    assert_int_equal(result.signal, SIGTERM);
    assert_false(result.timed_out);
    assert_string_equal(result.out, "");
}

static void os_run__busy_child__cpu_time_is_told(void **state)
{
    struct fixture *f = *state;
    const struct process_result result =
        run_shell(f, "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done");
    assert_true(result.cpu_ns > 5 * ms);
    assert_true(result.cpu_ns < 2 * result.wall_ns);
}

static void os_run__missing_program__is_a_missing_tool(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"no-such-program-here", "./no-such-program",
                                        "/no/such/program"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct process_result result = {.exit_code = 99};
        struct err err = {0};
        assert_false(
            os_run(&(struct process_opts){.argv = ARGV(names[i])}, &f->arena, &result, &err));
        assert_int_equal(err.kind, ERR_MISSING_TOOL);
        assert_non_null(strstr(err.message, names[i]));
        assert_int_equal(result.exit_code, 99);
    }
}

static void os_run__not_executable__is_an_io_error(void **state)
{
    struct fixture *f = *state;
    struct process_result result;
    struct err err = {0};
    const char *path = os_path_join(&f->arena, f->dir, "data");
    assert_true(os_write_file(path, "x", 1, false, &err));
    assert_false(os_run(&(struct process_opts){.argv = ARGV(path)}, &f->arena, &result, &err));
    assert_int_equal(err.kind, ERR_IO);
}

static void os_run__working_folder__is_entered(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    char *real = NULL;
    assert_true(os_path_real(f->dir, &f->arena, &real, &err));
    struct process_result result =
        run(f, &(struct process_opts){.argv = ARGV("pwd"), .dir = f->dir});
    assert_string_equal(result.out, arena_printf(&f->arena, "%s\n", real));

    const char *script = os_path_join(&f->arena, f->dir, "script");
    assert_true(os_write_file(script, "#!/bin/sh\necho here\n", 20, false, &err));
    assert_int_equal(chmod(script, 0700), 0);
    result = run(f, &(struct process_opts){.argv = ARGV("./script"), .dir = f->dir});
    assert_string_equal(result.out, "here\n");

    assert_false(os_run(&(struct process_opts){.argv = ARGV("pwd"), .dir = "/no/such"}, &f->arena,
                        &result, &err));
    assert_int_equal(err.kind, ERR_IO);
    assert_non_null(strstr(err.message, "/no/such"));
}

static void os_run__input__none_or_all_of_it(void **state)
{
    struct fixture *f = *state;
    struct process_result result = run(f, &(struct process_opts){.argv = ARGV("cat")});
    assert_string_equal(result.out, "");
    assert_int_equal(result.exit_code, 0);

    char *large = arena_alloc(&f->arena, 700001); /* more than a pipe holds */
    memset(large, 'i', 700000);
    result = run(f, &(struct process_opts){.argv = ARGV("cat"), .input = large});
    assert_string_equal(result.out, large);
    /* A program that does not read it does no harm. */
    result = run(f, &(struct process_opts){.argv = ARGV("true"), .input = large});
    assert_int_equal(result.exit_code, 0);
}

static void os_run__more_output_than_the_cap__cut_and_program_ends_well(void **state)
{
    struct fixture *f = *state;
    const struct process_result result = run(
        f, &(struct process_opts){
               .argv = ARGV("sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' a; echo done >&2"),
               .output_limit_bytes = 1000});
    assert_int_equal(strlen(result.out), 1000);
    assert_true(result.truncated);
    assert_int_equal(result.exit_code, 0);
    assert_string_equal(result.errors, "done\n");
}

static void os_run__output_without_end__killed_at_the_limit(void **state)
{
    struct fixture *f = *state;
    const struct process_result result =
        run(f, &(struct process_opts){.argv = ARGV("sh", "-c", "yes >&2 & exec yes"),
                                      .timeout_ns = 300 * ms});
    assert_true(result.timed_out && result.truncated);
    assert_int_equal(strlen(result.out), 1024 * 1024);
    assert_int_equal(strlen(result.errors), 1024 * 1024);
}

static void os_run__child_hangs__group_is_killed(void **state)
{
    struct fixture *f = *state;
    const struct process_result result =
        run(f, &(struct process_opts){
                   .argv = ARGV("sh", "-c", "trap '' TERM INT; sleep 300 & echo $!; wait"),
                   .timeout_ns = 300 * ms});
    assert_true(result.timed_out);
    assert_int_equal(result.signal, SIGKILL);
    assert_int_equal(result.exit_code, -1);
    assert_true(result.wall_ns >= 300 * ms && result.wall_ns < 10000 * ms);
    assert_dies(strtol(result.out, NULL, 10));
}

static void os_run__leader_leaves_children__they_are_killed(void **state)
{
    struct fixture *f = *state;
    const struct process_result result = run_shell(f, "sleep 300 & echo $!; exit 3");
    assert_int_equal(result.exit_code, 3);
    assert_false(result.timed_out);
    assert_true(result.wall_ns < 10000 * ms);
    assert_dies(strtol(result.out, NULL, 10));
}

static void os_run__child_leaves_the_group__its_pipes_are_not_waited_for(void **state)
{
    struct fixture *f = *state;
    const struct process_result result =
        run(f, &(struct process_opts){.argv = ARGV(f->self, "--attempt", "escape")});
    assert_int_equal(result.exit_code, 0);
    assert_true(result.wall_ns < 2000 * ms);
    assert_true(is_alive(strtol(result.out, NULL, 10)));
    assert_int_equal(kill((pid_t)strtol(result.out, NULL, 10), SIGKILL), 0);
}

static void os_run__child_closes_its_output__is_still_waited_for(void **state)
{
    struct fixture *f = *state;
    const struct process_result result = run_shell(f, "exec >&- 2>&-; sleep 0.2; exit 4");
    assert_int_equal(result.exit_code, 4);
    assert_true(result.wall_ns >= 200 * ms);
}

static void *interrupt_soon(void *unused)
{
    os_sleep_ns(200 * ms);
    os_interrupt_set(true);
    return unused;
}

static void os_run__interrupted__group_is_killed(void **state)
{
    struct fixture *f = *state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, NULL), 0);
    const struct process_result result = run_shell(f, "sleep 300 & echo $!; wait");
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(result.interrupted);
    assert_false(result.timed_out);
    assert_int_equal(result.signal, SIGKILL);
    assert_true(result.wall_ns < 10000 * ms);
    assert_dies(strtol(result.out, NULL, 10));
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of `text` in order, joined by ';'. */
static char *sorted_lines(struct arena *arena, char *text)
{
    char *lines[32];
    size_t count = 0;
    for (char *line = strtok(text, "\n"); line && count < COUNT_OF(lines);
         line = strtok(NULL, "\n"))
        lines[count++] = line;
    qsort(lines, count, sizeof *lines, compare_lines);
    char *out = arena_strdup(arena, "");
    for (size_t i = 0; i < count; i++)
        out = arena_printf(arena, "%s%s;", out, lines[i]);
    return out;
}

static void os_run__environment__only_what_is_allowed(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(setenv("KOPE_TEST_SECRET", "leaked", 1), 0);
    assert_int_equal(setenv("KOPE_TEST_KEPT", "kept", 1), 0);
    assert_int_equal(unsetenv("KOPE_TEST_UNSET"), 0);
    const char *tmp = os_env("TMPDIR");
    const struct process_result plain = run(f, &(struct process_opts){.argv = ARGV("env")});
    assert_string_equal(sorted_lines(&f->arena, plain.out),
                        arena_printf(&f->arena, "LANG=C.UTF-8;PATH=%s;TMPDIR=%s;", getenv("PATH"),
                                     tmp ? tmp : "/tmp"));
    const struct process_result more =
        run(f, &(struct process_opts){.argv = ARGV("env"),
                                      .env = ARGV("LANG=C", "A=1", "A=2"),
                                      .keep_env = ARGV("KOPE_TEST_KEPT", "KOPE_TEST_UNSET")});
    assert_string_equal(sorted_lines(&f->arena, more.out),
                        arena_printf(&f->arena, "A=2;KOPE_TEST_KEPT=kept;LANG=C;PATH=%s;TMPDIR=%s;",
                                     getenv("PATH"), tmp ? tmp : "/tmp"));
}

static void os_run__open_files_of_the_parent__are_not_inherited(void **state)
{
    struct fixture *f = *state;
    int fd = open("/dev/null", O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(dup2(fd, 77), 77); /* without close-on-exec */
    const struct process_result result = run_shell(f, "ls /proc/$$/fd");
    assert_int_equal(close(77), 0);
    os_close(&fd);
    /* A shell may hold one of its own, from 10 up; none of ours. */
    assert_true(str_starts_with(result.out, "0\n1\n2\n"));
    assert_null(strstr(result.out, "77"));
    assert_null(strstr(result.out, "3\n"));
}

static void os_run__signals_of_the_parent__are_reset(void **state)
{
    struct fixture *f = *state;
    assert_true(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
    /* `yes` ends by SIGPIPE, not by an error that it reports. */
    const struct process_result result = run_shell(f, "yes | head -n 1");
    assert_true(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    assert_string_equal(result.out, "y\n");
    assert_string_equal(result.errors, "");
}

static void os_run__limits__memory_and_no_core(void **state)
{
    struct fixture *f = *state;
    struct rlimit core;
    assert_int_equal(getrlimit(RLIMIT_CORE, &core), 0);
    const struct rlimit highest = {core.rlim_max, core.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_CORE, &highest), 0);
    struct process_result result = run_shell(f, "ulimit -c; ulimit -v");
    assert_int_equal(setrlimit(RLIMIT_CORE, &core), 0);
    assert_true(str_starts_with(result.out, "0\n"));
    result = run(f, &(struct process_opts){.argv = ARGV("sh", "-c", "ulimit -v"),
                                           .memory_limit_bytes = 512 * 1024 * 1024});
    assert_string_equal(result.out, "524288\n");

    const char *const *large = ARGV("dd", "if=/dev/zero", "of=/dev/null", "bs=200M", "count=1");
    result = run(f, &(struct process_opts){.argv = large});
    assert_int_equal(result.exit_code, 0);
    result = run(f, &(struct process_opts){.argv = large, .memory_limit_bytes = 100 * 1024 * 1024});
    assert_int_not_equal(result.exit_code, 0);
}

struct worker {
    int number;
    bool good;
};

static void *run_many(void *data)
{
    struct worker *worker = data;
    worker->good = true;
    for (int i = 0; i < 20 && worker->good; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        struct process_result result;
        struct err err;
        char *text = arena_printf(&arena, "%d-%d", worker->number, i);
        worker->good = os_run(&(struct process_opts){.argv = ARGV("cat"), .input = text}, &arena,
                              &result, &err) &&
                       result.exit_code == 0 && str_equal(result.out, text);
    }
    return NULL;
}

static void os_run__from_many_threads__each_gets_its_own(void **state)
{
    (void)state;
    pthread_t threads[4];
    struct worker workers[4];
    for (int i = 0; i < 4; i++) {
        workers[i] = (struct worker){.number = i};
        assert_int_equal(pthread_create(&threads[i], NULL, run_many, &workers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(workers[i].good);
    }
}

/* Confinement. */

/* What a program needs to start at all, and what sanitizers read. */
#define SYSTEM_PATHS "/usr", "/lib", "/lib64", "/bin", "/etc/alternatives", "/proc"

static struct process_result run_confined(struct fixture *f, const char *const *argv)
{
    return run(f, &(struct process_opts){.argv = argv,
                                         .dir = f->dir,
                                         .confine = true,
                                         .read_paths = ARGV(SYSTEM_PATHS, f->self),
                                         .write_paths = ARGV(f->dir)});
}

static const char *away_file(struct fixture *f, const char *text)
{
    struct err err;
    const char *path = os_path_join(&f->arena, f->away, "secret");
    assert_true(os_write_file(path, text, strlen(text), false, &err));
    return path;
}

static void os_run__confined__reads_only_what_is_named(void **state)
{
    struct fixture *f = *state;
    if (os_landlock_abi() < 1)
        skip_counted();
    const char *secret = away_file(f, "secret");
    struct process_result result = run(f, &(struct process_opts){.argv = ARGV("cat", secret)});
    assert_string_equal(result.out, "secret");
    result = run_confined(f, ARGV("cat", secret));
    assert_string_equal(result.out, "");
    assert_int_not_equal(result.exit_code, 0);
    result = run_confined(f, ARGV("ls", f->away));
    assert_int_not_equal(result.exit_code, 0);
    result = run(f, &(struct process_opts){.argv = ARGV("cat", secret),
                                           .confine = true,
                                           .read_paths = ARGV(SYSTEM_PATHS, secret, "/no/such")});
    assert_string_equal(result.out, "secret");
}

/* Its own entry below /proc, and nobody else's. */
static void os_run__confined_with_own_proc__reads_no_other(void **state)
{
    struct fixture *f = *state;
    if (os_landlock_abi() < 1)
        skip_counted();
    struct process_opts opts = {.argv = ARGV("cat", "/proc/self/comm"),
                                .confine = true,
                                .read_paths = ARGV("/usr", "/lib", "/lib64", "/bin")};
    assert_int_not_equal(run(f, &opts).exit_code, 0);
    opts.reads_own_proc = true;
    assert_string_equal(run(f, &opts).out, "cat\n");
    opts.argv = ARGV("cat", arena_printf(&f->arena, "/proc/%ld/comm", (long)getpid()));
    assert_int_not_equal(run(f, &opts).exit_code, 0);
    opts.argv = ARGV("cat", "/proc/1/comm");
    assert_int_not_equal(run(f, &opts).exit_code, 0);
}

static void os_run__confined__link_to_a_secret__is_not_read(void **state)
{
    struct fixture *f = *state;
    if (os_landlock_abi() < 1)
        skip_counted();
    const char *link = os_path_join(&f->arena, f->dir, "link");
    assert_int_equal(symlink(away_file(f, "secret"), link), 0);
    const struct process_result result = run_confined(f, ARGV("cat", link));
    assert_string_equal(result.out, "");
    assert_int_not_equal(result.exit_code, 0);
}

static void os_run__confined__writes_only_where_allowed(void **state)
{
    struct fixture *f = *state;
    if (os_landlock_abi() < 1)
        skip_counted();
    const char *path = os_path_join(&f->arena, f->away, "written");
    struct process_result result = run_confined(f, ARGV("touch", path));
    assert_int_not_equal(result.exit_code, 0);
    assert_false(os_path_exists(path));
    const char *secret = away_file(f, "secret"); /* may be read, not written */
    result = run(f, &(struct process_opts){
                        .argv = ARGV("sh", "-c", arena_printf(&f->arena, "echo x >>%s", secret)),
                        .confine = true,
                        .read_paths = ARGV(SYSTEM_PATHS, f->away)});
    assert_int_not_equal(result.exit_code, 0);
    assert_int_equal(os_file_size(secret), 6);
    result = run_confined(f, ARGV("sh", "-c",
                                  "mkdir d && echo x >d/a && mv d/a b && ln -s b c && "
                                  "cat c && rm -r d && echo y >/dev/null"));
    assert_string_equal(result.errors, "");
    assert_string_equal(result.out, "x\n");
}

static void os_run__confined__truncates_only_where_allowed(void **state)
{
    struct fixture *f = *state;
    if (os_landlock_abi() < 3)
        skip_counted();
    const char *secret = away_file(f, "secret");
    /* truncate(2), which needs no open file. */
    const struct process_result result = run(
        f, &(struct process_opts){.argv = ARGV(f->self, "--attempt", "truncate"),
                                  .env = ARGV(arena_printf(&f->arena, "KOPE_TEST_PATH=%s", secret)),
                                  .confine = true,
                                  .read_paths = ARGV(SYSTEM_PATHS, f->self)});
    assert_int_equal(result.exit_code, EACCES);
    assert_int_equal(os_file_size(secret), 6);
}

static void os_run__confined__executes_nothing_that_it_wrote(void **state)
{
    struct fixture *f = *state;
    if (os_landlock_abi() < 1)
        skip_counted();
    const char *copy = "cp /bin/true copy && chmod 700 copy && ./copy";
    struct process_result result =
        run(f, &(struct process_opts){.argv = ARGV("sh", "-c", copy), .dir = f->dir});
    assert_int_equal(result.exit_code, 0);
    result = run_confined(f, ARGV("sh", "-c", copy));
    assert_int_equal(result.exit_code, 126); /* found, not permitted */
}

static void os_run__confined__program_outside__error_has_a_hint(void **state)
{
    struct fixture *f = *state;
    if (os_landlock_abi() < 1)
        skip_counted();
    struct process_result result;
    struct err err = {0};
    assert_false(os_run(&(struct process_opts){.argv = ARGV("true"), .confine = true}, &f->arena,
                        &result, &err));
    assert_int_equal(err.kind, ERR_IO);
    assert_true(err.hint[0] != '\0');
}

static void os_run__confined__temporary_folder_is_one_it_may_write(void **state)
{
    struct fixture *f = *state;
    const struct process_result result =
        run_confined(f, ARGV("sh", "-c", "echo x >\"$TMPDIR/new\""));
    assert_int_equal(result.exit_code, 0);
    assert_true(os_path_exists(os_path_join(&f->arena, f->dir, "new")));
}

static void os_run__confined__signals_nobody_outside(void **state)
{
    struct fixture *f = *state;
    if (os_landlock_abi() < 6)
        skip_counted();
    const char *script = arena_printf(&f->arena, "kill -0 %ld", (long)getpid());
    assert_int_equal(run_shell(f, script).exit_code, 0);
    assert_int_not_equal(run_confined(f, ARGV("sh", "-c", script)).exit_code, 0);
}

static void os_run__confined__compiler_works_and_includes_no_secret(void **state)
{
    struct fixture *f = *state;
    if (os_landlock_abi() < 1 || !os_find_program("cc", &f->arena))
        skip_counted();
    struct err err;
    const char *secret = away_file(f, "int secret = 42;\n");
    const char *good = "#include <stdio.h>\nint main(void) { return puts(\"hello\") < 0; }\n";
    const char *bad = arena_printf(&f->arena, "#include \"%s\"\n", secret);
    assert_true(
        os_write_file(os_path_join(&f->arena, f->dir, "good.c"), good, strlen(good), false, &err));
    assert_true(
        os_write_file(os_path_join(&f->arena, f->dir, "bad.c"), bad, strlen(bad), false, &err));
    struct process_result result = run_confined(f, ARGV("cc", "-O2", "-o", "good", "good.c"));
    assert_string_equal(result.errors, "");
    assert_int_equal(result.exit_code, 0);
    result = run_confined(f, ARGV("cc", "-c", "-o", "bad.o", "bad.c"));
    assert_int_not_equal(result.exit_code, 0);
    assert_null(strstr(result.errors, "42"));
    result = run(
        f, &(struct process_opts){.argv = ARGV("cc", "-c", "-o", "bad.o", "bad.c"), .dir = f->dir});
    assert_int_equal(result.exit_code, 0);
}

/* The attempts, each made by this binary in a process of its own. Arguments of syscall() that the
 * kernel takes as long are given as long. */

static int errno_of(long result)
{
    return result == -1 ? errno : 0;
}

static int try_socket_inet(void)
{
    return errno_of(socket(AF_INET, SOCK_STREAM, 0));
}

static int try_socket_unix(void)
{
    return errno_of(socket(AF_UNIX, SOCK_STREAM, 0));
}

static int try_socketpair(void)
{
    int ends[2];
    return errno_of(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
}

static int try_setsid(void)
{
    const pid_t pid = fork(); /* the leader of a group cannot */
    if (pid == 0)
        _exit(errno_of(setsid()));
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED) == 0 ? info.si_status : 1;
}

static int try_setpgid(void)
{
    return errno_of(setpgid(0, getpgid(0)));
}

static int try_ptrace(void)
{
    return errno_of(syscall(SYS_ptrace, 0L /* PTRACE_TRACEME */, 0L, 0L, 0L));
}

static int try_process_vm_readv(void)
{
    return errno_of(syscall(SYS_process_vm_readv, getpid(), NULL, 0L, NULL, 0L, 0L));
}

static int try_io_uring(void)
{
    return errno_of(syscall(SYS_io_uring_setup, 0, NULL));
}

static int try_keyctl(void)
{
    return errno_of(syscall(SYS_keyctl, 0 /* KEYCTL_GET_KEYRING_ID */, -3, 0, 0, 0));
}

static int try_mount(void)
{
    return errno_of(syscall(SYS_mount, NULL, NULL, NULL, 0L, NULL));
}

static int try_bpf(void)
{
    return errno_of(syscall(SYS_bpf, -1, NULL, 0));
}

static int try_unshare(void)
{
    return errno_of(syscall(SYS_unshare, 0x10000000 /* CLONE_NEWUSER */));
}

static int try_clone_namespace(void)
{
    const long pid = syscall(SYS_clone, 0x10000000L | SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid == 0)
        _exit(0);
    return errno_of(pid);
}

static void *do_nothing(void *data)
{
    return data;
}

static int try_thread(void)
{
    pthread_t thread;
    const int number = pthread_create(&thread, NULL, do_nothing, NULL);
    return number ? number : pthread_join(thread, NULL);
}

static int try_truncate(void)
{
    const char *path = os_env("KOPE_TEST_PATH");
    return path ? errno_of(truncate(path, 0)) : ENOENT;
}

/* Leaves a process behind that is not in the group any more and holds the pipes for 10 s. */
static int try_escape(void)
{
    int ready[2];
    char byte = 0;
    if (pipe(ready) != 0)
        return errno;
    const pid_t pid = fork();
    if (pid == 0) {
        if (setsid() < 0 || write(ready[1], &byte, 1) != 1)
            _exit(1);
        os_sleep_ns(10000 * ms);
        _exit(0);
    }
    (void)printf("%ld\n", (long)pid);
    (void)fflush(stdout);
    return read(ready[0], &byte, 1) == 1 ? 0 : EPERM;
}

/* `confined` is the errno under the filter, `open` without it; -1: whatever this kernel says. */
static const struct attempt {
    const char *name;
    int (*make)(void);
    int confined;
    int open;
} attempts[] = {
    {"socket-inet", try_socket_inet, EPERM, 0},
    {"socket-unix", try_socket_unix, EPERM, 0},
    {"socketpair", try_socketpair, 0, 0},
    {"thread", try_thread, 0, 0},
    {"setsid", try_setsid, EPERM, 0},
    {"setpgid", try_setpgid, EPERM, 0},
    {"ptrace", try_ptrace, EPERM, -1},
    {"process-vm-readv", try_process_vm_readv, EPERM, -1},
    {"io-uring", try_io_uring, EPERM, -1},
    {"keyctl", try_keyctl, EPERM, -1},
    {"mount", try_mount, EPERM, -1},
    {"bpf", try_bpf, EPERM, -1},
    {"unshare", try_unshare, EPERM, -1},
    {"clone-namespace", try_clone_namespace, EPERM, -1},
};

static int make_attempt(const char *name)
{
    if (str_equal(name, "truncate"))
        return try_truncate();
    if (str_equal(name, "escape"))
        return try_escape();
    for (size_t i = 0; i < COUNT_OF(attempts); i++) {
        if (str_equal(attempts[i].name, name))
            return attempts[i].make();
    }
    return 255;
}

static void os_run__confined__system_calls_are_refused(void **state)
{
    struct fixture *f = *state;
    if (!os_has_seccomp())
        skip_counted();
    for (size_t i = 0; i < COUNT_OF(attempts); i++) {
        const struct attempt *a = &attempts[i];
        struct process_result result =
            run(f, &(struct process_opts){.argv = ARGV(f->self, "--attempt", a->name)});
        if (a->open >= 0 && result.exit_code != a->open)
            fail_msg("%s gives %d without confinement: %s", a->name, result.exit_code,
                     result.errors);
        result = run_confined(f, ARGV(f->self, "--attempt", a->name));
        if (result.exit_code != a->confined)
            fail_msg("%s gives %d when confined: %s", a->name, result.exit_code, result.errors);
    }
}

static void os_run__confined__keeps_limits_and_environment(void **state)
{
    struct fixture *f = *state;
    const struct process_result result =
        run(f, &(struct process_opts){.argv = ARGV("sh", "-c", "sleep 300 & echo $!; wait"),
                                      .timeout_ns = 200 * ms,
                                      .confine = true,
                                      .read_paths = ARGV(SYSTEM_PATHS)});
    assert_true(result.timed_out);
    assert_dies(strtol(result.out, NULL, 10));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(int argc, char **argv)
{
    if (argc == 3 && str_equal(argv[1], "--attempt"))
        _exit(make_attempt(argv[2])); /* at once: a leak checker would trace itself */
    const struct CMUnitTest tests[] = {
        TEST(os_run__exits_or_is_killed__result_says_which),
        TEST(os_run__busy_child__cpu_time_is_told),
        TEST(os_run__missing_program__is_a_missing_tool),
        TEST(os_run__not_executable__is_an_io_error),
        TEST(os_run__working_folder__is_entered),
        TEST(os_run__input__none_or_all_of_it),
        TEST(os_run__more_output_than_the_cap__cut_and_program_ends_well),
        TEST(os_run__output_without_end__killed_at_the_limit),
        TEST(os_run__child_hangs__group_is_killed),
        TEST(os_run__leader_leaves_children__they_are_killed),
        TEST(os_run__child_leaves_the_group__its_pipes_are_not_waited_for),
        TEST(os_run__child_closes_its_output__is_still_waited_for),
        TEST(os_run__interrupted__group_is_killed),
        TEST(os_run__environment__only_what_is_allowed),
        TEST(os_run__open_files_of_the_parent__are_not_inherited),
        TEST(os_run__signals_of_the_parent__are_reset),
        TEST(os_run__limits__memory_and_no_core),
        TEST(os_run__from_many_threads__each_gets_its_own),
        TEST(os_run__confined__reads_only_what_is_named),
        TEST(os_run__confined_with_own_proc__reads_no_other),
        TEST(os_run__confined__link_to_a_secret__is_not_read),
        TEST(os_run__confined__writes_only_where_allowed),
        TEST(os_run__confined__truncates_only_where_allowed),
        TEST(os_run__confined__executes_nothing_that_it_wrote),
        TEST(os_run__confined__program_outside__error_has_a_hint),
        TEST(os_run__confined__temporary_folder_is_one_it_may_write),
        TEST(os_run__confined__signals_nobody_outside),
        TEST(os_run__confined__compiler_works_and_includes_no_secret),
        TEST(os_run__confined__system_calls_are_refused),
        TEST(os_run__confined__keeps_limits_and_environment),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed != 0)
        return 1;
    return skipped != 0 ? 77 : 0;
}
