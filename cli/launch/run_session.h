/* SPDX-License-Identifier: MIT */
/*
 * State of `run` while it runs: the collector, an agent a host, the command; and the one loop that
 * hears all of them. Nothing sleeps: a waiting caller calls session_poll until its condition holds,
 * or its deadline has passed.
 *
 * Signals are blocked and read as events. The command gets every signal to the whole foreground
 * group by itself, such as the terminal's Ctrl-C; a signal to us alone is passed on to it.
 */
#ifndef CHOKEPOINT_CLI_RUN_SESSION_H
#define CHOKEPOINT_CLI_RUN_SESSION_H

#include "cli/launch/backoff.h"
#include "cli/launch/collect_child.h"
#include "cli/launch/group_watch.h"
#include "cli/launch/hosts_choose.h"
#include "cli/launch/launch.h"
#include "cli/launch/preload.h"
#include "cli/launch/run_options.h"
#include "collector/credentials.h"
#include "collector/store.h"
#include <sys/resource.h>

#define RUN_NOTES_MAX 200

struct run_session {
    char run_name[INSTANCE_MAX + 1], command_line[WIRE_COMMAND_MAX + 1]; /* as agents keep them */
    char database[PATH_MAX];                                             /* its whole path; "" */
    const struct run_options *options;                                   /* borrowed */
    char program[PATH_MAX]; /* the command chokepoint itself */
    char token[33], run_id[17];
    char marks_stem[PATH_MAX], marks_key[33]; /* of the directories of marks */
    char marks[PATH_MAX + 34];                /* the two, as the command's programs have them */
    struct credentials credentials; /* the collector's, however often it is started again */
    int64_t run;                    /* its id in the database */
    int repeat;                     /* of --repeat: which, from 1; 0: the only run */
    int live_port;                  /* of the live view of all repeats; 0: any */
    int64_t first_repeat;           /* the run of the first repeat; 0: this is it */
    int64_t sweep;                  /* it is a run of this sweep, 0: of none, */
    const struct run_label *labels; /* with these values (borrowed) */
    size_t n_labels;
    sigset_t old_mask;
    struct limits old_limits; /* the command has them back */
    int signal_fd;
    struct group_watch group;
    /* where it runs */
    struct command_words words;
    struct preload preload;
    bool has_preload;
    bool knows_hosts;     /* all that the command can reach are among these: */
    uint64_t sent_digest; /* of the MPI library that hosts without one are sent */
    char **wrapped;       /* owned; the command with a shell before its program. NULL: as it is */
    char *wrap_script, *wrap_program; /* owned */
    struct hosts hosts;
    char local_name[HOST_NAME_LENGTH_MAX + 1];
    struct launch *launches; /* owned, one a host */
    size_t n_launches;
    struct launch_plan plan;
    /* the collector */
    struct collect_child collector;
    struct collect_listener listener;
    struct backoff collector_back; /* when it is started again */
    bool collector_lost;           /* it has never listened: given up */
    char *unwritable;              /* owned; why it cannot keep what comes. NULL: it could */
    bool stopping;                 /* agents have been asked to end */
    bool closing;                  /* the collector has been asked to end */
    uint64_t n_events;             /* single events that hosts have delivered, */
    int64_t events_ns;             /* when the last of them came (monotonic); 0: none yet */
    pid_t live;                    /* the server of the live view; 0: does not run */
    /* the command */
    pid_t command;       /* 0: not running */
    int command_status;  /* as of waitpid */
    struct rusage usage; /* of the command and all it waited for, once it has ended */
    int64_t started_wall_ns, started_mono_ns;
    int64_t ended_wall_ns, ended_mono_ns;
    int interrupted; /* the last signal that asked us to end; 0: none */
    int n_interrupts;
    char *refusal; /* owned; why the command never ran. NULL: it did, or was interrupted before */
    /* about the quality of the run; written when nobody else writes to the database */
    char *notes[RUN_NOTES_MAX]; /* owned */
    size_t n_notes;
};

/* Names, token, signals. Negative errno with one line in why. Release it in any case. */
int session_open(struct run_session *s, const struct run_options *options, char *why,
                 size_t why_size);
void session_release(struct run_session *s);

/* Hears all there is to hear; waits for it until the deadline (monotonic). */
void session_poll(struct run_session *s, int64_t deadline_ns);

/* To the user: unless --quiet; always. One line, prefixed. */
void session_tell(const struct run_session *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void session_complain(const struct run_session *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Why the command never ran: to the user, and to be kept with the run; the first time counts. */
void session_refuse(struct run_session *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* To the user, and to be kept with the run. */
void session_note(struct run_session *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- run_where.c --- */

/* An srun outside an allocation makes us start again inside one, with argv (from the verb on); then
 * this does not return. Negative errno after one line on stderr. */
int run_enter_job(const struct run_options *options, char *const *argv);
/* Reads the command, and fills hosts and launches. Negative errno after one line on stderr. */
int session_choose_hosts(struct run_session *s);

/* --- run_hosts.c --- */

/* Fills launches and the collector's addresses from hosts. Negative errno with why. */
int session_choose_launches(struct run_session *s, enum hosts_source source, char *why,
                            size_t why_size);
/* Each --job that names a host names one of them; else -EINVAL with why. */
int session_check_jobs(const struct run_session *s, char *why, size_t why_size);
void session_start_agents(struct run_session *s);
void session_start_agent(struct run_session *s, struct launch *launch);
/* Says on which hosts --flows captures nothing. */
void session_name_uncaptured(struct run_session *s);
bool session_awaits_hosts(const struct run_session *s); /* some may still answer */
/* Marks those that did not answer as missing; line after line about them, at most all. */
size_t session_name_missing(struct run_session *s);

/* --- run_command.c --- */

/* 0, -ENOENT, -EACCES: as the shell would find it. */
int command_find(const char *word);
/* As a shell would take it again, on one line; the caller frees it. NULL: out of memory. */
char *command_line(const struct run_options *options);
/* Finds how the shim gets into its ranks. It may take a process, so it comes before the agents,
 * which would take that one for a part of the command. */
void session_find_preload(struct run_session *s);
/* Starts it with all that is ours taken away, and what lets its processes be found. */
int session_start_command(struct run_session *s);

/* --- run_library.c --- */

/* Before agents start: they are asked which MPI library their hosts have. */
void session_ask_library(struct run_session *s);
/* Before the command starts: what is preloaded, of what hosts have confirmed; the command may get a
 * shell before its program. Says of each host that has none why. */
void session_choose_library(struct run_session *s);
void session_release_library(struct run_session *s);

/* --- run_live.c --- */

void session_start_live(struct run_session *s);
int live_pick_port(void); /* one that is free on 127.0.0.1; 0: none was found */
void session_check_live(struct run_session *s); /* it may have ended */
void session_end_live(struct run_session *s);

/* --- run_finish.c --- */

/* Asks the agents to end, waits for what they have to say, ends the collector. */
void session_drain(struct run_session *s);
/* Ends what is left of launchers, by their ids. */
void session_reap(struct run_session *s);

#endif
