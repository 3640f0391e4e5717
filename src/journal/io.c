#include "journal/internal.h"

#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int system_open(void *context, const char *path, int flags, mode_t mode)
{
    (void)context;
    return open(path, flags, mode);
}

static ssize_t system_write(void *context, int fd, const void *data, size_t length)
{
    (void)context;
    return write(fd, data, length);
}

static int system_sync(void *context, int fd)
{
    (void)context;
    struct stat info;
    if (fstat(fd, &info) != 0)
        return -1;
    return S_ISDIR(info.st_mode) ? fsync(fd) : fdatasync(fd);
}

static int system_truncate(void *context, int fd, off_t length)
{
    (void)context;
    return ftruncate(fd, length);
}

static int system_rename(void *context, const char *from, const char *to)
{
    (void)context;
    return rename(from, to);
}

static int system_unlink(void *context, const char *path)
{
    (void)context;
    return unlink(path);
}

const struct journal_io journal_io_system = {
    .open = system_open,
    .write = system_write,
    .sync = system_sync,
    .truncate = system_truncate,
    .rename = system_rename,
    .unlink = system_unlink,
};

bool io_write_all(const struct journal_io *io, int fd, const void *data, size_t length)
{
    const char *at = data;
    while (length != 0) {
        const ssize_t put = io->write(io->context, fd, at, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        at += put;
        length -= (size_t)put;
    }
    return true;
}

int io_take_fd(int *fd)
{
    const int taken = *fd;
    *fd = -1;
    return taken;
}

bool io_sync_dir(const struct journal_io *io, const char *path)
{
    CLEANUP(os_close)
    int fd = io->open(io->context, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    /* Some file systems cannot sync a folder and say EINVAL: then the name is as safe as it gets.
     */
    return fd >= 0 && (io->sync(io->context, fd) == 0 || errno == EINVAL);
}
