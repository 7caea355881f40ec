/* SPDX-License-Identifier: MIT */
/* A series set that is kept to the last moments of a run that goes on: rows are added as they come,
 * and old ones are forgotten. Series are sorted by host and instance. */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_SERIES_SERIES_WINDOW_H
#define CHOKEPOINT_ANALYSIS_FACTS_SERIES_SERIES_WINDOW_H

#include "analysis/facts/series/series.h"

/* Where the series of an instance is, or would be; the one at `guess` is tried first. */
bool series_set_find(const struct series_set *set, int host, int64_t instance, size_t guess,
                     size_t *ret_at);

/* As series_set_append_at for a series that is not there yet: puts it there, those behind it move.
 * -ENOMEM. */
int series_set_insert(struct series_set *set, size_t at, int host, int64_t instance,
                      const char *name, int64_t t_ns, int64_t interval_ns, const int64_t *values);

/* Forgets rows of a host (-1: of all) that end until then, and series without any. */
void series_set_forget(struct series_set *set, int host, int64_t until_ns);

#endif
