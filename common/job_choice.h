/* SPDX-License-Identifier: MIT */
/*
 * The user's choice of processes that are the job: "unit=postgresql", "port=5432". The command
 * checks the form; each agent finds the processes on its host
 * (agent/probes/process/process_choose.c).
 */
#ifndef CHOKEPOINT_COMMON_JOB_CHOICE_H
#define CHOKEPOINT_COMMON_JOB_CHOICE_H

#include <stddef.h>
#include <stdint.h>

enum job_choice_kind {
    JOB_UNIT,      /* systemd unit */
    JOB_PORT,      /* processes that listen on this TCP port */
    JOB_CGROUP,    /* a path in the tree of control groups, with all groups below it */
    JOB_USER,      /* by name or number */
    JOB_SESSION,   /* process id of the session's leader */
    JOB_PID,       /* a process and its descendants */
    JOB_CONTAINER, /* the beginning of its id, or its name if the control group has that */
    JOB_SLURM,     /* a job of Slurm by its number, whose control group has that name */
    JOB_KINDS_
};

#define JOB_CHOICES_MAX 16
#define JOB_CHOICE_VALUE_MAX 255

struct job_choice {
    enum job_choice_kind kind;
    uint64_t number; /* the number of a port, process or job of Slurm */
    char value[JOB_CHOICE_VALUE_MAX + 1];
};

/* Parses "KIND=VALUE". -EINVAL, with one line in `why`. */
int job_choice_parse(const char *text, struct job_choice *ret_choice, char *why, size_t why_size);

#endif
