/* SPDX-License-Identifier: MIT */
/*
 * A choice of processes that are the job, in the user's words: "unit=postgresql", "port=5432". The
 * command judges them, an agent finds who is meant on its host
 * (agent/probes/process/process_choose.c).
 */
#ifndef CHOKEPOINT_COMMON_JOB_CHOICE_H
#define CHOKEPOINT_COMMON_JOB_CHOICE_H

#include <stddef.h>
#include <stdint.h>

enum job_choice_kind {
    JOB_UNIT,      /* of systemd */
    JOB_PORT,      /* who listens on it (TCP) */
    JOB_CGROUP,    /* a path in the tree of control groups, and all below it */
    JOB_USER,      /* by name or number */
    JOB_SESSION,   /* the process id of its leader */
    JOB_PID,       /* a process, and what descends from it */
    JOB_CONTAINER, /* the beginning of its id, or its name where the group has that */
    JOB_KINDS_
};

#define JOB_CHOICES_MAX 16
#define JOB_CHOICE_VALUE_MAX 255

struct job_choice {
    enum job_choice_kind kind;
    uint64_t number; /* of ports and processes */
    char value[JOB_CHOICE_VALUE_MAX + 1];
};

/* "KIND=VALUE". -EINVAL, with one line about it in why. */
int job_choice_parse(const char *text, struct job_choice *ret_choice, char *why, size_t why_size);

const char *job_choice_kind_name(enum job_choice_kind kind);

#endif
