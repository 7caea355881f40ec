/* SPDX-License-Identifier: MIT */
/* Shared by `rm`, `rename` and `note`: opens the user's own database for a change. */
#ifndef CHOKEPOINT_CLI_EDIT_H
#define CHOKEPOINT_CLI_EDIT_H

#include "collector/store_edit.h"

/* Opens the database for a change, if it exists and belongs to the caller. 0, or an exit status
 * after one line on standard error. */
int edit_open(const char *verb, const char *database, struct store **ret_store);

/* The run that a word names. 0, or an exit status after one line on standard error. */
int edit_find(const char *verb, struct store *store, const char *database, const char *which,
              struct store_run *ret_run);

/* The exit status after one line on standard error: the change could not be written. */
int edit_cannot_write(const char *verb, struct store *store, const char *database, int result);

#endif
