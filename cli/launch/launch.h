/* SPDX-License-Identifier: MIT */
/*
 * Starts and keeps the agent of one host by a launcher process of its own (the agent itself, one
 * mpirun, one ssh, one srun), so that a host that does not answer, or dies, takes no other host's
 * agent with it. An idle mpirun never wakes up and costs 14 MB. Where mpirun or srun reaches
 * several hosts, one of it starts their first agents together (launch_group.h), which takes as long
 * as one launcher, not as many; all that come later have launchers of their own.
 */
#ifndef CHOKEPOINT_CLI_LAUNCH_H
#define CHOKEPOINT_CLI_LAUNCH_H

#include <limits.h>
#include <stdint.h>

#include "cli/launch/address.h"
#include "cli/launch/backoff.h"
#include "cli/launch/child.h"
#include "cli/launch/command_words.h"
#include "cli/launch/job_words.h"

enum launch_method { LAUNCH_DIRECT, LAUNCH_MPIRUN, LAUNCH_SSH, LAUNCH_SRUN };

/* The part of a ring that agents send instead of sampling. */
struct launch_ring {
    const char *dir;
    char from[24], to[24]; /* wall times in ns */
    char step[24];         /* seconds; "0": as many samples as are usual */
};

/* Values common to all agents of a run. Borrowed. */
struct launch_plan {
    char agent[PATH_MAX];   /* the agent, at the same path on every host that has it */
    char relay[PATH_MAX];   /* the relay that brings the agent to other hosts; "": none */
    char agents[PATH_MAX];  /* directory of agents that can be brought */
    bool asks_library;      /* each host reports its MPI library; a host without one gets it */
    char library[PATH_MAX]; /* path of the library there; "": none */
    const char *token;      /* the run's secret; an agent gets the key of its host on its stdin */
    const char *pin;        /* the collector's pin */
    const char *marks_key;  /* key of the directories of marks: not secret from agents, but hidden
                               from others until they are made; NULL: none */
    const char *run_id, *marks, *rate, *process_rate;
    const char *run_name, *command; /* for the agent beside `run`; NULL: not known */
    const char *database;           /* full path of the database, also for that agent */
    const char *call_spool_limit;   /* bytes; NULL: the agent's default */
    bool flows;                     /* agents capture packets */
    bool forgets;                   /* the agent beside `run` discards what it cannot deliver */
    bool no_command_lines;          /* agents name processes as the kernel does */
    const struct job_words *jobs;   /* further job processes by choice; NULL: none */
    bool wait_clocks;               /* agents load programs into kernels that clock waits */
    const struct launch_ring *ring; /* NULL: they sample */
    const char *examine_peers;      /* all hosts, with commas; not NULL: only examines */
    const struct command_words *words;
    const char *hostfile; /* mpirun's options for reaching hosts, if the command names the hosts:
                             they may name users */
    enum launch_method method; /* method for hosts other than this one */
    int connect_timeout_s;
    const sigset_t *mask;
};

#define LAUNCH_SAID_LINES 4

/* Finds agent, relay and agents for other hosts. ret_program: the running program. Negative errno
 * with a line in why. */
int launch_find_programs(struct launch_plan *plan, char ret_program[PATH_MAX], char *why,
                         size_t why_size);

/* The MPI library that a host has reported over its own connection. */
struct launch_library {
    bool told;           /* it has reported */
    char path[PATH_MAX]; /* "": it has none, for this reason: */
    char why[200];
    char system[200]; /* the kernel's name of the host: NAME@BOOT-ID */
    uint64_t digest;  /* of the file (common/mpi_library.h) */
};

struct launch_group;

/* The agent of one host. */
struct launch {
    const char *host;           /* borrowed */
    char address[ADDRESS_SIZE]; /* of the collector, as this host reaches it; "" if unknown */
    enum launch_method method;
    bool attempted;
    pid_t pid;                         /* of its own launcher; 0: not running */
    struct launch_group *group;        /* borrowed; whose launcher keeps it; NULL: none */
    struct line_reader output;         /* its stdout and stderr */
    char trouble[160];                 /* why it was not started, or how it ended; "" */
    char said[LAUNCH_SAID_LINES][200]; /* the first lines, where mpirun names causes, and the last
                                          one, where ssh does, after all banners */
    size_t n_said;
    unsigned n_again; /* restarted after a temporary failure */
    bool delivered;   /* its agent was delivered, and the MPI library if requested */
    struct launch_library library;
    char spool[PATH_MAX]; /* its spool's directory, as reported; "": it makes a new one */
    bool reported, final; /* the collector has its first frame, its last frame */
    bool ended_early; /* its last frame came unrequested, for example with the end of its batch job
                       */
    bool missing;     /* given up, and the user was told */
    struct backoff back; /* time of the next start */
};

/* Name of the method for messages: "directly", "by mpirun", "by ssh", "by srun". */
const char *launch_method_name(enum launch_method method);

/* Starts it. On failure, which may be limited to this host, launch->trouble has the reason. */
int launch_start(struct launch *launch, const struct launch_plan *plan, const char *url);

/* Whether a launcher keeps its agent. */
static inline bool launch_lives(const struct launch *launch) {
    return launch->pid || launch->group;
}

/* Passes on lines of the agent itself ("chokepoint-agent: ..."), and keeps the others. */
void launch_read(struct launch *launch, void (*agent_says)(void *ctx, const char *line), void *ctx);

/* Does so with one line, which came over a launcher of several hosts. */
void launch_take_line(struct launch *launch, const char *line,
                      void (*agent_says)(void *ctx, const char *line), void *ctx);

/* Notes its end; true when it was just found ended. */
bool launch_check(struct launch *launch);

/* Whether the failure may be temporary: several mpirun that start at once on one machine make and
 * remove one directory of OpenMPI's, and one of them may lose that race. */
bool launch_may_be_tried_again(const struct launch *launch);

/* A signal to the launcher, which passes it on to its agent. */
void launch_signal(const struct launch *launch, int signal);

/* --- the words, separate from starting them, for tests --- */

#define LAUNCH_WORDS_MAX 192

struct launch_words {
    const char *words[LAUNCH_WORDS_MAX];
    size_t n;
    char url[64], run[64], marks[PATH_MAX + 32], rsh[1024], timeout[32], component[32], parent[16];
    char counts[2][24];      /* of an srun for several hosts: its options --nodes, --ntasks */
    char *script, *nodelist; /* owned */
};

/* The command that starts the agent. -E2BIG, -ENOMEM, -ENAMETOOLONG. Release it in any case. */
int launch_words_make(struct launch_words *words, const struct launch *launch,
                      const struct launch_plan *plan, const char *url);
void launch_words_release(struct launch_words *words);

/* The scope for agents (agent/base/scope.h): the user's choice, else in a batch job the job's part
 * of the machine; NULL: the machine. */
const char *launch_scope(void);

/* Appends `text` as one word of a shell's command line; false if it does not fit. */
bool launch_shell_quote(char *to, size_t size, const char *text);

#endif
