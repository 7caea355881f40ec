/* SPDX-License-Identifier: MIT */
/* All verbs, in the order of the help (verbs.def). */
#ifndef CHOKEPOINT_CLI_VERBS_H
#define CHOKEPOINT_CLI_VERBS_H

#include "cli/base/verb.h"

extern const struct verb *const verbs[];
extern const size_t n_verbs;

#endif
