/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_COMMON_PRIVATE_PATH_H
#define CHOKEPOINT_COMMON_PRIVATE_PATH_H

/*
 * Whether nobody but root and this user can put anything at an absolute path: each part of it, and
 * of what it leads to, belongs to one of the two, and nobody else may write to it. A directory on
 * the way may be shared if it is sticky, as /tmp is: its entries then belong to whoever made them.
 * 0; -EPERM; -errno if a part cannot be looked at.
 */
int private_path_check(const char *path);

/* The same without shared directories on the way: a host whose directories are like those here has
 * nothing of others at this path, even where nobody has looked. */
int private_path_check_unshared(const char *path);

#endif
