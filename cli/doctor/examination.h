/* SPDX-License-Identifier: MIT */
/*
 * Findings of agents about their hosts (agent/doctor/doctor.h), and findings from comparing hosts.
 * Lines come from other machines: one that is no finding is skipped.
 */
#ifndef CHOKEPOINT_CLI_DOCTOR_EXAMINATION_H
#define CHOKEPOINT_CLI_DOCTOR_EXAMINATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXAMINED_FINDINGS_MAX 64 /* of a host */

struct examined {
    const char *host;   /* borrowed */
    bool complete;      /* all checks were made */
    bool only_collects; /* no host of the job */
    char version[32];
    char interface[32];
    int64_t mtu;                          /* of that interface, which leads to the others; 0 */
    int64_t wall_ns;                      /* its wall clock, between the next two; 0: not known */
    int64_t asked_wall_ns, heard_wall_ns; /* of this machine */
    double start_s;                       /* until its first line */
    struct finding *findings[EXAMINED_FINDINGS_MAX]; /* owned */
    size_t n_findings;
};

/* A line of the host's agent, without "chokepoint-agent: ". now_wall_ns: when it came. */
void examined_hear(struct examined *host, const char *line, int64_t now_wall_ns);

/* level: ok, note or hinders. */
__attribute__((format(printf, 5, 6))) void examined_add(struct examined *host, const char *level,
                                                        const char *check, const char *mend,
                                                        const char *format, ...);

/* Versions, packet sizes and clocks of all hosts against each other and this machine's. */
void examined_compare(struct examined *hosts, size_t n, const char *version);

void examined_release(struct examined *host);

#endif
