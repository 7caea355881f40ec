/* SPDX-License-Identifier: MIT */
/*
 * bench_pack_age [HOSTS [SECONDS]]: what hosts of 128 cores with 128 processes cost a collector
 * that packs samples as they age: bytes and CPU of a sample at 1 Hz, and of 1,000 such hosts a day.
 * Half of the cores compute and the others are idle, half of the processes compute and the others
 * rest; counters have the steps of the kernel's, with noise. Time is planted, a transaction is a
 * second of all hosts. Beside it the same rows without packing, and the same once more (A/A).
 *
 * Bytes are those of pages in use when all samples are packed. CPU is that of this thread: no HTTP,
 * no TLS.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/store.h"
#include "collector/store_age.h"
#include "collector/store_edit.h"
#include "common/clock.h"
#include "tables/tables.h"

#define CORES 128
#define PROCESSES 128
#define TICK_NS (10 * NS_PER_MS)
#define AFTER_NS (600 * NS_PER_S)
#define STEP_NS (50 * NS_PER_MS)
#define DAY_S 86400.0
#define NODES 1000.0

struct host {
    int64_t stream;
    uint64_t random;
    int64_t cpu[CORES][TABLE_COLUMNS_MAX], process[PROCESSES][TABLE_COLUMNS_MAX];
    int64_t other[8][TABLE_COLUMNS_MAX];
};

struct figures {
    double bytes, write_us, pack_us; /* of a sample */
};

static void die(const char *what, const char *why) {
    fprintf(stderr, "pack_age: %s: %s\n", what, why);
    exit(1);
}

static int64_t below(struct host *host, int64_t n) {
    host->random ^= host->random << 13;
    host->random ^= host->random >> 7;
    host->random ^= host->random << 17;
    return (int64_t)(host->random % (uint64_t)n);
}

static void put(struct store *store, enum table_id table, const char *name, const int64_t *values) {
    struct wire_row row = {.name = {name, strlen(name)}};
    int64_t id = 0;
    memcpy(row.values, values, all_tables[table].n_columns * sizeof *values);
    if (store_table(store, &all_tables[table], &id) ||
        store_row(store, id, &all_tables[table], &row))
        die("row", store_error(store));
}

/* ---- what hosts do ---- */

static void put_cores(struct store *store, struct host *host) {
    char name[16];
    for (int c = 0; c < CORES; c++) {
        int64_t *cpu = host->cpu[c], ticks = NS_PER_S / TICK_NS;
        int64_t other = below(host, 3), busy = c % 2 ? ticks - other : below(host, 2);
        cpu[CPU_USER] += busy * TICK_NS;
        cpu[CPU_SYSTEM] += other * TICK_NS;
        cpu[CPU_IDLE] += (ticks - busy - other) * TICK_NS;
        snprintf(name, sizeof name, "%d", c);
        put(store, TABLE_CPU, name, cpu);
    }
}

static void use(struct host *host, int64_t *process) {
    int64_t system = below(host, 2000000);
    process[PROCESS_USER] += NS_PER_S - system - below(host, 5000000);
    process[PROCESS_SYSTEM] += system;
    process[PROCESS_RUN_QUEUE] += below(host, 1000000);
    process[PROCESS_MINOR_FAULTS] += below(host, 20);
    process[PROCESS_VOLUNTARY_SWITCHES] += below(host, 50);
    process[PROCESS_INVOLUNTARY_SWITCHES] += below(host, 30);
    if (below(host, 4) == 0)
        process[PROCESS_RSS] += 4096 * (below(host, 200) - 90);
}

static void put_processes(struct store *store, struct host *host) {
    char name[32];
    for (int p = 0; p < PROCESSES; p++) {
        if (p % 2)
            use(host, host->process[p]);
        snprintf(name, sizeof name, "%s[%d]", p % 2 ? "solver" : "helper", 4000 + p);
        put(store, TABLE_PROCESS, name, host->process[p]);
    }
}

/* All columns of the other tables move: levels to and fro, counters by some hundreds. */
static void put_others(struct store *store, struct host *host) {
    static const struct {
        enum table_id table;
        const char *name;
    } rows[] = {{TABLE_MEMORY, "memory"}, {TABLE_VMSTAT, "vmstat"}, {TABLE_NET, "eth0"},
                {TABLE_NET, "ib0"},       {TABLE_DISK, "nvme0n1"},  {TABLE_PSI, "cpu"},
                {TABLE_PSI, "io"},        {TABLE_PSI, "memory"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct table *table = &all_tables[rows[i].table];
        for (size_t c = 0; c < table->n_columns; c++)
            host->other[i][c] += table->columns[c].kind == COLUMN_COUNTER
                                     ? below(host, 2000)
                                     : 4096 * (below(host, 100) - 45);
        put(store, rows[i].table, rows[i].name, host->other[i]);
    }
}

static void begin_host(struct store *store, int64_t run, struct host *host, int n) {
    struct wire_stream stream = {.stream_id = 7 + (uint64_t)n, .period_ns = NS_PER_S};
    int64_t id;
    memset(host, 0, sizeof *host);
    host->random = 88172645463325252u + (uint64_t)n * 7919;
    for (int p = 0; p < PROCESSES; p++) {
        int64_t *process = host->process[p];
        process[PROCESS_PID] = 4000 + p;
        process[PROCESS_JOB] = 1;
        process[PROCESS_START] = 1000000007 * (int64_t)p;
        process[PROCESS_RSS] = 4096 * (10000 + below(host, 1000));
        process[PROCESS_RANK] = p % 2 ? p / 2 : VALUE_ABSENT;
        process[PROCESS_PARENT] = 3999;
        process[PROCESS_THREADS] = 1;
        process[PROCESS_CORES] = CORES;
    }
    for (size_t i = 0; i < 8; i++)
        for (size_t c = 0; c < TABLE_COLUMNS_MAX; c++)
            host->other[i][c] = INT64_C(1) << 40;
    snprintf(stream.host, sizeof stream.host, "node%d", n);
    snprintf(stream.boot_id, sizeof stream.boot_id, "11111111-1111-1111-1111-111111111111");
    if (store_stream(store, run, &stream, &id, &host->stream))
        die("stream", store_error(store));
}

static void write_second(struct store *store, struct host *hosts, int n, int64_t second) {
    if (store_begin(store))
        die("begin", store_error(store));
    for (int h = 0; h < n; h++) {
        struct frame_head head = {.seq = (uint64_t)second + 1,
                                  .mono_ns = (100 + second) * NS_PER_S,
                                  .wall_ns = (1700000000 + second) * NS_PER_S};
        if (store_frame(store, hosts[h].stream, &head))
            die("frame", store_error(store));
        put_cores(store, &hosts[h]);
        put_processes(store, &hosts[h]);
        put_others(store, &hosts[h]);
    }
    if (store_commit(store))
        die("commit", store_error(store));
}

/* ---- measuring ---- */

static int64_t pack(struct aging *aging, int64_t now_ns) {
    int64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    while (aging && aging_is_due(aging, now_ns))
        if (aging_step(aging, clock_monotonic_ns(), STEP_NS))
            die("pack", "it failed");
    return clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
}

static struct figures record(const char *path, int n, int64_t seconds, bool packs) {
    struct run_begin begin = {.command = "bench", .period_ns = NS_PER_S};
    struct host *hosts = calloc((size_t)n, sizeof *hosts);
    struct aging *aging = NULL;
    struct store *store;
    char why[256];
    struct stat st;
    int64_t run, write_ns = 0, pack_ns = 0, free_bytes = 0;
    if (!hosts || store_open_write(path, &store, why, sizeof why) ||
        store_run_begin(store, &begin, &run) || (packs && aging_new(store, run, AFTER_NS, &aging)))
        die("open", path);
    for (int h = 0; h < n; h++)
        begin_host(store, run, &hosts[h], h);
    for (int64_t s = 0; s < seconds; s++) {
        int64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        write_second(store, hosts, n, s);
        write_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
        pack_ns += pack(aging, s * NS_PER_S);
    }
    double samples = (double)n * (double)seconds;
    for (int64_t later = 1; later <= 3; later++)
        pack_ns += pack(aging, seconds * NS_PER_S + later * AFTER_NS);
    aging_free(aging);
    if (store_free_bytes(store, &free_bytes))
        die("free pages", store_error(store));
    store_close(store);
    free(hosts);
    if (stat(path, &st) < 0)
        die("stat", path);
    unlink(path);
    return (struct figures){.bytes = (double)(st.st_size - free_bytes) / samples,
                            .write_us = (double)write_ns / samples / 1e3,
                            .pack_us = (double)pack_ns / samples / 1e3};
}

static void print(const char *what, struct figures f) {
    printf("%-28s %7.0f bytes a sample, %5.0f GB a day of 1,000 hosts; CPU of a sample: %4.0f us "
           "written, %4.0f us packed\n",
           what, f.bytes, f.bytes * NODES * DAY_S / 1e9, f.write_us, f.pack_us);
    fflush(stdout);
}

int main(int argc, char **argv) {
    int hosts = argc > 1 ? atoi(argv[1]) : 3;
    int64_t seconds = argc > 2 ? atol(argv[2]) : 2400;
    char directory[] = "/tmp/pack-age-XXXXXX", path[64];
    if (hosts < 1 || hosts > 1000 || seconds < 1 || !mkdtemp(directory))
        die("usage", "bench_pack_age [HOSTS [SECONDS]]");
    snprintf(path, sizeof path, "%s/runs.db", directory);
    print("rows", record(path, hosts, seconds, false));
    print("packed as they age", record(path, hosts, seconds, true));
    print("the same once more (A/A)", record(path, hosts, seconds, true));
    return rmdir(directory) != 0;
}
