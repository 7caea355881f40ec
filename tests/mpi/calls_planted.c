/* SPDX-License-Identifier: MIT */
/*
 * Calls every family of MPI functions a known number of times, and prints the calls and bytes by
 * its own arithmetic. Needs 4 ranks.
 */
#include <mpi.h>

#include "tests/mpi/expect.h"

static int rank, size, left, right;
static char out[4096], in[4096];
static double x[256], y[256];

/* ---- point to point ---- */

static void blocking(void) {
    MPI_Status status;
    static char attached[100000];
    void *detached;
    int n, partner = rank ^ 1;
    MPI_Buffer_attach(attached, sizeof attached);
    for (int i = 0; i < 3; i++) {
        if (rank & 1) {
            MPI_Recv(in, 4096, MPI_CHAR, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(in, 512, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            MPI_Recv(in, 4096, MPI_CHAR, partner, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Send(out, 100 + i, MPI_CHAR, partner, 1, MPI_COMM_WORLD);
            MPI_Ssend(out, 10, MPI_DOUBLE, partner, 2, MPI_COMM_WORLD);
            MPI_Bsend(out, 7, MPI_INT, partner, 3, MPI_COMM_WORLD);
        }
    }
    MPI_Buffer_detach(&detached, &n);
    expect("Buffer_detach", 1, 0, 0);
    if (rank & 1)
        expect("Recv", 9, 0, 303 + 240 + 84);
    if (!(rank & 1)) {
        expect("Send", 3, 303, 0);
        expect("Ssend", 3, 240, 0);
        expect("Bsend", 3, 84, 0);
    }
    MPI_Sendrecv(out, 11 + rank, MPI_INT, right, 4, in, 20, MPI_INT, left, 4, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    expect("Sendrecv", 1, 44 + 4 * rank, 44 + 4 * left);
    MPI_Sendrecv_replace(in, 9, MPI_CHAR, right, 5, left, 5, MPI_COMM_WORLD, &status);
    expect("Sendrecv_replace", 1, 9, 9);
    MPI_Send(out, 50, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Recv(in, 50, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("Send", 1, 0, 0);
    expect("Recv", 1, 0, 0);
}

/* Each way of completing; receives ask for more than is sent. */
static void nonblocking(void) {
    MPI_Request q[4];
    MPI_Status s[4];
    int done, index, indices[4], n;
    for (int i = 0; i < 6; i++) {
        MPI_Irecv(in, 1000, MPI_CHAR, i & 1 ? MPI_ANY_SOURCE : left, 10 + i, MPI_COMM_WORLD, &q[0]);
        MPI_Irecv(in + 2000, 1000, MPI_CHAR, left, 20 + i, MPI_COMM_WORLD, &q[1]);
        MPI_Isend(out, 300, MPI_CHAR, right, 10 + i, MPI_COMM_WORLD, &q[2]);
        MPI_Issend(out, 400, MPI_CHAR, right, 20 + i, MPI_COMM_WORLD, &q[3]);
        if (i == 0) {
            MPI_Waitall(4, q, s);
            expect("Waitall", 1, 0, 0);
        } else if (i == 1) {
            for (int k = 0; k < 4; k++)
                MPI_Wait(&q[k], MPI_STATUS_IGNORE);
            expect("Wait", 4, 0, 0);
        } else if (i == 2) {
            for (int k = 0; k < 4; k++)
                MPI_Waitany(4, q, &index, MPI_STATUS_IGNORE);
            expect("Waitany", 4, 0, 0);
        } else if (i == 3) {
            for (int left_over = 4; left_over; left_over -= n) {
                MPI_Waitsome(4, q, &n, indices, s);
                expect("Waitsome", 1, 0, 0);
            }
        } else if (i == 4) {
            do {
                MPI_Testall(4, q, &done, s);
                expect("Testall", 1, 0, 0);
            } while (!done);
        } else {
            do {
                MPI_Test(&q[3], &done, MPI_STATUS_IGNORE);
                expect("Test", 1, 0, 0);
            } while (!done);
            do {
                MPI_Testany(3, q, &index, &done, MPI_STATUS_IGNORE);
                expect("Testany", 1, 0, 0);
            } while (!done);
            for (int left_over = 2; left_over; left_over -= n) {
                MPI_Testsome(3, q, &n, indices, s);
                expect("Testsome", 1, 0, 0);
            }
        }
        expect("Irecv", 2, 0, 700);
        expect("Isend", 1, 300, 0);
        expect("Issend", 1, 400, 0);
    }
    MPI_Irecv(in, 300, MPI_CHAR, left, 30, MPI_COMM_WORLD, &q[0]);
    MPI_Barrier(MPI_COMM_WORLD); /* it must be posted before the ready send */
    MPI_Irsend(out, 300, MPI_CHAR, right, 30, MPI_COMM_WORLD, &q[1]);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    expect("Barrier", 1, 0, 0);
    expect("Irecv", 1, 0, 300);
    expect("Irsend", 1, 300, 0);
    expect("Waitall", 1, 0, 0);
    MPI_Irecv(in, 300, MPI_CHAR, left, 31, MPI_COMM_WORLD, &q[0]);
    MPI_Cancel(&q[0]);
    MPI_Wait(&q[0], &s[0]);
    expect("Irecv", 1, 0, 0);
    expect("Cancel", 1, 0, 0);
    expect("Wait", 1, 0, 0);
}

/* More requests at once than most programs have. */
static void many(void) {
    enum { MANY = 1500 };
    static MPI_Request q[2 * MANY];
    static char into[MANY];
    int done = 0;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++)
            MPI_Irecv(&into[i], 1, MPI_CHAR, left, 70, MPI_COMM_WORLD, &q[i]);
        for (int i = 0; i < MANY; i++)
            MPI_Isend(out, 1, MPI_CHAR, right, 70, MPI_COMM_WORLD, &q[MANY + i]);
        if (round == 0)
            MPI_Waitall(2 * MANY, q, MPI_STATUSES_IGNORE);
        for (; round == 1 && !done;) {
            MPI_Testall(2 * MANY, q, &done, MPI_STATUSES_IGNORE);
            expect("Testall", 1, 0, 0);
        }
    }
    expect("Waitall", 1, 0, 0);
    expect("Irecv", 2 * MANY, 0, 2 * MANY);
    expect("Isend", 2 * MANY, 2 * MANY, 0);
}

static void persistent(void) {
    MPI_Request q[2];
    MPI_Recv_init(in, 1000, MPI_CHAR, left, 40, MPI_COMM_WORLD, &q[0]);
    MPI_Send_init(out, 123, MPI_CHAR, right, 40, MPI_COMM_WORLD, &q[1]);
    for (int i = 0; i < 5; i++) {
        if (i & 1) {
            MPI_Startall(2, q);
        } else {
            MPI_Start(&q[0]);
            MPI_Start(&q[1]);
        }
        MPI_Wait(&q[0], MPI_STATUS_IGNORE);
        MPI_Wait(&q[1], MPI_STATUS_IGNORE);
    }
    MPI_Wait(&q[0], MPI_STATUS_IGNORE); /* inactive */
    MPI_Request_free(&q[0]);
    MPI_Request_free(&q[1]);
    expect("Recv_init", 1, 0, 5 * 123);
    expect("Send_init", 1, 5 * 123, 0);
    expect("Start", 6, 0, 0);
    expect("Startall", 2, 0, 0);
    expect("Wait", 11, 0, 0);
    expect("Request_free", 2, 0, 0);
}

static void probing(void) {
    MPI_Status s;
    MPI_Message m;
    MPI_Request q;
    int found;
    for (int i = 0; i < 4; i++) {
        MPI_Request send;
        MPI_Isend(out, 60 + i, MPI_CHAR, right, 50 + i, MPI_COMM_WORLD, &send);
        if (i == 0) {
            MPI_Probe(MPI_ANY_SOURCE, 50, MPI_COMM_WORLD, &s);
            MPI_Recv(in, 100, MPI_CHAR, s.MPI_SOURCE, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            expect("Probe", 1, 0, 0);
            expect("Recv", 1, 0, 60);
        } else if (i == 1) {
            do {
                MPI_Iprobe(left, 51, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
                expect("Iprobe", 1, 0, 0);
            } while (!found);
            MPI_Recv(in, 100, MPI_CHAR, left, 51, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            expect("Recv", 1, 0, 61);
        } else if (i == 2) {
            MPI_Mprobe(left, 52, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
            MPI_Mrecv(in, 100, MPI_CHAR, &m, MPI_STATUS_IGNORE);
            expect("Mprobe", 1, 0, 0);
            expect("Mrecv", 1, 0, 62);
        } else {
            do {
                MPI_Improbe(left, 53, MPI_COMM_WORLD, &found, &m, MPI_STATUS_IGNORE);
                expect("Improbe", 1, 0, 0);
            } while (!found);
            MPI_Imrecv(in, 100, MPI_CHAR, &m, &q);
            MPI_Wait(&q, MPI_STATUS_IGNORE);
            expect("Imrecv", 1, 0, 63);
            expect("Wait", 1, 0, 0);
        }
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        expect("Isend", 1, 60 + i, 0);
        expect("Wait", 1, 0, 0);
    }
}

/* ---- collectives ---- */

static const int counts[4] = {1, 2, 3, 4}, places[4] = {0, 1, 3, 6};
static const int two[4] = {2, 2, 2, 2}, two_places[4] = {0, 2, 4, 6};

static void collectives(void) {
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Datatype types[4] = {MPI_DOUBLE, MPI_DOUBLE, MPI_DOUBLE, MPI_DOUBLE};
    const int offsets[4] = {0, 16, 32, 48};
    int mine = counts[rank], root = rank == 2;
    MPI_Barrier(w);
    expect("Barrier", 1, 0, 0);
    MPI_Bcast(x, 10, MPI_DOUBLE, 2, w);
    expect("Bcast", 1, root ? 80 : 0, root ? 0 : 80);
    MPI_Gather(x, 3, MPI_DOUBLE, y, 3, MPI_DOUBLE, 2, w);
    expect("Gather", 1, 24, root ? 96 : 0);
    MPI_Gather(root ? MPI_IN_PLACE : x, 3, MPI_DOUBLE, y, 3, MPI_DOUBLE, 2, w);
    expect("Gather", 1, 24, root ? 96 : 0);
    MPI_Gatherv(x, mine, MPI_DOUBLE, y, counts, places, MPI_DOUBLE, 2, w);
    expect("Gatherv", 1, 8 * mine, root ? 80 : 0);
    MPI_Scatter(x, 3, MPI_DOUBLE, y, 3, MPI_DOUBLE, 2, w);
    expect("Scatter", 1, root ? 96 : 0, 24);
    MPI_Scatterv(x, counts, places, MPI_DOUBLE, y, mine, MPI_DOUBLE, 2, w);
    expect("Scatterv", 1, root ? 80 : 0, 8 * mine);
    MPI_Allgather(x, 5, MPI_FLOAT, y, 5, MPI_FLOAT, w);
    expect("Allgather", 1, 20, 80);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, y, 5, MPI_FLOAT, w);
    expect("Allgather", 1, 20, 80);
    MPI_Allgatherv(x, mine, MPI_DOUBLE, y, counts, places, MPI_DOUBLE, w);
    expect("Allgatherv", 1, 8 * mine, 80);
    MPI_Alltoall(x, 2, MPI_DOUBLE, y, 2, MPI_DOUBLE, w);
    expect("Alltoall", 1, 64, 64);
    MPI_Alltoallv(x, two, two_places, MPI_DOUBLE, y, two, two_places, MPI_DOUBLE, w);
    expect("Alltoallv", 1, 64, 64);
    MPI_Alltoallw(x, two, offsets, types, y, two, offsets, types, w);
    expect("Alltoallw", 1, 64, 64);
    MPI_Reduce(x, y, 9, MPI_DOUBLE, MPI_SUM, 2, w);
    expect("Reduce", 1, 72, root ? 72 : 0);
    MPI_Allreduce(MPI_IN_PLACE, y, 9, MPI_DOUBLE, MPI_SUM, w);
    expect("Allreduce", 1, 72, 72);
    MPI_Reduce_scatter(x, y, counts, MPI_DOUBLE, MPI_SUM, w);
    expect("Reduce_scatter", 1, 80, 8 * mine);
    MPI_Reduce_scatter_block(x, y, 2, MPI_DOUBLE, MPI_SUM, w);
    expect("Reduce_scatter_block", 1, 64, 16);
    MPI_Scan(x, y, 4, MPI_DOUBLE, MPI_SUM, w);
    expect("Scan", 1, 32, 32);
    MPI_Exscan(x, y, 4, MPI_DOUBLE, MPI_SUM, w);
    expect("Exscan", 1, 32, 32);
}

static void wait(MPI_Request *q) {
    MPI_Wait(q, MPI_STATUS_IGNORE);
    expect("Wait", 1, 0, 0);
}

static void nonblocking_collectives(void) {
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Request q;
    int mine = counts[rank], root = rank == 1;
    MPI_Ibarrier(w, &q);
    wait(&q);
    expect("Ibarrier", 1, 0, 0);
    MPI_Ibcast(x, 10, MPI_DOUBLE, 1, w, &q);
    wait(&q);
    expect("Ibcast", 1, root ? 80 : 0, root ? 0 : 80);
    MPI_Igather(x, 3, MPI_DOUBLE, y, 3, MPI_DOUBLE, 1, w, &q);
    wait(&q);
    expect("Igather", 1, 24, root ? 96 : 0);
    MPI_Iscatterv(x, counts, places, MPI_DOUBLE, y, mine, MPI_DOUBLE, 1, w, &q);
    wait(&q);
    expect("Iscatterv", 1, root ? 80 : 0, 8 * mine);
    MPI_Iallgatherv(x, mine, MPI_DOUBLE, y, counts, places, MPI_DOUBLE, w, &q);
    wait(&q);
    expect("Iallgatherv", 1, 8 * mine, 80);
    MPI_Ialltoall(x, 2, MPI_DOUBLE, y, 2, MPI_DOUBLE, w, &q);
    wait(&q);
    expect("Ialltoall", 1, 64, 64);
    MPI_Ireduce(x, y, 9, MPI_DOUBLE, MPI_SUM, 1, w, &q);
    wait(&q);
    expect("Ireduce", 1, 72, root ? 72 : 0);
    MPI_Iallreduce(x, y, 9, MPI_DOUBLE, MPI_SUM, w, &q);
    wait(&q);
    expect("Iallreduce", 1, 72, 72);
}

static void neighbours(void) {
    MPI_Comm ring, graph;
    MPI_Request q;
    int dims[1] = {4}, periods[1] = {1}, from[2] = {left, 0}, to[2] = {right, 0};
    int weights[2] = {1, 1}, to_self = rank == 0;
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
    expect("Cart_create", 1, 0, 0);
    MPI_Neighbor_allgather(x, 3, MPI_DOUBLE, y, 3, MPI_DOUBLE, ring);
    expect("Neighbor_allgather", 1, 24, 48);
    MPI_Neighbor_alltoall(x, 3, MPI_DOUBLE, y, 3, MPI_DOUBLE, ring);
    expect("Neighbor_alltoall", 1, 48, 48);
    MPI_Ineighbor_alltoallv(x, two, two_places, MPI_DOUBLE, y, two, two_places, MPI_DOUBLE, ring,
                            &q);
    wait(&q);
    expect("Ineighbor_alltoallv", 1, 32, 32);
    MPI_Comm_free(&ring);
    /* A ring in one direction, and rank 0 to itself as well. */
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1 + to_self, from, weights, 1 + to_self, to,
                                   weights, MPI_INFO_NULL, 0, &graph);
    expect("Dist_graph_create_adjacent", 1, 0, 0);
    MPI_Neighbor_allgatherv(x, 2, MPI_DOUBLE, y, two, two_places, MPI_DOUBLE, graph);
    expect("Neighbor_allgatherv", 1, 16, 16 * (1 + to_self));
    MPI_Comm_free(&graph);
    expect("Comm_free", 2, 0, 0);
}

/* The two halves of the world, and traffic between them. */
static void between_groups(void) {
    MPI_Comm half, inter, merged;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 60, &inter);
    MPI_Bcast(x, 6, MPI_DOUBLE, rank == 0 ? MPI_ROOT : rank == 1 ? MPI_PROC_NULL : 0, inter);
    expect("Bcast", 1, rank == 0 ? 48 : 0, rank >= 2 ? 48 : 0);
    MPI_Allgather(x, 2, MPI_DOUBLE, y, 2, MPI_DOUBLE, inter);
    expect("Allgather", 1, 16, 32);
    if (rank == 0)
        MPI_Send(out, 70, MPI_CHAR, 1, 1, inter); /* to rank 3 of the world */
    if (rank == 3)
        MPI_Recv(in, 80, MPI_CHAR, 0, 1, inter, MPI_STATUS_IGNORE);
    if (rank == 0)
        expect("Send", 1, 70, 0);
    if (rank == 3)
        expect("Recv", 1, 0, 70);
    MPI_Intercomm_merge(inter, rank >= 2, &merged);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&inter);
    MPI_Comm_free(&half);
    expect("Comm_split", 1, 0, 0);
    expect("Intercomm_create", 1, 0, 0);
    expect("Intercomm_merge", 1, 0, 0);
    expect("Comm_free", 2, 0, 0);
    expect("Comm_disconnect", 1, 0, 0);
}

/* ---- one-sided ---- */

static void one_sided(void) {
    MPI_Win win;
    MPI_Request q;
    long one = 1, before, zero = 0;
    double *base;
    MPI_Win_allocate(1024, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_fence(0, win);
    MPI_Put(x, 5, MPI_DOUBLE, right, 0, 5, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    MPI_Get(y, 6, MPI_DOUBLE, right, 0, 6, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    MPI_Accumulate(x, 7, MPI_DOUBLE, right, 0, 7, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_fence(0, win);
    expect("Win_allocate", 1, 0, 0);
    expect("Win_fence", 4, 0, 0);
    expect("Put", 1, 40, 0);
    expect("Get", 1, 0, 48);
    expect("Accumulate", 1, 56, 0);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
    MPI_Get_accumulate(x, 3, MPI_DOUBLE, y, 3, MPI_DOUBLE, right, 0, 3, MPI_DOUBLE, MPI_SUM, win);
    MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, y, 3, MPI_DOUBLE, right, 0, 3, MPI_DOUBLE,
                       MPI_NO_OP, win);
    MPI_Fetch_and_op(&one, &before, MPI_LONG, right, 20, MPI_SUM, win);
    MPI_Compare_and_swap(&one, &zero, &before, MPI_LONG, right, 21, win);
    MPI_Win_flush(right, win);
    MPI_Rput(x, 2, MPI_DOUBLE, right, 0, 2, MPI_DOUBLE, win, &q);
    wait(&q);
    MPI_Win_unlock(right, win);
    MPI_Win_lock_all(0, win);
    MPI_Win_flush_all(win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    expect("Win_lock", 1, 0, 0);
    expect("Get_accumulate", 2, 24, 48);
    expect("Fetch_and_op", 1, 8, 8);
    expect("Compare_and_swap", 1, 8, 8);
    expect("Win_flush", 1, 0, 0);
    expect("Rput", 1, 16, 0);
    expect("Win_unlock", 1, 0, 0);
    expect("Win_lock_all", 1, 0, 0);
    expect("Win_flush_all", 1, 0, 0);
    expect("Win_unlock_all", 1, 0, 0);
    expect("Win_free", 1, 0, 0);
}

/* ---- files ---- */

static void files(const char *path) {
    MPI_File f;
    MPI_Request q;
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &f);
    MPI_File_write_at(f, rank * 1000, out, 1000, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_write_at_all(f, rank * 1000, out, 125, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_sync(f);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at(f, 0, in, 500, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(f, 3900, in, 100, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_iwrite_at(f, rank * 1000, out, 10, MPI_CHAR, &q);
    wait(&q);
    MPI_File_iread_at(f, rank * 1000, in, 20, MPI_CHAR, &q);
    wait(&q);
    MPI_File_write_at_all_begin(f, rank * 1000, out, 30, MPI_CHAR);
    MPI_File_write_at_all_end(f, out, MPI_STATUS_IGNORE);
    MPI_File_close(&f);
    expect("File_open", 1, 0, 0);
    expect("File_write_at", 1, 1000, 0);
    expect("File_write_at_all", 1, 1000, 0);
    expect("File_sync", 1, 0, 0);
    expect("Barrier", 1, 0, 0);
    expect("File_read_at", 1, 0, 500);
    expect("File_read_at_all", 1, 0, 100);
    expect("File_iwrite_at", 1, 10, 0);
    expect("File_iread_at", 1, 0, 20);
    expect("File_write_at_all_begin", 1, 0, 0);
    expect("File_write_at_all_end", 1, 30, 0);
    expect("File_close", 1, 0, 0);
}

/* Polls that find nothing, up to the end. */
static void in_vain(void) {
    int found;
    for (int i = 0; i < 10; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    expect("Iprobe", 10, 0, 0);
}

/* A call that fails counts, but without bytes; the program gets MPI's own error. */
static void failing(void) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int r = MPI_Send(out, 1, MPI_CHAR, 99, 1, MPI_COMM_WORLD), class = 0;
    MPI_Error_class(r, &class);
    expect("Send", 1, 0, 0);
    if (class != MPI_ERR_RANK)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 4 || argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    left = (rank + 3) % 4;
    right = (rank + 1) % 4;
    blocking();
    nonblocking();
    many();
    persistent();
    probing();
    collectives();
    nonblocking_collectives();
    neighbours();
    between_groups();
    one_sided();
    files(argv[1]);
    failing();
    in_vain();
    MPI_Finalize();
    expect("Init", 1, 0, 0);
    expect("Finalize", 1, 0, 0);
    return expect_write(rank) != 0;
}
