/* SPDX-License-Identifier: MIT */
/*
 * Sums, means and peaks of a report compared with plain ones over the same rows. Three hosts, forty
 * seconds in rows of one, and no two values alike.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/error.h"
#include "reports/facts/connections.h"
#include "reports/facts/processes.h"
#include "reports/facts/waits.h"
#include "reports/model/model_private.h"
#include "tests/unit/plant.h"

#define HOSTS 3
#define ROWS 40
#define N_CONNECTIONS 7
#define N_PROCESSES 4

#define NEAR(is, should)                                                                           \
    do {                                                                                           \
        double is_ = (is), should_ = (should);                                                     \
        if (!(fabs(is_ - should_) <= 1e-6 * fabs(should_)))                                        \
            fail_msg("%s is %g, not %g", #is, is_, should_);                                       \
    } while (0)

/* The connections: their two hosts, ports and process. Two are of one pair; one leads outside; one
 * has the same numbers on another host.
 */
static const struct {
    int host, to;
    int from_port, to_port, process;
    const char *name;
} connections[N_CONNECTIONS] = {
    {0, 1, 5001, 6001, 0, "10.0.0.1:5001>10.0.0.2:6001"},
    {1, 0, 6001, 5001, 2, "10.0.0.2:6001>10.0.0.1:5001"},
    {0, 1, 5002, 6002, 1, "10.0.0.1:5002>10.0.0.2:6002"},
    {1, 2, 6003, 7001, 2, "10.0.0.2:6003>10.0.0.3:7001"},
    {2, 1, 7001, 6003, 3, "10.0.0.3:7001>10.0.0.2:6003"},
    {2, 0, 7002, 5003, 3, "10.0.0.3:7002>10.0.0.1:5003"},
    {0, -1, 5004, 80, 0, "10.0.0.1:5004>93.184.216.34:80"},
};

/* Hosts and process ids; the last two share an id. */
static const struct {
    int host;
    int64_t pid;
} processes[N_PROCESSES] = {{0, 100}, {0, 101}, {1, 100}, {2, 100}};

/* A different number for each row, column and series. */
static int64_t amount(size_t series, size_t column, int row) {
    uint64_t x = (series * 64 + column) * 64 + (uint64_t)row;
    x *= UINT64_C(0x9e3779b97f4a7c15);
    return 100000 + (int64_t)((x >> 32) % 900000) * 10 + (int64_t)series;
}

static double sum_of(size_t series, size_t column) {
    double sum = 0;
    for (int row = 1; row <= ROWS; row++)
        sum += (double)amount(series, column, row);
    return sum;
}

static void append(struct recording *r, enum recording_table table, int host, int64_t instance,
                   const char *name, int row, const int64_t *values) {
    series_set_append(&r->tables[table], host, instance, name, row * S, S, values);
}

static void plant_connections(struct recording *r) {
    for (size_t c = 0; c < N_CONNECTIONS; c++)
        for (int row = 1; row <= ROWS; row++) {
            int64_t values[RECORDING_COLUMNS_MAX] = {0};
            for (size_t i = 0; i < RECORDING_COLUMNS_MAX; i++)
                values[i] = VALUE_ABSENT;
            values[CONNECTION_PID] = processes[connections[c].process].pid;
            values[CONNECTION_SEND_BYTES] = amount(c, CONNECTION_SEND_BYTES, row);
            values[CONNECTION_RECEIVE_BYTES] = amount(c, CONNECTION_RECEIVE_BYTES, row);
            values[CONNECTION_RTT] = 1000000 * (int64_t)(c + 1) + row;
            append(r, RECORDING_CONNECTION, connections[c].host, (int64_t)c + 1,
                   connections[c].name, row, values);
        }
}

#define PROCESS_SERIES(p) (16 + (p))

static void plant_processes(struct recording *r) {
    for (size_t p = 0; p < N_PROCESSES; p++)
        for (int row = 1; row <= ROWS; row++) {
            int64_t values[RECORDING_COLUMNS_MAX] = {0};
            char name[32];
            snprintf(name, sizeof name, "p%zu[%d]", p, (int)processes[p].pid);
            for (size_t c = PROCESS_RSS; c <= PROCESS_WRITE; c++)
                values[c] = 10 * amount(PROCESS_SERIES(p), c, row);
            values[PROCESS_PID] = processes[p].pid;
            values[PROCESS_RANK] = VALUE_ABSENT;
            values[PROCESS_JOB] = 1;
            values[PROCESS_THREADS] = 1;
            append(r, RECORDING_PROCESS, processes[p].host, 100 + (int64_t)p, name, row, values);
        }
}

#define HOST_SERIES(h) (32 + (h))

static void plant_hosts(struct recording *r) {
    for (size_t h = 0; h < HOSTS; h++)
        for (int row = 1; row <= ROWS; row++) {
            int64_t values[RECORDING_COLUMNS_MAX] = {0};
            for (size_t c = 0; c < 2; c++)
                values[c] = amount(HOST_SERIES(h), c, row);
            append(r, RECORDING_NET, (int)h, 200 + (int64_t)h, "eth0", row, values);
            for (size_t c = 0; c < 2; c++)
                values[c] = amount(HOST_SERIES(h), 2 + c, row);
            append(r, RECORDING_DISK, (int)h, 300 + (int64_t)h, "sda", row, values);
            memset(values, 0, sizeof values);
            values[CPU_IDLE] = S;
            append(r, RECORDING_CPU, (int)h, 400 + (int64_t)h, "cpu0", row, values);
        }
}

struct made {
    struct recording recording;
    struct run_model model;
    struct process_traffic traffic;
    struct report *report;
};

static int setup(void **state) {
    struct made *m = *state = calloc(1, sizeof *m);
    plant_init(&m->recording, HOSTS, ROWS);
    plant_connections(&m->recording);
    plant_processes(&m->recording);
    plant_hosts(&m->recording);
    assert_int_equal(model_build(&m->recording, &m->model), 0);
    assert_int_equal(process_traffic_make(&m->recording, &m->traffic), 0);
    m->report = calloc(1, sizeof *m->report);
    m->report->duration_s = ROWS;
    m->report->n_hosts = HOSTS;
    m->report->hosts = calloc(HOSTS, sizeof *m->report->hosts);
    for (size_t h = 0; h < HOSTS; h++)
        m->report->hosts[h].name = strdup(m->recording.hosts[h]);
    return 0;
}

static int teardown(void **state) {
    struct made *m = *state;
    report_free(m->report);
    process_traffic_release(&m->traffic);
    model_release(&m->model);
    recording_release(&m->recording);
    free(m);
    return 0;
}

/* ---- traffic ---- */

static double sent_at(int from, int to, int row) {
    double sum = 0;
    for (size_t c = 0; c < N_CONNECTIONS; c++)
        if (connections[c].host == from && connections[c].to == to)
            sum += (double)amount(c, CONNECTION_SEND_BYTES, row);
    return sum;
}

static void pairs_carry_what_their_connections_sent(void **state) {
    struct made *m = *state;
    double all = 0;
    assert_int_equal(report_fill_routes(m->report, &m->model), 0);
    assert_int_equal(m->report->n_routes, 5);
    assert_int_equal(m->report->n_routes_all, 5);
    for (int from = 0; from < HOSTS; from++)
        for (int to = 0; to < HOSTS; to++)
            for (int row = 1; row <= ROWS; row++)
                all += sent_at(from, to, row);
    for (size_t i = 0; i < 5; i++) {
        const struct report_route *r = &m->report->routes[i];
        double bytes = 0, peak = 0;
        for (int row = 1; row <= ROWS; row++) {
            bytes += sent_at(r->from, r->to, row);
            peak = fmax(peak, sent_at(r->from, r->to, row));
        }
        NEAR(r->bytes, bytes);
        NEAR(r->mean_mb_s, bytes / ROWS / 1e6);
        NEAR(r->peak_mb_s, peak / 1e6);
        NEAR(r->share_pct, 100 * bytes / all);
        assert_true(i == 0 || r->bytes < r[-1].bytes);
    }
}

static void connections_have_their_own_sums(void **state) {
    struct made *m = *state;
    struct connections found;
    assert_int_equal(connections_find(&m->model, &found), 0);
    assert_int_equal(found.n, N_CONNECTIONS);
    for (size_t i = 0; i < N_CONNECTIONS; i++) {
        const struct report_connection *r = &found.items[i];
        size_t c = r->series;
        char process[32];
        snprintf(process, sizeof process, "p%d[%d]", connections[c].process,
                 (int)processes[connections[c].process].pid);
        assert_int_equal(r->from, connections[c].host);
        assert_int_equal(r->to, connections[c].to);
        assert_int_equal(r->from_port, connections[c].from_port);
        assert_int_equal(r->to_port, connections[c].to_port);
        assert_string_equal(r->process, process);
        NEAR(r->bytes, sum_of(c, CONNECTION_SEND_BYTES));
        NEAR(r->mean_mb_s, r->bytes / ROWS / 1e6);
        NEAR(r->rtt_ms, (double)(c + 1) + (ROWS + 1) / 2.0 / 1e6);
        assert_true(i == 0 || r->bytes < r[-1].bytes);
    }
    free(found.items);
}

/* ---- processes ---- */

static double moved_by(size_t process, size_t column) {
    double sum = 0;
    for (size_t c = 0; c < N_CONNECTIONS; c++)
        if (connections[c].process == (int)process)
            sum += sum_of(c, column);
    return sum;
}

static void processes_have_their_own_use(void **state) {
    struct made *m = *state;
    struct processes found;
    assert_int_equal(processes_find(&m->model, &m->traffic, &found), 0);
    assert_int_equal(found.n, N_PROCESSES);
    for (size_t i = 0; i < N_PROCESSES; i++) {
        const struct report_process *r = &found.items[i];
        size_t p = (size_t)(r->name[1] - '0');
#define SUM(column) (10 * sum_of(PROCESS_SERIES(p), column))
        assert_int_equal(r->host, processes[p].host);
        NEAR(r->cpu_pct, 100 * (SUM(PROCESS_USER) + SUM(PROCESS_SYSTEM)) / 1e9 / ROWS);
        NEAR(r->run_queue_pct, 100 * SUM(PROCESS_RUN_QUEUE) / 1e9 / ROWS);
        NEAR(r->rss_gb, SUM(PROCESS_RSS) / 1e9 / ROWS);
        NEAR(r->read_mb_s, SUM(PROCESS_READ) / 1e6 / ROWS);
        NEAR(r->write_mb_s, SUM(PROCESS_WRITE) / 1e6 / ROWS);
        NEAR(r->sent_mb_s, moved_by(p, CONNECTION_SEND_BYTES) / 1e6 / ROWS);
        NEAR(r->received_mb_s, moved_by(p, CONNECTION_RECEIVE_BYTES) / 1e6 / ROWS);
    }
    free(found.items);
}

/* ---- hosts ---- */

static int compare_numbers(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void hosts_have_their_own_means_and_peaks(void **state) {
    static const struct {
        enum metric metric;
        size_t column;
    } of[] = {{METRIC_NET_RECV, NET_RECEIVE_BYTES},
              {METRIC_NET_SEND, NET_SEND_BYTES},
              {METRIC_DISK_READ, 2 + DISK_READ_BYTES},
              {METRIC_DISK_WRITE, 2 + DISK_WRITE_BYTES}};
    struct made *m = *state;
    assert_int_equal(report_fill_measures(m->report, &m->model), 0);
    assert_int_equal(m->report->n_resources, 1);
    NEAR(m->report->resources[0].duration_s, ROWS);
    for (size_t h = 0; h < HOSTS; h++)
        for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
            double sorted[ROWS];
            const struct report_value *v =
                &m->report->resources[0].values[h * METRIC_COUNT_ + of[i].metric];
            for (int row = 1; row <= ROWS; row++)
                sorted[row - 1] = (double)amount(HOST_SERIES(h), of[i].column, row) / 1e6;
            qsort(sorted, ROWS, sizeof *sorted, compare_numbers);
            NEAR(v->mean, sum_of(HOST_SERIES(h), of[i].column) / ROWS / 1e6);
            NEAR(v->peak, sorted[ROWS - 1]);
            assert_true(v->p95 >= sorted[ROWS * 95 / 100 - 1] && v->p95 <= sorted[ROWS * 95 / 100]);
        }
}

/* ---- waits, from a model of budgets alone ---- */

static void waits_are_of_the_life_of_whoever_waited(void **state) {
    enum { N = 25, WHO = 4 };
    static struct rank_budget items[WHO];
    static struct budget times[WHO][2];
    static struct process_wait all[N];
    static const char *const kinds[] = {[WAIT_KIND_MESSAGE] = "message",
                                        [WAIT_KIND_LOCK] = "lock",
                                        [WAIT_KIND_PIPE] = "pipe",
                                        [WAIT_KIND_CHILD] = "end"};
    static char names[WHO][8];
    struct waits waits;
    (void)state;
    for (size_t i = 0; i < WHO; i++) {
        snprintf(names[i], sizeof names[i], "p%zu", i);
        times[i][0].wall_s = 1000;
        times[i][1].wall_s = 20 + (double)i;
        items[i] =
            (struct rank_budget){.host = 7 - (int)i, .process = names[i], .groups = times[i]};
    }
    for (size_t i = 0; i < N; i++) /* two are too short to be shown */
        all[i] = (struct process_wait){.who = i % WHO,
                                       .whom = (i + 1 + i / WHO % 3) % WHO,
                                       .kind = i % WAIT_KIND_COUNT_,
                                       .seconds = i < 2 ? 0.19 : (double)(1 + (7 * i) % N)};
    struct run_model model = {.main_group = 1,
                              .budgets = {.items = items, .n = WHO, .waits = all, .n_waits = N}};
    assert_int_equal(waits_find(&model, &waits), 0);
    assert_int_equal(waits.n_all, N - 2);
    assert_int_equal(waits.n, 20);
    for (size_t i = 0; i < waits.n; i++) {
        const struct report_wait *w = &waits.items[i];
        size_t k = 2;
        while (all[k].seconds != w->seconds)
            k++;
        assert_int_equal(w->host, items[all[k].who].host);
        assert_int_equal(w->whom_host, items[all[k].whom].host);
        assert_string_equal(w->process, names[all[k].who]);
        assert_string_equal(w->whom, names[all[k].whom]);
        assert_string_equal(w->what, kinds[all[k].kind]);
        NEAR(w->share_pct, 100 * w->seconds / times[all[k].who][1].wall_s);
        assert_true(i == 0 || w->seconds < w[-1].seconds);
    }
    free(waits.items);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(pairs_carry_what_their_connections_sent),
        TEST(connections_have_their_own_sums),
        TEST(processes_have_their_own_use),
        TEST(hosts_have_their_own_means_and_peaks),
        cmocka_unit_test(waits_are_of_the_life_of_whoever_waited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
