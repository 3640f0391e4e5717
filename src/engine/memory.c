#include "engine/internal.h"
#include "engine/replay.h"

#include "os/file.h"
#include "os/os.h"

char *memory_default_dir(struct arena *arena)
{
    const char *dir = os_env("KOPE_MEMORY");
    if (dir)
        return arena_strdup(arena, dir);
    const char *data = os_env("XDG_DATA_HOME");
    if (data)
        return os_path_join(arena, data, "kope");
    const char *home = os_env("HOME");
    return arena_printf(arena, "%s/.local/share/kope", home ? home : ".");
}

bool memory_open(const char *dir, bool writable, struct arena *arena, struct memory *out,
                 struct err *err)
{
    struct memory memory = {.dir = dir ? arena_strdup(arena, dir) : memory_default_dir(arena)};
    if (!writable && !os_path_is_dir(memory.dir)) {
        (void)err_set(err, ERR_NOT_FOUND, "there is no memory at '%s'", memory.dir);
        return err_hint(err, "name another with --memory, or make one with 'kope optimize TASK'");
    }
    if (!journal_open(memory.dir, writable, &memory.journal, &memory.recovery, err))
        return err_within(err, "opening memory '%s'", memory.dir);
    int64_t applied = 0;
    if (!graph_open(os_path_join(arena, memory.dir, "graph.sqlite"), &memory.graph, err) ||
        !graph_catch_up(memory.graph, memory.journal, &applied, err)) {
        memory_close(&memory);
        return err_within(err, "opening memory '%s'", memory.dir);
    }
    *out = memory;
    return true;
}

void memory_close(struct memory *memory)
{
    graph_close(&memory->graph);
    journal_close(&memory->journal);
}

bool memory_append(struct memory *memory, const char *kind, struct buf *body,
                   struct hash_id *out_id, struct err *err)
{
    int64_t applied = 0;
    if (memory->replay) {
        const bool same = replay_append(memory->replay, memory, kind, body, out_id, err);
        buf_clear(body);
        return same;
    }
    const bool ok = journal_append(memory->journal, kind, body, out_id, err) &&
                    graph_catch_up(memory->graph, memory->journal, &applied, err);
    buf_clear(body);
    return ok;
}

bool memory_put_text(struct memory *memory, const char *text, struct arena *arena,
                     const char **out_id, struct err *err)
{
    struct hash_id id;
    if (text[0] == '\0') {
        *out_id = "";
        return true;
    }
    if (memory->replay) {
        memory->last_text = text;
        *out_id = arena_strdup(arena, hash_content(text, strlen(text)).text);
        return true;
    }
    if (!journal_store_put(memory->journal, text, strlen(text), &id, err))
        return false;
    *out_id = arena_strdup(arena, id.text);
    return true;
}

bool memory_get_text(struct memory *memory, const char *id, struct arena *arena, const char **out,
                     struct err *err)
{
    char *text = NULL;
    if (id[0] == '\0') {
        *out = "";
        return true;
    }
    if (!journal_store_get(memory->journal, id, arena, &text, NULL, err))
        return false;
    *out = text;
    return true;
}
