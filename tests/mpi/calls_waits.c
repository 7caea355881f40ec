/* SPDX-License-Identifier: MIT */
/*
 * Waits of known length: one rank comes late, and the other measures with its own clock how long
 * MPI holds it. EXPECT.RANK gets lines "wait RANK FUNCTION NS CPU_NS READY_NS", where READY_NS is
 * the kernel's count of waits for a core meanwhile, and "slept RANK NS". Needs 2 ranks; rank 0
 * waits.
 */
#include <mpi.h>

#include "tests/mpi/expect.h"

#define LATE_MS 250

static int rank;
static FILE *report;
static char in[100], out[100];

static long long cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* How long this thread has been ready to run without a core. */
static long long ready_ns(void) {
    unsigned long long ran, ready = 0;
    FILE *f = fopen("/proc/thread-self/schedstat", "r");
    if (f && fscanf(f, "%llu %llu", &ran, &ready) != 2)
        ready = 0;
    if (f)
        fclose(f);
    return (long long)ready;
}

#define MEASURE(function, call)                                                                    \
    do {                                                                                           \
        long long ready = ready_ns(), cpu = cpu_ns(), start_ns = clock_ns();                       \
        call;                                                                                      \
        long long end_ns = clock_ns();                                                             \
        cpu = cpu_ns() - cpu;                                                                      \
        fprintf(report, "wait %d MPI_%s %lld %lld %lld\n", rank, function, end_ns - start_ns, cpu, \
                ready_ns() - ready);                                                               \
    } while (0)

static long long slept_ns;

static void come_late(void) {
    long long start_ns = clock_ns();
    sleep_ms(LATE_MS);
    slept_ns += clock_ns() - start_ns;
}

static void late_send(int tag) {
    come_late();
    MPI_Send(out, 100, MPI_CHAR, 0, tag, MPI_COMM_WORLD);
}

static void early(void) {
    MPI_Request q[2];
    MPI_Status s;
    MPI_Message m;
    int done = 0;
    MEASURE("Recv", MPI_Recv(in, 100, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI_Irecv(in, 100, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &q[0]);
    MEASURE("Wait", MPI_Wait(&q[0], MPI_STATUS_IGNORE));
    MPI_Irecv(in, 100, MPI_CHAR, 1, 3, MPI_COMM_WORLD, &q[0]);
    q[1] = MPI_REQUEST_NULL;
    MEASURE("Waitall", MPI_Waitall(2, q, MPI_STATUSES_IGNORE));
    MEASURE("Probe", MPI_Probe(1, 4, MPI_COMM_WORLD, &s));
    MPI_Recv(in, 100, MPI_CHAR, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MEASURE("Mprobe", MPI_Mprobe(1, 5, MPI_COMM_WORLD, &m, &s));
    MPI_Mrecv(in, 100, MPI_CHAR, &m, MPI_STATUS_IGNORE);
    MPI_Irecv(in, 100, MPI_CHAR, 1, 6, MPI_COMM_WORLD, &q[0]);
    MEASURE("Test", while (!done) MPI_Test(&q[0], &done, MPI_STATUS_IGNORE));
    MEASURE("Barrier", MPI_Barrier(MPI_COMM_WORLD));
    MEASURE("Allreduce", MPI_Allreduce(out, in, 10, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD));
    MEASURE("Ssend", MPI_Ssend(out, 10, MPI_CHAR, 1, 7, MPI_COMM_WORLD));
}

static void late(void) {
    for (int tag = 1; tag <= 6; tag++)
        late_send(tag);
    come_late();
    MPI_Barrier(MPI_COMM_WORLD);
    come_late();
    MPI_Allreduce(out, in, 10, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
    come_late();
    MPI_Recv(in, 10, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    report = expect_file(rank);
    if (!report)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MEASURE("Barrier", MPI_Barrier(MPI_COMM_WORLD));
    long long start_ns = clock_ns();
    if (rank == 0)
        early();
    else
        late();
    fprintf(report, "wall %d all %lld\n", rank, clock_ns() - start_ns);
    fprintf(report, "slept %d %lld\n", rank, slept_ns);
    fclose(report);
    MPI_Finalize();
    return 0;
}
