/* SPDX-License-Identifier: MIT */
/*
 * Findings of agents about their hosts (agent/doctor/doctor.h), and findings from comparing hosts.
 * Lines come from other machines: malformed ones are skipped.
 */
#ifndef CHOKEPOINT_CLI_DOCTOR_EXAMINATION_H
#define CHOKEPOINT_CLI_DOCTOR_EXAMINATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXAMINED_FINDINGS_MAX 64 /* name of a host */

struct examined {
    const char *host;   /* borrowed */
    bool complete;      /* the agent has made all its checks */
    bool only_collects; /* not a host of the job */
    char version[32];
    char interface[32];
    int64_t mtu;     /* of the interface to the other hosts; 0: not known */
    int64_t wall_ns; /* its wall clock, read between the next two; 0: not known */
    int64_t asked_wall_ns, heard_wall_ns;            /* times on this machine */
    double start_s;                                  /* until the agent's first line */
    struct finding *findings[EXAMINED_FINDINGS_MAX]; /* owned */
    size_t n_findings;
};

/* Takes a line of the host's agent, without "chokepoint-agent: ". now_wall_ns: when it came. */
void examined_hear(struct examined *host, const char *line, int64_t now_wall_ns);

/* level: ok, note or hinders. */
__attribute__((format(printf, 5, 6))) void examined_add(struct examined *host, const char *level,
                                                        const char *check, const char *mend,
                                                        const char *format, ...);

/* Compares versions, packet sizes and clocks of all hosts with each other and this machine. */
void examined_compare(struct examined *hosts, size_t n, const char *version);

void examined_release(struct examined *host);

#endif
