/* SPDX-License-Identifier: MIT */
/*
 * A table of hosts and one of pairs. Links in both units that people use: MB/s (10^6 bytes) and
 * Gbit/s (10^9 bits).
 */
#include "reports/model/ceilings.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store.h"
#include "common/error.h"
#include "reports/text/terminal.h"

struct ceiling_column {
    const char *title, *metric;
    double scale;
    bool low; /* the lowest instead */
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

/* Each host (or each ordered pair) once, in the order of first appearance. */
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

/* A round trip is the same from both ends, so it was measured once. */
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

static void set_head(struct text_table *table, const struct ceiling_row *rows, size_t n_rows,
                     bool pairs) {
    text_table_set(table, 0, 0, "%s", pairs ? "from" : "host");
    if (pairs)
        text_table_set(table, 0, 1, "to");
    for (size_t r = 0; r < n_rows; r++) {
        text_table_set(table, r + 1, 0, "%s", rows[r].host);
        if (pairs)
            text_table_set(table, r + 1, 1, "%s", rows[r].peer);
    }
}

static int print_table(FILE *out, const char *title, const struct store_ceiling *list, size_t n,
                       const struct ceiling_column *columns, size_t n_columns, bool pairs) {
    struct ceiling_row *rows = calloc(n + 1, sizeof *rows);
    struct text_table table;
    size_t n_rows = rows ? collect_rows(list, n, pairs, rows) : 0, at = pairs ? 2 : 1;
    if (!rows)
        return -ENOMEM;
    text_table_init(&table, n_rows + 1, n_columns + at);
    if (!table.failed)
        table.left[1] = pairs;
    set_head(&table, rows, n_rows, pairs);
    size_t first = at;
    for (size_t c = 0; c < n_columns; c++) {
        if (!any_value(list, n, &columns[c]))
            continue;
        text_table_set(&table, 0, at, "%s", columns[c].title);
        for (size_t r = 0; r < n_rows; r++) {
            const struct store_ceiling *f = find_either(list, n, &rows[r], columns[c].metric);
            double value = !f ? NAN : columns[c].low ? f->low : f->value;
            text_table_number(&table, r + 1, at, value * columns[c].scale);
        }
        at++;
    }
    free(rows);
    if (at > first && n_rows) {
        fprintf(out, "%s\n", title);
        text_table_print(&table, out, 2);
    }
    text_table_release(&table);
    return 0;
}

int ceilings_print(FILE *out, const struct store_ceiling *list, size_t n) {
    int r = print_table(out, "Hosts (one thread each)", list, n, host_columns,
                        ARRAY_SIZE(host_columns), false);
    if (r == 0)
        r = print_table(out, "Network of each host (TCP)", list, n, network_columns,
                        ARRAY_SIZE(network_columns), false);
    if (r == 0)
        r = print_table(out, "Pairs of hosts (one TCP stream; MPI messages)", list, n, pair_columns,
                        ARRAY_SIZE(pair_columns), true);
    return r < 0 ? r : ferror(out) ? -EIO : 0;
}
