/*
 * Files and folders. Paths are plain strings; errors name the path. Writing is atomic where said:
 * a reader sees the old content or the new, never half. Threads: any.
 */
#ifndef KOPE_OS_FILE_H
#define KOPE_OS_FILE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Closes the descriptor where it is not negative; for CLEANUP. */
void os_close(int *fd);
/* Gives a descriptor away: the value, after which os_close finds nothing to close. */
int os_take_fd(int *fd);

bool os_path_exists(const char *path);
bool os_path_is_dir(const char *path);
/* Owned by this user or by root, and not open to everybody for writing; false where it is not
 * there. */
bool os_file_is_ours(const char *path);
/* Size in bytes, or -1. */
int64_t os_file_size(const char *path);

/* "dir/name" in the arena; what follows the last '/' (all where there is none); what precedes it
 * ("." where there is none, "/" for a name in the root). */
char *os_path_join(struct arena *arena, const char *dir, const char *name);
const char *os_path_base(const char *path);
char *os_path_dir(struct arena *arena, const char *path);
/* Absolute and without links; ERR_NOT_FOUND where it does not exist. */
bool os_path_real(const char *path, struct arena *arena, char **out, struct err *err);

/* The whole file, at most `limit_bytes` of it: a larger one is ERR_LIMIT, a missing one
 * ERR_NOT_FOUND, never half a file. The bytes are NUL-terminated in the arena; `*out_length` may be
 * NULL. */
bool os_read_file(const char *path, size_t limit_bytes, struct arena *arena, char **out,
                  size_t *out_length, struct err *err);

/* The same for a file of a folder that somebody else filled: what is a link, a pipe or a device
 * there is ERR_BAD_INPUT, and is not opened. */
bool os_read_plain_file(const char *path, size_t limit_bytes, struct arena *arena, char **out,
                        size_t *out_length, struct err *err);

/* Writes a new file and renames it into place; `durable` waits for the disk. A file that is
 * replaced keeps its permissions. A character device (/dev/null) is written to and stays what it
 * is; a pipe, a socket, a block device and a link to any of these are ERR_BAD_INPUT. */
bool os_write_file(const char *path, const void *data, size_t length, bool durable,
                   struct err *err);

/* Creates the folder and those above it; existing is fine. */
bool os_make_dirs(const char *path, struct err *err);

/* A new private folder under $TMPDIR or /tmp. */
bool os_make_temp_dir(const char *prefix, struct arena *arena, char **out, struct err *err);

/* Removes a file or a whole tree (links are not followed, folders are opened up where their owner
 * may); a missing one is fine. Depth and length of the paths do not matter. */
bool os_remove_tree(const char *path, struct err *err);

/* Names in a folder, sorted bytewise, without '.' and '..'. */
bool os_list_dir(const char *path, struct arena *arena, char ***out, size_t *out_count,
                 struct err *err);

/* Takes an exclusive lock on `path` (created where missing) and returns its descriptor, which holds
 * the lock until closed; ERR_BUSY with the holder's process id where somebody else has it. */
bool os_lock_file(const char *path, int *out_fd, struct err *err);

/* The first executable file of that name in the absolute folders of PATH, or NULL; a name with a
 * '/' is a path already. */
char *os_find_program(const char *name, struct arena *arena);

/* Folder of the running program ("/usr/bin"); "." where it cannot be told. */
char *os_program_dir(struct arena *arena);

#endif
