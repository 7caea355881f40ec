/* SPDX-License-Identifier: MIT */
/* Findings of `chokepoint doctor`, for programs (chokepoint.doctor/1). */
#ifndef CHOKEPOINT_REPORTS_FINDINGS_H
#define CHOKEPOINT_REPORTS_FINDINGS_H

#include <stdbool.h>
#include <stdio.h>

struct format;

/* Texts are the caller's. */
struct finding {
    const char *host, *level, *check, *text;
    const char *mend; /* one command; NULL: nothing to mend */
};

struct finding_host {
    const char *name, *method; /* "directly", "by ssh" ... */
    bool answered;
    const char *version; /* of its agent; NULL: not known */
    double start_s;      /* NAN: not known */
};

/* In json. -ENOMEM, -EIO. */
int findings_write(const struct finding_host *hosts, size_t n_hosts, const struct finding *findings,
                   size_t n_findings, const struct format *format, FILE *out);

#endif
