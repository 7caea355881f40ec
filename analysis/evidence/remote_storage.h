/* SPDX-License-Identifier: MIT */
/* Traffic of a host with file servers (NFS), by export. */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_REMOTE_STORAGE_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_REMOTE_STORAGE_H

#include "analysis/run_model.h"

#define EXPORT_SIZE 64

struct remote_storage {
    char export[EXPORT_SIZE]; /* "server:/path" */
    double calls;             /* answered within the windows */
    double retransmissions;
    double receive_bytes, send_bytes;
    double queue_s, rtt_s, execute_s; /* sums over all calls: several at a time add up */
};

/* Each export that the host had calls to within the windows, the one that took the longest first.
 * *ret_items is the caller's. -ENOMEM. */
int remote_storage_make(const struct run_model *model, int host, struct windows windows,
                        struct remote_storage **ret_items, size_t *ret_n);

/* The first of them in a group; false: none, or no memory. */
bool remote_storage_most(const struct run_model *model, size_t group, int host,
                         struct remote_storage *ret_item);

#endif
