#include "os/file.h"
#include "os/os.h"

#include "base/str.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void close_dir(DIR **dir)
{
    if (*dir)
        (void)closedir(*dir);
}

/* The next name that is neither '.' nor '..'; NULL at the end (errno 0) or on failure. */
static const char *next_name(DIR *dir)
{
    const struct dirent *entry;
    do {
        errno = 0;
        entry = readdir(dir);
    } while (entry && (str_equal(entry->d_name, ".") || str_equal(entry->d_name, "..")));
    return entry ? entry->d_name : NULL;
}

static bool make_dir(const char *path, struct err *err)
{
    if (mkdir(path, 0777) == 0)
        return true;
    const int number = errno;
    if (os_path_is_dir(path))
        return true;
    return err_set_errno(err, number, "cannot create the folder '%s'", path);
}

bool os_make_dirs(const char *path, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    char *partial = arena_strdup(&scratch, path);
    for (char *slash = strchr(partial + (*partial == '/'), '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (!make_dir(partial, err))
            return false;
        *slash = '/';
    }
    return make_dir(partial, err);
}

bool os_make_temp_dir(const char *prefix, struct arena *arena, char **out, struct err *err)
{
    const char *parent = os_env("TMPDIR");
    char *path = arena_printf(arena, "%s/%s-XXXXXX", parent ? parent : "/tmp", prefix);
    if (!mkdtemp(path)) {
        (void)err_set_errno(err, errno, "cannot create a folder under '%s'",
                            parent ? parent : "/tmp");
        return err_hint(err, "set TMPDIR to a folder that you may write");
    }
    *out = path;
    return true;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool os_list_dir(const char *path, struct arena *arena, char ***out, size_t *out_count,
                 struct err *err)
{
    CLEANUP(close_dir) DIR *dir = opendir(path);
    if (!dir && (errno == ENOENT || errno == ENOTDIR))
        return err_set(err, ERR_NOT_FOUND, "there is no folder '%s'", path);
    if (!dir)
        return err_set_errno(err, errno, "cannot open the folder '%s'", path);

    char **names = NULL;
    size_t count = 0;
    size_t capacity = 0;
    for (const char *name = next_name(dir); name; name = next_name(dir)) {
        names = vec_reserve_one(names, count, &capacity, sizeof *names);
        names[count++] = arena_strdup(arena, name);
    }
    const int number = errno;
    if (number == 0) {
        if (count != 0)
            qsort(names, count, sizeof *names, compare_names);
        *out = arena_array(arena, count + 1, sizeof *names);
        if (count != 0)
            memcpy(*out, names, count * sizeof *names);
        *out_count = count;
    }
    free(names);
    return number == 0 || err_set_errno(err, number, "cannot list the folder '%s'", path);
}

/*
 * Removing a tree. What a hostile program left may be deeper than the stack, PATH_MAX or the limit
 * of descriptors allow, and may hold folders without permissions. So there is no recursion: a
 * folder that is not empty is moved up to the root of the tree, under a name of its own, until
 * everything hangs there and every folder can be emptied with two descriptors.
 */
static int open_dir_at(int parent, const char *name)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    const int fd = openat(parent, name, flags);
    if (fd >= 0 || errno != EACCES)
        return fd;
    if (fchmodat(parent, name, S_IRWXU, AT_SYMLINK_NOFOLLOW) != 0)
        return -1;
    return openat(parent, name, flags);
}

/* A folder as a stream, writable where that is in our hands; NULL with errno. */
static DIR *stream_dir_at(int parent, const char *name)
{
    const int fd = open_dir_at(parent, name);
    if (fd < 0)
        return NULL;
    (void)fchmod(fd, S_IRWXU);
    DIR *dir = fdopendir(fd);
    if (!dir)
        (void)close(fd);
    return dir;
}

/* Removes one thing that is no folder, or an empty folder; false with errno ENOTEMPTY for others.
 */
static bool remove_one(int parent, const char *name)
{
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
        return true;
    if (errno != EISDIR && errno != EPERM && errno != EACCES)
        return false;
    const int number = errno;
    if (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
        return true;
    if (errno == EEXIST)
        errno = ENOTEMPTY;
    else if (errno == ENOTDIR)
        errno = number;
    return false;
}

static bool move_up(int parent, const char *name, int root)
{
    char moved[64];
    /* A random name: a guessed one could have been taken on purpose. */
    (void)snprintf(moved, sizeof moved, ".removing-%016" PRIx64, os_random_u64());
    if (renameat(parent, name, root, moved) == 0)
        return true;
    /* Moving a folder changes its '..' entry, which takes permission to write it. */
    return errno == EACCES && fchmodat(parent, name, S_IRWXU, AT_SYMLINK_NOFOLLOW) == 0 &&
           renameat(parent, name, root, moved) == 0;
}

/* Empties `name` of `root`: its folders that are not empty move up to `root`. */
static bool flatten(int root, const char *name)
{
    CLEANUP(close_dir) DIR *dir = stream_dir_at(root, name);
    if (!dir)
        return false;
    for (const char *inner = next_name(dir); inner; inner = next_name(dir)) {
        if (!remove_one(dirfd(dir), inner) &&
            (errno != ENOTEMPTY || !move_up(dirfd(dir), inner, root)))
            return false;
    }
    return errno == 0;
}

/* One pass over the root; `*out_left` says whether it saw anything at all. */
static bool remove_pass(DIR *root, bool *out_left)
{
    *out_left = false;
    rewinddir(root);
    for (const char *name = next_name(root); name; name = next_name(root)) {
        *out_left = true;
        if (remove_one(dirfd(root), name))
            continue;
        if (errno != ENOTEMPTY || !flatten(dirfd(root), name))
            return false;
    }
    return errno == 0;
}

static bool remove_contents(const char *path)
{
    CLEANUP(close_dir) DIR *root = stream_dir_at(AT_FDCWD, path);
    bool left = true;
    if (!root)
        return false;
    while (left) {
        if (!remove_pass(root, &left))
            return false;
    }
    return true;
}

bool os_remove_tree(const char *path, struct err *err)
{
    if (remove_one(AT_FDCWD, path))
        return true;
    if (errno == ENOTEMPTY && remove_contents(path) && remove_one(AT_FDCWD, path))
        return true;
    return err_set_errno(err, errno, "cannot remove '%s'", path);
}
