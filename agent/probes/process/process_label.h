/* SPDX-License-Identifier: MIT */
/*
 * The name by which people know a process: an interpreter is named with its script, class or
 * module, a server with the role in its title. No other part of a command line leaves this file.
 */
#ifndef CHOKEPOINT_AGENT_PROBES_PROCESS_LABEL_H
#define CHOKEPOINT_AGENT_PROBES_PROCESS_LABEL_H

#include <stddef.h>

#include "common/text.h"

#define LABEL_MAX 47 /* with "[PID]" shorter than the longest instance */

/* Makes a label from the kernel's name (comm) and the text of a /proc/PID/cmdline, which may hold
 * anything, in label[LABEL_MAX + 1]. Returns its length: that of comm if the command line adds
 * nothing. */
size_t process_label(struct span comm, struct span arguments, char *label);

/* Adds the role of a process to its label of `size`, as far as there is room; returns the new
 * length. "" adds nothing. */
size_t process_label_add(char *label, size_t size, const char *role);

/* Whether a word has this ending and something before it. */
bool process_word_ends(struct span word, const char *ending);

#endif
