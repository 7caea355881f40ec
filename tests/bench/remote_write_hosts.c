/* SPDX-License-Identifier: MIT */
/*
 * bench_remote_write_hosts DATABASE [HOSTS=100 [SECONDS=30 [HZ=1 [--live]]]]: records made-up hosts
 * with 288 series each that are sent to engines (16 cores, 8 GPUs, two disks, three interfaces):
 * all at once, or --live, a second of all hosts each second. bench/remote_write.py sends them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collector/store.h"
#include "common/clock.h"
#include "common/error.h"
#include "tables/tables.h"

#define HOSTS_MAX 1000

static const struct {
    enum table_id table;
    int n;
    const char *name;
} parts[] = {
    {TABLE_CPU, 16, "cpu#"},        {TABLE_MEMORY, 1, "memory"},
    {TABLE_VMSTAT, 1, "vm"},        {TABLE_PSI, 3, "cpu\0memory\0io"},
    {TABLE_LOAD, 1, "host"},        {TABLE_CGROUP, 1, "/job"},
    {TABLE_NET, 3, "eth#"},         {TABLE_DISK, 2, "sd#"},
    {TABLE_GPU, 8, "gpu#"},         {TABLE_ENERGY, 4, "package-#"},
    {TABLE_FILESYSTEM, 4, "/mnt#"},
};

static struct store *store;
static int64_t ids[ARRAY_SIZE(parts)], streams[HOSTS_MAX], begin_ns, period_ns;

static void check(int result, const char *what) {
    if (result) {
        fprintf(stderr, "remote_write_hosts: %s: %s\n", what,
                store ? store_error(store) : strerror(-result));
        exit(1);
    }
}

/* The first host is limited: it lacks cores, memory, disks and GPU power; the others lack nothing.
 * share: of the time, for counters of it; level: in base units. 0: any number. */
static const struct planted {
    enum table_id table;
    size_t column;
    double first, others;
} plants[] = {
    {TABLE_CPU, CPU_USER, .95, .3},
    {TABLE_CPU, CPU_IDLE, .05, .7},
    {TABLE_CPU, CPU_IOWAIT, 0, 0},
    {TABLE_PSI, PSI_SOME, .8, .02},
    {TABLE_MEMORY, MEMORY_TOTAL, 64e9, 64e9},
    {TABLE_MEMORY, MEMORY_AVAILABLE, 2e9, 40e9},
    {TABLE_CGROUP, CGROUP_MEMORY, 9.9e9, 5e9},
    {TABLE_CGROUP, CGROUP_MEMORY_LIMIT, 10e9, 10e9},
    {TABLE_CGROUP, CGROUP_LIMIT_HITS, 1, 0},
    {TABLE_GPU, GPU_POWER_CAP, .5, 0},
    {TABLE_GPU, GPU_HEAT_CAP, .1, 0},
    {TABLE_GPU, GPU_LOST, 1, 0},
};

static int64_t value_of(const struct table *table, size_t c, uint64_t n, int host, int i) {
    double t_ns = (double)n * (double)period_ns;
    for (size_t p = 0; p < ARRAY_SIZE(plants); p++) {
        double planted = host ? plants[p].others : plants[p].first;
        if (table != &all_tables[plants[p].table] || c != plants[p].column)
            continue;
        return (int64_t)(table->columns[c].kind == COLUMN_LEVEL ? planted : planted * t_ns);
    }
    return (int64_t)(n * 10000000 + n * (uint64_t)(host + i) * 977 + c * 31);
}

/* Names of resources follow each other; the others have a number. */
static void name_row(size_t p, int i, char *name, size_t size) {
    const char *from = parts[p].name;
    char number[12];
    bool numbered = strchr(from, '#');
    for (int skip = numbered ? 0 : i; skip; skip--)
        from += strlen(from) + 1;
    snprintf(number, sizeof number, "%d", i);
    snprintf(name, size, "%.*s%s", (int)strcspn(from, "#"), from, numbered ? number : "");
}

static void put_rows(size_t p, uint64_t n, int host) {
    const struct table *table = &all_tables[parts[p].table];
    for (int i = 0; i < parts[p].n; i++) {
        char name[32];
        struct wire_row row = {0};
        name_row(p, i, name, sizeof name);
        row.name = (struct span){name, strlen(name)};
        for (size_t c = 0; c < table->n_columns; c++)
            row.values[c] = value_of(table, c, n, host, i);
        check(store_row(store, ids[p], table, &row), "row");
    }
}

static void put_frame(uint64_t n, int host) {
    int64_t t_ns = begin_ns + (int64_t)n * period_ns + host * NS_PER_US;
    struct frame_head head = {.seq = n + 1, .mono_ns = t_ns, .wall_ns = t_ns};
    check(store_frame(store, streams[host], &head), "frame");
    for (size_t p = 0; p < ARRAY_SIZE(parts); p++)
        put_rows(p, n, host);
}

static void begin(const char *path, int hosts, int64_t *ret_run) {
    char why[256];
    struct run_begin run = {.command = "bench", .period_ns = period_ns};
    int r = store_open_write(path, &store, why, sizeof why);
    if (r) {
        fprintf(stderr, "remote_write_hosts: %s\n", why);
        exit(1);
    }
    run.wall_ns = run.mono_ns = begin_ns;
    check(store_run_begin(store, &run, ret_run), "run");
    for (int h = 0; h < hosts; h++) {
        struct wire_stream stream = {.stream_id = (uint64_t)begin_ns + (uint64_t)h + 1,
                                     .period_ns = period_ns};
        int64_t host;
        snprintf(stream.host, sizeof stream.host, "node%03d", h);
        snprintf(stream.boot_id, sizeof stream.boot_id, "11111111-1111-1111-1111-%012d", h);
        check(store_stream(store, *ret_run, &stream, &host, &streams[h]), "stream");
    }
    for (size_t p = 0; p < ARRAY_SIZE(parts); p++)
        check(store_table(store, &all_tables[parts[p].table], &ids[p]), "table");
}

/* ids of tables are good until a rollback, so for all transactions. */
int main(int argc, char **argv) {
    int hosts = argc > 2 ? atoi(argv[2]) : 100, seconds = argc > 3 ? atoi(argv[3]) : 30,
        hz = argc > 4 ? atoi(argv[4]) : 1;
    bool live = argc > 5 && strcmp(argv[5], "--live") == 0;
    if (argc < 2 || hosts < 1 || hosts > HOSTS_MAX || seconds < 1 || hz < 1)
        return fputs("remote_write_hosts: DATABASE [HOSTS [SECONDS [HZ [--live]]]]\n", stderr), 2;
    int64_t run, duration_ns = seconds * NS_PER_S;
    period_ns = NS_PER_S / hz;
    begin_ns = clock_wall_ns() - (live ? 0 : duration_ns);
    begin(argv[1], hosts, &run);
    puts("begun");
    fflush(stdout);
    for (int s = 0; s < seconds; s++) {
        int64_t until_ns = begin_ns + (s + 1) * NS_PER_S;
        struct timespec until = {until_ns / NS_PER_S, until_ns % NS_PER_S};
        if (live)
            clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL);
        check(store_begin(store), "begin");
        for (int i = 0; i < hz; i++)
            for (int h = 0; h < hosts; h++)
                put_frame((uint64_t)(s * hz + i), h);
        check(store_commit(store), "commit");
    }
    int64_t end_ns = begin_ns + duration_ns;
    check(store_run_end(store, run, RUN_DONE, 0, end_ns, end_ns), "end");
    store_close(store);
    return 0;
}
