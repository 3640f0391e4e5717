/*
 * Safe text for the page: escaping, clipping, and numbers as a reader wants them.
 * Everything that reaches a `struct buf` of the report from outside goes through markup_text.
 * Numbers that are not finite read as an en dash. Pure; threads: any.
 */
#ifndef KOPE_REPORT_MARKUP_H
#define KOPE_REPORT_MARKUP_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

/* Text for element content and for attributes in double quotes. NULL is "". */
void markup_text(struct buf *out, const char *text);
void markup_span(struct buf *out, const char *text, size_t length);

/* At most `characters` characters and an ellipsis where cut; true where it was cut. */
bool markup_clipped(struct buf *out, const char *text, size_t characters);

/* A short text by value: `label_ratio(x).text` lives until the end of the expression. */
struct label {
    char text[48];
};

struct label label_ratio(double log_ratio);           /* "8.42×" */
struct label label_interval(double low, double high); /* of log-ratios: "8.10–8.71" */
struct label label_percent(double share);             /* "34 %" */
struct label label_duration(int64_t ns);              /* "12.3 µs" */
struct label label_count(int64_t count);              /* "12 345", narrow no-break spaces */
struct label label_date(int64_t wall_ms);             /* "2025-11-29 16:48 UTC" */

#endif
