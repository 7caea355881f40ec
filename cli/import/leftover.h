/* SPDX-License-Identifier: MIT */
/*
 * Leftovers of earlier runs' agents on this host: directories chokepoint-spool-XXXXXX in the places
 * where agents make them. Those of other users are listed, and neither read nor removed; links are
 * never listed; a live agent holds its directory (flock), or has it in its command line.
 */
#ifndef CHOKEPOINT_CLI_LEFTOVER_H
#define CHOKEPOINT_CLI_LEFTOVER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct leftover {
    char path[PATH_MAX];
    uint64_t bytes; /* of its segments */
    size_t files;
    int64_t newest_s; /* wall clock: when it was written to last */
    bool held;
    bool foreign; /* of another user: nothing but its owner is known */
    uid_t owner;
};

/* Those in these places (NULL-terminated; none: $TMPDIR and /tmp), the oldest first; *ret_list is
 * the caller's to free. -ENOMEM. */
int leftovers_find(char *const *places, struct leftover **ret_list, size_t *ret_n);

/* 0: it is no directory of another user. -EPERM after one line that names the owner. Files that
 * root put somewhere are anybody's to bring in. */
int leftover_check_owner(const char *path);

/* Prints them. 0. */
int leftovers_list(const struct leftover *list, size_t n);

/* Removes those that no agent holds and that were written to last more than `days` ago, and prints
 * which. Files that are no segments stay, and their directory. The exit status. */
int leftovers_remove(const struct leftover *list, size_t n, uint64_t days);

#endif
