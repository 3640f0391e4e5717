#include "os/file.h"
#include "os/os.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool os_path_exists(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

bool os_file_is_ours(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && (status.st_uid == geteuid() || status.st_uid == 0) &&
           (status.st_mode & S_IWOTH) == 0;
}

bool os_path_is_dir(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

int64_t os_file_size(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? (int64_t)status.st_size : -1;
}

char *os_path_join(struct arena *arena, const char *dir, const char *name)
{
    const size_t length = strlen(dir);
    const char *slash = length == 0 || dir[length - 1] == '/' ? "" : "/";
    return arena_printf(arena, "%s%s%s", dir, slash, name);
}

const char *os_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *os_path_dir(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return arena_strdup(arena, ".");
    return arena_strndup(arena, path, slash == path ? 1 : (size_t)(slash - path));
}

bool os_path_real(const char *path, struct arena *arena, char **out, struct err *err)
{
    char *real = realpath(path, NULL);
    if (!real && (errno == ENOENT || errno == ENOTDIR))
        return err_set(err, ERR_NOT_FOUND, "there is no '%s'", path);
    if (!real)
        return err_set_errno(err, errno, "cannot resolve '%s'", path);
    *out = arena_strdup(arena, real);
    free(real);
    return true;
}

static bool is_executable(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

char *os_find_program(const char *name, struct arena *arena)
{
    if (strchr(name, '/'))
        return is_executable(name) ? arena_strdup(arena, name) : NULL;
    const char *path = os_env("PATH");
    for (const char *dir = path ? path : "/usr/local/bin:/usr/bin:/bin"; *dir;) {
        const size_t length = strcspn(dir, ":");
        if (*dir == '/') {
            char *candidate = arena_printf(arena, "%.*s/%s", (int)length, dir, name);
            if (is_executable(candidate))
                return candidate;
        }
        dir += length + (dir[length] == ':');
    }
    return NULL;
}

char *os_program_dir(struct arena *arena)
{
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return arena_strdup(arena, ".");
    path[length] = '\0';
    return os_path_dir(arena, path);
}
