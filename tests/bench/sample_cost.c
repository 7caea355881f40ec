/* SPDX-License-Identifier: MIT */
/*
 * CPU time of one full system sample, beside its yardsticks in the same run: bare reads of the same
 * files (each open once, one pread, nothing looked at), libproc2's readers of the same sources, and
 * a record of `sadc -S ALL`. The candidates take turns, so that whatever else the machine does
 * meets all of them, with a pause before each, so that none runs on hot caches alone.
 *
 *     bench_sample_cost [--rounds 300] [--repeats 3] [--pause-us 5000] [--root DIR] [--no-sadc]
 *
 * The figure is the median of the thread's CPU time over rounds x repeats; "repeats" are the
 * medians of each. sadc, a process of its own, is judged by getrusage: a run of 21 records less a
 * run of one, over 20.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/spool/spool.h"
#include "common/error.h"
#include "common/wire.h"
#include "tests/bench/sample_cost.h"
#include "tests/probe_harness.h"

#define REPEATS_MAX 20
#define PROBES_MAX 16
#define SADC_RECORDS 21

struct options {
    long rounds, repeats, pause_us;
    const char *root;
    bool sadc;
};

struct candidate {
    const char *name;
    void (*run)(void *ctx);
    void *ctx;
    int64_t *ns; /* rounds x repeats */
    size_t n;
    int64_t median_ns;
};

/* ---- the candidates ---- */

struct bare {
    int fds[16];
    size_t n;
    char buffer[256 << 10];
};

static void bare_open(struct bare *bare, const char *root) {
    static const char *const names[] = {
        "stat",         "meminfo",         "vmstat",      "diskstats",   "net/dev",
        "pressure/cpu", "pressure/memory", "pressure/io", "pressure/irq"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        char path[600];
        snprintf(path, sizeof path, "%.500s/proc/%s", root, names[i]);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0)
            bare->fds[bare->n++] = fd;
    }
}

static void bare_run(void *ctx) {
    struct bare *bare = ctx;
    for (size_t i = 0; i < bare->n; i++)
        if (pread(bare->fds[i], bare->buffer, sizeof bare->buffer, 0) < 0)
            abort();
}

struct system {
    struct harness probes[PROBES_MAX];
    struct rows *rows[PROBES_MAX];
    unsigned tables[PROBES_MAX];
    size_t n;
    struct spool *spool;
    struct buffer frame, scratch;
    uint64_t seq, bytes, n_rows;
};

/* Opens all probes of the system pace; `kind` is the real machine or a fixture. */
static void system_open(struct system *system, const char *root) {
    for (size_t i = 0; i < probe_list_size; i++) {
        struct harness *h = &system->probes[system->n];
        if (probe_list[i]->pace != PACE_SYSTEM || harness_init(h, root, SCOPE_HOST) < 0)
            continue;
        if (harness_open(h, probe_list[i]) != 0) {
            harness_close(h);
            continue;
        }
        system->rows[system->n] = &h->rows;
        system->tables[system->n] = (unsigned)system->n;
        system->n++;
    }
}

static void system_run(void *ctx) {
    struct system *system = ctx;
    for (size_t i = 0; i < system->n; i++)
        if (harness_sample(&system->probes[i]) < 0)
            abort();
}

static void system_open_spool(struct system *system, const char *dir) {
    const struct table *tables[PROBES_MAX];
    struct spool_config config = {.dir = dir,
                                  .limit_bytes = 64 << 20,
                                  .stream = {.host = "bench", .stream_id = 1, .period_ns = 100},
                                  .tables = tables,
                                  .n_tables = system->n};
    memset(config.stream.boot_id, '0', BOOT_ID_SIZE);
    for (size_t i = 0; i < system->n; i++)
        tables[i] = system->probes[i].probe->table;
    int r = spool_open(&config, &system->spool);
    if (r < 0) {
        fprintf(stderr, "cannot open a spool in %s: %s\n", dir, strerror(-r));
        exit(1);
    }
}

static void spooled_run(void *ctx) {
    struct system *system = ctx;
    int64_t now = clock_wall_ns();
    struct frame_head head = {
        .seq = ++system->seq, .wall_ns = now, .mono_ns = clock_monotonic_ns(), .slot_ns = now};
    system_run(system);
    buffer_reset(&system->frame);
    wire_put_frame(&system->frame, &system->scratch, &head, system->rows, system->tables,
                   system->n);
    if (spool_append(system->spool, system->frame.data, system->frame.size, head.seq) < 0)
        abort();
    system->bytes += system->frame.size;
    for (size_t i = 0; i < system->n; i++)
        system->n_rows += system->rows[i]->n;
}

static void one_probe_run(void *ctx) {
    if (harness_sample(ctx) < 0)
        abort();
}

/* ---- measuring ---- */

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static int64_t median(const int64_t *ns, size_t n) {
    int64_t *sorted = malloc(n * sizeof *sorted);
    memcpy(sorted, ns, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare);
    int64_t middle = sorted[n / 2];
    free(sorted);
    return middle;
}

static void measure(struct candidate *candidates, size_t n, const struct options *options) {
    for (size_t i = 0; i < n; i++)
        candidates[i].ns =
            calloc((size_t)(options->rounds * options->repeats), sizeof *candidates[i].ns);
    for (long round = 0; round < options->rounds * options->repeats; round++)
        for (size_t i = 0; i < n; i++) {
            struct candidate *candidate = &candidates[i];
            usleep((useconds_t)options->pause_us);
            int64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
            candidate->run(candidate->ctx);
            candidate->ns[candidate->n++] = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
        }
}

static void print(struct candidate *candidate, const struct options *options, double base_us) {
    size_t rounds = (size_t)options->rounds;
    candidate->median_ns = median(candidate->ns, candidate->n);
    double us = (double)candidate->median_ns / 1e3;
    printf("%-34s %8.1f us", candidate->name, us);
    if (base_us > 0)
        printf("  %5.2f x bare", us / base_us);
    else
        printf("              ");
    printf("   repeats");
    for (long repeat = 0; repeat < options->repeats; repeat++)
        printf(" %.1f", (double)median(candidate->ns + (size_t)repeat * rounds, rounds) / 1e3);
    printf("\n");
    free(candidate->ns);
    candidate->ns = NULL;
}

/* ---- sadc ---- */

static const char *find_sadc(void) {
    static const char *const paths[] = {"/usr/lib/sysstat/sadc", "/usr/lib64/sa/sadc",
                                        "/usr/lib/sa/sadc"};
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
        if (access(paths[i], X_OK) == 0)
            return paths[i];
    return NULL;
}

/* CPU time of `sadc -S ALL 1 records file`, in ns; -1 if it failed. */
static int64_t run_sadc(const char *sadc, int records, const char *file, int64_t *ret_bytes) {
    char count[16];
    int status;
    struct rusage usage;
    struct stat st;
    snprintf(count, sizeof count, "%d", records);
    pid_t pid = fork();
    if (pid == 0) {
        execl(sadc, sadc, "-S", "ALL", "1", count, file, (char *)NULL);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &usage) < 0 || status != 0 || stat(file, &st) < 0)
        return -1;
    *ret_bytes = st.st_size;
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NS_PER_S +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * NS_PER_US;
}

static void judge_sadc(const char *dir, double sample_us) {
    char one[600], many[600];
    int64_t bytes_one, bytes_many;
    const char *sadc = find_sadc();
    if (!sadc) {
        printf("sadc is not installed: no yardstick\n");
        return;
    }
    snprintf(one, sizeof one, "%.500s/sadc-one", dir);
    snprintf(many, sizeof many, "%.500s/sadc-many", dir);
    int64_t first = run_sadc(sadc, 1, one, &bytes_one);
    int64_t all = run_sadc(sadc, SADC_RECORDS, many, &bytes_many);
    unlink(one);
    unlink(many);
    if (first < 0 || all < 0) {
        printf("sadc failed: no yardstick\n");
        return;
    }
    double us = (double)(all - first) / 1e3 / (SADC_RECORDS - 1);
    printf("%-34s %8.1f us   a sample with encode and spool is 1/%.1f of it; %lld bytes a record\n",
           "sadc -S ALL, a record", us, us / sample_us,
           (long long)(bytes_many - bytes_one) / (SADC_RECORDS - 1));
}

/* ---- command ---- */

static void usage(void) {
    fprintf(stderr, "bench_sample_cost [--rounds N] [--repeats N] [--pause-us N] [--root DIR] "
                    "[--no-sadc]\n");
    exit(2);
}

static long number(const char *text, long most) {
    char *end;
    long value = text ? strtol(text, &end, 10) : 0;
    if (!text || *end || value < 0 || value > most)
        usage();
    return value;
}

static struct options parse_options(int argc, char **argv) {
    struct options options = {
        .rounds = 300, .repeats = 3, .pause_us = 5000, .root = "", .sadc = true};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--no-sadc") == 0)
            options.sadc = false;
        else if (i + 1 == argc)
            usage();
        else if (strcmp(argv[i], "--rounds") == 0)
            options.rounds = number(argv[++i], 1000000);
        else if (strcmp(argv[i], "--repeats") == 0)
            options.repeats = number(argv[++i], REPEATS_MAX);
        else if (strcmp(argv[i], "--pause-us") == 0)
            options.pause_us = number(argv[++i], 1000000);
        else if (strcmp(argv[i], "--root") == 0)
            options.root = argv[++i];
        else
            usage();
    }
    if (!options.rounds || !options.repeats)
        usage();
    return options;
}

static void measure_parts(struct system *system, const struct options *options, double bare_us) {
    struct candidate parts[PROBES_MAX];
    for (size_t i = 0; i < system->n; i++)
        parts[i] = (struct candidate){.name = system->probes[i].probe->table->name,
                                      .run = one_probe_run,
                                      .ctx = &system->probes[i]};
    measure(parts, system->n, options);
    printf("\nof which\n");
    for (size_t i = 0; i < system->n; i++)
        print(&parts[i], options, bare_us);
}

int main(int argc, char **argv) {
    static struct bare bare;
    static struct system alone, spooled;
    struct options options = parse_options(argc, argv);
    char dir[] = "/tmp/chokepoint-bench-XXXXXX";
    if (!mkdtemp(dir))
        return 1;
    bare_open(&bare, options.root);
    system_open(&alone, options.root);
    system_open(&spooled, options.root);
    system_open_spool(&spooled, dir);
    void *libproc2 = *options.root ? NULL : libproc2_open();
    struct candidate candidates[] = {
        {.name = "bare reads", .run = bare_run, .ctx = &bare},
        {.name = "probes", .run = system_run, .ctx = &alone},
        {.name = "probes, encode, spool", .run = spooled_run, .ctx = &spooled},
        {.name = "A/A: bare reads again", .run = bare_run, .ctx = &bare},
        {.name = "libproc2, same sources but PSI and net", .run = libproc2_run, .ctx = libproc2}};
    size_t n = libproc2 ? 5 : 4;
    measure(candidates, n, &options);
    double bare_us = (double)median(candidates[0].ns, candidates[0].n) / 1e3;
    for (size_t i = 0; i < n; i++)
        print(&candidates[i], &options, bare_us);
    double sample_us = (double)candidates[2].median_ns / 1e3;
    printf("%-34s %8.1f rows, %.0f bytes\n", "a sample encoded",
           (double)spooled.n_rows / (double)spooled.seq,
           (double)spooled.bytes / (double)spooled.seq);
    if (options.sadc && !*options.root)
        judge_sadc(dir, sample_us);
    measure_parts(&alone, &options, bare_us);
    spool_close(spooled.spool, true);
    libproc2_close(libproc2);
    for (size_t i = 0; i < alone.n; i++)
        harness_close(&alone.probes[i]);
    for (size_t i = 0; i < spooled.n; i++)
        harness_close(&spooled.probes[i]);
    buffer_release(&spooled.frame);
    buffer_release(&spooled.scratch);
    rmdir(dir);
    return 0;
}
