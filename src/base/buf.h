/*
 * Byte buffers with a cap: for text that is built, and for everything whose size comes from outside
 * (a model's reply, compiler output, a file).
 *
 * A zeroed struct is an empty buffer with the default cap (BUF_DEFAULT_LIMIT_BYTES); set `.limit`
 * for another. `data` is always NUL-terminated when not NULL. Past the cap an append stores what
 * fits, returns false and sets `truncated`, which stays set; nothing ever aborts because of outside
 * input. Ownership: the buffer owns `data`; `CLEANUP(buf_free)`. Threads: one buffer, one thread.
 */
#ifndef KOPE_BASE_BUF_H
#define KOPE_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

enum { BUF_DEFAULT_LIMIT_BYTES = 64 * 1024 * 1024 };

struct buf {
    char *data;
    size_t length;   /* bytes in use, without the NUL */
    size_t capacity; /* bytes allocated */
    size_t limit;    /* most bytes that may be held; 0 is the default */
    bool truncated;  /* something did not fit */
};

bool buf_append(struct buf *buf, const void *data, size_t length);
bool buf_append_str(struct buf *buf, const char *text);
bool buf_append_char(struct buf *buf, char c);
bool buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The text, "" where nothing was appended; valid until the next append. */
const char *buf_text(const struct buf *buf);

/* Empties the buffer, keeps its memory. */
void buf_clear(struct buf *buf);
void buf_free(struct buf *buf);

#endif
