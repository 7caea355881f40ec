/* SPDX-License-Identifier: MIT */
/*
 * Changes to finished runs: their name, comments on them, and their removal. All of them need a
 * store that was opened for writing.
 */
#ifndef CHOKEPOINT_COLLECTOR_STORE_EDIT_H
#define CHOKEPOINT_COLLECTOR_STORE_EDIT_H

#include "collector/store_read.h"

/* Whether no other connection has the database open now: a run that is being recorded has one. */
bool store_is_alone(struct store *store);

/* Takes a run and all of its rows out, in a transaction of its own; a sweep goes with its last run.
 * -ENOENT: there is no such run. */
int store_run_remove(struct store *store, int64_t run);

/* The space of removed rows, which later rows fill. */
int store_free_bytes(struct store *store, int64_t *ret_bytes);
/* Gives it back to the file system: writes the database anew, which takes as much space again for a
 * while. -EBUSY: somebody else has it open. */
int store_compact(struct store *store);

/* -EINVAL for an empty name, -ENOENT. */
int store_run_rename(struct store *store, int64_t run, const char *name);

/* Adds a comment of the owner to a run; comments keep their order. -ENOENT. */
int store_run_comment(struct store *store, int64_t run, const char *text);
/* Comments of one run, or of all (run 0); each has its run's number. store_comments_free. */
struct store_comment {
    int64_t run;
    char *text; /* owned */
};
int store_list_comments(struct store *store, int64_t run, struct store_comment **ret_comments,
                        size_t *ret_n);
void store_comments_free(struct store_comment *comments, size_t n);

#endif
