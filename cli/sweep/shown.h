/* SPDX-License-Identifier: MIT */
/* Parameters of a sweep in the form that may be recorded and shown: without secrets. */
#ifndef CHOKEPOINT_CLI_SWEEP_SHOWN_H
#define CHOKEPOINT_CLI_SWEEP_SHOWN_H

#include "cli/sweep/parameters.h"

/* A copy in which "***", "***2", "***3" ... replace the values of a parameter that looks secret: by
 * its name, by its place in the command, or by the shape of one of its values. They number the
 * values, so that cells stay distinct. Without a command (NULL) nothing is masked.
 * parameters_release() frees it. -ENOMEM. */
int parameters_shown(const struct sweep_parameters *parameters, char *const *command,
                     struct sweep_parameters *ret_shown);

#endif
