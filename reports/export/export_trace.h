/* SPDX-License-Identifier: MIT */
/*
 * A file of trace events (the JSON form that Perfetto and others open), written event by event:
 * slices, counters, names. Times are ns since the trace's zero, never negative; the file has
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

/* A detail of a slice; text NULL: it is the number. */
struct trace_argument {
    const char *name; /* a plain word of ours */
    int64_t number;
    const char *text;
};

struct trace_slice {
    unsigned pid, tid;
    int64_t start_ns, end_ns;
    const char *category; /* a plain word of ours */
    const char *name;
    const struct trace_argument *arguments;
    size_t n_arguments;
};

void trace_begin(struct trace *trace, FILE *out);

/* tid 0: the process itself. order: its position among its kind. */
void trace_put_name(struct trace *trace, unsigned pid, unsigned tid, const char *name,
                    unsigned order);
void trace_put_slice(struct trace *trace, const struct trace_slice *slice);

/* An arrow between the slices that contain these moments; number: unique among arrows. */
struct trace_end {
    unsigned pid, tid;
    int64_t t_ns;
};
void trace_put_arrow(struct trace *trace, uint64_t number, const char *name,
                     const struct trace_end *from, const struct trace_end *to);

/* A value from start_ns on; the track is called "name unit". */
void trace_put_counter(struct trace *trace, unsigned pid, int64_t start_ns, const char *name,
                       const char *unit, double value);

/* Facts about the whole trace, as texts, come at the end. -EIO. */
int trace_end(struct trace *trace, const struct trace_argument *facts, size_t n);

#endif
