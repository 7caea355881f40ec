/* SPDX-License-Identifier: MIT */
/* The command line and environment of chokepoint-agent, as one struct. */
#ifndef CHOKEPOINT_AGENT_OPTIONS_H
#define CHOKEPOINT_AGENT_OPTIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/scope.h"
#include "common/job_choice.h"
#include "common/options.h"
#include "common/table.h"
#include "common/wire.h"

struct agent_options {
    const char *collector; /* URL; NULL with --no-push */
    const char *pin;       /* hash of its public key; NULL with --no-push */
    const char *delivered; /* directory of a delivered program, which pushes to a relay
                              (agent/push/stream.h); or NULL */
    const char *library;   /* for the delivered MPI library; not NULL: report it */
    uint64_t library_size; /* size of the library at the end of this program's file; 0: none */
    const char *spool;     /* directory; NULL: a new one */
    const char *ring; /* directory of a ring; NULL: samples go to a collector, or stay in a spool */
    const char *send_ring;    /* directory of a ring to be sent, instead of sampling; NULL: none */
    uint64_t from_ns, to_ns;  /* wall times of what is sent */
    int64_t step_ns;          /* frames within so long become one; 0: none do */
    char ring_path[PATH_MAX]; /* of either, with the host's name in it */
    int64_t ring_span_ns;
    uint64_t ring_limit_bytes;
    bool ring_group_reads;
    const char *proc, *sys;
    char host[INSTANCE_MAX + 1];
    enum scope_kind scope;
    int64_t period_ns, process_period_ns;
    int64_t orphan_after_ns, drain_ns;
    uint64_t spool_limit_bytes, call_spool_limit_bytes;
    int64_t call_drain_ns; /* limit while single MPI calls are recorded */
    uint64_t max_frames;
    int foreign_processes;
    struct job_choice choices[JOB_CHOICES_MAX];
    size_t n_choices;
    int32_t job_parent; /* the process that starts the job on this host; 0: none */
    bool supervise, push, flows, wait_clocks, no_command_lines;
    bool doctor;       /* only checks the host (agent/doctor/doctor.h) */
    const char *peers; /* the other hosts; NULL: none */
    bool token_stdin;
    char token[129]; /* this host's key: CHOKEPOINT_TOKEN, or a line of stdin; "" without */
    char run[129];   /* CHOKEPOINT_RUN; "" without */
    /* CHOKEPOINT_RUN_NAME, _COMMAND, _DATABASE, which `run` sets for the agent beside it; ""
     * without */
    char run_name[INSTANCE_MAX + 1], run_command[WIRE_COMMAND_MAX + 1], run_database[PATH_MAX];
    bool forgets;         /* CHOKEPOINT_FORGET: undelivered samples are useless at the end */
    char marks[PATH_MAX]; /* stem of the directory of marks (agent/mark/ring.h); "" without */
};

/* Replaces %h in the path of a ring by the host's name, in the options themselves. -EINVAL. */
int agent_options_place_ring(struct agent_options *options, char *why, size_t why_size);

#define OPTIONS_SHOW_VERSION 2
#define OPTIONS_SHOW_TABLES 3

/* 0, OPTIONS_HELP after the help was printed, one of the above, or -EINVAL with one line in why.
 * Strings are borrowed from argv and the environment. */
int agent_options_read(int argc, char **argv, struct agent_options *ret_options, char *why,
                       size_t why_size);

/* Takes CHOKEPOINT_TOKEN (or the line of stdin) and CHOKEPOINT_RUN into the options, and wipes them
 * from the environment's memory: nobody can read them in /proc/<pid>/environ, and the agent does
 * not count as a process of the job. A second word of the line is the key of the directory of
 * marks, which is appended to its stem. -EINVAL with why: malformed. */
int agent_options_take_secrets(struct agent_options *options, char *why, size_t why_size);

#endif
