/* SPDX-License-Identifier: MIT */
/*
 * Measured limits of hosts and links (`chokepoint calibrate`): a table of hosts and one of pairs
 * for readers, one of all figures for programs. Rates of links have both common units: MB/s (10^6
 * bytes) and Gbit/s (10^9 bits).
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store.h"
#include "common/error.h"
#include "reports/sections/sections.h"

struct ceiling_column {
    const char *title, *metric;
    double scale;
    bool low; /* takes the lowest */
};

static const struct ceiling_column host_columns[] = {
    {"core (Msteps/s)", "cpu_core", 1, false},
    {"memory copy (MB/s)", "memory_copy", 1, false},
    {"disk read (MB/s)", "disk_read", 1, false},
    {"disk write (MB/s)", "disk_write", 1, false},
};

static const struct ceiling_column network_columns[] = {
    {"to all (MB/s)", "net_egress", 1, false},
    {"(Gbit/s)", "net_egress", 8e-3, false},
    {"from all (MB/s)", "net_ingress", 1, false},
    {"(Gbit/s)", "net_ingress", 8e-3, false},
};

static const struct ceiling_column pair_columns[] = {
    {"TCP (MB/s)", "net_pair", 1, false},       {"(Gbit/s)", "net_pair", 8e-3, false},
    {"RTT min (us)", "net_rtt", 1, true},       {"median (us)", "net_rtt", 1, false},
    {"MPI (us)", "mpi_latency", 1, false},      {"MPI (MB/s)", "mpi_bandwidth", 1, false},
    {"(Gbit/s)", "mpi_bandwidth", 8e-3, false},
};

static bool same(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static const struct store_ceiling *find(const struct store_ceiling *list, size_t n,
                                        const char *host, const char *peer, const char *metric) {
    for (size_t i = 0; i < n; i++)
        if (same(list[i].metric, metric) && same(list[i].host, host) && same(list[i].peer, peer))
            return &list[i];
    return NULL;
}

struct ceiling_row {
    const char *host, *peer;
};

/* Lists each host (or each ordered pair) once, in the order of first appearance. */
static size_t collect_rows(const struct store_ceiling *list, size_t n, bool pairs,
                           struct ceiling_row *rows) {
    size_t n_rows = 0;
    for (size_t i = 0; i < n; i++) {
        struct ceiling_row row = {list[i].host, pairs ? list[i].peer : NULL};
        size_t k = 0;
        while (k < n_rows && !(same(rows[k].host, row.host) && same(rows[k].peer, row.peer)))
            k++;
        if (k == n_rows && (list[i].peer != NULL) == pairs)
            rows[n_rows++] = row;
    }
    return n_rows;
}

/* A round trip is measured from one end only, since it is the same from both. */
static const struct store_ceiling *find_either(const struct store_ceiling *list, size_t n,
                                               const struct ceiling_row *row, const char *metric) {
    const struct store_ceiling *found = find(list, n, row->host, row->peer, metric);
    bool both_ways = strcmp(metric, "net_rtt") == 0 || strcmp(metric, "mpi_latency") == 0;
    return !found && row->peer && both_ways ? find(list, n, row->peer, row->host, metric) : found;
}

static bool any_value(const struct store_ceiling *list, size_t n,
                      const struct ceiling_column *column) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].metric, column->metric) == 0)
            return true;
    return false;
}

/* ---- for readers ---- */

static void put_measured_row(struct report_table *table, const struct store_ceiling *list, size_t n,
                             const struct ceiling_row *of,
                             const struct ceiling_column *const *columns) {
    size_t row = table_add(table, NULL), first = of->peer ? 2 : 1;
    table_borrow(table, row, 0, of->host);
    if (of->peer)
        table_borrow(table, row, 1, of->peer);
    for (size_t c = first; c < table->n_columns; c++) {
        const struct ceiling_column *column = columns[c - first];
        const struct store_ceiling *f = find_either(list, n, of, column->metric);
        table_number(table, row, c, (!f ? NAN : column->low ? f->low : f->value) * column->scale);
    }
}

#define COLUMNS_MAX 8

static void put_ceiling_table(struct page *page, const char *title,
                              const struct store_ceiling *list, size_t n,
                              const struct ceiling_column *columns, size_t n_columns, bool pairs) {
    static const struct report_column names[] = {{KIND_TEXT, NULL, "from", COMPUTED},
                                                 {KIND_TEXT, NULL, "to", COMPUTED}},
                                      host = {KIND_TEXT, NULL, "host", COMPUTED};
    const struct ceiling_column *known[COLUMNS_MAX];
    struct ceiling_row *rows = calloc(n + 1, sizeof *rows);
    size_t n_rows = rows ? collect_rows(list, n, pairs, rows) : 0, n_known = 0;
    struct report_table table;
    table_init(&table, NULL, NULL, pairs ? names : &host, pairs ? 2 : 1);
    table.failed |= !rows;
    table_title(&table, "%s", title);
    for (size_t c = 0; c < n_columns; c++)
        if (any_value(list, n, &columns[c])) {
            known[n_known++] = &columns[c];
            table_add_number_column(&table, columns[c].title, NULL);
        }
    for (size_t r = 0; n_known && r < n_rows; r++)
        put_measured_row(&table, list, n, &rows[r], known);
    page_table(page, &table);
    free(rows);
}

void ceilings_put(struct page *page, const struct store_ceiling *list, size_t n) {
    put_ceiling_table(page, "Hosts (one thread each)", list, n, host_columns,
                      ARRAY_SIZE(host_columns), false);
    put_ceiling_table(page, "Network of each host (TCP)", list, n, network_columns,
                      ARRAY_SIZE(network_columns), false);
    put_ceiling_table(page, "Pairs of hosts (one TCP stream; MPI messages)", list, n, pair_columns,
                      ARRAY_SIZE(pair_columns), true);
}

/* ---- for programs ---- */

static const struct report_column all_columns[] = {
    {KIND_TEXT, "host", FIELD(store_ceiling, host)},
    {KIND_TEXT, "peer", FIELD(store_ceiling, peer)},
    {KIND_TEXT, "metric", FIELD(store_ceiling, metric)},
    {KIND_TEXT, "unit", FIELD(store_ceiling, unit)},
    {KIND_NUMBER, "value", FIELD(store_ceiling, value)},
    {KIND_NUMBER, "low", FIELD(store_ceiling, low)},
    {KIND_NUMBER, "high", FIELD(store_ceiling, high)},
    {KIND_INSTANT, "measured_at", FIELD(store_ceiling, measured_wall_ns)},
    {KIND_TEXT, "how", FIELD(store_ceiling, how)},
};

void ceilings_put_document(struct page *page, const struct store_ceiling *list, size_t n) {
    struct report_table table;
    TABLE_INIT(&table, "ceilings", NULL, all_columns);
    TABLE_ADD_ALL(&table, list, n);
    table.audience = FOR_DOCUMENT;
    page_table(page, &table);
}

/* Ceilings of the hosts of the run, and of links that begin at one of them. */
void section_ceilings(const struct report *report, struct page *page) {
    const struct report_input *input = &report->run->input;
    struct store_ceiling *own = calloc(input->n_ceilings + 1, sizeof *own);
    size_t n = 0;
    page->error = page->error || own ? page->error : -ENOMEM;
    for (size_t i = 0; own && i < input->n_ceilings; i++)
        if (report_host_named(input, input->ceilings[i].host) >= 0)
            own[n++] = input->ceilings[i];
    ceilings_put_document(page, own, n);
    free(own);
}
