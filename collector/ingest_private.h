/* SPDX-License-Identifier: MIT */
/* Shared by ingest.c, which writes, and ingest_check.c, which looks before. */
#ifndef CHOKEPOINT_COLLECTOR_INGEST_PRIVATE_H
#define CHOKEPOINT_COLLECTOR_INGEST_PRIVATE_H

#include "collector/ingest.h"
#include "collector/known_tables.h"

#define HOST_NOTES_MAX 8
#define HOST_SLOTS (2 * INGEST_HOSTS_MAX) /* a power of two */

struct known_host {
    char name[INSTANCE_MAX + 1];
    bool announced;   /* ingest_committed has said so */
    bool table_noted; /* that a table of its contradicts the store's */
    unsigned n_notes;
};

struct ingest {
    struct store *store;
    int64_t run;
    struct wire_reader reader;  /* of the body checked last */
    struct wire_record *frames; /* of it: n_frames of frames_capacity */
    size_t n_frames, frames_capacity;
    struct known_tables *known; /* owned */
    struct known_block *block;  /* of it: that the body checked last has, or NULL */
    struct known_host *hosts;
    size_t n_hosts;
    uint16_t host_slots[HOST_SLOTS]; /* by name: one more than the index, 0 empty */
    char tables[INGEST_TABLES_MAX][TABLE_NAME_MAX + 1]; /* that were stored */
    size_t n_tables;
};

#endif
