/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_COMMON_OWN_PROGRAM_H
#define CHOKEPOINT_COMMON_OWN_PROGRAM_H

#include <linux/limits.h>

/* The path of the program that this process runs. One that was replaced since it was started, by an
 * update, has the path of what lies there now. Negative errno. */
int own_program_path(char ret_path[PATH_MAX]);

#endif
