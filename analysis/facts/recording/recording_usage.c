/* SPDX-License-Identifier: MIT */
/*
 * What the rows of processes lack of what the kernel charged to the command and all it waited for:
 * what each did between its last row and its end, and whole processes that none saw.
 */
#include <errno.h>
#include <string.h>

#include "analysis/facts/recording/recording.h"
#include "common/clock.h"
#include "common/error.h"

static double known(int64_t value) {
    return value > 0 && time_is_sane(value) ? (double)value : 0;
}

struct told {
    double cpu_ns, read_bytes, write_bytes;
};

static struct told told_by_rows(const struct series_set *set, int host) {
    struct told told = {0};
    for (size_t s = 0; s < set->n; s++) {
        const struct series *one = &set->items[s];
        if (one->host != host || !series_ever(set, one, PROCESS_JOB, 1))
            continue;
        for (size_t row = 0; row < one->n; row++) {
            told.cpu_ns += known(series_value(set, one, row, PROCESS_USER)) +
                           known(series_value(set, one, row, PROCESS_SYSTEM)) +
                           known(series_value(set, one, row, PROCESS_UNSEEN));
            told.read_bytes += known(series_value(set, one, row, PROCESS_READ));
            told.write_bytes += known(series_value(set, one, row, PROCESS_WRITE));
        }
    }
    return told;
}

static int64_t rest(int64_t all, double told) {
    double left = known(all) - told;
    return left > 0 ? (int64_t)left : 0;
}

/* The last stretch that a row of processes might not have seen, or the whole run where more is
 * missing than the host's cores can do in that. */
static int64_t stretch_of(const struct recording *recording, int host, int64_t cpu_ns) {
    const struct series_set *cpus = &recording->tables[RECORDING_CPU];
    int64_t cores = 0;
    for (size_t s = 0; s < cpus->n; s++)
        cores += cpus->items[s].host == host;
    bool fits = recording->duration_ns > NS_PER_S && cpu_ns <= (cores > 0 ? cores : 1) * NS_PER_S;
    return fits ? NS_PER_S : recording->duration_ns;
}

int recording_add_usage(struct recording *recording, int host,
                        const struct recording_usage *usage) {
    struct series_set *set = &recording->tables[RECORDING_PROCESS];
    struct told told = told_by_rows(set, host);
    int64_t values[RECORDING_COLUMNS_MAX];
    for (size_t c = 0; c < ARRAY_SIZE(values); c++)
        values[c] = VALUE_ABSENT;
    values[PROCESS_JOB] = 1;
    values[PROCESS_USER] = values[PROCESS_SYSTEM] = 0;
    values[PROCESS_UNSEEN] = rest(usage->cpu_ns, told.cpu_ns);
    values[PROCESS_READ] = rest(usage->read_bytes, told.read_bytes);
    values[PROCESS_WRITE] = rest(usage->write_bytes, told.write_bytes);
    if (recording->duration_ns <= 0)
        return 0;
    return series_set_append(set, host, RECORDING_ENDED_INSTANCE, RECORDING_ENDED,
                             recording->duration_ns,
                             stretch_of(recording, host, values[PROCESS_UNSEEN]), values);
}
