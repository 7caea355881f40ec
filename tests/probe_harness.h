/* SPDX-License-Identifier: MIT */
/*
 * One probe on one root, for tests, benchmark and fuzzing: opens it, samples it at the times it is
 * told, and answers what a cell of the table holds. Everything is in the instance.
 */
#ifndef CHOKEPOINT_TESTS_PROBE_HARNESS_H
#define CHOKEPOINT_TESTS_PROBE_HARNESS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/job.h"
#include "agent/base/scope.h"
#include "agent/probes/probes.h"
#include "common/clock.h"

struct harness {
    const struct probe *probe;
    char proc[600], sys[600];
    struct scope scope;
    struct job job;
    struct probe_env env;
    struct rows rows;
    void *state;
    char why[256];
    int opened; /* result of the probe's open */
};

/* The environment of <root>/proc and <root>/sys; "" is this machine. Tick 10 ms, page 4 KiB. */
static inline int harness_init(struct harness *h, const char *root, enum scope_kind kind) {
    memset(h, 0, sizeof *h);
    snprintf(h->proc, sizeof h->proc, "%.512s/proc", root);
    snprintf(h->sys, sizeof h->sys, "%.512s/sys", root);
    h->env = (struct probe_env){.proc = h->proc,
                                .sys = h->sys,
                                .host = "host",
                                .scope = &h->scope,
                                .job = &h->job,
                                .ticks_per_s = *root ? 100 : sysconf(_SC_CLK_TCK),
                                .page_size = *root ? 4096 : sysconf(_SC_PAGESIZE),
                                .foreign_processes = 5};
    return scope_open(kind, h->proc, h->sys, &h->scope, h->why, sizeof h->why);
}

static inline int harness_open(struct harness *h, const struct probe *probe) {
    h->probe = probe;
    h->state = calloc(1, probe->state_size);
    h->opened = probe->open(h->state, &h->env, h->why, sizeof h->why);
    if (h->opened == 0 && rows_init(&h->rows, probe->table, probe->max_rows(h->state, &h->env)) < 0)
        abort();
    return h->opened;
}

/* A sample at that instant of CLOCK_MONOTONIC. */
static inline int harness_sample_at(struct harness *h, int64_t mono_ns) {
    h->env.previous_mono_ns = h->env.mono_ns;
    h->env.mono_ns = mono_ns;
    rows_reset(&h->rows);
    return h->probe->sample(h->state, &h->env, &h->rows);
}

static inline int harness_sample(struct harness *h) {
    return harness_sample_at(h, clock_monotonic_ns());
}

/* Keeps a frame with the rows of the last sample, as the sampler does. */
static inline void harness_keep(struct harness *h, uint64_t seq) {
    if (h->probe->keeping)
        h->probe->keeping(h->state, seq);
}

static inline void harness_close(struct harness *h) {
    if (h->probe && h->probe->close && h->state)
        h->probe->close(h->state);
    free(h->state);
    rows_release(&h->rows);
    h->state = NULL;
}

static inline const struct row *harness_row(const struct harness *h, const char *instance) {
    for (size_t i = 0; i < h->rows.n; i++)
        if (strcmp(h->rows.items[i].name, instance) == 0)
            return &h->rows.items[i];
    return NULL;
}

#define HARNESS_NO_ROW (INT64_MIN + 1)

/* The value in that row and column; VALUE_ABSENT as it stands; HARNESS_NO_ROW without such a row.
 */
static inline int64_t harness_value(const struct harness *h, const char *instance,
                                    const char *column) {
    const struct row *row = harness_row(h, instance);
    int at = table_find_column(h->probe->table, column);
    if (at < 0) {
        fprintf(stderr, "table %s has no column %s\n", h->probe->table->name, column);
        abort();
    }
    return row ? row->values[at] : HARNESS_NO_ROW;
}

/* For people: the rows as text. */
static inline void harness_print(const struct harness *h) {
    const struct table *table = h->probe->table;
    for (size_t i = 0; i < h->rows.n; i++) {
        const struct row *row = &h->rows.items[i];
        printf("%s %s%s:", table->name, row->name, row->flags & ROW_BORN ? " (born)" : "");
        for (size_t c = 0; c < table->n_columns; c++)
            if (row->values[c] != VALUE_ABSENT)
                printf(" %s=%lld", table->columns[c].name, (long long)row->values[c]);
        printf("\n");
    }
}

#endif
