/* Images on disk, by the hash of all that they depend on. */
#include "target/cpu/cpu.h"

#include "base/str.h"
#include "os/file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_FILES = 4096, MOST_FILE_BYTES = 96 * 1024 * 1024 };
#define MOST_STORE_BYTES ((int64_t)256 * 1024 * 1024)

static const char folder[] = "objects";
static const char magic[8] = "KOPEIMG";

/* In front of image and diagnostics. */
struct head {
    char magic[sizeof magic];
    struct hash_id code_id, content;
    uint64_t image_bytes, diagnostics_bytes;
};

static char *path_of(const struct target *target, struct hash_id key, struct arena *arena)
{
    return os_path_join(arena, os_path_join(arena, target->cache_dir, folder), key.text);
}

static bool is_id(const struct hash_id *id)
{
    return memchr(id->text, '\0', sizeof id->text) == id->text + HASH_ID_CHARS;
}

/* The file may be anything: nothing is believed before the checksum has been compared. */
static bool unpack(const char *bytes, size_t length, struct arena *arena, struct build_result *out)
{
    struct head head;
    const char *why = "";
    if (length < sizeof head)
        return false;
    memcpy(&head, bytes, sizeof head);
    const char *image = bytes + sizeof head;
    const size_t rest = length - sizeof head;
    if (memcmp(head.magic, magic, sizeof magic) != 0 || !is_id(&head.code_id) ||
        !is_id(&head.content) || head.image_bytes > rest ||
        head.diagnostics_bytes != rest - head.image_bytes ||
        !str_equal(hash_content(image, rest).text, head.content.text))
        return false;
    *out = (struct build_result){
        .status = BUILD_OK,
        .mechanism = "",
        .evidence = "",
        .diagnostics = arena_strndup(arena, image + head.image_bytes, head.diagnostics_bytes),
        .image = arena_memdup(arena, image, head.image_bytes),
        .image_bytes = head.image_bytes,
        .code_id = head.code_id,
    };
    return image_check(out->image, out->image_bytes, arena, &why);
}

bool store_find(const struct target *target, struct hash_id key, struct arena *arena,
                struct build_result *out)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct build_result found;
    struct err ignored;
    char *bytes = NULL;
    size_t length = 0;
    if (!target->cache_dir)
        return false;
    const char *path = path_of(target, key, &scratch);
    if (!os_read_file(path, MOST_FILE_BYTES, &scratch, &bytes, &length, &ignored))
        return false;
    if (!unpack(bytes, length, arena, &found)) {
        (void)os_remove_tree(path, &ignored);
        return false;
    }
    (void)utimensat(AT_FDCWD, path, NULL, 0); /* just used */
    *out = found;
    return true;
}

struct stored {
    const char *path;
    int64_t bytes, used_ns;
};

static int by_use(const void *a, const void *b)
{
    const struct stored *x = a, *y = b;
    return (x->used_ns < y->used_ns) - (x->used_ns > y->used_ns);
}

/* Keeps what was used last, within the bounds. */
static void shrink(const char *dir, struct arena *arena)
{
    char **names = NULL;
    size_t count = 0;
    struct err ignored;
    if (!os_list_dir(dir, arena, &names, &count, &ignored))
        return;
    struct stored *files = arena_array(arena, count, sizeof *files);
    for (size_t i = 0; i < count; i++) {
        struct stat status = {0};
        files[i].path = os_path_join(arena, dir, names[i]);
        if (stat(files[i].path, &status) != 0)
            continue;
        files[i].bytes = status.st_size;
        files[i].used_ns = (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
    }
    qsort(files, count, sizeof *files, by_use);
    int64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += files[i].bytes;
        if (i >= MOST_FILES || bytes > MOST_STORE_BYTES)
            (void)os_remove_tree(files[i].path, &ignored);
    }
}

/* A store that cannot be written costs time only. */
void store_keep(const struct target *target, struct hash_id key, const struct build_result *result)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct err ignored;
    if (!target->cache_dir || result->status != BUILD_OK)
        return;
    const size_t diagnostics_bytes = result->diagnostics ? strlen(result->diagnostics) : 0;
    const size_t rest = result->image_bytes + diagnostics_bytes;
    if (rest > MOST_FILE_BYTES - sizeof(struct head))
        return;
    const char *path = path_of(target, key, &scratch);
    const char *dir = os_path_dir(&scratch, path);
    char *bytes = arena_alloc(&scratch, sizeof(struct head) + rest);
    char *image = bytes + sizeof(struct head);
    memcpy(image, result->image, result->image_bytes);
    if (diagnostics_bytes > 0)
        memcpy(image + result->image_bytes, result->diagnostics, diagnostics_bytes);
    struct head head = {.code_id = result->code_id,
                        .content = hash_content(image, rest),
                        .image_bytes = result->image_bytes,
                        .diagnostics_bytes = diagnostics_bytes};
    memcpy(head.magic, magic, sizeof magic);
    memcpy(bytes, &head, sizeof head);
    if (!os_make_dirs(dir, &ignored) ||
        !os_write_file(path, bytes, sizeof head + rest, false, &ignored))
        return;
    if (key.text[0] == '0') /* one file in sixteen: looking at all of them takes a while */
        shrink(dir, &scratch);
}
