/*
 * The journal: append-only truth of a memory, from which everything else can be rebuilt.
 *
 * A memory is a folder:
 *   MEMORY/journal/<writer>.kj    one segment for each writer (a process that had it open to write)
 *   MEMORY/store/ab/cdef....zst   bodies (sources, prompts, diagnostics) by content id, zstd
 *   MEMORY/graph.sqlite           the index (graph/), rebuilt on demand
 *   MEMORY/targets/               kept fingerprints
 *
 * A record is one line: eight hex digits of the JSON's length, a space, eight hex digits of its
 * CRC-32C, a space, the JSON, '\n'. The JSON holds id (hash of all that follows it), kind, clock
 * (hybrid: wall ms and a counter, so that later events are greater), writer, v (format version) and
 * body; docs/journal-format.md is exact. A torn last record is cut at open by its writer's
 * successor, a corrupt one is named and skipped, never silently. Two memories merge as a set union
 * of their events (journal_merge).
 *
 * An event is acknowledged (journal_append returns true) after it is on disk: one fsync serves all
 * the threads that wait (group commit). Threads: a journal may be shared by threads of a process;
 * several processes may write to one memory (own segments).
 */
#ifndef KOPE_JOURNAL_JOURNAL_H
#define KOPE_JOURNAL_JOURNAL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "json/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JOURNAL_VERSION = 1, JOURNAL_MAX_EVENT_BYTES = 4 * 1024 * 1024 };

struct journal; /* opaque */

/* What was found and mended at open. */
struct journal_recovery {
    int64_t segments, events; /* a copy of an event in a segment read earlier counts again */
    int64_t torn_bytes;       /* cut from the ends of segments */
    int64_t corrupt_events;   /* skipped; the first is described in `first_corrupt` */
    char first_corrupt[256];  /* "segment x.kj, offset 1234: checksum 0x.. is not 0x.." */
};

/* Opens to read and, with `writable`, to append (a fresh segment, made at the first append).
 * Creates the folder where missing. Only a writable open cuts torn ends, and only of segments whose
 * writer is gone; another leaves them and counts them. */
bool journal_open(const char *memory_dir, bool writable, struct journal **out,
                  struct journal_recovery *recovery, struct err *err);
void journal_close(struct journal **journal);

/* Appends one event; `body` is a JSON object as the writer of json.h makes it: text on one line. On
 * true it is on disk. On false it may or may not be found later (the disk failed half-way); trying
 * again appends another event. ERR_LIMIT over JOURNAL_MAX_EVENT_BYTES. `out_id` may be NULL. */
bool journal_append(struct journal *journal, const char *kind, const struct buf *body,
                    struct hash_id *out_id, struct err *err);

struct event {
    struct hash_id id;
    const char *kind; /* "run", "decision", "outcome", ... see event.h; unknown kinds are kept and
                         ignored */
    int64_t wall_ms;
    int64_t counter;
    const char *writer;
    const struct json *body; /* NULL where its checksum is right and yet it is no JSON */
    const char *text;        /* the JSON of the whole event, as stored */
    size_t text_length;
};

/* All events of the memory in clock order (wall_ms, counter, id), duplicates by id once. The
 * callback returns false to stop (its err is passed on). An event lives until the callback returns.
 */
bool journal_scan(struct journal *journal,
                  bool (*each)(void *context, const struct event *event, struct err *err),
                  void *context, struct err *err);

/* How far a reader of a memory has come: the bytes of each segment that it has taken in. */
struct journal_position {
    const char *segment; /* file name */
    int64_t bytes;
};

/* As journal_scan, but only for what lies past `seen`; segments that are as long as seen are not
 * read. `out_reached` (in the arena) is where to go on next time. ERR_CORRUPT where a segment is
 * gone or shorter than seen: then what was built from it must be built again. */
bool journal_scan_since(struct journal *journal, const struct journal_position *seen,
                        size_t seen_count,
                        bool (*each)(void *context, const struct event *event, struct err *err),
                        void *context, struct arena *arena, struct journal_position **out_reached,
                        size_t *out_count, struct err *err);

/* Bytes of all segments. */
int64_t journal_size(struct journal *journal);

/* Reads every record and every stored body that events name; `recovery` tells what is wrong; true
 * even where damaged. `missing_bodies` counts named bodies that are absent or do not match their
 * id. */
bool journal_verify(const char *memory_dir, struct journal_recovery *recovery,
                    int64_t *missing_bodies, struct err *err);

/* What a merge did. */
struct journal_merged {
    int64_t added, known;    /* events of the other that were not here, and that were */
    int64_t pruned;          /* of the other's that are pruned here: left out */
    int64_t hidden;          /* events of this memory that the other's prune events now hide */
    int64_t bodies;          /* added to the store */
    int64_t missing_bodies;  /* named by events of the other, sound neither here nor there */
    int64_t corrupt_events;  /* of the other: skipped */
    int64_t torn_bytes;      /* at the ends of the other's segments: never acknowledged */
    char first_corrupt[256]; /* "segment x.kj, offset 1234: ..." of the other */
    char first_missing[256]; /* why the first of them could not be had */
};

/* Makes the events of this memory the union with those of the memory at `other_dir`, which is only
 * read; bodies come before the events that name them. A body that is missing here is taken from
 * there even where its event is known. What was merged stays merged where the end is not reached
 * (false, or a crash): again, and it goes on. ERR_NOT_FOUND where there is no memory, ERR_USAGE
 * where it is this one. */
bool journal_merge(struct journal *journal, const char *other_dir, struct journal_merged *out,
                   struct err *err);

/* What a compaction did; zeros where there was nothing to do. */
struct journal_compacted {
    int64_t segments_removed, bytes_before, bytes_after; /* of those that were rewritten */
    int64_t bodies_removed, body_bytes;
};

/* Writes the segments of writers that are gone anew as one, without the records of pruned events,
 * and removes the bodies that only those named. A crash at any moment leaves the same events.
 * ERR_BUSY where another process writes to the memory; who reads it meanwhile may be told that a
 * segment is gone, and has to open it again. */
bool journal_compact(struct journal *journal, struct journal_compacted *out, struct err *err);

/* Prunes: appends events of kind "prune" that name every event of which `is_pruned` says so, then
 * compacts. From the first of them on they are not there, for this memory and for all that it is
 * merged with. `out_count` is how many. */
bool journal_prune(struct journal *journal, const char *reason,
                   bool (*is_pruned)(void *context, const struct event *event), void *context,
                   int64_t *out_count, struct journal_compacted *out, struct err *err);

/* Bodies. Writing the same content twice stores it once. Reading checks the id: ERR_CORRUPT where
 * it differs. */
bool journal_store_put(struct journal *journal, const void *data, size_t length,
                       struct hash_id *out_id, struct err *err);
/* Ids of stored bodies that begin with `prefix` (two characters or more), sorted; at most `limit`.
 */
bool journal_store_find(struct journal *journal, const char *prefix, size_t limit,
                        struct arena *arena, const char *const **out, size_t *out_count,
                        struct err *err);
/* Bytes on disk of the body that a field of an event names; 0 where it names none that is there. */
int64_t journal_store_size(struct journal *journal, const char *kind, const struct json *field);
bool journal_store_get(struct journal *journal, const char *id, struct arena *arena, char **out,
                       size_t *out_length, struct err *err);

#endif
