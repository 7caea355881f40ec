/* SPDX-License-Identifier: MIT */
/*
 * Directories of marks whose run was killed before it could remove them: they hold memory until
 * somebody does. Each agent removes those of its own user and host as it makes the one of its run.
 */
#ifndef CHOKEPOINT_AGENT_MARK_RING_STALE_H
#define CHOKEPOINT_AGENT_MARK_RING_STALE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Removes the directories "chokepoint-CODE" that lie beside the one of the stem, and returns how
 * many. A directory stays while its agent holds the lock of it, a process that has a file in it
 * lives, or any process has the id of its run in its environment (as `proc` shows them);
 * and when it is not ours (owner, mode, no link), is the stem's own, or has files of somebody else
 * in it. Stems without a key have none beside them.
 */
size_t mark_directories_collect(const char *stem, const char *proc);

/* Whether a process lives that has a file in that directory. */
bool mark_directory_is_used(const char *path);

#endif
