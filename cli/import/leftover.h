/* SPDX-License-Identifier: MIT */
/*
 * Leftovers of earlier runs' agents on this host: directories chokepoint-spool-XXXXXX in the usual
 * places. Those of other users are listed, but neither read nor removed; links are never listed. A
 * live agent holds its directory (flock), or has it in its command line.
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
    int64_t newest_s; /* wall clock of the last write */
    bool held;
    bool foreign; /* another user's: only its owner is known */
    uid_t owner;
};

/* Lists the leftovers in these places (NULL-terminated; none: $TMPDIR and /tmp), oldest first; the
 * caller frees *ret_list. -ENOMEM. */
int leftovers_find(char *const *places, struct leftover **ret_list, size_t *ret_n);

/* 0: not a directory of another user. -EPERM after one line that names the owner. Anybody may
 * import files that root stored. */
int leftover_check_owner(const char *path);

/* Prints the list. 0. */
int leftovers_list(const struct leftover *list, size_t n);

/* Removes the directories that no agent holds and that were last written to more than `days` ago,
 * and prints their names. A directory with other files stays, with these files. The exit status. */
int leftovers_remove(const struct leftover *list, size_t n, uint64_t days);

#endif
