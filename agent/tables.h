/* SPDX-License-Identifier: MIT */
/* `chokepoint-agent --tables`: the metric table of the manual, made from the descriptors. */
#ifndef CHOKEPOINT_AGENT_TABLES_H
#define CHOKEPOINT_AGENT_TABLES_H

#include <stdio.h>

/* Prints every table of this build as Markdown. 0, or -EIO when it could not be written. */
int tables_print(FILE *out);

#endif
