/* SPDX-License-Identifier: MIT */
/* `chokepoint-agent --tables`: the metric table of the manual, straight from the descriptors. */
#ifndef CHOKEPOINT_AGENT_TABLES_H
#define CHOKEPOINT_AGENT_TABLES_H

#include <stdio.h>

/* Every table an agent of this build may send, as Markdown. 0, or -EIO when it could not be
 * written. */
int tables_print(FILE *out);

#endif
