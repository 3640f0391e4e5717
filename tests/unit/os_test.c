#include "os/file.h"
#include "os/os.h"
#include "os/process.h"

#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* A folder of its own for each test. */
struct fixture {
    struct arena arena;
    char *dir;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct err err;
    if (!f || !os_make_temp_dir("os-test", &f->arena, &f->dir, &err))
        return -1;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    struct err err;
    const bool removed = os_remove_tree(f->dir, &err);
    arena_free(&f->arena);
    free(f);
    return removed ? 0 : -1;
}

static void ok(bool done, const struct err *err)
{
    if (!done)
        fail_msg("%s", err->message);
}

static char *in_dir(struct fixture *f, const char *name)
{
    return os_path_join(&f->arena, f->dir, name);
}

static void write_text(const char *path, const char *text)
{
    struct err err;
    ok(os_write_file(path, text, strlen(text), false, &err), &err);
}

static unsigned mode_of(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? status.st_mode & 0777U : 0;
}

static void os_path__parts__join_and_split(void **state)
{
    struct fixture *f = *state;
    assert_string_equal(os_path_join(&f->arena, "a", "b"), "a/b");
    assert_string_equal(os_path_join(&f->arena, "a/", "b"), "a/b");
    assert_string_equal(os_path_join(&f->arena, "", "b"), "b");
    assert_string_equal(os_path_base("/a/b.c"), "b.c");
    assert_string_equal(os_path_base("b.c"), "b.c");
    assert_string_equal(os_path_dir(&f->arena, "/a/b.c"), "/a");
    assert_string_equal(os_path_dir(&f->arena, "/a"), "/");
    assert_string_equal(os_path_dir(&f->arena, "a"), ".");
}

static void os_path_real__link__is_followed(void **state)
{
    struct fixture *f = *state;
    struct err err;
    char *real = NULL;
    char *dir = NULL;
    ok(os_path_real(f->dir, &f->arena, &dir, &err), &err);
    write_text(in_dir(f, "file"), "x");
    assert_int_equal(symlink("file", in_dir(f, "link")), 0);
    ok(os_path_real(in_dir(f, "link"), &f->arena, &real, &err), &err);
    assert_string_equal(real, os_path_join(&f->arena, dir, "file"));
    assert_false(os_path_real(in_dir(f, "absent"), &f->arena, &real, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_false(os_path_real(in_dir(f, "file/x"), &f->arena, &real, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
}

static void os_read_file__written__same_bytes(void **state)
{
    struct fixture *f = *state;
    struct err err;
    const char data[] = {'a', '\0', 'b', '\n'};
    char *back = NULL;
    size_t length = 0;
    ok(os_write_file(in_dir(f, "x"), data, sizeof data, true, &err), &err);
    ok(os_read_file(in_dir(f, "x"), 4, &f->arena, &back, &length, &err), &err);
    assert_int_equal(length, 4);
    assert_memory_equal(back, data, 4);
    assert_int_equal(back[4], '\0');
    assert_int_equal(os_file_size(in_dir(f, "x")), 4);
    assert_int_equal(os_file_size(in_dir(f, "y")), -1);
    ok(os_write_file(in_dir(f, "x"), "", 0, false, &err), &err);
    ok(os_read_file(in_dir(f, "x"), 0, &f->arena, &back, NULL, &err), &err);
    assert_string_equal(back, "");
}

static void os_read_file__cannot__kind_says_why(void **state)
{
    struct fixture *f = *state;
    struct err err;
    char *text = NULL;
    write_text(in_dir(f, "x"), "12345");
    assert_false(os_read_file(in_dir(f, "x"), 4, &f->arena, &text, NULL, &err));
    assert_int_equal(err.kind, ERR_LIMIT);
    assert_false(os_read_file(in_dir(f, "absent"), 4, &f->arena, &text, NULL, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "absent"));
    assert_false(os_read_file(f->dir, 4, &f->arena, &text, NULL, &err));
    assert_int_equal(err.kind, ERR_IO);
    assert_null(text);
}

static void os_read_plain_file__link_or_pipe__refused(void **state)
{
    struct fixture *f = *state;
    struct err err;
    char *text = NULL;
    write_text(in_dir(f, "x"), "12345");
    assert_int_equal(symlink("x", in_dir(f, "link")), 0);
    assert_int_equal(mkfifo(in_dir(f, "pipe"), 0600), 0);
    ok(os_read_plain_file(in_dir(f, "x"), 5, &f->arena, &text, NULL, &err), &err);
    assert_string_equal(text, "12345");
    text = NULL;
    assert_false(os_read_plain_file(in_dir(f, "link"), 5, &f->arena, &text, NULL, &err));
    assert_int_equal(err.kind, ERR_BAD_INPUT);
    assert_non_null(strstr(err.message, "is a link"));
    assert_false(os_read_plain_file(in_dir(f, "pipe"), 5, &f->arena, &text, NULL, &err));
    assert_int_equal(err.kind, ERR_BAD_INPUT);
    assert_false(os_read_plain_file(in_dir(f, "absent"), 5, &f->arena, &text, NULL, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_null(text);
    ok(os_read_file(in_dir(f, "link"), 5, &f->arena, &text, NULL, &err), &err);
}

static void os_read_file__size_unknown__is_read_whole(void **state)
{
    struct fixture *f = *state;
    struct err err;
    char *text = NULL;
    size_t length = 0;
    /* Files of /proc say that they have no bytes. */
    ok(os_read_file("/proc/self/status", 100000, &f->arena, &text, &length, &err), &err);
    assert_true(length > 100);
    assert_true(str_starts_with(text, "Name:"));
}

static void os_write_file__replaces__keeps_permissions_and_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct err err;
    char **names = NULL;
    size_t count = 0;
    write_text(in_dir(f, "x"), "old");
    assert_int_equal(chmod(in_dir(f, "x"), 0600), 0);
    write_text(in_dir(f, "x"), "new");
    assert_int_equal(mode_of(in_dir(f, "x")), 0600);
    ok(os_list_dir(f->dir, &f->arena, &names, &count, &err), &err);
    assert_int_equal(count, 1);
}

static void os_write_file__is_no_file__stays_what_it_is(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    struct stat at;
    const char *pipe = os_path_join(&f->arena, f->dir, "pipe");
    const char *link = os_path_join(&f->arena, f->dir, "link");
    const char *device = os_path_join(&f->arena, f->dir, "device");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(symlink("pipe", link), 0);
    assert_false(os_write_file(pipe, "x", 1, false, &err));
    assert_int_equal(err.kind, ERR_BAD_INPUT);
    assert_false(os_write_file(link, "x", 1, false, &err));
    assert_non_null(strstr(err.message, "link' is a link to what is no file"));
    assert_true(lstat(pipe, &at) == 0 && S_ISFIFO(at.st_mode));
    assert_true(lstat(link, &at) == 0 && S_ISLNK(at.st_mode));
    /* Only root makes a device, and not in every folder may one be opened. */
    struct process_result result;
    const char *const argv[] = {"mknod", device, "c", "1", "3", NULL};
    if (!os_run(&(struct process_opts){.argv = argv}, &f->arena, &result, &err) ||
        result.exit_code != 0 || access(device, W_OK) != 0)
        return;
    const int fd = open(device, O_WRONLY);
    if (fd < 0)
        return;
    (void)close(fd);
    assert_true(os_write_file(device, "x", 1, false, &err));
    assert_true(lstat(device, &at) == 0 && S_ISCHR(at.st_mode));
}

static void os_write_file__cannot_rename__old_stays_and_nothing_is_left(void **state)
{
    struct fixture *f = *state;
    struct err err;
    char **names = NULL;
    size_t count = 0;
    ok(os_make_dirs(in_dir(f, "x/y"), &err), &err);
    assert_false(os_write_file(in_dir(f, "x"), "new", 3, false, &err));
    assert_int_equal(err.kind, ERR_IO);
    ok(os_list_dir(f->dir, &f->arena, &names, &count, &err), &err);
    assert_int_equal(count, 1);
    assert_false(os_write_file(in_dir(f, "absent/x"), "new", 3, false, &err));
    assert_non_null(strstr(err.message, "absent/x"));
}

static void os_make_dirs__some_exist__creates_the_rest(void **state)
{
    struct fixture *f = *state;
    struct err err;
    ok(os_make_dirs(in_dir(f, "a/b/c"), &err), &err);
    ok(os_make_dirs(in_dir(f, "a/b//d/"), &err), &err);
    ok(os_make_dirs(in_dir(f, "a/b"), &err), &err);
    assert_true(os_path_is_dir(in_dir(f, "a/b/c")));
    assert_true(os_path_is_dir(in_dir(f, "a/b/d")));
    write_text(in_dir(f, "file"), "x");
    assert_false(os_make_dirs(in_dir(f, "file/x"), &err));
    assert_int_equal(err.kind, ERR_IO);
    assert_false(os_path_is_dir(in_dir(f, "file")));
}

static void os_make_temp_dir__called__private_and_new(void **state)
{
    struct fixture *f = *state;
    struct err err;
    char *other = NULL;
    ok(os_make_temp_dir("os-test", &f->arena, &other, &err), &err);
    assert_string_not_equal(other, f->dir);
    assert_int_equal(mode_of(other), 0700);
    ok(os_remove_tree(other, &err), &err);
}

static void os_list_dir__some_names__sorted_bytewise(void **state)
{
    struct fixture *f = *state;
    struct err err;
    char **names = NULL;
    size_t count = 99;
    ok(os_list_dir(f->dir, &f->arena, &names, &count, &err), &err);
    assert_int_equal(count, 0);
    static const char *const files[] = {"b", "a", "B", ".hidden", "a10", "a9"};
    for (size_t i = 0; i < COUNT_OF(files); i++)
        write_text(in_dir(f, files[i]), "");
    ok(os_list_dir(f->dir, &f->arena, &names, &count, &err), &err);
    static const char *const want[] = {".hidden", "B", "a", "a10", "a9", "b"};
    assert_int_equal(count, COUNT_OF(want));
    for (size_t i = 0; i < COUNT_OF(want); i++)
        assert_string_equal(names[i], want[i]);
    assert_false(os_list_dir(in_dir(f, "absent"), &f->arena, &names, &count, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
}

static void os_remove_tree__links_inside__targets_stay(void **state)
{
    struct fixture *f = *state;
    struct err err;
    ok(os_make_dirs(in_dir(f, "keep"), &err), &err);
    write_text(in_dir(f, "keep/file"), "x");
    ok(os_make_dirs(in_dir(f, "tree/sub/deep"), &err), &err);
    write_text(in_dir(f, "tree/sub/file"), "x");
    assert_int_equal(symlink("../../keep", in_dir(f, "tree/sub/link")), 0);
    assert_int_equal(symlink("keep", in_dir(f, "link")), 0);
    ok(os_remove_tree(in_dir(f, "tree"), &err), &err);
    ok(os_remove_tree(in_dir(f, "link"), &err), &err);
    assert_false(os_path_exists(in_dir(f, "tree")));
    assert_true(os_path_exists(in_dir(f, "keep/file")));
    ok(os_remove_tree(in_dir(f, "keep/file"), &err), &err);
    ok(os_remove_tree(in_dir(f, "keep/file"), &err), &err); /* missing is fine */
    ok(os_remove_tree(in_dir(f, "no/such/folder"), &err), &err);
}

static void os_remove_tree__folders_without_permissions__are_removed(void **state)
{
    struct fixture *f = *state;
    struct err err;
    ok(os_make_dirs(in_dir(f, "tree/a/b/c"), &err), &err);
    write_text(in_dir(f, "tree/a/b/file"), "x");
    assert_int_equal(chmod(in_dir(f, "tree/a/b"), 0), 0);
    assert_int_equal(chmod(in_dir(f, "tree/a"), 0500), 0);
    ok(os_remove_tree(in_dir(f, "tree"), &err), &err);
    assert_false(os_path_exists(in_dir(f, "tree")));
}

static void os_remove_tree__deeper_than_path_max__is_removed(void **state)
{
    struct fixture *f = *state;
    struct err err;
    int at = open(f->dir, O_RDONLY | O_DIRECTORY);
    for (int level = 0; level < 3000; level++) { /* of 3 bytes: twice PATH_MAX */
        assert_int_equal(mkdirat(at, "dd", 0700), 0);
        const int below = openat(at, "dd", O_RDONLY | O_DIRECTORY);
        assert_true(below >= 0);
        os_close(&at);
        at = below;
    }
    const int file = openat(at, "file", O_WRONLY | O_CREAT, 0600);
    assert_true(file >= 0);
    assert_int_equal(close(file), 0);
    os_close(&at);
    ok(os_remove_tree(in_dir(f, "dd"), &err), &err);
    assert_false(os_path_exists(in_dir(f, "dd")));
}

static void os_lock_file__held__busy_until_closed(void **state)
{
    struct fixture *f = *state;
    struct err err;
    int first = -1;
    int second = -1;
    char *holder = NULL;
    ok(os_lock_file(in_dir(f, "lock"), &first, &err), &err);
    assert_false(os_lock_file(in_dir(f, "lock"), &second, &err));
    assert_int_equal(err.kind, ERR_BUSY);
    assert_int_equal(second, -1);
    holder = arena_printf(&f->arena, "process %ld", (long)getpid());
    assert_non_null(strstr(err.message, holder));
    os_close(&first);
    assert_int_equal(first, -1);
    ok(os_lock_file(in_dir(f, "lock"), &second, &err), &err);
    assert_true((fcntl(second, F_GETFD) & FD_CLOEXEC) != 0);
    os_close(&second);
}

static void os_find_program__names__found_on_path(void **state)
{
    struct fixture *f = *state;
    char *old = arena_strdup(&f->arena, getenv("PATH"));
    char *found = os_find_program("sh", &f->arena);
    assert_non_null(found);
    assert_true(str_ends_with(found, "/sh"));
    assert_null(os_find_program("no-such-program-here", &f->arena));
    assert_string_equal(os_find_program("/bin/sh", &f->arena), "/bin/sh");
    assert_null(os_find_program("/bin", &f->arena));

    write_text(in_dir(f, "sh"), "#!/bin/sh\n");
    assert_int_equal(setenv("PATH", arena_printf(&f->arena, "%s:%s", f->dir, old), 1), 0);
    assert_string_not_equal(os_find_program("sh", &f->arena), in_dir(f, "sh")); /* no x bit */
    assert_int_equal(chmod(in_dir(f, "sh"), 0700), 0);
    assert_string_equal(os_find_program("sh", &f->arena), in_dir(f, "sh"));
    assert_int_equal(setenv("PATH", ":.:relative", 1), 0);
    assert_null(os_find_program("sh", &f->arena));
    assert_int_equal(setenv("PATH", old, 1), 0);
}

static void os_program_dir__this_test__where_it_was_built(void **state)
{
    struct fixture *f = *state;
    const char *dir = os_program_dir(&f->arena);
    assert_true(os_path_exists(os_path_join(&f->arena, dir, "os_test")));
}

static void os_now_ns__sleep__time_passes(void **state)
{
    (void)state;
    const int64_t before = os_now_ns();
    os_sleep_ns(20000000);
    const int64_t passed = os_now_ns() - before;
    assert_true(passed >= 20000000);
    assert_true(passed < INT64_C(10000000000));
    os_sleep_ns(0);
    os_sleep_ns(-5);
    assert_true(os_wall_ns() > INT64_C(1700000000) * 1000000000);
}

static void os_process_cpu_ns__busy_then_gone__grows_then_minus_one(void **state)
{
    (void)state;
    const int64_t before = os_process_cpu_ns(getpid());
    const int64_t until = os_now_ns() + 30000000;
    while (os_now_ns() < until)
        continue;
    assert_true(before >= 0);
    assert_true(os_process_cpu_ns(getpid()) > before);

    const pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(os_process_cpu_ns(pid), -1);
}

static void os_random__called_twice__differs(void **state)
{
    (void)state;
    unsigned char a[1000] = {0};
    unsigned char b[1000] = {0};
    os_random(a, sizeof a);
    os_random(b, sizeof b);
    assert_memory_not_equal(a, b, sizeof a);
    assert_memory_not_equal(a + 900, (const unsigned char[100]){0}, 100);
    assert_true(os_random_u64() != os_random_u64());
}

static void os_pin_thread__to_each_cpu__then_only_that(void **state)
{
    (void)state;
    int cpus[1024];
    int now = -1;
    const size_t count = os_cpus_allowed(cpus, COUNT_OF(cpus));
    assert_true(count >= 1);
    assert_int_equal(os_cpus_allowed(NULL, 0), count);
    const pid_t pid = fork(); /* so that this process stays as it is */
    if (pid == 0) {
        bool good = !os_pin_thread(-1) && !os_pin_thread(1 << 20);
        for (size_t i = 0; i < count; i++)
            good = good && os_pin_thread(cpus[i]) && os_cpus_allowed(NULL, 0) == 1 &&
                   os_cpus_allowed(&now, 1) == 1 && now == cpus[i];
        _exit(good ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void os_interrupt__second_sigint__ends_the_process(void **state)
{
    (void)state;
    const pid_t pid = fork();
    if (pid == 0) {
        os_interrupt_install();
        if (os_interrupted())
            _exit(1);
        (void)raise(SIGTERM);
        if (!os_interrupted())
            _exit(2);
        os_interrupt_set(false);
        if (os_interrupted())
            _exit(3);
        (void)raise(SIGINT);
        if (!os_interrupted())
            _exit(4);
        (void)raise(SIGTERM); /* a second SIGTERM changes nothing */
        (void)raise(SIGINT);
        _exit(5);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status))
        fail_msg("stopped at step %d", WEXITSTATUS(status));
    assert_int_equal(WTERMSIG(status), SIGINT);
}

static void os_sleep_ns__interrupted__returns_early(void **state)
{
    (void)state;
    const pid_t pid = fork();
    if (pid == 0) {
        os_interrupt_install();
        const int64_t before = os_now_ns();
        const pid_t parent = getpid();
        const pid_t killer = fork();
        if (killer == 0) {
            os_sleep_ns(50000000);
            _exit(kill(parent, SIGINT));
        }
        os_sleep_ns(INT64_C(20000000000));
        _exit(os_now_ns() - before < INT64_C(10000000000) && os_interrupted() ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void os_env__unset_and_empty__null(void **state)
{
    (void)state;
    assert_int_equal(unsetenv("KOPE_TEST_VARIABLE"), 0);
    assert_null(os_env("KOPE_TEST_VARIABLE"));
    assert_int_equal(setenv("KOPE_TEST_VARIABLE", "", 1), 0);
    assert_null(os_env("KOPE_TEST_VARIABLE"));
    assert_int_equal(setenv("KOPE_TEST_VARIABLE", "x", 1), 0);
    assert_string_equal(os_env("KOPE_TEST_VARIABLE"), "x");
}

static void os_terminal__not_one__80_columns(void **state)
{
    struct fixture *f = *state;
    int fd = open(f->dir, O_RDONLY);
    assert_true(fd >= 0);
    assert_false(os_is_terminal(fd));
    assert_int_equal(os_terminal_columns(fd), 80);
    os_close(&fd);
    os_close(&fd); /* closing twice is fine */
}

static void os_system__facts__plausible(void **state)
{
    struct fixture *f = *state;
    assert_true(str_starts_with(os_kernel(&f->arena), "Linux "));
    assert_true(strlen(os_hostname(&f->arena)) > 0);
    assert_int_equal(os_is_root(), geteuid() == 0);
    assert_true(os_load_average() >= 0.0);
    assert_true(os_memory_available_bytes() > 1000000);
}

static void os_memfd__created__sized_sealable_and_closed_on_exec(void **state)
{
    (void)state;
    struct err err;
    int fd = -1;
    ok(os_memfd("test", 12345, &fd, &err), &err);
    struct stat status;
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(status.st_size, 12345);
    assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    char *memory = mmap(NULL, 12345, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(memory != MAP_FAILED);
    assert_int_equal(memory[12344], 0);
    assert_int_equal(munmap(memory, 12345), 0);
    os_close(&fd);
}

/* How a child that ends by SIGABRT leaves: with a core dump or without. */
static bool leaves_core(const char *dir, bool forbidden)
{
    int status = 0;
    const pid_t pid = fork();
    if (pid == 0) {
        const struct rlimit enough = {RLIM_INFINITY, RLIM_INFINITY};
        if (chdir(dir) != 0 || setrlimit(RLIMIT_CORE, &enough) != 0)
            _exit(1);
        if (forbidden)
            os_forbid_inspection();
        abort();
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    return (status & 0x80) != 0; /* WCOREDUMP, which POSIX lacks */
}

static void os_forbid_inspection__a_process_that_aborts__leaves_no_core(void **state)
{
    const struct fixture *f = *state;
    assert_false(leaves_core(f->dir, true));
    if (!leaves_core(f->dir, false))
        print_message("this machine writes no core dumps: the other half is not shown here\n");
}

static void os_forbid_inspection__another_process__cannot_read_the_environment(void **state)
{
    int ready[2];
    int status = 0;
    char byte = 0;
    (void)state;
    if (os_is_root()) {
        print_message("root may look into every process: not shown here\n");
        return;
    }
    assert_int_equal(pipe(ready), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        os_forbid_inspection();
        (void)!write(ready[1], "r", 1);
        (void)pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    const int fd = open(path, O_RDONLY);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(fd, -1);
    (void)close(ready[0]);
    (void)close(ready[1]);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(os_path__parts__join_and_split),
        TEST(os_path_real__link__is_followed),
        TEST(os_read_file__written__same_bytes),
        TEST(os_read_file__cannot__kind_says_why),
        TEST(os_read_file__size_unknown__is_read_whole),
        TEST(os_read_plain_file__link_or_pipe__refused),
        TEST(os_write_file__replaces__keeps_permissions_and_leaves_nothing),
        TEST(os_write_file__is_no_file__stays_what_it_is),
        TEST(os_write_file__cannot_rename__old_stays_and_nothing_is_left),
        TEST(os_make_dirs__some_exist__creates_the_rest),
        TEST(os_make_temp_dir__called__private_and_new),
        TEST(os_list_dir__some_names__sorted_bytewise),
        TEST(os_remove_tree__links_inside__targets_stay),
        TEST(os_remove_tree__folders_without_permissions__are_removed),
        TEST(os_remove_tree__deeper_than_path_max__is_removed),
        TEST(os_lock_file__held__busy_until_closed),
        TEST(os_find_program__names__found_on_path),
        TEST(os_program_dir__this_test__where_it_was_built),
        TEST(os_now_ns__sleep__time_passes),
        TEST(os_process_cpu_ns__busy_then_gone__grows_then_minus_one),
        TEST(os_random__called_twice__differs),
        TEST(os_pin_thread__to_each_cpu__then_only_that),
        TEST(os_interrupt__second_sigint__ends_the_process),
        TEST(os_sleep_ns__interrupted__returns_early),
        TEST(os_env__unset_and_empty__null),
        TEST(os_terminal__not_one__80_columns),
        TEST(os_system__facts__plausible),
        TEST(os_forbid_inspection__a_process_that_aborts__leaves_no_core),
        TEST(os_forbid_inspection__another_process__cannot_read_the_environment),
        TEST(os_memfd__created__sized_sealable_and_closed_on_exec),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
