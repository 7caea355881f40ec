/* SPDX-License-Identifier: MIT */
/* Index of a run: store_scan_run.c makes it once, store_scan.c reads each table with it. */
#ifndef CHOKEPOINT_COLLECTOR_STORE_SCAN_PRIVATE_H
#define CHOKEPOINT_COLLECTOR_STORE_SCAN_PRIVATE_H

#include "collector/store_scan.h"

#include "collector/store_rows.h"

struct scan_host {
    int64_t id;
    size_t begin, end; /* its instances of the current table */
};

struct scan_stream {
    int64_t id;
    size_t host;
    struct store_clock_map clock; /* owned */
};

struct scan_frame {
    int64_t id, t_ns;
    size_t stream;
};

struct store_scan {
    struct store *store;
    struct scan_host *hosts;     /* owned, by id */
    struct scan_stream *streams; /* owned, by id */
    struct scan_frame *frames;   /* owned, by id */
    size_t n_hosts, n_streams, n_frames;
};

#endif
