/* SPDX-License-Identifier: MIT */
/*
 * Makes recordings nobody would have the cluster for, through the store's own library, and takes
 * the time and memory that a command needs:
 *
 *     bench_analysis_speed make DB HOSTS CORES SECONDS RANKS ITERATIONS_S star|ring
 *     bench_analysis_speed live DB HOSTS CORES SECONDS RANKS: the same while its seconds pass
 *     bench_analysis_speed time COMMAND...   prints: wall_s cpu_s peak_mb exit_status
 *
 * Samples at 10 Hz of every table that analysis reads, RANKS ranks a host; ITERATIONS_S > 0: so
 * many iterations a second, as single MPI calls, of a parameter server with all others as its
 * workers (star), or of ranks that exchange with their neighbours all at once and then add up
 * (ring). Numbers are drawn from a fixed seed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/facts/recording/recording.h"
#include "collector/store.h"
#include "common/clock.h"

#define PERIOD_NS (100 * NS_PER_MS)
#define FRAMES_A_COMMIT 10 /* for each host: agents push once a second */
#define CPU_KNOWN (64 | 128)

static void die(const char *what, const char *why) {
    fprintf(stderr, "analysis_speed: %s: %s\n", what, why);
    exit(1);
}

/* ---- tables ---- */

struct made_table {
    struct table table;
    int64_t id;
    size_t instances; /* of each host */
};

struct maker {
    struct store *store;
    int64_t run;
    size_t n_hosts, n_cores, n_ranks;
    int64_t n_frames;
    double iterations_s;
    bool ring;
    int64_t live_ns; /* when a growing recording began (monotonic); 0: made at once */
    struct made_table tables[RECORDING_COUNT_];
    uint64_t random;
};

static uint64_t draw(struct maker *m, uint64_t below) {
    m->random = m->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (m->random >> 33) % below;
}

static size_t instances_of(const struct maker *m, int table) {
    if (all_tables[table].kind == TABLE_EVENTS || !recording_columns[table].n)
        return 0;
    switch (table) {
    case RECORDING_CPU:
        return m->n_cores;
    case RECORDING_PSI:
        return 3;
    case RECORDING_DISK:
    case RECORDING_NET:
    case RECORDING_QDISC:
        return 2;
    case RECORDING_PROCESS:
        return m->n_ranks + 2;
    case RECORDING_RANK:
    case RECORDING_MPI:
        return m->n_ranks;
    case RECORDING_CONNECTION:
        return m->n_ranks * 2;
    case RECORDING_GPU:
    case RECORDING_GPU_PROCESS:
        return 0;
    default:
        return 1;
    }
}

static void make_tables(struct maker *m) {
    for (int t = 0; t < RECORDING_COUNT_; t++) {
        struct made_table *to = &m->tables[t];
        to->table = all_tables[t];
        to->table.n_columns = recording_columns[t].n;
        to->instances = instances_of(m, t);
    }
}

/* ---- samples ---- */

/* Idle and busy time of a core add up, and no counter steps back. */
static int64_t counter_at(struct maker *m, int table, size_t column, int64_t frame) {
    if (table == RECORDING_CPU && column > CPU_IDLE)
        return 0;
    int64_t share = table == RECORDING_CPU ? 20 + 20 * (int64_t)column : 10;
    return frame * PERIOD_NS / 100 * share + (int64_t)draw(m, (uint64_t)PERIOD_NS / 100);
}

static int64_t level_at(struct maker *m, int table, size_t column, size_t host, size_t instance) {
    if (table == RECORDING_PROCESS && column == PROCESS_RANK)
        return instance < m->n_ranks ? (int64_t)(host * m->n_ranks + instance) : -1;
    if (table == RECORDING_PROCESS && column == PROCESS_JOB)
        return instance < m->n_ranks;
    if (table == RECORDING_PROCESS && column == PROCESS_START)
        return NS_PER_S / 2;
    bool pid = strcmp(all_tables[table].columns[column].name, "pid") == 0;
    bool rank = strcmp(all_tables[table].columns[column].name, "rank") == 0;
    if (pid)
        return 1000 + (int64_t)(instance % (m->n_ranks + 2));
    if (rank)
        return (int64_t)(host * m->n_ranks + instance);
    return (int64_t)1000000000 * (int64_t)(column + 1) + (int64_t)draw(m, 1000000);
}

static void put(struct maker *m, const struct made_table *to, const char *name,
                const int64_t *values) {
    struct wire_row row = {.flags = 0, .name = {name, strlen(name)}};
    memcpy(row.values, values, to->table.n_columns * sizeof *values);
    if (store_row(m->store, to->id, &to->table, &row))
        die("row", store_error(m->store));
}

static void sample(struct maker *m, size_t host, int64_t frame) {
    static const char *const psi[] = {"cpu", "memory", "io"};
    for (int t = 0; t < RECORDING_COUNT_; t++) {
        struct made_table *to = &m->tables[t];
        for (size_t i = 0; i < to->instances; i++) {
            int64_t values[RECORDING_COLUMNS_MAX];
            char name[32];
            for (size_t c = 0; c < to->table.n_columns; c++)
                values[c] = to->table.columns[c].kind == COLUMN_LEVEL ? level_at(m, t, c, host, i)
                                                                      : counter_at(m, t, c, frame);
            snprintf(name, sizeof name, "%s%zu", to->table.name, i);
            put(m, to, t == RECORDING_PSI ? psi[i] : name, values);
        }
    }
}

static void begin(struct maker *m) {
    if (store_begin(m->store))
        die("begin", store_error(m->store));
    for (int t = 0; t < RECORDING_COUNT_; t++)
        if (m->tables[t].instances && store_table(m->store, &m->tables[t].table, &m->tables[t].id))
            die("table", store_error(m->store));
}

static void commit(struct maker *m) {
    if (store_commit(m->store))
        die("commit", store_error(m->store));
}

static int64_t open_stream(struct maker *m, size_t host, uint64_t id, int64_t period_ns) {
    struct wire_stream stream = {.stream_id = id, .period_ns = period_ns};
    struct clock_estimate clock = {.mono_ns = NS_PER_S, .offset_ns = 0, .error_ns = 20000};
    int64_t host_id, ret;
    snprintf(stream.host, sizeof stream.host, "vm%zu", host + 1);
    if (store_stream(m->store, m->run, &stream, &host_id, &ret) ||
        store_clock(m->store, ret, &clock) < 0)
        die("stream", store_error(m->store));
    return ret;
}

static void frame_of(struct maker *m, int64_t stream, uint64_t seq, int64_t t_ns) {
    struct frame_head head = {.seq = seq, .mono_ns = t_ns, .wall_ns = t_ns};
    if (store_frame(m->store, stream, &head))
        die("frame", store_error(m->store));
}

/* Waits until that frame is due. */
static void await(const struct maker *m, int64_t frame) {
    int64_t due_ns = m->live_ns + frame * PERIOD_NS;
    const struct timespec due = {.tv_sec = due_ns / NS_PER_S, .tv_nsec = due_ns % NS_PER_S};
    while (m->live_ns && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
        ;
}

static void make_samples(struct maker *m) {
    int64_t *streams = calloc(m->n_hosts, sizeof *streams);
    if (!streams)
        die("memory", strerror(errno));
    begin(m);
    for (size_t h = 0; h < m->n_hosts; h++)
        streams[h] = open_stream(m, h, 1, PERIOD_NS);
    commit(m);
    for (int64_t f = 0; f <= m->n_frames; f++) {
        if (f % FRAMES_A_COMMIT == 0)
            begin(m);
        for (size_t h = 0; h < m->n_hosts; h++) {
            frame_of(m, streams[h], (uint64_t)f + 1, NS_PER_S + f * PERIOD_NS);
            sample(m, h, f);
        }
        if (f % FRAMES_A_COMMIT != FRAMES_A_COMMIT - 1 && f != m->n_frames)
            continue;
        await(m, f);
        commit(m);
    }
    free(streams);
}

/* ---- calls ---- */

struct call_maker {
    struct maker *m;
    struct made_table to;
    int64_t sequence, last_end;
    size_t rank;
};

static void call_with(struct call_maker *c, const char *name, size_t peer, int64_t begin_ns,
                      int64_t end_ns, int64_t bytes, int64_t site, int64_t flags) {
    int64_t gap = begin_ns - c->last_end;
    struct wire_row row = {.name = {name, strlen(name)}};
    int64_t values[CALL_COLUMNS] = {[CALL_RANK] = (int64_t)c->rank,
                                    [CALL_PID] = 1000,
                                    [CALL_SEQUENCE] = ++c->sequence,
                                    [CALL_START_NS] = begin_ns,
                                    [CALL_DURATION_NS] = end_ns - begin_ns,
                                    [CALL_COMM_ID] = 0,
                                    [CALL_PEER] = (int64_t)peer,
                                    [CALL_TAG] = 7,
                                    [CALL_BYTES] = bytes,
                                    [CALL_CPU_NS] = 10000,
                                    [CALL_GAP_CPU_NS] = gap,
                                    [CALL_INSIDE_NS] = VALUE_ABSENT,
                                    [CALL_POLLS] = VALUE_ABSENT,
                                    [CALL_FLAG_BITS] = CPU_KNOWN | flags,
                                    [CALL_THREAD] = 0,
                                    [CALL_SITE] = site};
    memcpy(row.values, values, sizeof values);
    c->last_end = end_ns;
    if (store_row(c->m->store, c->to.id, &c->to.table, &row))
        die("call", store_error(c->m->store));
}

static void call(struct call_maker *c, const char *name, size_t peer, int64_t begin_ns,
                 int64_t end_ns, int64_t bytes, int64_t site) {
    call_with(c, name, peer, begin_ns, end_ns, bytes, site, 0);
}

/* Workers compute for 60 % of an iteration and send, and the server answers one after the other. */
static void star_iteration(struct call_maker *c, int64_t t, int64_t length) {
    size_t workers = c->m->n_hosts * c->m->n_ranks - 1;
    int64_t sent = t + length * 6 / 10, each = length * 3 / 10 / (int64_t)(2 * workers + 2);
    for (size_t w = 1; w <= workers; w++) {
        int64_t got = sent + (int64_t)w * each, back = got + (int64_t)(workers + 1) * each;
        if (c->rank == w) {
            call(c, "MPI_Send", 0, sent, got, 200000, 1);
            call(c, "MPI_Recv", 0, got + 1000, back, 200000, 2);
        } else if (c->rank == 0) {
            call(c, "MPI_Recv", w, got - each + 1000, got, 200000, 3);
        }
    }
    for (size_t w = 1; c->rank == 0 && w <= workers; w++) {
        int64_t back = sent + (int64_t)(w + workers + 1) * each;
        call(c, "MPI_Send", w, back - each + 1000, back - 500, 200000, 4);
    }
}

/* When a rank has computed: after 50 to 60 % of an iteration, different each time. */
static int64_t ready_at(size_t rank, int64_t t, int64_t length) {
    uint64_t drawn =
        ((uint64_t)t + rank * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(6364136223846793005);
    return t + length / 2 + (int64_t)((drawn >> 33) % (uint64_t)(length / 10));
}

/* All send to the right and receive from the left at once, which takes 20 %; then all sum up. */
static void ring_iteration(struct call_maker *c, int64_t t, int64_t length) {
    size_t n = c->m->n_hosts * c->m->n_ranks, right = (c->rank + 1) % n;
    size_t left = (c->rank + n - 1) % n;
    int64_t begin = ready_at(c->rank, t, length), from = ready_at(left, t, length);
    int64_t to = ready_at(right, t, length), later = from > to ? from : to;
    int64_t end = (later > begin ? later : begin) + length / 5;
    call(c, "MPI_Sendrecv", right, begin, end, 200000, 1);
    call_with(c, "MPI_Sendrecv", left, begin, end, 200000, 1, MPI_FLAG_PART);
    call(c, "MPI_Allreduce", (size_t)-1, end + 1000, t + length * 85 / 100, 8, 2);
}

static void make_calls(struct maker *m) {
    struct call_maker c = {.m = m};
    int64_t length = (int64_t)(1e9 / m->iterations_s);
    c.to.table = all_tables[TABLE_CALL];
    for (size_t h = 0; h < m->n_hosts; h++) {
        begin(m);
        if (store_table(m->store, &c.to.table, &c.to.id))
            die("table", store_error(m->store));
        int64_t stream = open_stream(m, h, 2, 0);
        for (size_t r = 0; r < m->n_ranks; r++) {
            int64_t end = NS_PER_S + m->n_frames * PERIOD_NS;
            c.rank = h * m->n_ranks + r;
            c.sequence = 0;
            c.last_end = NS_PER_S;
            frame_of(m, stream, r + 1, end + (int64_t)r);
            call(&c, "MPI_Init", 0, NS_PER_S + 1, NS_PER_S + 2, 0, 5);
            for (int64_t t = NS_PER_S + 1000000; t + length < end; t += length)
                (m->ring ? ring_iteration : star_iteration)(&c, t, length);
        }
        commit(m);
    }
}

/* ---- the verbs ---- */

static int make(char **args, bool live) {
    struct maker m = {.n_hosts = strtoul(args[1], NULL, 10),
                      .n_cores = strtoul(args[2], NULL, 10),
                      .n_frames = strtol(args[3], NULL, 10) * NS_PER_S / PERIOD_NS,
                      .n_ranks = strtoul(args[4], NULL, 10),
                      .iterations_s = strtod(args[5], NULL),
                      .ring = strcmp(args[6], "ring") == 0,
                      .live_ns = live ? clock_monotonic_ns() : 0,
                      .random = 1};
    int64_t wall_ns = live ? clock_wall_ns() : NS_PER_S;
    struct run_begin run = {
        .command = "synthetic", .wall_ns = wall_ns, .mono_ns = NS_PER_S, .period_ns = PERIOD_NS};
    char why[256] = "";
    if (!m.n_hosts || !m.n_cores || m.n_frames < 1)
        die("usage", "make DB HOSTS CORES SECONDS RANKS ITERATIONS_S star|ring");
    if (store_open_write(args[0], &m.store, why, sizeof why))
        die(args[0], why);
    if (store_run_begin(m.store, &run, &m.run) ||
        store_run_command_started(m.store, m.run, wall_ns, NS_PER_S))
        die("run", store_error(m.store));
    make_tables(&m);
    make_samples(&m);
    if (m.iterations_s > 0)
        make_calls(&m);
    int64_t end = NS_PER_S + m.n_frames * PERIOD_NS;
    if (store_run_end(m.store, m.run, RUN_DONE, 0, wall_ns + end - NS_PER_S, end))
        die("end", store_error(m.store));
    store_close(m.store);
    return 0;
}

static double seconds(struct timeval t) {
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static int take_time(char **command) {
    int64_t start = clock_ns(CLOCK_MONOTONIC);
    struct rusage use;
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        execvp(command[0], command);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &use) != pid)
        die(command[0], strerror(errno));
    printf("%.2f %.2f %.0f %d\n", (double)(clock_ns(CLOCK_MONOTONIC) - start) / 1e9,
           seconds(use.ru_utime) + seconds(use.ru_stime), (double)use.ru_maxrss / 1024,
           WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return 0;
}

int main(int argc, char **argv) {
    char none[] = "0";
    if (argc == 9 && strcmp(argv[1], "make") == 0)
        return make(argv + 2, false);
    if (argc == 7 && strcmp(argv[1], "live") == 0)
        return make((char *[]){argv[2], argv[3], argv[4], argv[5], argv[6], none, none}, true);
    if (argc > 2 && strcmp(argv[1], "time") == 0)
        return take_time(argv + 2);
    die("usage", "make DB HOSTS CORES SECONDS RANKS ITERATIONS_S star|ring | "
                 "live DB HOSTS CORES SECONDS RANKS | time COMMAND...");
    return 1;
}
