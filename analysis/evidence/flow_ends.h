/* SPDX-License-Identifier: MIT */
/* Finds the hosts at both ends of each recorded connection: the local ends of all connections show
 * which host has which address. Flows, which count packets by interface and pair of hosts, have
 * such ends, too.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_FLOW_ENDS_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_FLOW_ENDS_H

#include "analysis/facts/series/series.h"

/* The host that each series of the table of connections or of flows leads to; -1: its own host, or
 * an unrecorded one. ret_to has room for all series. -ENOMEM.
 */
int flow_ends(const struct series_set *set, int *ret_to);

/* The address that a connection or a flow leads to; NULL if it stays on its host. */
const struct key_address *flow_far_end(const struct table_key *key);

#endif
