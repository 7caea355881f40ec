/* SPDX-License-Identifier: MIT */
/*
 * The files in which the ranks of this host write their MPI calls, shared by the probes that read
 * them: mpi opens them and looks for new ones, mpi_function and call read what it found.
 *
 * An agent that was killed leaves them behind. Two files (mark/ring_owner.h) say how far each had
 * been read and what had been told of it, so that its successor tells no call twice and no counter
 * as new that was told before: "calls.cursors", whose frames are those of single calls, and
 * "calls.told", whose frames are the samples.
 */
#ifndef CHOKEPOINT_AGENT_PROBES_CALL_WATCH_H
#define CHOKEPOINT_AGENT_PROBES_CALL_WATCH_H

#include <limits.h>

#include "agent/base/probe.h"
#include "agent/mark/ring_owner.h"
#include "agent/shim/calls.h"
#include "tables/keys.h"

/* How far the calls of a rank are read. */
struct call_cursor {
    int64_t pid, opened_ns;
    uint64_t cursor, lost, malformed; /* as in struct call_rank */
};

/* The rows of one rank that this agent or the one before it has written: each row begins once. */
struct call_told {
    int64_t pid, opened_ns;
    uint64_t rank;                                /* 1: a row of table mpi */
    uint64_t functions[CALL_FILE_FUNCTIONS / 64]; /* rows of table mpi_function */
};

struct watched_rank {
    struct table_key key; /* KEY_UNKNOWN while its rank is not known */
    int32_t rank;         /* as its environment says; -1: it does not */
};

struct call_watch { /* all zero: not open */
    bool is_open;
    bool told_more; /* since it was saved */
    int called_fd;  /* readable when a rank calls: its ring fills up; negative: none does */
    char path[PATH_MAX];
    const struct probe_env *env;
    struct ring_owner cursors_owner, told_owner; /* the second belongs to whom the first does */
    struct call_reader reader;                   /* n_ranks 0 while another agent reads */
    struct watched_rank ranks[CALL_MAX_RANKS];   /* as in reader.ranks */
    struct call_told told[CALL_MAX_RANKS];
    struct call_cursor cursors_before[CALL_MAX_RANKS]; /* of the owner before, in its order */
    struct call_told told_before[CALL_MAX_RANKS];
    struct call_totals totals; /* of the rank read last */
};

/* Opens the directory that CHOKEPOINT_MARKS names on this host, which is there already. */
int call_watch_open(struct call_watch *watch, const struct probe_env *env, char *why,
                    size_t why_size);

/* Looks for ranks that came; they are another agent's while that one reads. */
int call_watch_scan(struct call_watch *watch, const struct probe_env *env);

/* Reads the totals of the i-th rank into watch->totals. False if there is nothing to tell of it:
 * its file is broken, or nobody knows its rank yet. */
bool call_watch_read(struct call_watch *watch, size_t i, const struct probe_env *env);

/* The rank's number: its place in MPI_COMM_WORLD, before MPI_Init what its launcher says. */
int32_t call_watch_rank(const struct call_watch *watch, size_t i);

/* The rank of a process that started then, as its own record tells it; -1: none does. */
int32_t call_watch_rank_of(const struct call_watch *watch, int32_t pid, int64_t start_ns);

/* Whether no agent has written a row yet of the i-th rank, or of a function of it; from now on one
 * has. Its whole count has then grown since the last sample of the table. */
bool call_watch_first(struct call_watch *watch, size_t i);
bool call_watch_first_of(struct call_watch *watch, size_t i, enum call_function function);

/* As probe.keeping: of the frame of single calls, and of the samples. */
void call_watch_keep_cursors(struct call_watch *watch, uint64_t seq);
void call_watch_keep_told(struct call_watch *watch, uint64_t seq);

void call_watch_close(struct call_watch *watch);

#endif
