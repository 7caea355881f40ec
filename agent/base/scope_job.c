/* SPDX-License-Identifier: MIT */
/*
 * The control group of a batch job. Slurm gives each step of a job its own group below the job's,
 * on v1 and v2. The agent's step is beside the command's, so the job's group contains both.
 */
#include <string.h>

#include "agent/base/scope.h"

/* The end of "/job_NUMBER" before "/step_" in a line; NULL: there is none. */
static char *end_of_job(char *line, const char *end) {
    for (char *p = line; p < end && (p = strstr(p, "/job_")) && p < end; p++) {
        char *number = p + strlen("/job_");
        size_t n = strspn(number, "0123456789");
        if (n && strncmp(number + n, "/step_", 6) == 0)
            return number + n;
    }
    return NULL;
}

bool scope_cut_steps(char *groups) {
    bool found = false;
    char *to = groups;
    for (char *line = groups; *line;) {
        size_t size = strcspn(line, "\n");
        char *next = line + size, *cut = end_of_job(line, next);
        size_t kept = cut ? (size_t)(cut - line) : size;
        found |= cut != NULL;
        memmove(to, line, kept);
        to += kept;
        if (*next)
            *to++ = *next++;
        line = next;
    }
    *to = '\0';
    return found;
}
