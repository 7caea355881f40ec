/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_COMMON_OWN_PROGRAM_H
#define CHOKEPOINT_COMMON_OWN_PROGRAM_H

#include <linux/limits.h>

/* The path of the program that this process runs. If an update replaced the file, it is the path of
 * the new one. Negative errno. */
int own_program_path(char ret_path[PATH_MAX]);

#endif
