/* SPDX-License-Identifier: MIT */
/*
 * The name people know a process by: of an interpreter with its script, class or module, of a
 * server with the role that its title says. Nothing else of a command line leaves this file.
 */
#ifndef CHOKEPOINT_AGENT_PROBES_PROCESS_LABEL_H
#define CHOKEPOINT_AGENT_PROBES_PROCESS_LABEL_H

#include <stddef.h>

#include "common/text.h"

#define LABEL_MAX 47 /* with "[PID]" shorter than an instance may be */

/* Makes a label of the name the kernel has (comm) and the text of a /proc/PID/cmdline, whatever is
 * in them, into label[LABEL_MAX + 1]. Returns its length; that of comm where the command line adds
 * nothing. */
size_t process_label(struct span comm, struct span arguments, char *label);

/* Adds the role of a process to its label of `size`, as much as there is room for; returns the new
 * length. "": nothing. */
size_t process_label_add(char *label, size_t size, const char *role);

/* Whether a word ends so, with something before it. */
bool process_word_ends(struct span word, const char *ending);

#endif
