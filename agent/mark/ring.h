/* SPDX-License-Identifier: MIT */
/*
 * The reading side of chokepoint.h: finds the rings that programs made in one directory, and drains
 * them. It trusts nothing in a ring: a writer may truncate its file, turn its counters back, leave
 * names without an end. So the reader maps nothing (a truncated map is a SIGBUS), copies with
 * pread(), and checks the copy. A bad ring ends the reading of that ring, never of the directory.
 *
 * Allocates only in open. One thread at a time.
 */
#ifndef CHOKEPOINT_AGENT_MARK_RING_H
#define CHOKEPOINT_AGENT_MARK_RING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/mark/chokepoint.h"
#include "agent/mark/ring_files.h"

#define MARK_RUN_LINK "run" /* a symbolic link: its target is the id of the run */

#define MARK_MAX_WRITERS 256 /* rings open at once; more are refused and counted */

/* The ring of one program. */
struct mark_writer {
    int32_t pid;        /* from the file's name */
    int32_t rank;       /* rank in the parallel program, or -1 */
    int64_t opened_ns;  /* CLOCK_MONOTONIC, from the program */
    uint64_t lost;      /* records overwritten before they were read */
    uint64_t malformed; /* records refused: unknown kind, negative times, ... */
    bool broken;        /* given up: truncated, or its counter ran backwards */
    uint64_t cursor;    /* next ticket to read */
    /* the rest is private to the reader */
    int fd;
    int stalled; /* successive drains that found the next record claimed but not complete */
};

struct mark_reader {
    struct ring_files files;     /* files.refused: not rings, or no room for them */
    struct mark_writer *writers; /* MARK_MAX_WRITERS; in order of discovery */
    size_t n_writers;
    uint64_t lost;      /* sum over all writers */
    uint64_t malformed; /* sum over all writers */
};

/*
 * Called for each record in the order of its ring. `record` is checked: a known kind, start and
 * duration not negative and their sum without overflow, bytes not negative, name printable ASCII
 * with its NUL ('?' for anything else). Valid during the call only.
 */
typedef void mark_record_fn(void *ctx, const struct mark_writer *writer,
                            const struct chokepoint_mark_record *record);

/*
 * The directory on this host for a stem from CHOKEPOINT_MARKS: "<stem>.<host name>"; for a stem
 * with a key see chokepoint.h. Returns 0, -ENAMETOOLONG or an error of gethostname.
 */
int mark_directory_path(const char *stem, char *ret_path, size_t size);

/* Creates the directory (mode 0700). -EEXIST if it exists: runs must not share it. */
int mark_directory_create(const char *path);

/* Stores the run's id in the directory; mark_directories_collect finds processes of that run by it.
 * Negative errno. */
int mark_directory_name_run(const char *path, const char *run);

/* Removes the ranks' files and the directory; -ENOTEMPTY if it has other files. */
int mark_directory_remove(const char *path);

/* Opens a directory of rings. -EPERM if others may use it or own it; outputs untouched then. */
int mark_reader_open(struct mark_reader *ret_reader, const char *dir);

/* Looks for new rings. Each is read from its start, unless its cursor is set before the next
 * drain. */
int mark_reader_scan(struct mark_reader *reader);

/*
 * Looks for new rings, then passes on all records written since the last call, at most one lap of
 * each ring. Returns the number of records passed on, or a negative errno if the directory cannot
 * be read. A record that was claimed but never completed (its thread was stopped or died) holds up
 * its ring for two calls, then counts as lost.
 */
int mark_reader_drain(struct mark_reader *reader, mark_record_fn *fn, void *ctx);

/* Closes everything; removes nothing. */
void mark_reader_release(struct mark_reader *reader);

#endif
