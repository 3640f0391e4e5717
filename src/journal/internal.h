/*
 * Inside journal/: the system calls behind a table, so that tests can make the n-th of them fail;
 * the form of a record; segments as they are read and written.
 */
#ifndef KOPE_JOURNAL_INTERNAL_H
#define KOPE_JOURNAL_INTERNAL_H

#include "journal/journal.h"
#include "os/os.h"

#include <pthread.h>
#include <sys/types.h>

/* ---- io.c: what changes the disk. Each returns what the call of that name does, and sets errno.
 */
struct journal_io {
    int (*open)(void *context, const char *path, int flags, mode_t mode);
    ssize_t (*write)(void *context, int fd, const void *data, size_t length);
    int (*sync)(void *context, int fd); /* fdatasync; fsync for a folder */
    int (*truncate)(void *context, int fd, off_t length);
    int (*rename)(void *context, const char *from, const char *to);
    int (*unlink)(void *context, const char *path);
    void *context;
};

extern const struct journal_io journal_io_system;

/* The whole of `data`, or false with errno. */
bool io_write_all(const struct journal_io *io, int fd, const void *data, size_t length);
/* The descriptor, of which `fd` lets go. */
int io_take_fd(int *fd);
/* Makes the names in a folder durable; false with errno. */
bool io_sync_dir(const struct journal_io *io, const char *path);

/* ---- record.c: one line. */
enum {
    RECORD_PREFIX_BYTES = 18, /* "llllllll cccccccc " */
    RECORD_NAME_BYTES = 65,   /* kind, writer; with the NUL */
    RECORD_PROBLEM_BYTES = 96,
    RECORD_MAX_LINE_BYTES = RECORD_PREFIX_BYTES + JOURNAL_MAX_EVENT_BYTES
};

struct journal_clock {
    int64_t wall_ms, counter;
};

struct record {
    struct hash_id id;
    char kind[RECORD_NAME_BYTES], writer[RECORD_NAME_BYTES];
    struct journal_clock clock;
    const char *json; /* in the line, not NUL-terminated */
    size_t json_length;
};

int record_compare_clock(struct journal_clock a, struct journal_clock b);
/* Within what a record may have. */
bool record_is_clock(struct journal_clock clock);
/* Lower-case letters, digits and '-', 1 to 64 of them: what a kind or a writer may be called. */
bool record_is_name(const char *text, size_t length);

/* The whole line with its newline, appended to `line`; false where it is over the cap. */
bool record_write(const char *kind, struct journal_clock clock, const char *writer,
                  const struct buf *body, struct buf *line, struct hash_id *out_id);

/* A record as it was read from elsewhere, as a line; false where it is over the cap. */
bool record_write_again(const char *json, size_t length, struct buf *line);

/* Reads a line (without its newline): checksum, form and id. `problem` is filled on false. */
bool record_read(const char *line, size_t length, struct record *out,
                 char problem[RECORD_PROBLEM_BYTES]);

/* Where in a damaged line a second, whole record may begin (its newline was lost); 0 where none. */
size_t record_resync(const char *line, size_t length);

/* ---- segment.c: reading. */
enum line_state {
    LINE_END,
    LINE_WHOLE,
    LINE_TOO_LONG, /* a newline came, but later than a record may have it */
    LINE_TORN,     /* the file ends before a newline */
    LINE_FAILED    /* errno says why */
};

struct segment_line {
    const char *text; /* until the next call; without the newline */
    size_t length;    /* bytes up to the newline, all of them for LINE_TOO_LONG */
    int64_t offset;
};

struct segment_reader {
    bool is_open;
    int fd;
    char *data;
    size_t start, end, capacity;
    int64_t offset; /* in the file, of data[start] */
};

/* A regular file, not through a link; ERR_NOT_FOUND, ERR_IO. */
bool segment_reader_open(struct segment_reader *reader, const char *path, int64_t offset,
                         struct err *err);
enum line_state segment_reader_next(struct segment_reader *reader, struct segment_line *out);
void segment_reader_close(struct segment_reader *reader);

/* Names of the segments in a journal folder, sorted. */
bool segment_list(const char *journal_dir, struct arena *arena, char ***out, size_t *out_count,
                  struct err *err);

/* ---- index.c: where the events are. */
struct index_entry {
    struct journal_clock clock;
    struct hash_id id;
    bool is_prune;    /* an event of kind "prune" */
    uint32_t segment; /* into index.segments */
    uint32_t length;  /* of the line, without its newline */
    int64_t offset;
};

struct index_segment {
    const char *name, *path;
    int64_t seen;    /* where to begin */
    int64_t bytes;   /* end of the last whole line */
    int64_t torn;    /* bytes after it */
    int64_t corrupt; /* records */
};

struct index {
    struct arena arena; /* of names and paths */
    struct index_segment *segments;
    size_t segment_count;
    struct index_entry *entries; /* those that are there; then `hidden` that were pruned */
    size_t count, hidden, capacity;
    struct hash_id *pruned; /* all ids that prune events name, sorted */
    size_t pruned_count;
    int64_t corrupt;
    char first_corrupt[sizeof(((struct journal_recovery *)NULL)->first_corrupt)];
};

/* Reads all segments past `seen`; entries sorted by clock and id, each id once, without those that
 * a prune event among them names. */
bool index_read(const char *journal_dir, const struct journal_position *seen, size_t seen_count,
                struct index *out, struct err *err);
void index_free(struct index *index);
/* ---- tombstones.c */
bool index_drop_pruned(struct index *index, struct err *err);
bool index_is_pruned(const struct index *index, const struct hash_id *id);

/* What was found; `torn_bytes` of all segments. */
void index_summarize(const struct index *index, struct journal_recovery *out);
int index_compare(const struct index_entry *a, const struct index_entry *b);
/* ---- scan.c: all events of an index in its order, as journal_scan gives them. */
bool index_deliver(const struct index *index,
                   bool (*each)(void *context, const struct event *event, struct err *err),
                   void *context, struct err *err);
/* What was read is in the past of what is appended next. */
void journal_follow_clock(struct journal *journal, const struct index *index);

/* ---- checkpoint.c: what need not be read again at opening. */
struct checkpoint_segment {
    const char *name;
    int64_t bytes, inode, changed_ns, events;
    struct journal_clock last;
};
struct checkpoint {
    struct checkpoint_segment *segments; /* that fit what is there, sorted by name */
    size_t count;
};
void checkpoint_read(const char *journal_dir, struct arena *arena, struct checkpoint *out);
const struct checkpoint_segment *checkpoint_find(const struct checkpoint *checkpoint,
                                                 const char *name);
/* After `index` was read past `before`; nothing where it is not worth it. Failures do not matter.
 */
void checkpoint_write(const char *journal_dir, const struct index *index,
                      const struct checkpoint *before);

/* ---- append.c, journal.c */

/* Records that are written and synced together, for all who have put one in. */
struct batch {
    struct buf lines;
    _Atomic size_t users; /* threads that have yet to read what came of it */
    int failed;           /* errno; 0: all of it is durable. Set before `done` */
    bool is_unsynced;     /* it was the sync that failed */
    struct os_flag done;
};

/* A segment that this process writes. Freed when retired and no batch of it is on its way. */
struct segment {
    int fd;
    char writer[RECORD_NAME_BYTES];
    int64_t bytes;      /* of whole records written */
    struct batch *open; /* takes records; NULL: the next append begins one */
    bool is_committing; /* a batch before that is being written */
    int failed;         /* errno of what retired it; 0 */
    bool retired;       /* takes no more records */
    size_t users;       /* threads that write batches of it or wait to */
};

struct journal {
    const struct journal_io *io;
    struct arena arena; /* of the paths */
    const char *memory_dir, *journal_dir, *store_dir;
    bool is_writable;
    pthread_mutex_t lock;     /* guards all below */
    pthread_cond_t committed; /* a batch is written: the next may be, and there is room again */
    struct journal_clock clock;
    struct segment *segment; /* NULL until the first append */
    int64_t sync_count;      /* syncs of segments, for tests of group commit */
};

bool journal_open_with_io(const char *memory_dir, bool writable, const struct journal_io *io,
                          struct journal **out, struct journal_recovery *recovery, struct err *err);
/* The segment takes no more records; it is closed and freed by the release after its last user's.
 */
void segment_retire(struct journal *journal, struct segment *segment);
void segment_release(struct segment *segment);
/* Records of another segment, with one sync for all; as journal_append otherwise. */
bool journal_append_lines(struct journal *journal, const struct buf *lines, struct err *err);

/* ---- store.c */
enum { STORE_MAX_BODY_BYTES = 64 * 1024 * 1024 };
bool store_get(const char *store_dir, const char *id, struct arena *arena, char **out,
               size_t *out_length, struct err *err);
/* Removes its file: its size, or -1 where there is none. */
int64_t store_remove(const struct journal *journal, const char *id);
/* Is there a file for it, sound or not? */
bool store_has_file(const char *store_dir, const char *id);
/* The id where a field of an event names a stored body, else NULL. By convention such a field's
 * name ends with "_body"; an exchange's is called "body". */
const char *store_named(const char *kind, const struct json *field);

#endif
