/* SPDX-License-Identifier: MIT */
/* Shared by the files of the Perfetto export. */
#ifndef CHOKEPOINT_REPORTS_EXPORT_PERFETTO_H
#define CHOKEPOINT_REPORTS_EXPORT_PERFETTO_H

#include "reports/export/export_trace.h"
#include "reports/export/export_tracks.h"
#include "reports/model/input.h"

/* Hosts are processes of the trace, numbered from 1; ranks are threads. */
struct perfetto {
    struct store *store;
    const struct report_input *input;
    struct trace trace;
    struct strands strands;
    size_t tracks_left_out; /* numbers of counters */
    size_t marks_left_out;
    size_t values_joined; /* marked values merged into a mean */
    size_t arrows_left_out;
};

static inline unsigned perfetto_pid(int host) {
    return (unsigned)host + 1;
}

/* The shortest step of a counter: a second, or a fiftieth of a run shorter than 50 s. */
int64_t perfetto_step_ns(const struct perfetto *p);

/* Calls shorter than this are merged if there are too many. 0: none are. */
int64_t perfetto_short_ns(const struct perfetto *p);

/* Iterations and operators shorter than this are left out if there are too many. 0: none are. */
int64_t perfetto_short_mark_ns(const struct perfetto *p);

/* Whether a mark may be left out; phases are few and stay. */
static inline bool perfetto_mark_may_go(const struct mark *mark) {
    return (mark->kind == MARK_ITERATION || mark->kind == MARK_OPERATOR) &&
           mark->duration_ns != VALUE_ABSENT;
}

/* The most of a kind that the run may have, at `a_minute` per minute; a short run counts as a
 * minute.
 */
size_t perfetto_share(const struct perfetto *p, size_t a_minute);

/* Writes a slice on a track of its strand, cut at the command's start. Fills in slice.pid and
 * slice.tid. -ENOMEM.
 */
int perfetto_put_slice(struct perfetto *p, int host, int64_t pid, int64_t thread, int rank,
                       struct trace_slice slice);

#define PERFETTO_NAME_SIZE 160

/* "rank 3 chokepoint-sgd[1234]", or its known parts. */
void perfetto_process_name(const struct perfetto *p, int host, int64_t pid, int rank,
                           char name[PERFETTO_NAME_SIZE]);

/* Phases, iterations and operators; marked values. -ENOMEM. */
int perfetto_put_marks(struct perfetto *p);

/* MPI calls, if the recording has them: negative errno of the store. */
int perfetto_put_calls(struct perfetto *p);

/* Arrows from sends to the receives that took their messages: only messages whose two calls are
 * known, at most a few thousand a minute, those with the longest waits. Called after
 * perfetto_put_calls(). -ENOMEM.
 */
int perfetto_put_arrows(struct perfetto *p);

/* Resources of each host and the job's processes as counters. -ENOMEM. */
int perfetto_put_counters(struct perfetto *p);

/* Every other table of samples as counters: negative errno of the store. */
int perfetto_put_tables(struct perfetto *p);

#endif
