/* SPDX-License-Identifier: MIT */
/* The hosts that a command will use, as far as is known before it runs. */
#ifndef CHOKEPOINT_CLI_HOSTS_CHOOSE_H
#define CHOKEPOINT_CLI_HOSTS_CHOOSE_H

#include "cli/launch/command_words.h"
#include "cli/launch/hosts.h"

enum hosts_source {
    HOSTS_OPTION,  /* the user's --hosts */
    HOSTS_COMMAND, /* hostfile or host list of the command */
    HOSTS_BATCH,   /* the allocation of Slurm, PBS, Grid Engine or LSF around this process */
    HOSTS_LOCAL,   /* none is named: this machine */
};

/* option: text of --hosts (a file, or names with commas) or NULL. Fills the empty set with at least
 * one host. On failure `why` has one line; errors as in hosts.h. */
int hosts_choose(const char *option, const struct command_words *words, struct hosts *ret_hosts,
                 enum hosts_source *ret_source, char *why, size_t why_size);

#endif
