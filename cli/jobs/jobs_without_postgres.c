/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "cli/base/options.h"
#include "cli/jobs/jobs.h"

int jobs_to_postgres(const struct job *jobs, size_t n, const char *table) {
    (void)jobs, (void)n;
    verb_refuse("jobs", "built without libpq, which writes to PostgreSQL: --postgres", table,
                "use --format json");
    return -EIO;
}
