#include "os/file.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_BYTES = 64 * 1024, NAME_ATTEMPTS = 100 };

void os_close(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

int os_take_fd(int *fd)
{
    const int taken = *fd;
    *fd = -1;
    return taken;
}

/* Everything up to the end of `fd`, or as much as the cap of `content` holds. */
static bool read_all(int fd, struct buf *content)
{
    char chunk[CHUNK_BYTES];
    for (;;) {
        const ssize_t got = read(fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return false;
        if (got == 0 || !buf_append(content, chunk, (size_t)got))
            return true;
    }
}

static bool open_to_read(const char *path, int more_flags, int *out_fd, struct err *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | more_flags);
    if (fd >= 0) {
        *out_fd = fd;
        return true;
    }
    if (errno == ENOENT || errno == ENOTDIR)
        return err_set(err, ERR_NOT_FOUND, "there is no file '%s'", path);
    if (errno == ELOOP && (more_flags & O_NOFOLLOW)) {
        (void)err_set(err, ERR_BAD_INPUT, "'%s' is a link", path);
        return err_hint(err, "links are not followed here: put the file itself there");
    }
    return err_set_errno(err, errno, "cannot open '%s'", path);
}

static bool read_open_file(int fd, const char *path, size_t limit_bytes, struct arena *arena,
                           char **out, size_t *out_length, struct err *err)
{
    /* A file of exactly the limit fits: the cap is one byte further on. */
    CLEANUP(buf_free)
    struct buf content = {.limit = limit_bytes < SIZE_MAX ? limit_bytes + 1 : SIZE_MAX};
    if (!read_all(fd, &content))
        return err_set_errno(err, errno, "cannot read '%s'", path);
    if (content.length > limit_bytes)
        return err_set(err, ERR_LIMIT, "'%s' is larger than %zu bytes", path, limit_bytes);
    *out = arena_strndup(arena, buf_text(&content), content.length);
    if (out_length)
        *out_length = content.length;
    return true;
}

bool os_read_file(const char *path, size_t limit_bytes, struct arena *arena, char **out,
                  size_t *out_length, struct err *err)
{
    CLEANUP(os_close) int fd = -1;
    return open_to_read(path, 0, &fd, err) &&
           read_open_file(fd, path, limit_bytes, arena, out, out_length, err);
}

bool os_read_plain_file(const char *path, size_t limit_bytes, struct arena *arena, char **out,
                        size_t *out_length, struct err *err)
{
    CLEANUP(os_close) int fd = -1;
    struct stat status;
    /* A pipe without a writer would keep the open waiting. */
    if (!open_to_read(path, O_NOFOLLOW | O_NONBLOCK, &fd, err))
        return false;
    if (fstat(fd, &status) != 0)
        return err_set_errno(err, errno, "cannot look at '%s'", path);
    if (!S_ISREG(status.st_mode))
        return err_set(err, ERR_BAD_INPUT, "'%s' is no plain file", path);
    return read_open_file(fd, path, limit_bytes, arena, out, out_length, err);
}

static bool write_all(int fd, const char *data, size_t length)
{
    while (length != 0) {
        const ssize_t put = write(fd, data, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        data += put;
        length -= (size_t)put;
    }
    return true;
}

/* A new file beside `path`, for a later rename; its name is in the arena. */
static int create_beside(const char *path, struct arena *arena, char **out_name)
{
    for (int attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
        char *name = arena_printf(arena, "%s.%08" PRIx64 ".tmp", path, os_random_u64() >> 32);
        const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd >= 0) {
            *out_name = name;
            return fd;
        }
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

static bool sync_dir_of(const char *path, struct arena *arena)
{
    CLEANUP(os_close) int fd = open(os_path_dir(arena, path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* Some file systems cannot sync a folder and say EINVAL: then the rename is all they offer. */
    return fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
}

/* A file would take the place of a device, for everybody on the machine. */
static bool write_to_device(const char *path, const void *data, size_t length, struct err *err)
{
    CLEANUP(os_close) int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);
    return (fd >= 0 && write_all(fd, data, length)) ||
           err_set_errno(err, errno, "cannot write '%s'", path);
}

/* May a new file take this name? What is no file, and no device that takes bytes, may be anybody's
 * way to talk. */
static bool check_replaceable(const char *path, const struct stat *at, struct err *err)
{
    struct stat target;
    const bool is_link = S_ISLNK(at->st_mode);
    if (is_link && stat(path, &target) != 0)
        return true;
    const mode_t mode = is_link ? target.st_mode : at->st_mode;
    if (S_ISREG(mode) || S_ISDIR(mode))
        return true;
    (void)err_set(err, ERR_BAD_INPUT, "'%s' is %s", path,
                  is_link ? "a link to what is no file" : "no file that can be replaced");
    return err_hint(err, "give the name of a file");
}

bool os_write_file(const char *path, const void *data, size_t length, bool durable, struct err *err)
{
    struct stat at;
    const bool is_there = lstat(path, &at) == 0;
    if (is_there && S_ISCHR(at.st_mode))
        return write_to_device(path, data, length, err);
    if (is_there && !check_replaceable(path, &at, err))
        return false;
    CLEANUP(arena_free) struct arena scratch = {0};
    char *temporary = NULL;
    CLEANUP(os_close) int fd = create_beside(path, &scratch, &temporary);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot create a file beside '%s'", path);

    /* A replaced file keeps its permissions: one that only its owner reads stays so. */
    struct stat old;
    const bool ok = (stat(path, &old) != 0 || fchmod(fd, old.st_mode & 0777) == 0) &&
                    write_all(fd, data, length) && (!durable || fsync(fd) == 0) &&
                    rename(temporary, path) == 0;
    if (!ok) {
        const int number = errno;
        (void)unlink(temporary);
        return err_set_errno(err, number, "cannot write '%s'", path);
    }
    if (durable && !sync_dir_of(path, &scratch))
        return err_set_errno(err, errno, "cannot sync the folder of '%s'", path);
    return true;
}

/* The process id that a lock file names, or 0. */
static long lock_holder(int fd)
{
    char text[32];
    const ssize_t got = pread(fd, text, sizeof text - 1, 0);
    if (got <= 0)
        return 0;
    text[got] = '\0';
    return strtol(text, NULL, 10);
}

bool os_lock_file(const char *path, int *out_fd, struct err *err)
{
    CLEANUP(os_close) int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot open the lock '%s'", path);
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EINTR)
            continue;
        if (errno != EWOULDBLOCK)
            return err_set_errno(err, errno, "cannot lock '%s'", path);
        const long holder = lock_holder(fd);
        if (holder <= 0)
            return err_set(err, ERR_BUSY, "'%s' is locked by another process", path);
        (void)err_set(err, ERR_BUSY, "'%s' is locked by process %ld", path, holder);
        return err_hint(err, "wait for process %ld to end, or stop it", holder);
    }
    char text[32];
    const int length = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)length, 0) != length)
        return err_set_errno(err, errno, "cannot write the lock '%s'", path);
    *out_fd = os_take_fd(&fd);
    return true;
}
