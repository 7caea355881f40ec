/* SPDX-License-Identifier: MIT */
/*
 * The last minute of hosts and GPUs, a value a second. It is filled from the seconds that each poll
 * brings; those before a view began come from the judge, which reads the whole run anyway.
 */
#ifndef CHOKEPOINT_REPORTS_LIVE_HISTORY_H
#define CHOKEPOINT_REPORTS_LIVE_HISTORY_H

#include "analysis/facts/recording/metric.h"
#include "reports/live/live.h"

struct rate;
struct recording;

/* One host, or one GPU of a host, by its name. */
struct live_history_entry {
    char *host, *gpu; /* owned; gpu: "" of the host itself */
    int64_t end_s;    /* the newest second is (end_s - 1, end_s]; 0: none yet */
    struct live_values values[LIVE_TRACES]; /* of a GPU only the first */
};

struct live_history {
    struct live_history_entry *items; /* owned; by the order in which they came */
    size_t n, capacity;
    size_t guess; /* the entry that is probably asked for next */
};

void live_history_release(struct live_history *history);
/* The entry of that name, which is made if there is none; -1: no memory. An index, since entries
 * move. */
int live_history_find(struct live_history *history, const char *host, const char *gpu);

/* The seconds that a poll completed: from the first to the last of them; none if end_s < begin_s.
 * Makes room for them. last_ns: time of the newest frame. */
struct live_seconds {
    int64_t begin_s, end_s;
};
struct live_seconds live_history_advance(struct live_history_entry *entry, int64_t last_ns);
/* Sets what a metric tells of these seconds; other metrics are passed over. Idle time must come
 * before the time of waiting for a disk. */
void live_history_take(struct live_history_entry *entry, struct live_seconds seconds,
                       enum metric metric, const struct rate *rate);
/* As live_history_take, of the entry's GPU. -ENOMEM. */
int live_history_take_gpu(struct live_history_entry *entry, struct live_seconds seconds,
                          const struct recording *recording, int host);
/* Where a value is missing, sets what another entry has of the same second. */
void live_history_complete(struct live_history_entry *entry,
                           const struct live_history_entry *other);
/* The last minute of each host and GPU of a recording, until `end_ns`; -ENOMEM. */
int live_history_of(const struct recording *recording, int64_t end_ns,
                    struct live_history *history);

#endif
