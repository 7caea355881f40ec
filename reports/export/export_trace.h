/* SPDX-License-Identifier: MIT */
/*
 * A file of trace events (the JSON form that Perfetto and others open), written as it
 * comes: slices, counters, names. Times are ns since the trace's zero, never negative; the file has
 * microseconds.
 */
#ifndef CHOKEPOINT_REPORTS_EXPORT_TRACE_H
#define CHOKEPOINT_REPORTS_EXPORT_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct trace {
    FILE *out;
    bool any; /* an event has been written */
};

/* A detail of a slice; text NULL: the number. */
struct trace_argument {
    const char *name; /* ours: a plain word */
    int64_t number;
    const char *text;
};

struct trace_slice {
    unsigned pid, tid;
    int64_t start_ns, end_ns;
    const char *category; /* ours: a plain word */
    const char *name;
    const struct trace_argument *arguments;
    size_t n_arguments;
};

void trace_begin(struct trace *trace, FILE *out);

/* tid 0: the process itself. order: where it stands among its like. */
void trace_put_name(struct trace *trace, unsigned pid, unsigned tid, const char *name,
                    unsigned order);
void trace_put_slice(struct trace *trace, const struct trace_slice *slice);

/* An arrow between the slices that hold these moments; number: no other arrow has it. */
struct trace_end {
    unsigned pid, tid;
    int64_t t_ns;
};
void trace_put_arrow(struct trace *trace, uint64_t number, const char *name,
                     const struct trace_end *from, const struct trace_end *to);

/* From start_ns on; the track is called "name unit". */
void trace_put_counter(struct trace *trace, unsigned pid, int64_t start_ns, const char *name,
                       const char *unit, double value);

/* The facts about the whole, as texts, stand at the end. -EIO. */
int trace_end(struct trace *trace, const struct trace_argument *facts, size_t n);

#endif
