/* SPDX-License-Identifier: MIT */
/*
 * collector_rate [--hosts N=20] [--seconds N=30] [--cores N=16] [--rate HZ=10] [--dir DIR]
 * [--paced] [--against COMMAND] [--plain] [--light] [--ramp N=1] [--pace N=1] [--spool FILE]
 * [--pack-after S]: rows
 * a second from TLS to committed rows, on one core, beside what SQLite alone does with the same
 * rows; or paced as agents push, a body a second each at its own time of the second. --against: the
 * command chokepoint of another build, in turn with this one's.
 * --plain: the same server without TLS, which no command offers, in turn with it.
 *
 * The collector is the real command, a child bound to one CPU; its cost is its own user and system
 * time (wait4), from its start to its end, so that nothing it does later is left out; beside it
 * stands what it took after the last host's first push, without handshakes. The senders
 * are the agent's own, and share the other CPUs: one connection a host, one body a second of the
 * host's life, sent as soon as the last was answered, as after an outage. --light: senders that
 * cost next to nothing, for thousands of hosts; --ramp: seconds in which they all
 * come; --pace: seconds between two pushes of a host, and of samples in each body, as a collector
 * asks for it when hosts are very many (common/push_interval.h).
 * Tables are the agent's own; every counter grows in every row, so that none of them is one the
 * store may leave out. --spool FILE: all hosts send the frames of this segment of a real agent's
 * spool instead, at the rate that --rate names. --pack-after: the collector of this build packs
 * samples that are so old; the one of --against does not.
 */
#include <fcntl.h>
#include <getopt.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/base/probe.h"
#include "agent/push/push.h"
#include "agent/push/push_http.h"
#include "agent/push/push_reply.h"
#include "agent/push/push_tables.h"
#include "collector/credentials.h"
#include "collector/server.h"
#include "collector/store.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/text.h"
#include "common/wire.h"
#include "tests/bench/light_push.h"

#define TOKEN "00112233445566778899aabbccddeeff"
#define TABLES TABLES_MAX
#define TURNS 3 /* turns of two builds */

static void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static void die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("collector_rate: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

struct bench {
    uint64_t hosts, seconds, cores, rate; /* rate: samples per second, and frames in a body */
    const char *command, *against;        /* the command chokepoint, of this build and another */
    uint64_t pace, pushes;  /* seconds between two pushes; number of pushes of a host */
    uint64_t ramp;          /* seconds from the first push of the first host to that of the last */
    const char *pack_after; /* seconds, as a text; NULL: samples stay rows */
    const char *spool;      /* a file of frames to send; NULL: made-up ones */
    struct buffer recorded;
    bool paced, plain, light;
    bool keyed;                  /* the present collector knows keys of hosts */
    char url[96], pin[PIN_SIZE]; /* of the present collector; pin "": it uses no TLS */
    int64_t begin_ns;
    int64_t *took_ns; /* latency of each answer: `pushes` of them for each host */
    clockid_t collector_clock;
    atomic_uint_fast64_t n_first, n_pushed; /* hosts that have pushed; pushes in all */
    struct at_work {
        int64_t wall_ns, cpu_ns;
        uint64_t pushed;
    } all_in; /* when the last host had made its first push */
    char dir[256];
    uint64_t rows, bytes;
};

struct host {
    struct bench *bench;
    size_t number;
    struct buffer *bodies; /* bench->pushes of them */
    struct rows rows[TABLES];
    uint64_t random;
    pthread_t thread;
    struct push_tables tables;
    uint64_t sent_bytes;
    int64_t cpu_ns, first_ns; /* of its thread: all its pushes; the first with its handshake */
};

/* ---- what hosts would send ---- */

static uint64_t draw(uint64_t *state, uint64_t below) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % below;
}

static size_t instances_of(const struct bench *bench, const struct table *table) {
    return strcmp(table->name, "cpu") == 0       ? bench->cores
           : strcmp(table->name, "process") == 0 ? bench->cores + 5
           : strcmp(table->name, "psi") == 0     ? 3
           : strcmp(table->name, "disk") == 0    ? 2
           : strcmp(table->name, "net") == 0     ? 3
                                                 : 1;
}

static void open_rows(struct host *host, const struct bench *bench) {
    for (size_t t = 0; t < probe_list_size; t++) {
        const struct table *table = probe_list[t]->table;
        size_t n = instances_of(bench, table);
        if (rows_init(&host->rows[t], table, n) < 0)
            die("out of memory");
        for (size_t i = 0; i < n; i++) {
            char name[32];
            snprintf(name, sizeof name, "%.8s%u", table->name, (unsigned)i);
            struct row *row = rows_append(&host->rows[t], name, strlen(name));
            for (size_t c = 0; c < table->n_columns; c++)
                row->values[c] = (int64_t)draw(&host->random, UINT64_C(1) << 31) << 8;
        }
    }
}

static void grow_rows(struct host *host, struct rows *rows) {
    for (size_t i = 0; i < rows->n; i++)
        for (size_t c = 0; c < rows->table->n_columns; c++)
            rows->items[i].values[c] += 1 + (int64_t)draw(&host->random, 30000000);
}

static void put_frame(struct host *host, struct buffer *body, uint64_t seq, struct bench *bench) {
    struct rows *list[TABLES];
    unsigned indices[TABLES];
    struct buffer scratch = {0};
    int64_t t_ns = (int64_t)(seq * (uint64_t)NS_PER_S / bench->rate);
    const struct frame_head head = {.seq = seq, .wall_ns = t_ns, .mono_ns = t_ns, .slot_ns = t_ns};
    size_t n = 0;
    for (size_t t = 0; t < probe_list_size; t++) {
        if (probe_list[t]->pace == PACE_PROCESS && seq % bench->rate)
            continue;
        grow_rows(host, &host->rows[t]);
        bench->rows += host->rows[t].n;
        indices[n] = (unsigned)t;
        list[n++] = &host->rows[t];
    }
    wire_put_frame(body, &scratch, &head, list, indices, n);
    buffer_release(&scratch);
}

static void read_spool(struct bench *bench) {
    char chunk[1 << 16];
    size_t n;
    FILE *file = fopen(bench->spool, "r");
    while (file && (n = fread(chunk, 1, sizeof chunk, file)) > 0)
        buffer_put(&bench->recorded, chunk, n);
    if (!file || ferror(file) || bench->recorded.error)
        die("%s: cannot be read", bench->spool);
    fclose(file);
}

static void copy_record(struct buffer *body, const struct bench *bench,
                        const struct wire_record *record) {
    buffer_put(body, bench->recorded.data + record->offset, record->size);
}

/* Puts their tables. */
static void begin_recorded(struct buffer *body, const struct bench *bench) {
    struct wire_reader reader;
    struct wire_record record;
    wire_reader_init(&reader, bench->recorded.data, bench->recorded.size);
    while (wire_next(&reader, &record) == 0 && record.type != WIRE_FRAME)
        if (record.type == WIRE_TABLE)
            copy_record(body, bench, &record);
    wire_reader_release(&reader);
}

static void put_recorded(struct host *host, struct bench *bench) {
    struct wire_reader reader;
    struct wire_record record;
    const struct table *table;
    struct wire_row row;
    unsigned index;
    uint64_t n = 0, frames = bench->rate * bench->pace;
    wire_reader_init(&reader, bench->recorded.data, bench->recorded.size);
    while (n < frames * bench->pushes && wire_next(&reader, &record) == 0) {
        if (record.type != WIRE_FRAME)
            continue;
        copy_record(&host->bodies[n++ / frames], bench, &record);
        while (wire_frame_row(&reader, &record, &table, &index, &row))
            bench->rows++;
    }
    if (n < frames * bench->pushes)
        die("%s has %llu frames, too few", bench->spool, (unsigned long long)n);
    wire_reader_release(&reader);
}

static void put_made_up(struct host *host, struct bench *bench) {
    uint64_t frames = bench->rate * bench->pace;
    for (uint64_t i = 0; i < frames * bench->pushes; i++)
        put_frame(host, &host->bodies[i / frames], i + 1, bench);
}

static void put_tables(struct buffer *body) {
    for (size_t t = 0; t < probe_list_size; t++)
        wire_put_table(body, (unsigned)t, probe_list[t]->table);
}

static void encode_host(struct host *host, size_t number, struct bench *bench) {
    struct wire_stream stream = {.boot_id = "01234567-89ab-cdef-0123-456789abcdef",
                                 .stream_id = number + 1,
                                 .period_ns = NS_PER_S / (int64_t)bench->rate};
    snprintf(stream.host, sizeof stream.host, "node%zu", number);
    *host = (struct host){.bench = bench, .number = number, .random = number + 1};
    host->bodies = calloc(bench->pushes, sizeof *host->bodies);
    if (!host->bodies)
        die("out of memory");
    for (uint64_t i = 0; i < bench->pushes; i++) {
        wire_put_stream(&host->bodies[i], &stream);
        if (bench->spool)
            begin_recorded(&host->bodies[i], bench);
        else
            put_tables(&host->bodies[i]);
    }
    if (bench->spool) {
        put_recorded(host, bench);
    } else {
        open_rows(host, bench);
        put_made_up(host, bench);
    }
    for (uint64_t i = 0; i < bench->pushes; i++) {
        if (host->bodies[i].error)
            die("out of memory");
        bench->bytes += host->bodies[i].size;
    }
}

/* ---- senders ---- */

static bool never(void *ctx) {
    (void)ctx;
    return false;
}

static struct at_work work_now(struct bench *bench) {
    return (struct at_work){clock_monotonic_ns(), clock_ns(bench->collector_clock),
                            atomic_load(&bench->n_pushed)};
}

static void wait_for_turn(const struct host *host, uint64_t push) {
    int64_t at_ns =
        host->bench->begin_ns + (int64_t)(push * host->bench->pace) * NS_PER_S +
        (int64_t)(host->number * host->bench->ramp * (uint64_t)NS_PER_S / host->bench->hosts);
    const struct timespec at = {at_ns / NS_PER_S, at_ns % NS_PER_S};
    if (host->bench->paced)
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

/* Either of the two. */
struct sender {
    struct push_http *http;
    struct light_push *light;
};

static int post(const struct sender *sender, const struct buffer *body,
                struct push_answer *answer) {
    const struct push_request request = {.body = body, .give_up = never};
    return sender->light ? light_push_post(sender->light, body, answer)
                         : push_http_post(sender->http, &request, answer);
}

static void push_one(struct host *host, const struct sender *sender, uint64_t push) {
    struct buffer body = {0};
    struct push_answer answer = {0};
    struct push_reply reply;
    wait_for_turn(host, push);
    buffer_put(&body, host->bodies[push].data, host->bodies[push].size);
    push_tables_shorten(&host->tables, &body);
    int64_t sent_ns = clock_monotonic_ns();
    if (post(sender, &body, &answer) < 0 || answer.status != 200)
        die("push %llu of host %zu refused: %ld %s %s", (unsigned long long)push, host->number,
            answer.status, answer.why, answer.text);
    if (push_reply_parse(answer.text, &reply) == 0)
        push_tables_learn(&host->tables, reply.tables);
    host->sent_bytes += body.size;
    buffer_release(&body);
    struct bench *bench = host->bench;
    bench->took_ns[host->number * bench->pushes + push] = clock_monotonic_ns() - sent_ns;
    atomic_fetch_add(&bench->n_pushed, 1);
    if (push == 0 && atomic_fetch_add(&bench->n_first, 1) + 1 == bench->hosts)
        bench->all_in = work_now(bench);
}

/* In a crowd a handshake may take longer than the collector waits: like an agent, this tries again.
 */
static int open_light(struct host *host, const char *name, const char *key,
                      struct light_push **ret_light) {
    const struct timespec pause = {0, 300 * NS_PER_MS};
    int r = -EPROTO;
    for (int tries = 0; r < 0 && tries < 100; tries++) {
        r = light_push_open(host->bench->url, name, key, ret_light);
        if (r < 0)
            nanosleep(&pause, NULL);
    }
    return r;
}

/* Builds from before TLS take the secret itself. */
static void *send_host(void *arg) {
    struct host *host = arg;
    const char *pin = host->bench->pin;
    char key[HOST_KEY_SIZE], name[32];
    struct sender sender = {0};
    snprintf(name, sizeof name, "node%zu", host->number);
    credentials_host_key(TOKEN, name, key);
    const struct push_config config = {.url = host->bench->url,
                                       .pin = *pin ? pin : NULL,
                                       .host = name,
                                       .token = host->bench->keyed ? key : TOKEN};
    int64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    wait_for_turn(host, 0);
    int r = host->bench->light ? open_light(host, name, key, &sender.light)
                               : push_http_open(&config, &sender.http);
    if (r < 0)
        die("no connection can be made: %s", strerror(-r));
    push_tables_release(&host->tables);
    host->tables = (struct push_tables){0};
    host->sent_bytes = 0;
    for (uint64_t i = 0; i < host->bench->pushes; i++) {
        push_one(host, &sender, i);
        if (i == 0)
            host->first_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
    }
    host->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
    if (sender.light)
        light_push_close(sender.light);
    push_http_close(sender.http);
    return NULL;
}

/* ---- the collector ---- */

static void bind_to_cpu(int cpu, bool others) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int i = 0; i < sysconf(_SC_NPROCESSORS_ONLN); i++)
        if ((i == cpu) != others)
            CPU_SET(i, &set);
    if (CPU_COUNT(&set))
        sched_setaffinity(0, sizeof set, &set);
}

static void on_event(void *ctx, const char *line) {
    (void)ctx, (void)line;
}

/* Like cli/verbs/collector.c without TLS, until stdin ends. */
static int collect_plainly(const char *db) {
    char why[256] = "?", byte;
    struct writer_options writer = {.run = 1, .event = on_event};
    struct server_options options = {.listen = "127.0.0.1:0", .token = TOKEN};
    struct server *server;
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_TOP_PAD, 1 << 20);
    mallopt(M_TRIM_THRESHOLD, 8 << 20);
    mallopt(M_MMAP_THRESHOLD, 8 << 20);
    if (store_open_write(db, &writer.store, why, sizeof why) ||
        writer_start(&writer, &options.writer) < 0 ||
        server_start(&options, &server, why, sizeof why) < 0)
        die("the collector did not start: %s", why);
    printf("listening %s\n", server_address(server, 0));
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    server_finish(server);
    writer_free(options.writer);
    store_close(writer.store);
    return 0;
}

/* command NULL: the plain collector. */
static void become_collector(const struct bench *bench, const char *command, const char *db) {
    bool packs = bench->pack_after && command == bench->command;
    setenv("CHOKEPOINT_TOKEN", TOKEN, 1);
    bind_to_cpu(0, false);
    if (!command)
        _exit(collect_plainly(db));
    execl(command, "chokepoint", "collector", "--db", db, "--run", "1", "--listen", "127.0.0.1:0",
          packs ? "--pack-after" : (char *)NULL, bench->pack_after, (char *)NULL);
    _exit(127);
}

static void read_address(FILE *events, struct bench *bench) {
    char line[160], address[64];
    bench->pin[0] = '\0';
    while (events && fgets(line, sizeof line, events)) {
        if (sscanf(line, "pin %63s", bench->pin) == 1)
            continue;
        if (sscanf(line, "listening %63s", address) != 1)
            break;
        snprintf(bench->url, sizeof bench->url, "%s://%s", bench->pin[0] ? "https" : "http",
                 address);
        return;
    }
    die("the collector did not start");
}

static pid_t start_collector(const char *command, const char *db, struct bench *bench,
                             int *ret_stdin) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
        die("no pipe");
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        close(in[1]);
        become_collector(bench, command, db);
    }
    close(in[0]);
    close(out[1]);
    read_address(fdopen(out[0], "r"), bench); /* must stay open: the collector writes to it */
    bench->keyed = !command || bench->pin[0];
    *ret_stdin = in[1];
    return pid;
}

static double seconds_of(struct timeval t) {
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void create_run(const char *db) {
    struct store *store;
    int64_t run;
    char why[256];
    const struct run_begin begin = {
        .command = "collector_rate", .wall_ns = 1, .mono_ns = 1, .period_ns = 100 * NS_PER_MS};
    if (store_open_write(db, &store, why, sizeof why) || store_run_begin(store, &begin, &run))
        die("%s: %s", db, why);
    store_close(store);
}

static void print_rate(const char *what, uint64_t rows, double wall, double cpu, off_t size) {
    printf("%-42s %9.0f rows/s of CPU %9.0f rows/s of wall %7.1f bytes/row\n", what,
           (double)rows / cpu, (double)rows / wall, (double)size / (double)rows);
}

static off_t size_of(const char *path) {
    struct stat st;
    return stat(path, &st) < 0 ? 0 : st.st_size;
}

/* Not ru_maxrss, which includes this process before its exec. */
static uint64_t peak_memory_kb(pid_t pid) {
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    int fd = open(path, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n < 0 ? 0 : n] = '\0';
    const char *peak = strstr(text, "VmHWM:");
    return peak ? strtoull(peak + 6, NULL, 10) : 0;
}

static int by_time(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void print_steady(const struct bench *bench, const struct at_work *end) {
    uint64_t pushes = end->pushed - bench->all_in.pushed, all = bench->hosts * bench->pushes;
    double rows = (double)bench->rows * (double)pushes / (double)all;
    double cpu = (double)(end->cpu_ns - bench->all_in.cpu_ns) / 1e9;
    double wall = (double)(end->wall_ns - bench->all_in.wall_ns) / 1e9;
    if (pushes)
        printf("    after all first pushes: %.0f rows/s of CPU, %.0f us a push, %.0f %% of a core, "
               "%.1f s\n",
               rows / cpu, cpu / (double)pushes * 1e6, 100 * cpu / wall, wall);
}

/* The first pushes include all handshakes: their answers are printed separately. */
static void print_answers(struct bench *bench) {
    uint64_t n = 0, pushes = bench->pushes;
    int64_t first_ns = 0;
    for (uint64_t i = 0; i < bench->hosts * pushes; i++) {
        if (i % pushes)
            bench->took_ns[n++] = bench->took_ns[i];
        else if (bench->took_ns[i] > first_ns)
            first_ns = bench->took_ns[i];
    }
    qsort(bench->took_ns, n, sizeof *bench->took_ns, by_time);
    if (n)
        printf("    answers: median %.0f ms, p99 %.0f ms, longest %.0f ms; longest of the first "
               "pushes %.0f ms\n",
               (double)bench->took_ns[n / 2] / 1e6, (double)bench->took_ns[n * 99 / 100] / 1e6,
               (double)bench->took_ns[n - 1] / 1e6, (double)first_ns / 1e6);
}

static void print_senders(const struct bench *bench, const struct host *hosts) {
    int64_t first_ns = 0, others_ns = 0;
    double n = (double)bench->hosts;
    for (size_t h = 0; h < bench->hosts; h++) {
        first_ns += hosts[h].first_ns;
        others_ns += hosts[h].cpu_ns - hosts[h].first_ns;
    }
    uint64_t bytes = 0;
    for (size_t h = 0; h < bench->hosts; h++)
        bytes += hosts[h].sent_bytes;
    printf("    %.0f bytes of body a push\n", (double)bytes / n / (double)bench->pushes);
    if (bench->pushes > 1)
        printf("    a sender: %.0f us of CPU for its first push, %.0f us for each other one\n",
               (double)first_ns / n / 1e3,
               (double)others_ns / n / (double)(bench->pushes - 1) / 1e3);
}

static void measure_collector(struct bench *bench, struct host *hosts, const char *command,
                              const char *what) {
    char db[300];
    int in, status;
    struct rusage usage;
    snprintf(db, sizeof db, "%s/collector.db", bench->dir);
    create_run(db);
    pid_t pid = start_collector(command, db, bench, &in);
    if (clock_getcpuclockid(pid, &bench->collector_clock))
        die("the collector has no clock");
    atomic_store(&bench->n_first, 0);
    atomic_store(&bench->n_pushed, 0);
    int64_t begin_ns = bench->begin_ns = clock_monotonic_ns();
    for (size_t h = 0; h < bench->hosts; h++)
        if (pthread_create(&hosts[h].thread, NULL, send_host, &hosts[h]))
            die("no thread");
    for (size_t h = 0; h < bench->hosts; h++)
        pthread_join(hosts[h].thread, NULL);
    double wall = (double)(clock_monotonic_ns() - begin_ns) / 1e9;
    uint64_t peak_kb = peak_memory_kb(pid);
    struct at_work end = work_now(bench);
    close(in);
    if (wait4(pid, &status, 0, &usage) != pid || status != 0)
        die("the collector ended with %d", status);
    double cpu = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    print_rate(what, bench->rows, wall, cpu, size_of(db));
    printf("    %.2f s user, %.2f s system, %.0f MB resident, %.0f %% of a core\n",
           seconds_of(usage.ru_utime), seconds_of(usage.ru_stime), (double)peak_kb / 1024,
           100 * cpu / wall);
    print_steady(bench, &end);
    print_answers(bench);
    print_senders(bench, hosts);
    fflush(stdout);
    unlink(db);
}

/* ---- SQLite alone ---- */

static void exec(sqlite3 *db, const char *sql) {
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        die("%s: %s", sql, sqlite3_errmsg(db));
}

static sqlite3_stmt *create_table(sqlite3 *db, const struct table *table, bool keyed) {
    char sql[8192], values[512] = "?,?";
    size_t n = (size_t)snprintf(sql, sizeof sql, "CREATE TABLE %s(frame INTEGER, instance INTEGER",
                                table->name);
    for (size_t c = 0; c < table->n_columns; c++) {
        n += (size_t)snprintf(sql + n, sizeof sql - n, ", %s INTEGER", table->columns[c].name);
        strcat(values, ",?");
    }
    snprintf(sql + n, sizeof sql - n,
             keyed ? ", PRIMARY KEY(frame, instance)) WITHOUT ROWID" : ")");
    exec(db, sql);
    sqlite3_stmt *statement;
    snprintf(sql, sizeof sql, "INSERT INTO %s VALUES(%s)", table->name, values);
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        die("%s", sqlite3_errmsg(db));
    return statement;
}

static uint64_t insert_rows(sqlite3_stmt *statement, const struct rows *rows, int64_t frame,
                            int64_t first_instance) {
    for (size_t i = 0; i < rows->n; i++) {
        sqlite3_bind_int64(statement, 1, frame);
        sqlite3_bind_int64(statement, 2, first_instance + (int64_t)i);
        for (size_t c = 0; c < rows->table->n_columns; c++)
            sqlite3_bind_int64(statement, 3 + (int)c, rows->items[i].values[c] & 0xffffff);
        if (sqlite3_step(statement) != SQLITE_DONE)
            die("insert failed");
        sqlite3_reset(statement);
    }
    return rows->n;
}

/* One transaction for each round of all hosts, as in a busy collector; values as large as growth.
 */
static uint64_t insert_all(sqlite3 *db, sqlite3_stmt **statements, struct bench *bench,
                           struct host *hosts) {
    int64_t frame = 0;
    uint64_t rows = 0;
    for (uint64_t s = 0; s < bench->seconds; s++) {
        exec(db, "BEGIN");
        for (size_t h = 0; h < bench->hosts; h++)
            for (uint64_t i = 1; i <= bench->rate; i++, frame++)
                for (size_t t = 0; t < probe_list_size; t++)
                    if (probe_list[t]->pace == PACE_SYSTEM || i == bench->rate)
                        rows += insert_rows(statements[t], &hosts[h].rows[t], frame,
                                            (int64_t)(h * 1000 + t * 100));
        exec(db, "COMMIT");
    }
    return rows;
}

static void measure_sqlite(struct bench *bench, struct host *hosts, bool keyed) {
    char path[300];
    sqlite3 *db;
    sqlite3_stmt *statements[TABLES];
    struct rusage before, after;
    snprintf(path, sizeof path, "%s/alone.db", bench->dir);
    if (sqlite3_open(path, &db) != SQLITE_OK)
        die("%s: %s", path, sqlite3_errmsg(db));
    exec(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-16384");
    for (size_t t = 0; t < probe_list_size; t++)
        statements[t] = create_table(db, probe_list[t]->table, keyed);
    getrusage(RUSAGE_SELF, &before);
    int64_t begin_ns = clock_monotonic_ns();
    uint64_t rows = insert_all(db, statements, bench, hosts);
    double wall = (double)(clock_monotonic_ns() - begin_ns) / 1e9;
    getrusage(RUSAGE_SELF, &after);
    for (size_t t = 0; t < probe_list_size; t++)
        sqlite3_finalize(statements[t]);
    sqlite3_close(db);
    double cpu = seconds_of(after.ru_utime) + seconds_of(after.ru_stime) -
                 seconds_of(before.ru_utime) - seconds_of(before.ru_stime);
    print_rate(keyed ? "SQLite alone, keyed by frame and instance" : "SQLite alone, append", rows,
               wall, cpu, size_of(path));
    unlink(path);
}

/* ---- */

static void parse(struct bench *bench, int argc, char **argv) {
    static const struct option options[] = {{"hosts", required_argument, NULL, 'h'},
                                            {"seconds", required_argument, NULL, 's'},
                                            {"cores", required_argument, NULL, 'c'},
                                            {"dir", required_argument, NULL, 'd'},
                                            {"rate", required_argument, NULL, 'r'},
                                            {"against", required_argument, NULL, 'a'},
                                            {"paced", no_argument, NULL, 'p'},
                                            {"plain", no_argument, NULL, 'n'},
                                            {"light", no_argument, NULL, 'l'},
                                            {"ramp", required_argument, NULL, 'm'},
                                            {"pace", required_argument, NULL, 't'},
                                            {"spool", required_argument, NULL, 'o'},
                                            {"pack-after", required_argument, NULL, 'k'},
                                            {0}};
    const char *parent = "/tmp";
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        uint64_t *number = option == 'h'   ? &bench->hosts
                           : option == 's' ? &bench->seconds
                           : option == 'c' ? &bench->cores
                           : option == 'r' ? &bench->rate
                           : option == 'm' ? &bench->ramp
                           : option == 't' ? &bench->pace
                                           : NULL;
        if (option == 'd')
            parent = optarg;
        else if (option == 'a')
            bench->against = optarg;
        else if (option == 'o')
            bench->spool = optarg;
        else if (option == 'k')
            bench->pack_after = optarg;
        else if (option == 'p')
            bench->paced = true;
        else if (option == 'n')
            bench->plain = true;
        else if (option == 'l')
            bench->light = true;
        else if (!number || text_parse_u64(optarg, number) < 0 || *number == 0 || *number > 4096)
            exit(2);
    }
    snprintf(bench->dir, sizeof bench->dir, "%s/collector-rate-XXXXXX", parent);
    if (!mkdtemp(bench->dir))
        die("%s: no directory can be made", parent);
}

int main(int argc, char **argv) {
    struct bench bench = {.hosts = 20,
                          .seconds = 30,
                          .cores = 16,
                          .rate = 10,
                          .ramp = 1,
                          .pace = 1,
                          .command = CHOKEPOINT_COMMAND};
    parse(&bench, argc, argv);
    if (bench.spool && !bench.paced)
        die("--spool needs --paced");
    if (bench.spool)
        read_spool(&bench);
    bench.pushes = (bench.seconds - 1) / bench.pace + 1;
    struct host *hosts = calloc(bench.hosts, sizeof *hosts);
    bench.took_ns = calloc(bench.hosts * bench.pushes, sizeof *bench.took_ns);
    if (!hosts || !bench.took_ns || probe_list_size > TABLES)
        die("out of memory");
    for (size_t h = 0; h < bench.hosts; h++)
        encode_host(&hosts[h], h, &bench);
    printf("%llu hosts of %llu cores, %llu s at %llu Hz: %llu rows, %.1f kB a body, %.1f bytes a "
           "row\n",
           (unsigned long long)bench.hosts, (unsigned long long)bench.cores,
           (unsigned long long)bench.seconds, (unsigned long long)bench.rate,
           (unsigned long long)bench.rows,
           (double)bench.bytes / 1e3 / (double)(bench.hosts * bench.pushes),
           (double)bench.bytes / (double)bench.rows);
    bind_to_cpu(0, true);
    push_load("https");
    for (int i = 0; i < (bench.against || bench.plain ? TURNS : 1); i++) {
        if (bench.against)
            measure_collector(&bench, hosts, bench.against, "the other build's collector");
        measure_collector(&bench, hosts, bench.command, "collector: TLS to committed rows");
        if (bench.plain)
            measure_collector(&bench, hosts, NULL, "collector: plain HTTP to committed rows");
    }
    if (!bench.paced) {
        measure_sqlite(&bench, hosts, true);
        measure_sqlite(&bench, hosts, false);
    }
    rmdir(bench.dir);
    return 0;
}
