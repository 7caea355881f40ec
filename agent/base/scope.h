/* SPDX-License-Identifier: MIT */
/*
 * The meaning of "this host" for the probes: the machine, or the agent's cgroup and CPU set (an
 * emulated host of the testbed, a container). Probes ask the scope, never the cgroup tree.
 */
#ifndef CHOKEPOINT_AGENT_SCOPE_H
#define CHOKEPOINT_AGENT_SCOPE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/text.h"

/* SCOPE_JOB is only a request: the control group of the batch job if the agent is a step of one
 * that has a part of the machine's cores; else the machine. */
enum scope_kind { SCOPE_HOST, SCOPE_CGROUP, SCOPE_JOB };

#define SCOPE_CPUS_MAX 4096
#define SCOPE_PATH_MAX 512

struct scope {
    enum scope_kind kind;
    /* Directories of the agent's cgroup by controller, "" if there is none. On cgroup v2 they are
     * all the same. */
    char cpu[SCOPE_PATH_MAX]; /* v1: cpuacct, cpu; v2: cpu.stat */
    char memory[SCOPE_PATH_MAX];
    char io[SCOPE_PATH_MAX];       /* v1: blkio */
    char unified[SCOPE_PATH_MAX];  /* v2: PSI of the group; "" without it */
    bool v2_cpu, v2_memory, v2_io; /* file format of these directories */
    /* CPUs that this scope may use, one bit each */
    unsigned char cpus[SCOPE_CPUS_MAX / 8];
    size_t n_cpus;
    /* The hierarchy, and the path in it, that mark a process as inside; path "": all visible
     * processes are. */
    char member_controller[16];
    char member_path[SCOPE_PATH_MAX];
};

/* Fills *ret_scope. proc and sys are the roots. SCOPE_CGROUP reads the agent's group from
 * <proc>/self/cgroup and the mounts from <proc>/self/mountinfo. Negative errno with one line in
 * why. */
int scope_open(enum scope_kind kind, const char *proc, const char *sys, struct scope *ret_scope,
               char *why, size_t why_size);

/* Shortens the paths of a /proc/PID/cgroup to the group of a Slurm job, which contains the step's:
 * ".../job_7/step_0/user" becomes ".../job_7". False: there is no such group. */
bool scope_cut_steps(char *groups);

bool scope_has_cpu(const struct scope *scope, unsigned cpu);

/* Whether a process with this /proc/PID/cgroup is in the scope's group or below it. */
bool scope_has_process(const struct scope *scope, const char *groups, size_t size);

/* The path for a controller ("": v2) in the text of a /proc/PID/cgroup. */
bool scope_group_path(const char *text, size_t size, const char *controller, struct span *ret_path);

/* Splits a line "4:cpu,cpuacct:/some/path" into its controllers ("": v2) and path. */
bool scope_parse_group(struct span line, struct span *ret_controllers, struct span *ret_path);

/* The directory of a group's path in a controller's hierarchy ("": v2), below the given root of
 * /sys. mounts: the text of /proc/self/mountinfo. False: there is none, or it is not mounted here.
 * ret_directory: SCOPE_PATH_MAX bytes. */
bool scope_find_group(struct span mounts, const char *sys, const char *controller, struct span path,
                      char *ret_directory);

#endif
