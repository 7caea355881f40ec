/* SPDX-License-Identifier: MIT */
/*
 * bench_call_blocks DATABASE [ROUNDS]: the recorded MPI calls of a database once more as an agent
 * sends them, stored as blocks, as rows (the form of older versions), and as blocks again (A/A), in
 * turns: CPU time a call to check, decode and store them with all commits, bytes a call in the
 * file, and CPU time a call to read them back as the analysis does. Medians of rounds with the
 * lowest and the highest; works in $TMPDIR or /tmp.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/store_read_columns.h"
#include "common/clock.h"
#include "common/error.h"
#include "tables/tables.h"

#define FRAME_ROWS 4096
#define FRAMES_A_COMMIT 40
#define ROUNDS_MAX 64
#define N_FORMS 3

enum form { BLOCKS, ROWS, BLOCKS_AGAIN };
static const char *const form_names[N_FORMS] = {"blocks", "rows", "blocks, A/A"};

struct bench {
    const struct table *table;
    const char *columns[TABLE_COLUMNS_MAX];
    struct rows rows;
    struct buffer bytes, scratch;
    uint64_t seq, n; /* frames and calls in `bytes` */
    double store_ns[N_FORMS][ROUNDS_MAX], read_ns[N_FORMS][ROUNDS_MAX], size[N_FORMS];
};

static void die(const char *what, const char *why) {
    fprintf(stderr, "call_blocks: %s: %s\n", what, why);
    exit(1);
}

static double cpu_ns(void) {
    return (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* ---- the calls as an agent sends them ---- */

static void put_frame(struct bench *b) {
    struct rows *list[] = {&b->rows};
    b->seq++;
    struct frame_head head = {.seq = b->seq,
                              .wall_ns = (int64_t)b->seq * NS_PER_MS,
                              .mono_ns = (int64_t)b->seq * NS_PER_MS};
    if (b->rows.n)
        wire_put_packed_frame(&b->bytes, &b->scratch, &head, list, (const unsigned[]){0}, 1);
    rows_reset(&b->rows);
}

static int take_calls(void *ctx, const struct store_columns_read *rows) {
    struct bench *b = ctx;
    for (size_t i = 0; i < rows->n; i++) {
        const char *name = rows->names[rows->instances[i]];
        struct row *row = name ? rows_append(&b->rows, name, strlen(name)) : NULL;
        for (size_t c = 0; row && c < b->table->n_columns; c++)
            row->values[c] = rows->values[c][i];
        b->n += row != NULL;
        if (b->rows.n == FRAME_ROWS)
            put_frame(b);
    }
    return 0;
}

static void load(struct bench *b, const char *path) {
    struct wire_stream stream = {.host = "bench", .boot_id = "bench", .stream_id = 1};
    struct store *store;
    struct store_run run;
    char why[256];
    b->table = &all_tables[TABLE_CALL];
    for (size_t c = 0; c < b->table->n_columns; c++)
        b->columns[c] = b->table->columns[c].name;
    wire_put_stream(&b->bytes, &stream);
    wire_put_table(&b->bytes, 0, b->table);
    if (rows_init_packed(&b->rows, b->table, FRAME_ROWS) < 0 ||
        store_open_read(path, &store, why, sizeof why) != 0 ||
        store_find_run(store, "last", &run) != 0)
        die(path, "it cannot be read");
    if (store_each_columns(store, run.id, "call", b->columns, b->table->n_columns, take_calls, b))
        die(path, "it has no calls");
    put_frame(b);
    store_run_release(&run);
    store_close(store);
}

/* ---- storing ---- */

static int store_frame_rows(struct store *store, const struct wire_reader *reader,
                            struct wire_record *record, int64_t id, bool by_rows) {
    static struct wire_row row;
    struct wire_section section = {0};
    const struct table *table;
    unsigned index;
    int r = 0;
    while (by_rows && r == 0 && wire_frame_row(reader, record, &table, &index, &row))
        r = store_row(store, id, table, &row);
    while (!by_rows && r == 0 && wire_next_section(reader, record, &section))
        r = store_section(store, id, &section);
    return r;
}

static int store_all(struct bench *b, struct store *store, int64_t run, bool by_rows) {
    struct wire_reader reader;
    struct wire_record record;
    int64_t host, stream = 0, id = 0;
    int r = store_begin(store);
    wire_reader_init(&reader, b->bytes.data, b->bytes.size);
    for (uint64_t n = 0; r == 0 && wire_next(&reader, &record) == 0;) {
        if (record.type == WIRE_STREAM)
            r = store_stream(store, run, &reader.stream, &host, &stream);
        else if (record.type == WIRE_TABLE)
            r = store_table(store, &reader.tables[0]->table, &id);
        else
            r = store_frame(store, stream, &record.head);
        if (r == 0 && record.type == WIRE_FRAME)
            r = store_frame_rows(store, &reader, &record, id, by_rows);
        if (r == 0 && ++n % FRAMES_A_COMMIT == 0 && (r = store_commit(store)) == 0)
            r = store_begin(store);
    }
    wire_reader_release(&reader);
    return r ? r : store_commit(store);
}

/* ---- reading ---- */

struct sum {
    uint64_t n;
    int64_t of[TABLE_COLUMNS_MAX];
    size_t n_columns;
};

static int add_columns(void *ctx, const struct store_columns_read *rows) {
    struct sum *sum = ctx;
    for (size_t c = 0; c < sum->n_columns; c++)
        for (size_t i = 0; i < rows->n; i++)
            sum->of[c] ^= rows->values[c][i];
    sum->n += rows->n;
    return 0;
}

static int add_row(void *ctx, const struct store_row_read *row) {
    struct sum *sum = ctx;
    for (size_t c = 0; c < sum->n_columns; c++)
        sum->of[c] ^= row->values[c];
    sum->n++;
    return 0;
}

/* Rows as older versions read them, blocks as this one does. */
static void read_back(struct bench *b, const char *path, enum form form, struct sum *sum) {
    struct store *store;
    char why[256];
    *sum = (struct sum){.n_columns = b->table->n_columns};
    if (store_open_read(path, &store, why, sizeof why) != 0)
        die("reading", why);
    int r = form == ROWS
                ? store_each_row(store, 1, "call", b->columns, b->table->n_columns, add_row, sum)
                : store_each_columns(store, 1, "call", b->columns, b->table->n_columns, add_columns,
                                     sum);
    if (r || sum->n != b->n)
        die("reading", r ? store_error(store) : "calls are missing");
    store_close(store);
}

static void measure(struct bench *b, const char *directory, enum form form, int round,
                    struct sum *sum) {
    struct run_begin begin = {.name = "bench", .command = "bench", .n_hosts_expected = 1};
    char path[300], why[256] = "";
    struct store *store;
    struct stat st;
    int64_t run;
    snprintf(path, sizeof path, "%s/db", directory);
    if (store_open_write(path, &store, why, sizeof why) != 0 ||
        store_run_begin(store, &begin, &run) != 0)
        die("opening", why);
    double start = cpu_ns();
    if (store_all(b, store, run, form == ROWS) != 0)
        die("storing", store_error(store));
    b->store_ns[form][round] = (cpu_ns() - start) / (double)b->n;
    store_close(store);
    b->size[form] = stat(path, &st) == 0 ? (double)st.st_size / (double)b->n : 0;
    start = cpu_ns();
    read_back(b, path, form, sum);
    b->read_ns[form][round] = (cpu_ns() - start) / (double)b->n;
    unlink(path);
}

/* ---- results ---- */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_values(double *values, int n) {
    qsort(values, (size_t)n, sizeof *values, compare);
    printf("%8.1f (%.1f to %.1f)", values[n / 2], values[0], values[n - 1]);
}

int main(int argc, char **argv) {
    static struct bench bench;
    const char *place = getenv("TMPDIR");
    char directory[256];
    int rounds = argc > 2 ? atoi(argv[2]) : 5;
    struct sum first, sum;
    if (argc < 2 || rounds < 1 || rounds > ROUNDS_MAX)
        die("usage", "bench_call_blocks DATABASE [ROUNDS]");
    snprintf(directory, sizeof directory, "%s/call_blocks.XXXXXX", place ? place : "/tmp");
    if (!mkdtemp(directory))
        die("a directory", "it cannot be made");
    load(&bench, argv[1]);
    for (int round = 0; round < rounds; round++)
        for (int form = 0; form < N_FORMS; form++) {
            measure(&bench, directory, (enum form)form, round, form ? &sum : &first);
            if (form && memcmp(first.of, sum.of, sizeof sum.of) != 0)
                die("reading", "the forms differ");
        }
    rmdir(directory);
    printf("%llu calls, %.1f bytes a call on the wire, %d rounds; ns of CPU a call, median (lowest "
           "to highest)\n",
           (unsigned long long)bench.n, (double)bench.bytes.size / (double)bench.n, rounds);
    for (int form = 0; form < N_FORMS; form++) {
        printf("%-12s  store ", form_names[form]);
        print_values(bench.store_ns[form], rounds);
        printf("  read ");
        print_values(bench.read_ns[form], rounds);
        printf("  %6.2f bytes\n", bench.size[form]);
    }
    rows_release(&bench.rows);
    buffer_release(&bench.bytes);
    buffer_release(&bench.scratch);
    return 0;
}
