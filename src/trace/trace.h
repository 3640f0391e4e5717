/*
 * Traces: spans as OpenTelemetry has them, in OTLP's JSON form, to a file (one export request a
 * line) or to a collector over HTTP.
 *
 * Every function takes NULL for a trace or a span and then does nothing, so that callers need not
 * ask whether anybody wants a trace. A trace never ends what it watches: what could not be written
 * is a problem that is told at the end. Values are capped; no value is looked at, so callers leave
 * out what is secret, and content unless trace_wants_content. Memory: spans belong to the trace,
 * and live until trace_flush after their end. Threads: a trace belongs to one thread.
 */
#ifndef KOPE_TRACE_TRACE_H
#define KOPE_TRACE_TRACE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace;      /* opaque */
struct trace_span; /* opaque */

struct trace_opts {
    const char *destination; /* "http://..." or "https://...": a collector's address for traces,
                                else a file, which is written anew */
    bool with_content;       /* what trace_wants_content says */
    const char *service, *version;
};

/* ERR_IO where the file cannot be written, ERR_BAD_INPUT where the address is none. A collector is
 * not asked yet. */
bool trace_open(const struct trace_opts *opts, struct trace **out, struct err *err);
/* Writes what has ended; what has not is lost. */
void trace_close(struct trace **trace);

bool trace_wants_content(const struct trace *trace);

/* As in OTLP. */
enum trace_kind { TRACE_INTERNAL = 1, TRACE_CLIENT = 3 };

/* `parent` NULL: the root. `start_ns` on os_wall_ns's clock; 0: now. */
struct trace_span *trace_begin(struct trace *trace, struct trace_span *parent, enum trace_kind kind,
                               const char *name, int64_t start_ns);
/* `end_ns` as start_ns. */
void trace_end(struct trace_span *span, int64_t end_ns);

/* Attributes; a NULL text sets none. Names are constants. */
void trace_text(struct trace_span *span, const char *name, const char *value);
void trace_texts(struct trace_span *span, const char *name, const char *const *values,
                 size_t count);
void trace_int(struct trace_span *span, const char *name, int64_t value);
void trace_real(struct trace_span *span, const char *name, double value);
void trace_bool(struct trace_span *span, const char *name, bool value);
/* The span failed, and sets error.type. */
void trace_fail(struct trace_span *span, const char *error_type);

/* Writes the spans that have ended since the last time. */
void trace_flush(struct trace *trace);

/* What went wrong first; NULL. Lives as long as the trace. */
const char *trace_problem(const struct trace *trace);

#endif
