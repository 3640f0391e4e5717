/*
 * The store: bodies by content id in MEMORY/store/ab/cdef....zst. A file is written beside its
 * place, synced and renamed, so that a name always stands for whole content; the folder is synced
 * before the id is given out, so that an event may name it.
 */
#include "journal/internal.h"

#include "base/str.h"
#include "os/file.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

enum { COMPRESSION_LEVEL = 3, ID_FOLDER_CHARS = 2, CHUNK_BYTES = 64 * 1024 };

const char *store_named(const char *kind, const struct json *field)
{
    const bool is_exchange = str_equal(kind, "exchange") && str_equal(field->key, "body");
    const char *id = json_string(field, "");
    return id[0] != '\0' && (is_exchange || str_ends_with(field->key, "_body")) ? id : NULL;
}

static bool is_id(const char *id)
{
    return strlen(id) == HASH_ID_CHARS && strspn(id, "0123456789abcdef") == HASH_ID_CHARS;
}

static char *body_folder(const char *store_dir, const char *id, struct arena *arena)
{
    return arena_printf(arena, "%s/%.2s", store_dir, id);
}

static char *body_path(const char *store_dir, const char *id, struct arena *arena)
{
    return arena_printf(arena, "%s/%.2s/%s.zst", store_dir, id, id + ID_FOLDER_CHARS);
}

static void free_stream(ZSTD_DStream **stream)
{
    (void)ZSTD_freeDStream(*stream);
}

/* False where it is no zstd frame or larger than the cap of `out`. */
static bool decompress(const char *data, size_t length, struct buf *out)
{
    CLEANUP(free_stream) ZSTD_DStream *stream = ZSTD_createDStream();
    if (!stream)
        BUG("journal: out of memory");
    char chunk[CHUNK_BYTES];
    ZSTD_inBuffer in = {.src = data, .size = length};
    size_t left = 1;
    while (left != 0) {
        ZSTD_outBuffer room = {.dst = chunk, .size = sizeof chunk};
        const size_t before = in.pos;
        left = ZSTD_decompressStream(stream, &room, &in);
        if (ZSTD_isError(left) || !buf_append(out, chunk, room.pos))
            return false;
        if (left != 0 && in.pos == before && room.pos == 0)
            return false; /* it ends within a frame */
    }
    return in.pos == length;
}

bool store_get(const char *store_dir, const char *id, struct arena *arena, char **out,
               size_t *out_length, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    if (!is_id(id))
        return err_set(err, ERR_BAD_INPUT, "'%.64s' is no content id", id);
    char *packed = NULL;
    size_t packed_length = 0;
    if (!os_read_file(body_path(store_dir, id, &scratch), STORE_MAX_BODY_BYTES, &scratch, &packed,
                      &packed_length, err))
        return err_within(err, "body '%s'", id);
    CLEANUP(buf_free) struct buf body = {.limit = STORE_MAX_BODY_BYTES};
    if (!decompress(packed, packed_length, &body) ||
        strcmp(hash_content(buf_text(&body), body.length).text, id) != 0) {
        (void)err_set(err, ERR_CORRUPT, "the stored body '%s' is damaged", id);
        return err_hint(err,
                        "remove '%s' and run 'kope memory merge' with another memory that has it",
                        body_path(store_dir, id, &scratch));
    }
    *out = arena_strndup(arena, buf_text(&body), body.length);
    if (out_length)
        *out_length = body.length;
    return true;
}

static bool write_body(const struct journal *journal, const char *folder, const char *path,
                       const void *packed, size_t length, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    const struct journal_io *io = journal->io;
    const char *temporary =
        arena_printf(&scratch, "%s/%016" PRIx64 ".tmp", folder, os_random_u64());
    CLEANUP(os_close)
    int fd = io->open(io->context, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                      0644);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot create a file in '%s'", folder);
    if (io_write_all(io, fd, packed, length) && io->sync(io->context, fd) == 0 &&
        io->rename(io->context, temporary, path) == 0)
        return true;
    (void)err_set_errno(err, errno, "cannot write '%s'", path);
    (void)io->unlink(io->context, temporary);
    return false;
}

static bool has_body(const char *store_dir, const char *id)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct err ignored;
    char *text = NULL;
    return store_get(store_dir, id, &scratch, &text, NULL, &ignored);
}

int64_t store_remove(const struct journal *journal, const char *id)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    const char *path = is_id(id) ? body_path(journal->store_dir, id, &scratch) : "";
    const int64_t bytes = is_id(id) ? os_file_size(path) : -1;
    return bytes >= 0 && journal->io->unlink(journal->io->context, path) == 0 ? bytes : -1;
}

bool store_has_file(const char *store_dir, const char *id)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    return is_id(id) && os_path_exists(body_path(store_dir, id, &scratch));
}

static bool make_folder(const struct journal *journal, const char *folder, struct err *err)
{
    if (os_path_is_dir(folder))
        return true;
    if (!os_make_dirs(folder, err))
        return false;
    return io_sync_dir(journal->io, journal->store_dir) ||
           err_set_errno(err, errno, "cannot sync '%s'", journal->store_dir);
}

static bool put_packed(const struct journal *journal, const char *id, const void *data,
                       size_t length, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    const size_t bound = ZSTD_compressBound(length);
    void *packed = arena_alloc(&scratch, bound);
    const size_t size = ZSTD_compress(packed, bound, data, length, COMPRESSION_LEVEL);
    if (ZSTD_isError(size))
        BUG("zstd: %s", ZSTD_getErrorName(size));
    return write_body(journal, body_folder(journal->store_dir, id, &scratch),
                      body_path(journal->store_dir, id, &scratch), packed, size, err);
}

bool journal_store_put(struct journal *journal, const void *data, size_t length,
                       struct hash_id *out_id, struct err *err)
{
    if (!journal->is_writable)
        return err_set(err, ERR_UNSUPPORTED, "the memory '%s' is open to read only",
                       journal->memory_dir);
    if (length > STORE_MAX_BODY_BYTES)
        return err_set(err, ERR_LIMIT, "a body of %zu bytes is larger than %d", length,
                       STORE_MAX_BODY_BYTES);
    CLEANUP(arena_free) struct arena scratch = {0};
    const struct hash_id id = hash_content(data, length);
    const char *folder = body_folder(journal->store_dir, id.text, &scratch);
    if (!make_folder(journal, folder, err))
        return false;
    /* A damaged body is written anew; a sound one may still wait for its folder to be synced. */
    if (!has_body(journal->store_dir, id.text) && !put_packed(journal, id.text, data, length, err))
        return false;
    if (!io_sync_dir(journal->io, folder))
        return err_set_errno(err, errno, "cannot sync '%s'", folder);
    *out_id = id;
    return true;
}

bool journal_store_get(struct journal *journal, const char *id, struct arena *arena, char **out,
                       size_t *out_length, struct err *err)
{
    return store_get(journal->store_dir, id, arena, out, out_length, err);
}

bool journal_store_find(struct journal *journal, const char *prefix, size_t limit,
                        struct arena *arena, const char *const **out, size_t *out_count,
                        struct err *err)
{
    char **names = NULL;
    size_t count = 0;
    size_t kept = 0;
    *out_count = 0;
    if (strlen(prefix) < ID_FOLDER_CHARS || strspn(prefix, "0123456789abcdef") != strlen(prefix))
        return true;
    const char *folder = body_folder(journal->store_dir, prefix, arena);
    if (!os_path_is_dir(folder))
        return true;
    if (!os_list_dir(folder, arena, &names, &count, err))
        return false;
    const char **ids = arena_array(arena, count, sizeof *ids);
    for (size_t i = 0; i < count && kept < limit; i++) {
        const char *id = arena_printf(arena, "%.2s%.*s", prefix,
                                      (int)(HASH_ID_CHARS - ID_FOLDER_CHARS), names[i]);
        if (is_id(id) && str_ends_with(names[i], ".zst") && str_starts_with(id, prefix))
            ids[kept++] = id;
    }
    *out = ids;
    *out_count = kept;
    return true;
}

int64_t journal_store_size(struct journal *journal, const char *kind, const struct json *field)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    const char *id = store_named(kind, field);
    const int64_t bytes =
        id && is_id(id) ? os_file_size(body_path(journal->store_dir, id, &scratch)) : 0;
    return bytes > 0 ? bytes : 0;
}
