/* SPDX-License-Identifier: MIT */
/*
 * State between pushes is kept by the host's name and not by ids of the store: after a rollback the
 * store may give the same id to another host.
 */
#include "collector/ingest_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/siphash.h"

int ingest_new(struct store *store, int64_t run, struct ingest **ret_ingest) {
    struct ingest *ingest = calloc(1, sizeof *ingest);
    if (!ingest)
        return -ENOMEM;
    int r = known_tables_new(&ingest->known);
    if (r) {
        free(ingest);
        return r;
    }
    ingest->store = store;
    ingest->run = run;
    *ret_ingest = ingest;
    return 0;
}

void ingest_free(struct ingest *ingest) {
    if (!ingest)
        return;
    wire_reader_release(&ingest->reader);
    known_tables_free(ingest->known);
    free(ingest->frames);
    free(ingest->hosts);
    free(ingest);
}

/* ---- hosts ---- */

/* The host's slot, or the empty slot where it belongs. */
static uint16_t *host_slot(struct ingest *ingest, const char *name) {
    static const uint64_t key[2] = {0, 0};
    uint64_t at = siphash(key, name, strlen(name));
    for (;; at++) {
        uint16_t *slot = &ingest->host_slots[at % HOST_SLOTS];
        if (!*slot || strcmp(ingest->hosts[*slot - 1].name, name) == 0)
            return slot;
    }
}

static struct known_host *find_host(struct ingest *ingest, const char *name) {
    uint16_t slot = *host_slot(ingest, name);
    return slot ? &ingest->hosts[slot - 1] : NULL;
}

static int one_too_many(struct ingest_push *push, const char *whose, int limit, const char *what) {
    snprintf(push->why, sizeof push->why, "the %s has %d %s already", whose, limit, what);
    return -EUSERS;
}

static int need_host(struct ingest *ingest, struct ingest_push *push,
                     struct known_host **ret_host) {
    struct known_host *host = find_host(ingest, push->host);
    if (!host) {
        if (ingest->n_hosts == INGEST_HOSTS_MAX)
            return one_too_many(push, "run", INGEST_HOSTS_MAX, "hosts");
        host = realloc(ingest->hosts, (ingest->n_hosts + 1) * sizeof *host);
        if (!host)
            return -ENOMEM;
        ingest->hosts = host;
        host = &host[ingest->n_hosts++];
        *host = (struct known_host){0};
        snprintf(host->name, sizeof host->name, "%s", push->host);
        *host_slot(ingest, push->host) = (uint16_t)ingest->n_hosts;
    }
    *ret_host = host;
    return 0;
}

/* A line for the report and for readers of events. The number of lines is limited, so that a host
 * cannot fill the store. */
static int note(struct ingest *ingest, struct ingest_push *push, struct known_host *host,
                const char *format, const char *subject) {
    if (host->n_notes == HOST_NOTES_MAX)
        return 0;
    host->n_notes++;
    snprintf(push->note, sizeof push->note, format, subject, push->host);
    return store_run_note(ingest->store, ingest->run, push->note);
}

/* ---- the write ---- */

#define TABLE_REFUSED (-1)

/* A table that contradicts the stored one costs its rows, not the host. */
static int refuse_table(struct ingest *ingest, struct ingest_push *push, struct known_host *host,
                        const char *table) {
    if (host->table_noted)
        return 0;
    host->table_noted = true;
    return note(ingest, push, host, "table %s of host %s does not fit the one stored: left out",
                table);
}

/* All hosts share the list of tables. It has room for the tables of two versions of the agent. */
static bool is_one_too_many(struct ingest *ingest, const char *table) {
    for (size_t i = 0; i < ingest->n_tables; i++)
        if (strcmp(ingest->tables[i], table) == 0)
            return false;
    if (ingest->n_tables == INGEST_TABLES_MAX)
        return true;
    snprintf(ingest->tables[ingest->n_tables++], sizeof ingest->tables[0], "%s", table);
    return false;
}

/* The ids are known from an earlier push of the same tables, unless a transaction was rolled back
 * since. */
static bool known_id(const struct ingest *ingest, size_t i, int64_t *ret_id) {
    const struct known_block *block = ingest->block;
    if (block->age != store_table_age(ingest->store))
        return false;
    *ret_id = block->ids[i];
    return true;
}

static void keep_ids(struct ingest *ingest, const int64_t ids[TABLES_MAX]) {
    struct known_block *block = ingest->block;
    for (size_t i = 0; block && i < TABLES_MAX; i++) {
        if (block->tables[i] && ids[i] == TABLE_REFUSED) /* note it once for each host */
            return;
        block->ids[i] = block->tables[i] ? ids[i] : TABLE_REFUSED;
    }
    if (block)
        block->age = store_table_age(ingest->store);
}

static int register_tables(struct ingest *ingest, struct ingest_push *push, struct known_host *host,
                           int64_t ids[TABLES_MAX]) {
    for (size_t i = 0; i < TABLES_MAX; i++) {
        const struct wire_table *t = ingest->reader.tables[i];
        if (!t)
            continue;
        if (ingest->reader.borrowed >> i & 1 && known_id(ingest, i, &ids[i]))
            continue;
        int r = is_one_too_many(ingest, t->name) ? -E2BIG
                                                 : store_table(ingest->store, &t->table, &ids[i]);
        if (r == -EEXIST || r == -E2BIG) {
            ids[i] = TABLE_REFUSED;
            r = refuse_table(ingest, push, host, t->name);
        }
        if (r)
            return r;
    }
    keep_ids(ingest, ids);
    return 0;
}

/* Marks all sampled tables, also those without rows. */
static int write_sampled(struct ingest *ingest, const struct wire_record *frame,
                         const int64_t ids[TABLES_MAX]) {
    int r = 0;
    for (size_t i = 0; i < TABLES_MAX && r == 0; i++)
        if (frame->sampled >> i & 1 && ids[i] != TABLE_REFUSED)
            r = store_sampled(ingest->store, ids[i]);
    return r;
}

static int write_rows(struct ingest *ingest, struct ingest_push *push, struct wire_record *frame,
                      const int64_t ids[TABLES_MAX]) {
    const struct table *table;
    unsigned index;
    struct wire_row row;
    while (wire_frame_row(&ingest->reader, frame, &table, &index, &row)) {
        if (ids[index] == TABLE_REFUSED) {
            push->refused_rows++;
            continue;
        }
        int r = store_row(ingest->store, ids[index], table, &row);
        if (r)
            return r;
        push->rows++;
    }
    return 0;
}

/* Whether the frame is packed and has events alone: they are stored by columns. */
static bool is_of_events(const struct ingest *ingest, const struct wire_record *frame) {
    for (size_t i = 0; i < TABLES_MAX; i++)
        if (frame->sampled >> i & 1 && ingest->reader.tables[i]->table.kind != TABLE_EVENTS)
            return false;
    return frame->packed;
}

static int write_sections(struct ingest *ingest, struct ingest_push *push,
                          struct wire_record *frame, const int64_t ids[TABLES_MAX]) {
    struct wire_section section = {0};
    int r = 0;
    while (r == 0 && wire_next_section(&ingest->reader, frame, &section)) {
        uint64_t n = section.rows;
        if (ids[section.index] == TABLE_REFUSED) {
            push->refused_rows += n;
            continue;
        }
        r = store_section(ingest->store, ids[section.index], &section);
        push->rows += n;
    }
    return r;
}

static int write_frames(struct ingest *ingest, struct ingest_push *push, int64_t stream,
                        const int64_t ids[TABLES_MAX]) {
    for (size_t i = 0; i < ingest->n_frames; i++) {
        struct wire_record frame = ingest->frames[i];
        int r = store_frame(ingest->store, stream, &frame.head);
        if (r == -EALREADY) {
            push->duplicates++;
            continue;
        }
        if (r == 0)
            r = write_sampled(ingest, &frame, ids);
        if (r == 0)
            r = is_of_events(ingest, &frame) ? write_sections(ingest, push, &frame, ids)
                                             : write_rows(ingest, push, &frame, ids);
        if (r)
            return r;
        push->frames++;
    }
    return 0;
}

static int write_clock(struct ingest *ingest, struct ingest_push *push, int64_t stream,
                       struct known_host *host) {
    if (!push->have_clock || !clock_estimate_valid(&push->clock))
        return 0;
    int r = store_clock(ingest->store, stream, &push->clock);
    if (r != STORE_CLOCK_JUMPED)
        return r;
    return note(ingest, push, host, "the %s clock of host %s jumped: was it suspended or moved?",
                "monotonic");
}

static void reset_results(struct ingest_push *push) {
    push->committed = push->frames = push->rows = push->duplicates = push->refused_rows = 0;
    push->note[0] = push->why[0] = '\0';
}

static int need_stream(struct ingest *ingest, struct ingest_push *push, int64_t *ret_stream) {
    int64_t host;
    int r = store_stream(ingest->store, ingest->run, &ingest->reader.stream, &host, ret_stream);
    return r == -EUSERS ? one_too_many(push, "host", STORE_STREAMS_MAX, "streams") : r;
}

int ingest_write(struct ingest *ingest, struct ingest_push *push) {
    struct known_host *host;
    int64_t stream, ids[TABLES_MAX];
    reset_results(push);
    int r = need_host(ingest, push, &host);
    if (r == 0)
        r = need_stream(ingest, push, &stream);
    if (r == 0)
        r = register_tables(ingest, push, host, ids);
    if (r == 0)
        r = write_frames(ingest, push, stream, ids);
    if (r == 0)
        r = write_clock(ingest, push, stream, host);
    if (r == 0 && push->final)
        r = store_settle(ingest->store, stream);
    if (r)
        return r;
    push->committed = store_stream_last_seq(ingest->store, stream);
    push->host_number = (uint64_t)(host - ingest->hosts);
    push->n_hosts = ingest->n_hosts;
    return 0;
}

bool ingest_committed(struct ingest *ingest, const struct ingest_push *push) {
    struct known_host *host = find_host(ingest, push->host);
    if (!host || host->announced || push->frames + push->duplicates == 0)
        return false;
    return host->announced = true;
}
