/* SPDX-License-Identifier: MIT */
/*
 * Shared by the files that look for a full link. network.c has the rules; they look by connections
 * (network_connections.c), by what the hosts hold back themselves (network_queues.c), by rates
 * (network_rates.c) and by peers (network_peers.c).
 */
#ifndef CHOKEPOINT_ANALYSIS_CAUSES_LINK_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_CAUSES_LINK_PRIVATE_H

#include "analysis/causes/causes_private.h"

/* A candidate with nothing but its questions (what if the link were faster) in it. */
struct candidate link_of(const struct run_model *model, size_t group, int host,
                         enum flow_side side);
/* Share of the path that is transfers through this side; NAN where the path is not known. */
double link_demand(const struct run_model *model, size_t group, int host, enum flow_side side);
/* Where most of what went through the interface was not of the job's connections: the traffic of
 * others is the cause, and who the likeliest is. */
void link_name_others(const struct run_model *model, const struct flows *flows,
                      struct candidate *c);
/* Where a faster interface of the host leads to the same hosts and is idle, that is the cause. */
void link_name_interface(const struct run_model *model, struct candidate *c);
/* Adds the argument by arithmetic, if there is one. */
void link_add_arithmetic(const struct candidates *candidates, size_t group, int host,
                         enum flow_side side, struct candidate *c);

/* Advice about a link, or about the way that its traffic takes. */
void link_advise(const struct advised *advised);
/* Links that another cause found are asked for no more. */
bool link_is_found(const struct candidates *candidates, size_t group);

#endif
