/* SPDX-License-Identifier: MIT */
/*
 * Calls and marks that the recording lacks. Ranks count the calls that they write, and the agent
 * the marks that were overwritten before it read them, so no loss goes unnoticed.
 */
#include "analysis/facts/recording/recording.h"

#include <string.h>

static uint64_t growth(const struct series_set *set, int host, const char *name, size_t column) {
    struct window ever = {INT64_MIN / 2, INT64_MAX / 2};
    double sum = 0;
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host && (!name || strcmp(set->items[s].name, name) == 0))
            sum += series_growth(set, &set->items[s], column, (struct windows){&ever, 1}, NULL);
    return sum > 0 ? (uint64_t)(sum + 0.5) : 0;
}

uint64_t recording_calls_missing(const struct recording *recording, int host) {
    const struct mpi_log *log = &recording->calls;
    uint64_t written = growth(&recording->tables[RECORDING_MPI], host, NULL, MPI_EVENTS);
    uint64_t read = log->refused;
    for (size_t r = 0; r < log->n; r++)
        read += log->ranks[r].host == host ? log->ranks[r].n : 0;
    return log->n && written > read ? written - read : 0;
}

uint64_t recording_marks_missing(const struct recording *recording, int host) {
    return growth(&recording->tables[RECORDING_SELF], host, all_tables[TABLE_MARK].name,
                  SELF_DROPPED);
}
