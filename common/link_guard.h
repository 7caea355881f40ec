/* SPDX-License-Identifier: MIT */
/* Symbolic links on the way to a file that is to be written: who may lead us elsewhere. */
#ifndef CHOKEPOINT_COMMON_LINK_GUARD_H
#define CHOKEPOINT_COMMON_LINK_GUARD_H

#include <limits.h>

/* Follows the path, whose last parts need not be there. 0; -EPERM: a link on it belongs to another
 * user than us or root, or lies where another user can replace it: its path is in ret_link.
 * -ELOOP, -ENAMETOOLONG. */
int link_guard(const char *path, char ret_link[PATH_MAX]);

#endif
