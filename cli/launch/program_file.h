/* SPDX-License-Identifier: MIT */
/*
 * Facts about a program before it is started: its path, and whether the shim can be preloaded into
 * it. That needs the same dynamic loader as this program's: a static program has none, the loader
 * of another C library ends the program (musl: status 127), and a container lacks the shim.
 */
#ifndef CHOKEPOINT_CLI_PROGRAM_FILE_H
#define CHOKEPOINT_CLI_PROGRAM_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* The file that a shell would start for this word. 0, -ENOENT, -EACCES, -ENAMETOOLONG. */
int program_find(const char *word, char ret_path[PATH_MAX]);

/* The same without the path. */
int command_find(const char *word);

#define PROGRAM_REFUSES 1

/* Whether a library can be preloaded into the program of this word; for a script, into its
 * interpreter. 0 with its file in ret_path; PROGRAM_REFUSES with one line in why; negative errno:
 * not known. */
int program_takes_preload(const char *word, char ret_path[PATH_MAX], char *why, size_t why_size);

/* Whether the program needs a library with this prefix ("libmpi"), directly or through others. The
 * dynamic loader tells it without starting the program. */
bool program_needs(const char *path, const char *library);

#endif
