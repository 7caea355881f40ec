/* SPDX-License-Identifier: MIT */
/*
 * Directories of marks whose run was killed before it could remove them: they hold memory until
 * they are removed. Each agent removes those of its own user and host when it makes its own.
 */
#ifndef CHOKEPOINT_AGENT_MARK_RING_STALE_H
#define CHOKEPOINT_AGENT_MARK_RING_STALE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Removes stale directories "chokepoint-CODE" beside the stem's, and returns their number. A
 * directory stays while its agent holds its lock, while a process has a file of it open, or while
 * any process has the run's id in its environment (as `proc` shows them). It also stays if it is
 * not this user's (owner, mode, link), if it is the stem's own, or if it has another user's files.
 * Stems without a key have no such directories.
 */
size_t mark_directories_collect(const char *stem, const char *proc);

/* Whether a living process has a file of that directory open. */
bool mark_directory_is_used(const char *path);

#endif
