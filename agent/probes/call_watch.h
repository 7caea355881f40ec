/* SPDX-License-Identifier: MIT */
/*
 * The files in which the ranks of this host write their MPI calls, shared by the probes that read
 * them: mpi opens them and looks for new ones, mpi_function and call read what it found.
 *
 * An agent that was killed leaves them behind. Two files (mark/ring_owner.h) say how far each had
 * been read and which rows were written, so that the next agent repeats no call and begins no
 * counter twice: "calls.cursors", whose frames are those of single calls, and "calls.told", whose
 * frames are the samples.
 */
#ifndef CHOKEPOINT_AGENT_PROBES_CALL_WATCH_H
#define CHOKEPOINT_AGENT_PROBES_CALL_WATCH_H

#include <limits.h>

#include "agent/base/probe.h"
#include "agent/mark/ring_owner.h"
#include "agent/shim/calls.h"
#include "tables/keys.h"

/* How far the calls of a rank have been read. */
struct call_cursor {
    int64_t pid, opened_ns;
    uint64_t cursor, lost, malformed; /* as in struct call_rank */
};

/* The rows that this agent or the one before it has written for a rank: each row begins once. */
struct call_told {
    int64_t pid, opened_ns;
    uint64_t rank;                                /* 1: a row of table mpi */
    uint64_t functions[CALL_FILE_FUNCTIONS / 64]; /* bits: rows of table mpi_function */
};

struct watched_rank {
    struct table_key key; /* KEY_UNKNOWN until the rank is known */
    int32_t rank;         /* from its environment; -1: unknown */
};

struct call_watch { /* all zero: closed */
    bool is_open;
    bool told_more; /* rows were written since the file was saved */
    int called_fd;  /* readable when a rank's ring fills up; negative: none */
    char path[PATH_MAX];
    const struct probe_env *env;
    struct ring_owner cursors_owner, told_owner; /* one agent owns both */
    struct call_reader reader;                   /* n_ranks 0 while another agent reads */
    struct watched_rank ranks[CALL_MAX_RANKS];   /* in the order of reader.ranks */
    struct call_told told[CALL_MAX_RANKS];
    struct call_cursor cursors_before[CALL_MAX_RANKS]; /* left by the agent before, in its order */
    struct call_told told_before[CALL_MAX_RANKS];
    struct call_totals totals; /* of the rank read last */
};

/* Opens the directory that CHOKEPOINT_MARKS names on this host; it exists already. */
int call_watch_open(struct call_watch *watch, const struct probe_env *env, char *why,
                    size_t why_size);

/* Looks for new ranks. There are none while another agent reads them. */
int call_watch_scan(struct call_watch *watch, const struct probe_env *env);

/* Reads the totals of the i-th rank into watch->totals. False if its file is broken or its rank is
 * not known yet. */
bool call_watch_read(struct call_watch *watch, size_t i, const struct probe_env *env);

/* The rank's number: its place in MPI_COMM_WORLD; before MPI_Init, the number that its launcher
 * gave it. */
int32_t call_watch_rank(const struct call_watch *watch, size_t i);

/* The rank in the record of the process with this id and start; -1: there is no record. */
int32_t call_watch_rank_of(const struct call_watch *watch, int32_t pid, int64_t start_ns);

/* Whether the i-th rank, or a function of it, has no row yet; marks it as having one. The first row
 * counts as growth from zero. */
bool call_watch_first(struct call_watch *watch, size_t i);
bool call_watch_first_of(struct call_watch *watch, size_t i, enum call_function function);

/* probe.keeping for the frames of single calls, and for those of samples. */
void call_watch_keep_cursors(struct call_watch *watch, uint64_t seq);
void call_watch_keep_told(struct call_watch *watch, uint64_t seq);

void call_watch_close(struct call_watch *watch);

#endif
