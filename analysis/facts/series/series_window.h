/* SPDX-License-Identifier: MIT */
/* A series set that holds the last moments of a run that goes on: rows are added as they come, and
 * old ones are forgotten. Series are sorted by host and instance.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_SERIES_SERIES_WINDOW_H
#define CHOKEPOINT_ANALYSIS_FACTS_SERIES_SERIES_WINDOW_H

#include "analysis/facts/series/series.h"

/* Finds where an instance's series is, or would be inserted; tries `guess` first. */
bool series_set_find(const struct series_set *set, int host, int64_t instance, size_t guess,
                     size_t *ret_at);

/* Like series_set_append_at() for a new series: inserts it and moves those behind it. -ENOMEM. */
int series_set_insert(struct series_set *set, size_t at, int host, int64_t instance,
                      const char *name, int64_t t_ns, int64_t interval_ns, const int64_t *values);

/* Forgets rows of a host (-1: of all) that end by until_ns, and series without rows. */
void series_set_forget(struct series_set *set, int host, int64_t until_ns);

#endif
