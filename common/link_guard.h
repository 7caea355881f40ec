/* SPDX-License-Identifier: MIT */
/* Symbolic links on the path of a file that is to be written: another user's link could lead
 * elsewhere. */
#ifndef CHOKEPOINT_COMMON_LINK_GUARD_H
#define CHOKEPOINT_COMMON_LINK_GUARD_H

#include <limits.h>

/* Checks the links on a path whose last parts may be missing. 0; -EPERM: a link belongs to a user
 * other than this one or root, or lies where another user can replace it; ret_link gets its path.
 * -ELOOP, -ENAMETOOLONG. */
int link_guard(const char *path, char ret_link[PATH_MAX]);

#endif
