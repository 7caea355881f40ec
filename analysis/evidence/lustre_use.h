/* SPDX-License-Identifier: MIT */
/* A host's calls to file systems of Lustre, and its requests to their servers. */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_LUSTRE_USE_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_LUSTRE_USE_H

#include "analysis/run_model.h"

#define LUSTRE_NAME_SIZE 64

struct lustre_use {
    char name[LUSTRE_NAME_SIZE]; /* of the file system */
    double calls;
    double calls_s; /* summed over all calls; NAN: this version does not count it */
    double read_bytes, write_bytes;
    double requests, requests_s;  /* requests_s: over all of them; NAN: not recorded */
    const struct series *slowest; /* the target that was waited for longest; NULL */
    double slowest_s;
    size_t lost; /* targets whose connection was not in use at some time */
    double waited_s;
};

/* Fills in each file system to which the host had calls within the windows, the one with the most
 * waiting first. `waited_s` is the time for which calls waited, at the least: a call takes CPU
 * time, too, as for copying from this host's memory, and requests may have nobody who waits for
 * them, as in writing back. So it is the lesser of both times, or, where requests were not
 * recorded, what the calls took beyond all that the kernel computed on the host; NAN if neither is
 * known. The caller owns *ret_items. -ENOMEM.
 */
int lustre_use_make(const struct run_model *model, int host, struct windows windows,
                    struct lustre_use **ret_items, size_t *ret_n);

/* The file system with the most waiting in a group; false if there is none that is known to have
 * waited, or without memory. */
bool lustre_use_most(const struct run_model *model, size_t group, int host,
                     struct lustre_use *ret_item);

#endif
