/* SPDX-License-Identifier: MIT */
/*
 * State of `run`: the collector, one agent for each host, the command; and the one loop that serves
 * them all. Nothing sleeps: a waiting caller calls session_poll until its condition holds, or its
 * deadline has passed.
 *
 * Signals are blocked and read as events. The command receives signals to the whole foreground
 * group itself, such as the terminal's Ctrl-C; a signal to `run` alone is passed on to it.
 */
#ifndef CHOKEPOINT_CLI_RUN_SESSION_H
#define CHOKEPOINT_CLI_RUN_SESSION_H

#include "cli/launch/backoff.h"
#include "cli/launch/collect_child.h"
#include "cli/launch/group_watch.h"
#include "cli/launch/hosts_choose.h"
#include "cli/launch/launch.h"
#include "cli/launch/launch_group.h"
#include "cli/launch/preload.h"
#include "cli/launch/run_options.h"
#include "collector/credentials.h"
#include "collector/store.h"
#include <sys/resource.h>

#define RUN_NOTES_MAX 200

/* The directories of marks. */
struct marks_place {
    char stem[PATH_MAX], key[33];
    char path[PATH_MAX + 34]; /* both together, as the command's programs get them */
};

/* The runs of which this one is a part: those of --repeat, those of a sweep. */
struct run_series {
    int repeat;                     /* for --repeat: its number, from 1; 0: the only run */
    int live_port;                  /* port of the live view of all repeats; 0: any */
    int64_t first_repeat;           /* id of the first repeat; 0: this is the first */
    int64_t sweep;                  /* the sweep that the run belongs to; 0: none */
    const struct run_label *labels; /* its values in the sweep (borrowed) */
    size_t n_labels;
};

struct session_signals {
    sigset_t old_mask;
    int fd;
    int last; /* the last signal to end this process; 0: none */
    int n;    /* signals to end it */
};

/* The command with a shell before its program. */
struct wrapped_command {
    char **words;           /* owned; NULL: the command is unchanged */
    char *script, *program; /* owned */
};

/* The command's process. */
struct session_command {
    pid_t pid;           /* 0: not running */
    int status;          /* as from waitpid */
    struct rusage usage; /* of the command and all processes it waited for, once it has ended */
    int64_t started_wall_ns, started_mono_ns;
    int64_t ended_wall_ns, ended_mono_ns;
};

struct run_session {
    char run_name[INSTANCE_MAX + 1], command_line[WIRE_COMMAND_MAX + 1]; /* for the agents */
    char database[PATH_MAX];           /* full path of the database; "" */
    const struct run_options *options; /* borrowed */
    char program[PATH_MAX];            /* path of the command chokepoint */
    char token[33], run_id[17];
    struct marks_place marks;
    struct credentials credentials; /* the collector's key, which survives its restarts */
    int64_t run;                    /* the run's id in the database */
    struct run_series series;
    struct session_signals signals;
    struct limits old_limits; /* restored for the command */
    struct group_watch group;
    /* where the command runs */
    struct command_words words;
    struct preload preload;
    bool has_preload;
    bool knows_hosts;     /* all hosts that the command can reach are among these */
    uint64_t sent_digest; /* of the MPI library for hosts without one */
    struct wrapped_command wrapped;
    struct hosts hosts;
    char local_name[HOST_NAME_LENGTH_MAX + 1];
    struct launch *launches; /* owned, one for each host */
    size_t n_launches;
    struct launch_group *groups; /* owned; those whose first agents one launcher starts */
    size_t n_groups;
    struct launch_plan plan;
    /* the collector */
    struct collect_child collector;
    struct collect_listener listener;
    struct backoff collector_back; /* time of its next start */
    bool collector_lost;           /* it has never listened: given up */
    char *unwritable;              /* owned; why it cannot store frames. NULL: it can */
    bool stopping;                 /* agents were asked to end */
    bool closing;                  /* the collector was asked to end */
    uint64_t n_events;             /* single events that hosts have delivered, */
    int64_t events_ns;             /* and when the last ones came (monotonic); 0: none yet */
    pid_t live;                    /* the server of the live view; 0: not running */
    pid_t remote;                  /* sends samples to an engine; 0: not running */
    bool remote_failed;            /* not all of them have come there */
    struct session_command command;
    char *refusal; /* owned; why the command never ran. NULL: it ran, or was interrupted before */
    /* notes on the quality of the run; written when nobody else writes to the database */
    char *notes[RUN_NOTES_MAX]; /* owned */
    size_t n_notes;
};

/* Makes names, token and signal mask. Negative errno with one line in why. Release it in any
 * case. */
int session_open(struct run_session *s, const struct run_options *options, char *why,
                 size_t why_size);
void session_release(struct run_session *s);

/* Handles all events, and waits for them until the deadline (monotonic). */
void session_poll(struct run_session *s, int64_t deadline_ns);

/* An agent has ended: it is started again, if it had begun. A line of an agent; ctx: s. */
void session_take_end(struct run_session *s, struct launch *launch);
void session_take_agent_line(void *ctx, const char *line);

/* --- run_say.c --- */

/* Prints a line with a prefix: unless --quiet; always. */
void session_tell(const struct run_session *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void session_complain(const struct run_session *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Why the command never ran: printed, and stored with the run; the first reason counts. */
void session_refuse(struct run_session *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints a note and stores it with the run. */
void session_note(struct run_session *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- run_where.c --- */

/* For an srun outside an allocation: starts this program again inside one, with argv (from the verb
 * on), and does not return. Negative errno after one line on stderr. */
int run_enter_job(const struct run_options *options, char *const *argv);
/* Reads the command, and fills hosts and launches. Negative errno after one line on stderr. */
int session_choose_hosts(struct run_session *s);

/* --- run_hosts.c --- */

/* Fills launches and the collector's addresses from hosts. Negative errno with why. */
int session_choose_launches(struct run_session *s, enum hosts_source source, char *why,
                            size_t why_size);
/* Each --job with a host must name one of the hosts; else -EINVAL with why. */
int session_check_jobs(const struct run_session *s, char *why, size_t why_size);
void session_start_agents(struct run_session *s);
void session_start_agent(struct run_session *s, struct launch *launch);
/* Reports the hosts on which --flows captures nothing. */
void session_name_uncaptured(struct run_session *s);
bool session_awaits_hosts(const struct run_session *s); /* some may still answer */
/* Marks the hosts that did not answer as missing, and prints lines about at most all of them. */
size_t session_name_missing(struct run_session *s);

/* --- run_groups.c --- */

/* Starts the agents that one launcher can start together; the others are left. */
void session_start_groups(struct run_session *s);
void session_check_groups(struct run_session *s);
void session_signal_groups(const struct run_session *s, int signal);
bool session_has_groups(const struct run_session *s); /* one of their launchers runs */
void session_release_groups(struct run_session *s);

/* --- run_command.c --- */

/* The command as a line for a shell; the caller frees it. NULL: out of memory. */
char *command_line(const struct run_options *options);
/* Finds how the shim gets into the command's ranks. It may start a process, so it comes before the
 * agents, which would take that one for a part of the command. */
void session_find_preload(struct run_session *s);
/* Starts the command without the resources of `run`, and with variables that mark its processes. */
int session_start_command(struct run_session *s);

/* --- run_library.c --- */

/* Before agents start: whether to ask for their hosts' MPI library. */
void session_ask_library(struct run_session *s);
/* Before the command starts: decides what is preloaded from the hosts' reports; the command may get
 * a shell before its program. Prints why a host has no library. */
void session_choose_library(struct run_session *s);
void session_release_library(struct run_session *s);

/* --- run_live.c --- */

void session_start_live(struct run_session *s);
int live_pick_port(void); /* a free port on 127.0.0.1; 0: none was found */
void session_end_live(struct run_session *s);

/* --- run_remote.c --- */

/* Starts the child that sends, if one is asked for. */
void session_start_remote(struct run_session *s);
/* When the run has ended in the database: waits some seconds until all is sent, else says how the
 * rest is sent. */
void session_end_remote(struct run_session *s);

/* --- run_finish.c --- */

/* Asks the agents to end, waits for their last frames, ends the collector. */
void session_drain(struct run_session *s);
/* Ends remaining launchers by their ids. */
void session_reap(struct run_session *s);

#endif
