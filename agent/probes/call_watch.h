/* SPDX-License-Identifier: MIT */
/*
 * The files in which the ranks of this host write their MPI calls, shared by the probes that read
 * them: mpi opens them and looks for new ones, mpi_function and call read what it found.
 *
 * An agent that was killed leaves them behind. The file "calls.cursors", locked by whoever reads,
 * says how far each had been read, so that its successor tells no call twice.
 */
#ifndef CHOKEPOINT_AGENT_PROBES_CALL_WATCH_H
#define CHOKEPOINT_AGENT_PROBES_CALL_WATCH_H

#include <limits.h>

#include "agent/probe.h"
#include "agent/shim/calls.h"

#define WATCH_NAME_SIZE 48 /* "rank 3", or "rank 3 [1234]" of a second process of that rank */

struct watched_rank {
    char name[WATCH_NAME_SIZE]; /* "" while its rank is not known */
    int32_t rank;               /* as its environment says; -1: it does not */
    bool is_new; /* it began after this agent did: what it has counted, it counted under our eyes */
};

/* How far the file of one rank has been read. */
struct call_cursor {
    int64_t pid, opened_ns;
    uint64_t cursor;
};

struct call_watch { /* all zero: not open */
    bool is_open;
    bool takes_over; /* until the first look: what is there was there before this agent */
    int cursors_fd;
    char path[PATH_MAX];
    struct call_reader reader;
    struct watched_rank ranks[CALL_MAX_RANKS]; /* as in reader.ranks */
    struct call_cursor taken_over[CALL_MAX_RANKS];
    struct call_totals totals; /* of the rank read last */
};

/* Opens the directory that CHOKEPOINT_MARKS names on this host, which is there already. */
int call_watch_open(struct call_watch *watch, const struct probe_env *env, char *why,
                    size_t why_size);

/* Looks for ranks that came. */
int call_watch_look(struct call_watch *watch, const struct probe_env *env);

/* Reads the totals of the i-th rank into watch->totals. False if there is nothing to tell of it:
 * its file is broken, or nobody knows its rank yet. */
bool call_watch_read(struct call_watch *watch, size_t i, const struct probe_env *env);

/* The rank's number: its place in MPI_COMM_WORLD, before MPI_Init what its launcher says. */
int32_t call_watch_rank(const struct call_watch *watch, size_t i);

/* Writes down how far all ranks have been read. */
void call_watch_save(const struct call_watch *watch);

void call_watch_close(struct call_watch *watch);

#endif
