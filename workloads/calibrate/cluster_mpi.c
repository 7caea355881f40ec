/* SPDX-License-Identifier: MIT */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/calibrate/cluster.h"
#include "workloads/common/wait.h"

#define TAG 7
#define PINGS_MAX 1000
#define WINDOW_MAX 8 /* messages in flight */
#define MESSAGE_LEAST (64 << 10)
#define MESSAGE_MOST (1 << 20)
#define WINDOW_S                                                                                   \
    0.02 /* windows grow until one takes this long: its acknowledgement is then negligible */
#define MORE 1

#ifdef __SANITIZE_ADDRESS__
/* LeakSanitizer must not report memory that OpenMPI never frees. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "detect_leaks=0";
}
#endif

int cluster_open(struct cluster *cluster, int *argc, char ***argv) {
    if (MPI_Init(argc, argv) != MPI_SUCCESS)
        return -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &cluster->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &cluster->n);
    return 0;
}

void cluster_close(struct cluster *cluster) {
    (void)cluster;
    MPI_Finalize();
}

static void await_request(MPI_Request *request) {
    struct waiter waiter = {0};
    wait_all(&waiter, 1, request);
}

void cluster_exchange(const struct cluster *cluster, const void *mine, size_t size, void *ret_all) {
    MPI_Request request;
    (void)cluster;
    MPI_Iallgather(mine, (int)size, MPI_BYTE, ret_all, (int)size, MPI_BYTE, MPI_COMM_WORLD,
                   &request);
    await_request(&request);
}

void cluster_tell(const struct cluster *cluster, void *data, size_t size) {
    MPI_Request request;
    (void)cluster;
    MPI_Ibcast(data, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    await_request(&request);
}

void cluster_abort(const struct cluster *cluster) {
    (void)cluster;
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* ---- latency: blocking calls, as programs make them ---- */

static void ping(int b, double seconds, struct figures *figures) {
    char message[8] = {MORE};
    double times[PINGS_MAX], end = now_s() + seconds;
    size_t n = 0;
    for (int i = 0; message[0]; i++) {
        message[0] = n + 1 < PINGS_MAX && (i < 10 || now_s() < end);
        double before = now_s();
        MPI_Send(message, sizeof message, MPI_BYTE, b, TAG, MPI_COMM_WORLD);
        MPI_Recv(message, sizeof message, MPI_BYTE, b, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (i > 2)
            times[n++] = (now_s() - before) / 2 * 1e6;
    }
    double median = quantile(times, n, .5);
    figures_add(
        figures, "mpi_latency", "us", b, median, quantile(times, n, 0), quantile(times, n, .95),
        "half a round trip of 8 bytes, blocking calls, median of %zu; low: least, high: 95 %%", n);
}

static void pong(int a) {
    char message[8] = {MORE};
    while (message[0]) {
        MPI_Recv(message, sizeof message, MPI_BYTE, a, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(message, sizeof message, MPI_BYTE, a, TAG, MPI_COMM_WORLD);
    }
}

/* ---- bandwidth: windows of messages, each acknowledged when all have arrived ---- */

struct window {
    int n, size; /* messages, and bytes of each */
    int more;    /* true: another window follows */
};

static void grow(struct window *w) {
    if (w->size < MESSAGE_MOST)
        w->size *= 2;
    else if (w->n < WINDOW_MAX)
        w->n *= 2;
}

static void send_window(const struct window *w, char *buffer, int b) {
    MPI_Request requests[WINDOW_MAX];
    char acknowledged;
    MPI_Send(w, sizeof *w, MPI_BYTE, b, TAG, MPI_COMM_WORLD);
    for (int i = 0; i < w->n; i++)
        MPI_Isend(buffer, w->size, MPI_BYTE, b, TAG, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(w->n, requests, MPI_STATUSES_IGNORE);
    MPI_Recv(&acknowledged, 1, MPI_BYTE, b, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void stream_out(int b, double seconds, char *buffer, struct figures *figures) {
    struct window w = {.n = 1, .size = MESSAGE_LEAST, .more = 1};
    struct meter meter = {0};
    double start = now_s(), bytes = 0, took = 0;
    struct meter_rates r;
    do {
        double before = now_s();
        if (took < WINDOW_S && meter.n == 0)
            grow(&w);
        w.more = now_s() < start + seconds || meter.n < 2;
        w.more = w.more && meter.n + 2 < METER_READINGS;
        send_window(&w, buffer, b);
        took = now_s() - before;
        bool grown = took >= WINDOW_S || w.n == WINDOW_MAX;
        if (grown || meter.n || now_s() > start + seconds / 2) {
            meter_read(&meter, now_s(), bytes);
            bytes += (double)w.n * w.size; /* count the next window: this one had begun before */
        }
    } while (w.more);
    if (meter_rate(&meter, 0, &r))
        figures_add(figures, "mpi_bandwidth", "MB/s", b, r.steady * 1e-6, r.low * 1e-6,
                    r.high * 1e-6, "%d messages of %d KiB in flight, %zu times", w.n, w.size >> 10,
                    meter.n - 1);
}

static void stream_in(int a, char *buffer) {
    struct window w;
    do {
        MPI_Request requests[WINDOW_MAX];
        MPI_Recv(&w, sizeof w, MPI_BYTE, a, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < w.n; i++)
            MPI_Irecv(buffer + (size_t)i * MESSAGE_MOST, w.size, MPI_BYTE, a, TAG, MPI_COMM_WORLD,
                      &requests[i]);
        MPI_Waitall(w.n, requests, MPI_STATUSES_IGNORE);
        MPI_Send(buffer, 1, MPI_BYTE, a, TAG, MPI_COMM_WORLD);
    } while (w.more);
}

void cluster_messages(const struct cluster *cluster, int a, int b, double seconds,
                      struct figures *figures) {
    char *buffer = calloc(WINDOW_MAX, MESSAGE_MOST);
    if (!buffer)
        cluster_abort(cluster); /* otherwise the other rank waits for ever */
    if (cluster->rank == a) {
        ping(b, seconds / 4, figures);
        stream_out(b, 3 * seconds / 8, buffer, figures);
        stream_in(b, buffer);
    } else {
        pong(a);
        stream_in(a, buffer);
        stream_out(a, 3 * seconds / 8, buffer, figures);
    }
    free(buffer);
}
