/* SPDX-License-Identifier: MIT */
/*
 * planted_waits MECHANISM ITERATIONS MS: in every iteration rank 1 computes for MS of its thread's
 * CPU time, and rank 0 waits for that by one mechanism of MPI. Then rank 1 waits for a plain answer
 * of rank 0, so that a wait that does not react delays both. Rank 1 ends with a line "planted NS"
 * in EXPECT.1: the CPU time of its computing. Needs 2 ranks; without arguments prints the
 * mechanisms.
 */
#include <mpi.h>
#include <stdbool.h>

#include "agent/mark/chokepoint.h"
#include "tests/mpi/expect.h"

#define LARGE (1 << 20) /* bytes that are sent only when the receiver asks for them */
#define TAG 5
#define ANSWER 6

static int rank, iterations, length = 64;
static long long work_ns, planted_ns;
static char in[LARGE], out[LARGE];
static MPI_Comm comm = MPI_COMM_WORLD;
static MPI_Win window;
static MPI_Request persistent;
static volatile long *shared;

/* ---- the work ---- */

static long long cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static volatile double sink;

static void compute(void) {
    long long start_ns = cpu_ns(), now_ns = start_ns;
    for (; now_ns - start_ns < work_ns; now_ns = cpu_ns())
        for (int i = 0; i < 10000; i++)
            sink = sink * 0.999 + i;
    planted_ns += now_ns - start_ns;
}

/* ---- point to point ---- */

static void send(void) {
    compute();
    MPI_Send(out, length, MPI_CHAR, 0, TAG, comm);
}

static void take(int source) {
    MPI_Recv(in, LARGE, MPI_CHAR, source, TAG, comm, MPI_STATUS_IGNORE);
}

static void recv(void) {
    take(1);
}
static void recv_any(void) {
    MPI_Recv(in, LARGE, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
}
static void probe(void) {
    MPI_Probe(1, TAG, comm, MPI_STATUS_IGNORE);
    take(1);
}
static void probe_any(void) {
    MPI_Status status;
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    take(status.MPI_SOURCE);
}
static void mprobe_of(int source, int tag) {
    MPI_Message message;
    MPI_Mprobe(source, tag, comm, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, LARGE, MPI_CHAR, &message, MPI_STATUS_IGNORE);
}
static void mprobe(void) {
    mprobe_of(1, TAG);
}
static void mprobe_any(void) {
    mprobe_of(MPI_ANY_SOURCE, MPI_ANY_TAG);
}
static void improbe(void) {
    MPI_Message message;
    MPI_Request request;
    for (int found = 0; !found;)
        MPI_Improbe(MPI_ANY_SOURCE, TAG, comm, &found, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(in, LARGE, MPI_CHAR, &message, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void iprobe(void) {
    for (int found = 0; !found;)
        MPI_Iprobe(1, TAG, comm, &found, MPI_STATUS_IGNORE);
    take(1);
}
static void iprobe_sleep(void) {
    for (int found = 0; !found;) {
        MPI_Iprobe(MPI_ANY_SOURCE, TAG, comm, &found, MPI_STATUS_IGNORE);
        if (!found)
            nanosleep(&(struct timespec){0, 500000}, NULL);
    }
    take(1);
}
static void sendrecv(void) {
    if (rank == 1)
        compute();
    MPI_Sendrecv(out, length, MPI_CHAR, !rank, TAG, in, length, MPI_CHAR, !rank, TAG, comm,
                 MPI_STATUS_IGNORE);
}
static void sendrecv_replace(void) {
    if (rank == 1)
        compute();
    MPI_Sendrecv_replace(in, length, MPI_CHAR, !rank, TAG, !rank, TAG, comm, MPI_STATUS_IGNORE);
}
static void give_ssend(void) {
    MPI_Ssend(out, length, MPI_CHAR, 1, TAG, comm);
}
static void compute_and_take(void) {
    compute();
    take(0);
}

/* ---- requests: the one that counts, and one that never completes before the end ---- */

static MPI_Request requests[2];

static void begin(void) {
    MPI_Irecv(in, LARGE, MPI_CHAR, 1, TAG, comm, &requests[0]);
    requests[1] = MPI_REQUEST_NULL;
}
static void test(void) {
    begin();
    for (int done = 0; !done;)
        MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
}
static void testany(void) {
    begin();
    for (int done = 0, index; !done;)
        MPI_Testany(2, requests, &index, &done, MPI_STATUS_IGNORE);
}
static void testsome(void) {
    int indices[2];
    begin();
    for (int n = 0; !n;)
        MPI_Testsome(2, requests, &n, indices, MPI_STATUSES_IGNORE);
}
static void waitany(void) {
    int index;
    begin();
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
}
static void waitsome(void) {
    int n, indices[2];
    begin();
    MPI_Waitsome(2, requests, &n, indices, MPI_STATUSES_IGNORE);
}
static void make_persistent(void) {
    if (rank == 0)
        MPI_Recv_init(in, LARGE, MPI_CHAR, 1, TAG, comm, &persistent);
    else
        MPI_Send_init(out, length, MPI_CHAR, 0, TAG, comm, &persistent);
}
static void run_persistent(void) {
    if (rank == 1)
        compute();
    MPI_Start(&persistent);
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
}
/* A receive that is cancelled before the message with the same envelope comes. */
static void cancelled(void) {
    MPI_Irecv(in, LARGE, MPI_CHAR, 1, TAG, comm, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    take(1);
}
static void cancelled_unseen(void) {
    begin();
    MPI_Cancel(&requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    take(1);
}

/* ---- collectives ---- */

static double values[64], sums[64];

static void wait_for(MPI_Request *request) {
    MPI_Wait(request, MPI_STATUS_IGNORE);
}
static void allreduce(void) {
    if (rank == 1)
        compute();
    MPI_Allreduce(values, sums, 16, MPI_DOUBLE, MPI_SUM, comm);
}
static void iallreduce(void) {
    if (rank == 1)
        compute();
    MPI_Iallreduce(values, sums, 16, MPI_DOUBLE, MPI_SUM, comm, &requests[0]);
    wait_for(&requests[0]);
}
static void bcast(void) {
    if (rank == 1)
        compute();
    MPI_Bcast(values, 16, MPI_DOUBLE, 1, comm);
}
static void make_ring(void) {
    int size = 2, periodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &comm);
}
static void make_graph(void) {
    int other = !rank, weight = 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &other, &weight, 1, &other, &weight,
                                   MPI_INFO_NULL, 0, &comm);
}
static void neighbor_alltoall(void) {
    if (rank == 1)
        compute();
    MPI_Neighbor_alltoall(values, 1, MPI_DOUBLE, sums, 1, MPI_DOUBLE, comm);
}
static void neighbor_allgather(void) {
    if (rank == 1)
        compute();
    MPI_Neighbor_allgather(values, 1, MPI_DOUBLE, sums, 1, MPI_DOUBLE, comm);
}
static void ineighbor_alltoall(void) {
    if (rank == 1)
        compute();
    MPI_Ineighbor_alltoall(values, 1, MPI_DOUBLE, sums, 1, MPI_DOUBLE, comm, &requests[0]);
    wait_for(&requests[0]);
}
static void ineighbor_allgather(void) {
    if (rank == 1)
        compute();
    MPI_Ineighbor_allgather(values, 1, MPI_DOUBLE, sums, 1, MPI_DOUBLE, comm, &requests[0]);
    for (int done = 0; !done;)
        MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
}
static void make_inter(void) {
    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, !rank, 1, &comm);
}
static void inter_allgather(void) {
    if (rank == 1)
        compute();
    MPI_Allgather(values, 1, MPI_DOUBLE, sums, 1, MPI_DOUBLE, comm);
}
static void inter_bcast(void) {
    if (rank == 1)
        compute();
    MPI_Bcast(values, 16, MPI_DOUBLE, rank == 1 ? MPI_ROOT : 0, comm);
}
/* Rank 0 waits while it makes the communicator; freeing it needs no other rank. */
static void split(void) {
    MPI_Comm both;
    if (rank == 1)
        compute();
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &both);
    MPI_Comm_free(&both);
}
static void idup(void) {
    MPI_Comm both;
    if (rank == 1)
        compute();
    MPI_Comm_idup(MPI_COMM_WORLD, &both, &requests[0]);
    wait_for(&requests[0]);
    MPI_Comm_free(&both);
}
static void create_group(void) {
    MPI_Group all;
    MPI_Comm both;
    if (rank == 1)
        compute();
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_create_group(MPI_COMM_WORLD, all, 1, &both);
    MPI_Group_free(&all);
    MPI_Comm_free(&both);
}
static void intercomm(void) {
    MPI_Comm both;
    if (rank == 1)
        compute();
    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, !rank, 1, &both);
    MPI_Comm_free(&both);
}
/* Rank 0 frees its half while rank 1 computes, and then waits in a receive. */
static void split_free(void) {
    MPI_Comm both;
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &both);
    if (rank == 1)
        compute();
    MPI_Comm_free(&both);
    if (rank == 1)
        MPI_Send(out, length, MPI_CHAR, 0, TAG, comm);
    else
        take(1);
}

/* ---- files ---- */

static MPI_File file;
static char path[1024];

static void open_file(void) {
    snprintf(path, sizeof path, "%s.file", getenv("EXPECT"));
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
}
static void close_file(void) {
    MPI_File_close(&file);
}
static void set_size(void) {
    if (rank == 1)
        compute();
    MPI_File_set_size(file, 64);
}

/* ---- one-sided ---- */

static void make_window(void) {
    void *base;
    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    shared = base;
    for (int i = 0; i < 8; i++)
        shared[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
}
static void make_open_window(void) {
    make_window();
    MPI_Win_lock_all(0, window);
}
static void close_window(void) {
    MPI_Win_unlock_all(window);
}
static MPI_Group other_rank(void) {
    MPI_Group all, other;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &(int){!rank}, &other);
    MPI_Group_free(&all);
    return other;
}
static void fence(void) {
    if (rank == 1)
        compute();
    MPI_Win_fence(0, window);
    MPI_Put(out, 8, MPI_CHAR, !rank, 8, 8, MPI_CHAR, window);
    MPI_Win_fence(0, window);
}
/* Rank 0 waits for the end of rank 1's accesses. */
static void post_wait(void) {
    MPI_Group other = other_rank();
    if (rank == 0) {
        MPI_Win_post(other, 0, window);
        MPI_Win_wait(window);
    } else {
        MPI_Win_start(other, 0, window);
        MPI_Put(out, 8, MPI_CHAR, 0, 8, 8, MPI_CHAR, window);
        compute();
        MPI_Win_complete(window);
    }
    MPI_Group_free(&other);
}
/* Rank 0 polls for the end of rank 1's accesses. */
static void post_test(void) {
    MPI_Group other = other_rank();
    if (rank == 0) {
        MPI_Win_post(other, 0, window);
        for (int done = 0; !done;)
            MPI_Win_test(window, &done);
    } else {
        MPI_Win_start(other, 0, window);
        compute();
        MPI_Win_complete(window);
    }
    MPI_Group_free(&other);
}
/* Rank 0 waits until rank 1 exposes its window. */
static void start_complete(void) {
    MPI_Group other = other_rank();
    if (rank == 1) {
        compute();
        MPI_Win_post(other, 0, window);
        MPI_Win_wait(window);
    } else {
        MPI_Win_start(other, 0, window);
        MPI_Put(out, 8, MPI_CHAR, 1, 8, 8, MPI_CHAR, window);
        MPI_Win_complete(window);
    }
    MPI_Group_free(&other);
}
/* Rank 1 holds the lock while it computes. */
static void lock_unlock(void) {
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Put(out, 8, MPI_CHAR, 0, 8, 8, MPI_CHAR, window);
        MPI_Win_flush(0, window);
        MPI_Send(out, 1, MPI_CHAR, 0, TAG, comm);
        compute();
        MPI_Win_unlock(0, window);
    } else {
        take(1);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Get(in, 8, MPI_CHAR, 0, 8, 8, MPI_CHAR, window);
        MPI_Win_unlock(0, window);
    }
}
/* Rank 0 polls its window until rank 1 has added to it. */
static void lock_all_flush(void) {
    static long wanted;
    long one = 1, seen = 0;
    wanted++;
    if (rank == 1) {
        compute();
        MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, window);
        MPI_Win_flush(0, window);
        return;
    }
    while (seen < wanted) {
        MPI_Fetch_and_op(NULL, &seen, MPI_LONG, 0, 0, MPI_NO_OP, window);
        MPI_Win_flush(0, window);
    }
}

/* ---- processes that come later ---- */

static char *self;

static void spawn(void) {
    static char child[] = "child", *words[] = {child, NULL};
    MPI_Comm_spawn(self, words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm, MPI_ERRCODES_IGNORE);
}
static void send_to_child(void) {
    if (rank == 1) {
        compute();
        MPI_Send(out, length, MPI_CHAR, 0, TAG, comm);
        MPI_Recv(in, length, MPI_CHAR, 0, TAG, comm, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
static void be_child(void) {
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    MPI_Recv(&iterations, 1, MPI_INT, 0, TAG, parent, MPI_STATUS_IGNORE);
    for (int i = 0; i < iterations; i++) {
        MPI_Recv(in, length, MPI_CHAR, 1, TAG, parent, MPI_STATUS_IGNORE);
        MPI_Send(in, length, MPI_CHAR, 1, TAG, parent);
    }
    MPI_Comm_disconnect(&parent);
}
static void tell_child(void) {
    spawn();
    if (rank == 0)
        MPI_Send(&iterations, 1, MPI_INT, 0, TAG, comm);
}
static void end_child(void) {
    MPI_Comm_disconnect(&comm);
}

/* ---- the table ---- */

static const struct mechanism {
    const char *name;
    void (*rank_0)(void), (*rank_1)(void), (*begin)(void), (*end)(void);
    int length;
} mechanisms[] = {
    {.name = "recv", .rank_0 = recv, .rank_1 = send},
    {.name = "recv_any", .rank_0 = recv_any, .rank_1 = send},
    {.name = "recv_large", .rank_0 = recv, .rank_1 = send, .length = LARGE},
    {.name = "probe", .rank_0 = probe, .rank_1 = send},
    {.name = "probe_any", .rank_0 = probe_any, .rank_1 = send},
    {.name = "probe_large", .rank_0 = probe_any, .rank_1 = send, .length = LARGE},
    {.name = "mprobe", .rank_0 = mprobe, .rank_1 = send},
    {.name = "mprobe_any", .rank_0 = mprobe_any, .rank_1 = send},
    {.name = "mprobe_large", .rank_0 = mprobe_any, .rank_1 = send, .length = LARGE},
    {.name = "improbe", .rank_0 = improbe, .rank_1 = send},
    {.name = "iprobe", .rank_0 = iprobe, .rank_1 = send},
    {.name = "iprobe_sleep", .rank_0 = iprobe_sleep, .rank_1 = send},
    {.name = "sendrecv", .rank_0 = sendrecv, .rank_1 = sendrecv},
    {.name = "sendrecv_replace", .rank_0 = sendrecv_replace, .rank_1 = sendrecv_replace},
    {.name = "ssend", .rank_0 = give_ssend, .rank_1 = compute_and_take},
    {.name = "test", .rank_0 = test, .rank_1 = send},
    {.name = "testany", .rank_0 = testany, .rank_1 = send},
    {.name = "testsome", .rank_0 = testsome, .rank_1 = send},
    {.name = "waitany", .rank_0 = waitany, .rank_1 = send},
    {.name = "waitsome", .rank_0 = waitsome, .rank_1 = send},
    {.name = "persistent",
     .rank_0 = run_persistent,
     .rank_1 = run_persistent,
     .begin = make_persistent},
    {.name = "cancelled", .rank_0 = cancelled, .rank_1 = send},
    {.name = "cancelled_unseen", .rank_0 = cancelled_unseen, .rank_1 = send},
    {.name = "allreduce", .rank_0 = allreduce, .rank_1 = allreduce},
    {.name = "iallreduce", .rank_0 = iallreduce, .rank_1 = iallreduce},
    {.name = "bcast", .rank_0 = bcast, .rank_1 = bcast},
    {.name = "neighbor_alltoall",
     .rank_0 = neighbor_alltoall,
     .rank_1 = neighbor_alltoall,
     .begin = make_ring},
    {.name = "neighbor_allgather",
     .rank_0 = neighbor_allgather,
     .rank_1 = neighbor_allgather,
     .begin = make_graph},
    {.name = "ineighbor_alltoall",
     .rank_0 = ineighbor_alltoall,
     .rank_1 = ineighbor_alltoall,
     .begin = make_graph},
    {.name = "ineighbor_allgather",
     .rank_0 = ineighbor_allgather,
     .rank_1 = ineighbor_allgather,
     .begin = make_ring},
    {.name = "inter_allgather",
     .rank_0 = inter_allgather,
     .rank_1 = inter_allgather,
     .begin = make_inter},
    {.name = "inter_bcast", .rank_0 = inter_bcast, .rank_1 = inter_bcast, .begin = make_inter},
    {.name = "split", .rank_0 = split, .rank_1 = split},
    {.name = "idup", .rank_0 = idup, .rank_1 = idup},
    {.name = "create_group", .rank_0 = create_group, .rank_1 = create_group},
    {.name = "intercomm_create", .rank_0 = intercomm, .rank_1 = intercomm},
    {.name = "file_set_size",
     .rank_0 = set_size,
     .rank_1 = set_size,
     .begin = open_file,
     .end = close_file},
    {.name = "split_free", .rank_0 = split_free, .rank_1 = split_free},
    {.name = "fence", .rank_0 = fence, .rank_1 = fence, .begin = make_window},
    {.name = "post_wait", .rank_0 = post_wait, .rank_1 = post_wait, .begin = make_window},
    {.name = "post_test", .rank_0 = post_test, .rank_1 = post_test, .begin = make_window},
    {.name = "start_complete",
     .rank_0 = start_complete,
     .rank_1 = start_complete,
     .begin = make_window},
    {.name = "lock_unlock", .rank_0 = lock_unlock, .rank_1 = lock_unlock, .begin = make_window},
    {.name = "lock_all_flush",
     .rank_0 = lock_all_flush,
     .rank_1 = lock_all_flush,
     .begin = make_open_window,
     .end = close_window},
    {.name = "spawn",
     .rank_0 = send_to_child,
     .rank_1 = send_to_child,
     .begin = tell_child,
     .end = end_child},
};

#define N_MECHANISMS (sizeof mechanisms / sizeof *mechanisms)

static const struct mechanism *find(const char *name) {
    for (size_t i = 0; i < N_MECHANISMS; i++)
        if (strcmp(mechanisms[i].name, name) == 0)
            return &mechanisms[i];
    return NULL;
}

/* Rank 1 continues when rank 0 does. */
static void answer(void) {
    char word = 0;
    if (rank == 0)
        MPI_Send(&word, 1, MPI_CHAR, 1, ANSWER, MPI_COMM_WORLD);
    else
        MPI_Recv(&word, 1, MPI_CHAR, 0, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void work(const struct mechanism *m) {
    length = m->length ? m->length : length;
    if (m->begin)
        m->begin();
    MPI_Barrier(MPI_COMM_WORLD);
    chokepoint_phase("work");
    for (int i = 0; i < iterations; i++) {
        (rank == 0 ? m->rank_0 : m->rank_1)();
        answer();
    }
    chokepoint_phase("end");
    MPI_Barrier(MPI_COMM_WORLD);
    if (m->end)
        m->end();
}

static int write_planted(void) {
    FILE *f = rank == 1 ? expect_file(rank) : NULL;
    if (rank != 1)
        return 0;
    if (!f)
        return -1;
    fprintf(f, "planted %lld\n", planted_ns);
    return fclose(f);
}

static int name_all(void) {
    for (size_t i = 0; i < N_MECHANISMS; i++)
        puts(mechanisms[i].name);
    return 0;
}

int main(int argc, char **argv) {
    int size;
    if (argc == 1)
        return name_all();
    self = argv[0];
    MPI_Init(&argc, &argv);
    if (strcmp(argv[1], "child") == 0) {
        be_child();
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const struct mechanism *m = find(argv[1]);
    if (size != 2 || argc != 4 || !m || !getenv("EXPECT")) {
        fprintf(stderr, "planted_waits: needs 2 ranks, a mechanism, iterations, ms, and $EXPECT\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    iterations = atoi(argv[2]);
    work_ns = atoll(argv[3]) * 1000000;
    work(m);
    int result = write_planted();
    MPI_Finalize();
    return result != 0;
}
