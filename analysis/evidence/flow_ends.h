/* SPDX-License-Identifier: MIT */
/* Finds the hosts at both ends of each recorded connection: the local ends of all connections show
 * which host has which address.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_FLOW_ENDS_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_FLOW_ENDS_H

#include "analysis/facts/series/series.h"

/* The host that each series of the table of connections leads to; -1: its own host, or an
 * unrecorded one. ret_to has room for all series. -ENOMEM.
 */
int flow_ends(const struct series_set *connections, int *ret_to);

#define FLOW_ADDRESS_SIZE 64

/* The address that a connection with that name leads to; false if it stays on its host. */
bool flow_far_end(const char *connection, char ret_address[FLOW_ADDRESS_SIZE]);

/* The host that each series of the table of flows leads to, which counts packets by interface and
 * pair of hosts.
 */
int flow_ends_of_packets(const struct series_set *flows, int *ret_to);
bool flow_far_end_of_packets(const char *flow, char ret_interface[FLOW_ADDRESS_SIZE],
                             char ret_address[FLOW_ADDRESS_SIZE]);

#endif
