/* SPDX-License-Identifier: MIT */
/*
 * A database is anybody's file until it has been looked at. guard_connection() limits what a
 * connection may do, whatever the file holds: no trigger fires, no view is run, nothing is
 * attached, no function is called but those of the store's own statements. guard_file() then
 * refuses a file that holds what the store does not make and that would act when its tables are
 * used.
 */
#ifndef CHOKEPOINT_COLLECTOR_STORE_GUARD_H
#define CHOKEPOINT_COLLECTOR_STORE_GUARD_H

#include <stddef.h>

struct store;

/* Before the first statement. -EIO. */
int guard_connection(struct store *store);

/* 0, negative errno, or -EPERM with what is wrong with the file in why: "has a trigger 'x'". */
int guard_file(struct store *store, char *why, size_t size);

/* For a writer: -EPERM with one line, if a symbolic link on the path is another user's. */
int guard_links(const char *path, char *why, size_t size);

/* Checks whether another user controls a file that is to be written. -EPERM with a line in why if
 * it belongs to another user and lies where others may have put it for us to find; else 0. */
int guard_owner(const char *path, char *why, size_t size);

#endif
