/* SPDX-License-Identifier: MIT */
/*
 * The meaning of "this host" for the probes: the machine, or the cgroup and CPU set the agent lives
 * in (an emulated host of the testbed, a container). Probes ask the scope, never the cgroup tree.
 */
#ifndef CHOKEPOINT_AGENT_SCOPE_H
#define CHOKEPOINT_AGENT_SCOPE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/text.h"

/* SCOPE_JOB is asked for only: the control group of the batch job that the agent is a step of where
 * that has a part of the machine's cores, else the machine. */
enum scope_kind { SCOPE_HOST, SCOPE_CGROUP, SCOPE_JOB };

#define SCOPE_CPUS_MAX 4096
#define SCOPE_PATH_MAX 512

struct scope {
    enum scope_kind kind;
    /* Directories of the agent's cgroup per controller, "" where there is none. On cgroup v2 all
     * are the same directory. */
    char cpu[SCOPE_PATH_MAX]; /* v1: cpuacct, cpu; v2: cpu.stat */
    char memory[SCOPE_PATH_MAX];
    char io[SCOPE_PATH_MAX];       /* v1: blkio */
    char unified[SCOPE_PATH_MAX];  /* the v2 directory: PSI of the group, "" without */
    bool v2_cpu, v2_memory, v2_io; /* which file format those directories speak */
    /* CPUs this scope may run on, one bit each. */
    unsigned char cpus[SCOPE_CPUS_MAX / 8];
    size_t n_cpus;
    /* The hierarchy and the path in it by which a process is known to be inside; path "" when
     * every process that can be seen is. */
    char member_controller[16];
    char member_path[SCOPE_PATH_MAX];
};

/* Fills *ret_scope. proc and sys are the roots. For SCOPE_CGROUP the agent's own group is read from
 * <proc>/self/cgroup and the mounts from <proc>/self/mountinfo. Negative errno with one line in
 * why. */
int scope_open(enum scope_kind kind, const char *proc, const char *sys, struct scope *ret_scope,
               char *why, size_t why_size);

/* Cuts the paths of a /proc/PID/cgroup down to the group of a Slurm job, which a step lies in:
 * ".../job_7/step_0/user" becomes ".../job_7". Whether there was one. */
bool scope_cut_steps(char *groups);

bool scope_has_cpu(const struct scope *scope, unsigned cpu);

/* Whether the process whose /proc/PID/cgroup is `groups` is in the scope's group or below it. */
bool scope_has_process(const struct scope *scope, const char *groups, size_t size);

/* The path of the line of that controller ("": the v2 line) in the text of a /proc/PID/cgroup. */
bool scope_group_path(const char *text, size_t size, const char *controller, struct span *ret_path);

/* A line "4:cpu,cpuacct:/some/path" into its controllers ("": the v2 line) and path. */
bool scope_parse_group(struct span line, struct span *ret_controllers, struct span *ret_path);

/* The directory of the group of that path in a controller's hierarchy ("": v2), below the given
 * root of /sys. mounts: the text of /proc/self/mountinfo. False: there is none, or not in what is
 * mounted here. ret_directory: SCOPE_PATH_MAX bytes. */
bool scope_find_group(struct span mounts, const char *sys, const char *controller, struct span path,
                      char *ret_directory);

#endif
