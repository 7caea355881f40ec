/* SPDX-License-Identifier: MIT */
/* Shared by ingest.c, which writes, and ingest_check.c, which checks. */
#ifndef CHOKEPOINT_COLLECTOR_INGEST_PRIVATE_H
#define CHOKEPOINT_COLLECTOR_INGEST_PRIVATE_H

#include "collector/ingest.h"
#include "collector/known_tables.h"

#define HOST_NOTES_MAX 8
#define HOST_SLOTS (2 * INGEST_HOSTS_MAX) /* a power of two */

struct known_host {
    char name[INSTANCE_MAX + 1];
    bool announced;   /* ingest_committed has reported it */
    bool table_noted; /* the store has a note that one of its tables differs */
    unsigned n_notes;
};

struct ingest {
    struct store *store;
    int64_t run;
    struct wire_reader reader;  /* has the body checked last */
    struct wire_record *frames; /* of this body; the array has room for frames_capacity */
    size_t n_frames, frames_capacity;
    struct known_tables *known; /* owned */
    struct known_block *block;  /* the tables of this body, borrowed of `known`, or NULL */
    struct known_host *hosts;
    size_t n_hosts;
    uint16_t host_slots[HOST_SLOTS]; /* index of a host plus 1, by the hash of its name; 0: empty */
    char tables[INGEST_TABLES_MAX][TABLE_NAME_MAX + 1]; /* all that were stored */
    size_t n_tables;
};

#endif
