/* SPDX-License-Identifier: MIT */
/*
 * A database may come from anybody. guard_connection() limits what a connection may do, whatever
 * the file holds: no trigger fires, no view runs, nothing is attached, and no function is called
 * except by the store's own statements. guard_file() then refuses a file with objects that the
 * store does not make and that would act when its tables are used.
 */
#ifndef CHOKEPOINT_COLLECTOR_STORE_GUARD_H
#define CHOKEPOINT_COLLECTOR_STORE_GUARD_H

#include <stddef.h>

struct store;

/* Call it before the first statement. -EIO. */
int guard_connection(struct store *store);

/* 0, negative errno, or -EPERM with the fault of the file in `why`: "has a trigger 'x'". */
int guard_file(struct store *store, char *why, size_t size);

/* For a writer: -EPERM with one line if a symbolic link on the path belongs to another user. */
int guard_links(const char *path, char *why, size_t size);

/* Checks whether another user controls a file that is to be written. -EPERM with a line in `why` if
 * the file belongs to another user and lies where others can create files; else 0. */
int guard_owner(const char *path, char *why, size_t size);

#endif
