/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_COMMON_PRIVATE_PATH_H
#define CHOKEPOINT_COMMON_PRIVATE_PATH_H

/*
 * Whether only root and this user can change what is at an absolute path: each part of it, and of
 * the targets of its links, belongs to one of the two, and nobody else may write to it. Directories
 * on the way may be shared if they are sticky, like /tmp: their entries then belong to their
 * makers. 0; -EPERM; -errno if a part cannot be examined.
 */
int private_path_check(const char *path);

/* As private_path, without shared directories on the way. Such a path is also private on a host
 * with the same directories, even if nobody checked it there. */
int private_path_check_unshared(const char *path);

#endif
