/* SPDX-License-Identifier: MIT */
/*
 * Changes to finished runs: rename, comment, remove. All need a store that was opened for writing.
 */
#ifndef CHOKEPOINT_COLLECTOR_STORE_EDIT_H
#define CHOKEPOINT_COLLECTOR_STORE_EDIT_H

#include "collector/store_read.h"

/* Whether no other connection has the database open: the recorder of a run has one. */
bool store_is_alone(struct store *store);

/* Removes a run and all of its rows in a transaction of its own; a sweep goes with its last run.
 * -ENOENT: there is no such run. */
int store_run_remove(struct store *store, int64_t run);

/* Free space in the file from removed rows, which later rows fill. */
int store_free_bytes(struct store *store, int64_t *ret_bytes);
/* Returns the free space to the file system: writes the database anew, which needs the same space
 * again meanwhile. -EBUSY: another process has it open. */
int store_compact(struct store *store);

/* -EINVAL for an empty name, -ENOENT. */
int store_run_rename(struct store *store, int64_t run, const char *name);

/* Adds a comment of the owner to a run; comments keep their order. -ENOENT. */
int store_run_comment(struct store *store, int64_t run, const char *text);
/* Comments of one run, or of all (run 0) with the number of their run. store_comments_free. */
struct store_comment {
    int64_t run;
    char *text; /* owned */
};
int store_list_comments(struct store *store, int64_t run, struct store_comment **ret_comments,
                        size_t *ret_n);
void store_comments_free(struct store_comment *comments, size_t n);

#endif
