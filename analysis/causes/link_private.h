/* SPDX-License-Identifier: MIT */
/*
 * Shared by the files that look for a full link. link.c has the common parts. The causes look at
 * connections (link_connections.c), at packets that hosts hold back themselves (link_queue.c), at
 * rates (link_rate.c) and at peers (link_peers.c).
 */
#ifndef CHOKEPOINT_ANALYSIS_CAUSES_LINK_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_CAUSES_LINK_PRIVATE_H

#include "analysis/causes/causes_private.h"

/* A candidate with only its scenarios (a faster link). */
struct candidate link_of(const struct run_model *model, size_t group, const struct flows *flows,
                         int host, enum flow_side side);
/* Share of the path that is transfers which wait for this direction; NAN: the path is not known. */
double link_demand(const struct run_model *model, size_t group, const struct flows *flows, int host,
                   enum flow_side side);
/* The job's share of the bytes on the host's interfaces, from connections; NAN. Small messages are
 * mostly headers. */
double link_own_bytes(const struct run_model *model, size_t group, const struct flows *flows,
                      int host, enum flow_side side);
/* If most of the interface's traffic did not come from the job's connections, makes the traffic of
 * others the cause, and names the likeliest program. */
void link_name_others(const struct run_model *model, const struct flows *flows,
                      struct candidate *c);
/* If a faster interface of the host to the same hosts is idle, makes that the cause. */
void link_name_interface(const struct run_model *model, struct candidate *c);
/* Adds the argument by arithmetic, if there is one. */
void link_add_arithmetic(const struct candidates *candidates, size_t group, int host,
                         enum flow_side side, struct candidate *c);

/* Advice about a link, or about the route of its traffic. */
void link_advise(const struct advised *advised);
/* Links that another cause found are not examined again. */
bool link_is_found(const struct candidates *candidates, size_t group);

#endif
