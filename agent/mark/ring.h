/* SPDX-License-Identifier: MIT */
/*
 * The reading side of chokepoint.h: finds the rings programs have created in one directory and
 * drains them. Everything in a ring is hostile: a writer may truncate its file, turn its counters
 * back, leave names without an end. So the reader maps nothing (a truncated map is a SIGBUS),
 * copies with pread(), checks what it copied, and gives up on a ring, never on the directory.
 *
 * Allocates in open only. One thread at a time.
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

/* One ring: a program that marks. */
struct mark_writer {
    int32_t pid;        /* as the file's name says */
    int32_t rank;       /* in the parallel program, or -1 */
    int64_t opened_ns;  /* CLOCK_MONOTONIC, as the program says */
    uint64_t lost;      /* records overwritten before they were read */
    uint64_t malformed; /* records refused: unknown kind, negative times, ... */
    bool broken;        /* gave up on it: truncated, or its counter ran backwards */
    uint64_t cursor;    /* next ticket to read */
    /* the rest is the reader's own */
    int fd;
    int stalled; /* drains in a row that found the next record claimed but not complete */
};

struct mark_reader {
    struct ring_files files;     /* files.refused: no rings, or no room for them */
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
 * The directory on this host for a stem as in CHOKEPOINT_MARKS: "<stem>.<host name>", or of a stem
 * with a key what chokepoint.h says.
 * Returns 0, -ENAMETOOLONG or an error of gethostname.
 */
int mark_directory_path(const char *stem, char *ret_path, size_t size);

/* Creates the directory (mode 0700). -EEXIST if there is one: never share a run's directory. */
int mark_directory_create(const char *path);

/* Leaves the id of its run in the directory, by which mark_directories_collect finds processes of
 * that run. Negative errno. */
int mark_directory_name_run(const char *path, const char *run);

/* Removes what ranks left in it and the directory; -ENOTEMPTY if other files were put there. */
int mark_directory_remove(const char *path);

/* Opens a directory of rings. -EPERM if it is open to others or not ours; outputs untouched then.
 */
int mark_reader_open(struct mark_reader *ret_reader, const char *dir);

/* Looks for new rings: each is read from its start, unless its cursor is set before the next drain.
 */
int mark_reader_scan(struct mark_reader *reader);

/*
 * Looks for new rings, then passes on all that has been written since the last call, at most one
 * lap of a ring for each writer. Returns the number of records passed on, or a negative errno if
 * the directory cannot be read. A record that was claimed but never completed (its thread was
 * stopped or has died) holds up its ring for two calls, then counts as lost.
 */
int mark_reader_drain(struct mark_reader *reader, mark_record_fn *fn, void *ctx);

/* Closes everything; removes nothing. */
void mark_reader_release(struct mark_reader *reader);

#endif
