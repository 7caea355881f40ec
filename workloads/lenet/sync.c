/* SPDX-License-Identifier: MIT */
/*
 * All ranks together: each adds its gradient to the others' (MPI_Allreduce) and applies the mean,
 * so that all have the same weights without being sent any. Behind the gradient travel the loss and
 * two votes, which end all ranks in the same iteration: one has failed; rank 0's time is up.
 */
#include <errno.h>

#include "agent/mark/chokepoint.h"
#include "workloads/lenet/trainer.h"

enum { LOSS = NET_WEIGHTS, FAILED, TIME_UP, LENGTH };

static void add_up(struct trainer *t) {
    MPI_Request request;
    int64_t start = chokepoint_now_ns();
    MPI_Iallreduce(MPI_IN_PLACE, t->gradient, LENGTH, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    wait_all(&t->crew->waiter, 1, &request);
    int64_t end = chokepoint_now_ns();
    chokepoint_operator("all-reduce", LENGTH * sizeof *t->gradient, start, end - start);
    t->account.exchange_s += (double)(end - start) * 1e-9;
    if (t->crew->n_ranks > 1) {
        t->account.sent_bytes += LENGTH * sizeof *t->gradient;
        t->account.received_bytes += LENGTH * sizeof *t->gradient;
    }
}

/* Returns 0, negative when a rank has failed, 1 when time is up. */
static int iterate(struct trainer *t, uint64_t i) {
    int64_t start = chokepoint_now_ns();
    double loss = 0, n_ranks = t->crew->n_ranks;
    bool good = trainer_compute(t, i, &loss) == 0 && trainer_check_loss(t, loss, i + 1);
    t->gradient[LOSS] = (float)loss;
    t->gradient[FAILED] = !good;
    t->gradient[TIME_UP] = t->crew->rank == 0 && trainer_is_out_of_time(t);
    add_up(t);
    if (t->gradient[FAILED] > 0)
        return -ECANCELED;
    plants_apply(&t->options->plants, (double)i / (double)t->iterations);
    trainer_apply(t, t->gradient, (float)(1 / n_ranks));
    t->outcome.loss = (double)t->gradient[LOSS] / n_ranks;
    t->outcome.updates++;
    t->outcome.images += t->options->batch * (uint64_t)t->crew->n_ranks;
    trainer_finish_iteration(t, i, start, loss);
    return t->gradient[TIME_UP] > 0;
}

/* Rank 0 tests, the others wait for it, all in a phase of its own. */
static int test(struct trainer *t, uint64_t iterations) {
    chokepoint_phase("testing");
    int r = t->crew->rank == 0 ? trainer_test(t, iterations) : 0;
    crew_tell(t->crew, &r);
    chokepoint_phase("training");
    chokepoint_iteration_begin();
    return r;
}

int train_sync(struct trainer *t) {
    int r = 0;
    for (uint64_t i = 0; r == 0 && i < t->iterations; i++) {
        r = iterate(t, i);
        t->outcome.out_of_time = r > 0;
        if (r >= 0 && (r > 0 || trainer_tests_after(t, i + 1))) {
            int s = test(t, i + 1);
            r = s < 0 ? s : r;
        }
        if (t->crew->rank == 0)
            trainer_show(t, (double)i + 1, (double)t->iterations);
    }
    return r < 0 ? r : 0;
}
