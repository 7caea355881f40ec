/* SPDX-License-Identifier: MIT */
/* The tables that are sent of a host; the first ones come first where a host has more than
 * REMOTE_SERIES_MAX series. Processes, ranks, connections and calls stay in the database. */
#ifndef CHOKEPOINT_CLI_REMOTE_HOSTS_H
#define CHOKEPOINT_CLI_REMOTE_HOSTS_H

#include "tables/tables.h"

#define REMOTE_SERIES_MAX 300
#define REMOTE_COLUMNS_MAX 48
#define REMOTE_TABLES 12

struct remote_table {
    const struct table *table;
    bool summed;                        /* over the instances of a host, as instance "all": cores */
    uint64_t left_out;                  /* columns that are not sent */
    char names[REMOTE_COLUMNS_MAX][96]; /* of the series; of a summed table REMOTE_SUMS more */
};

/* Counters that are made of the columns of cores, since machines and groups know different ones:
 * time at work, and all time that passed on them. */
enum { REMOTE_BUSY, REMOTE_PASSED, REMOTE_SUMS };
void remote_sum_cores(const int64_t values[CPU_COLUMNS], int64_t ret_sums[REMOTE_SUMS]);

/* tables[i].table of store_follow_open is remote_tables[i].table. */
void remote_tables_fill(struct remote_table tables[REMOTE_TABLES]);

/* How many columns are sent, such sums included. */
size_t remote_table_columns(const struct remote_table *table);

#endif
