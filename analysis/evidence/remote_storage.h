/* SPDX-License-Identifier: MIT */
/* Traffic of a host with NFS servers, by export. */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_REMOTE_STORAGE_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_REMOTE_STORAGE_H

#include "analysis/run_model.h"

#define EXPORT_SIZE 64

struct remote_storage {
    char export[EXPORT_SIZE]; /* "server:/path" */
    double calls;             /* calls answered within the windows */
    double retransmissions;
    double receive_bytes, send_bytes;
    double queue_s, rtt_s, execute_s; /* summed over all calls, also simultaneous ones */
};

/* Fills in each export to which the host had calls within the windows, the one that took longest
 * first. The caller owns *ret_items. -ENOMEM.
 */
int remote_storage_make(const struct run_model *model, int host, struct windows windows,
                        struct remote_storage **ret_items, size_t *ret_n);

/* The export that took longest in a group; false if there is none, or without memory. */
bool remote_storage_most(const struct run_model *model, size_t group, int host,
                         struct remote_storage *ret_item);

#endif
