/* SPDX-License-Identifier: MIT */
/*
 * Starting the agent of one host, and keeping hold of it: every host has a launcher process of its
 * own (the agent itself, one mpirun, one ssh, one srun), so that a host that does not answer, or
 * dies, takes no other host's agent with it. An idle mpirun wakes up for nothing and costs 14 MB
 * here; one mpirun over all hosts would end all agents when one host goes.
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

/* Values common to all agents of a run. Borrowed. */
struct launch_plan {
    char agent[PATH_MAX]; /* the program, in the same place on every host that has it */
    char relay[PATH_MAX]; /* the program that brings it to the others; "": nothing can be brought */
    char agents[PATH_MAX]; /* where those lie that can be brought */
    bool asks_library;     /* each host tells which MPI library it has; one that has none gets it */
    char library[PATH_MAX]; /* there; "": nowhere */
    const char *token;      /* the run's secret; an agent gets the key of its host, on its stdin */
    const char *pin;        /* the collector's */
    const char *marks_key;  /* of the directories of marks: no secret of agents, and not to be seen
                               by  others before they are made; NULL: none */
    const char *run_id, *marks, *rate, *process_rate;
    const char *run_name, *command; /* for the agent beside us, which keeps them; NULL: not known */
    const char *database;           /* its whole path; likewise */
    const char *call_spool_limit;   /* bytes; NULL: as the agent likes */
    bool flows;                     /* capture packets */
    bool forgets;                   /* the agent beside us keeps nothing that it cannot deliver */
    bool no_command_lines;          /* agents name processes as the kernel does */
    const struct job_words *jobs;   /* who else is the job; NULL: nobody */
    bool wait_clocks;               /* load programs into kernels that clock waits */
    const char *examine_peers;      /* all hosts, with commas; not NULL: the agent only examines */
    const struct command_words *words;
    const char *hostfile;      /* of the command, when the hosts are from it: it may name users */
    enum launch_method method; /* to hosts other than this one */
    int connect_timeout_s;
    const sigset_t *mask;
};

#define LAUNCH_SAID_LINES 4

/* Finds agent, relay and agents. ret_program: this very one. Negative errno with a line in why. */
int launch_find_programs(struct launch_plan *plan, char ret_program[PATH_MAX], char *why,
                         size_t why_size);

/* The MPI library that a host has confirmed over its own connection. */
struct launch_library {
    bool told;           /* it has said what it has */
    char path[PATH_MAX]; /* "": it has none, for this reason: */
    char why[200];
    char system[200]; /* the kernel's names of the host: NAME@BOOT-ID */
    uint64_t digest;  /* of the file (common/mpi_library.h) */
};

/* The agent of one host. */
struct launch {
    const char *host;           /* borrowed */
    char address[ADDRESS_SIZE]; /* of the collector, as this host reaches it; "" if unknown */
    enum launch_method method;
    bool attempted;
    pid_t pid;                         /* of the launcher; 0: not running */
    struct line_reader output;         /* its stdout and stderr */
    char trouble[160];                 /* why there is none, or how it ended; "" */
    char said[LAUNCH_SAID_LINES][200]; /* the first lines, where mpirun tells causes, and the last
                                          one, where ssh does, after all banners */
    size_t n_said;
    unsigned n_again; /* started again for a reason that passes */
    bool delivered;   /* its agent was sent, and the MPI library, if it is asked for */
    struct launch_library library;
    char spool[PATH_MAX]; /* where its samples wait, as it says; "": it makes a new directory */
    bool reported, final; /* the collector has its first, its last frame */
    bool ended_early;     /* its last frame came unasked: with its batch job, say */
    bool missing;         /* given up, and said so */
    struct backoff back;  /* when it is started again */
};

/* Name of the method for messages: "directly", "by mpirun", "by ssh", "by srun". */
const char *launch_method_name(enum launch_method method);

/* Starts it. On failure, which may be this host's only, launch->trouble says why. */
int launch_start(struct launch *launch, const struct launch_plan *plan, const char *url);

/* Passes on lines of the agent itself ("chokepoint-agent: ..."), keeps what else is said. */
void launch_read(struct launch *launch, void (*agent_says)(void *ctx, const char *line), void *ctx);

/* Takes note of its end; true when it has just been found ended. */
bool launch_check(struct launch *launch);

/* Whether it ended for a reason that may have passed already: several mpirun that start at once on
 * one machine make and remove one directory of OpenMPI's, and one of them may lose that race. */
bool launch_may_be_tried_again(const struct launch *launch);

/* A signal to the launcher, which passes it on to its agent. */
void launch_signal(const struct launch *launch, int signal);

/* --- the words, apart from starting them, so that they can be tested --- */

#define LAUNCH_WORDS_MAX 192

struct launch_words {
    const char *words[LAUNCH_WORDS_MAX];
    size_t n;
    char url[64], run[64], marks[PATH_MAX + 32], rsh[1024], timeout[32], component[32], parent[16];
    char *script; /* owned */
};

/* The command that starts the agent. -E2BIG, -ENOMEM, -ENAMETOOLONG. Release it in any case. */
int launch_words_make(struct launch_words *words, const struct launch *launch,
                      const struct launch_plan *plan, const char *url);
void launch_words_release(struct launch_words *words);

/* The scope that agents are given (agent/base/scope.h): the user's choice, else in a batch job the
 * part of the machine that the job has; NULL: the machine. */
const char *launch_scope(void);

/* `text` as one word of a shell's command line, appended; false when it does not fit. */
bool launch_shell_quote(char *to, size_t size, const char *text);

#endif
