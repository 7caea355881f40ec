/* SPDX-License-Identifier: MIT */
/* Between which hosts each recorded connection is: the local ends of all of them tell which host
 * has which address. */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_FLOW_ENDS_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_FLOW_ENDS_H

#include "analysis/facts/series/series.h"

/* The host that each series of the table of connections leads to; -1: its own, or none of those
 * recorded. ret_to has room for all series. -ENOMEM. */
int flow_ends(const struct series_set *connections, int *ret_to);

#define FLOW_ADDRESS_SIZE 64

/* The address that a connection of that name leads to; false: its own host's. */
bool flow_far_end(const char *connection, char ret_address[FLOW_ADDRESS_SIZE]);

/* The same of the table of flows, which counts packets by interface and pair of hosts. */
int flow_ends_of_packets(const struct series_set *flows, int *ret_to);
bool flow_far_end_of_packets(const char *flow, char ret_interface[FLOW_ADDRESS_SIZE],
                             char ret_address[FLOW_ADDRESS_SIZE]);

#endif
