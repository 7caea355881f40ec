/* SPDX-License-Identifier: MIT */
/*
 * All ranks together: each adds its gradient to the others' (MPI_Allreduce) and applies the mean,
 * so that all have the same weights without messages for them. Behind the gradient travel the loss
 * and two votes, which end all ranks in the same iteration: a rank has failed; rank 0's time is up.
 */
#include <errno.h>

#include "agent/mark/chokepoint.h"
#include "workloads/network/trainer.h"

enum { LOSS, FAILED, TIME_UP };

static void add_up(struct trainer *t) {
    MPI_Request request;
    size_t n = t->n_weights + TRAINER_VOTES, bytes = n * sizeof *t->gradient;
    int64_t start = chokepoint_now_ns();
    MPI_Iallreduce(MPI_IN_PLACE, t->gradient, (int)n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    wait_all(&t->group->waiter, 1, &request);
    int64_t end = chokepoint_now_ns();
    chokepoint_operator("all-reduce", (int64_t)bytes, start, end - start);
    t->account.exchange_s += (double)(end - start) * 1e-9;
    if (t->group->n_ranks > 1) {
        t->account.sent_bytes += bytes;
        t->account.received_bytes += bytes;
    }
}

/* Returns 0; negative if a rank has failed; 1 if time is up. */
static int iterate(struct trainer *t, uint64_t i) {
    int64_t start = chokepoint_now_ns();
    double loss = 0, n_ranks = t->group->n_ranks;
    float *votes = t->gradient + t->n_weights;
    bool good = trainer_compute(t, i, &loss) == 0 && trainer_check_loss(t, loss, i + 1);
    votes[LOSS] = (float)loss;
    votes[FAILED] = !good;
    votes[TIME_UP] = t->group->rank == 0 && trainer_is_out_of_time(t);
    add_up(t);
    if (votes[FAILED] > 0)
        return -ECANCELED;
    plants_apply(&t->options->plants, (double)i / (double)t->iterations);
    trainer_apply(t, t->gradient, (float)(1 / n_ranks));
    t->outcome.loss = (double)votes[LOSS] / n_ranks;
    t->outcome.updates++;
    t->outcome.images += t->options->batch * (uint64_t)t->group->n_ranks;
    trainer_finish_iteration(t, i, start, loss);
    return votes[TIME_UP] > 0;
}

/* Rank 0 tests while the others wait, in a phase of its own. Returns 1 at every rank if the target
 * is reached. */
static int test_together(struct trainer *t, uint64_t iterations) {
    chokepoint_phase("testing");
    int r = t->group->rank == 0 ? trainer_test(t, iterations) : 0;
    rank_group_tell(t->group, &r);
    chokepoint_phase("training");
    chokepoint_iteration_begin();
    return r;
}

/* All have the same weights, so rank 0's last accuracy is everybody's. */
static void mark_accuracy(struct trainer *t) {
    const struct outcome *o = &t->outcome;
    double accuracy = o->n_tests ? o->tests[o->n_tests - 1].accuracy : 0;
    rank_group_sum(t->group, &accuracy, 1); /* the others have not tested */
    if (t->group->rank != 0)
        chokepoint_value("own accuracy", accuracy);
}

int train_sync(struct trainer *t) {
    int r = 0;
    for (uint64_t i = 0; r == 0 && i < t->iterations; i++) {
        r = iterate(t, i);
        t->outcome.out_of_time = r > 0;
        if (r >= 0 && (r > 0 || trainer_tests_after(t, i + 1))) {
            int s = test_together(t, i + 1);
            r = s ? s : r;
        }
        if (t->group->rank == 0)
            trainer_show(t, (double)i + 1, (double)t->iterations);
    }
    if (r >= 0)
        mark_accuracy(t);
    return r < 0 ? r : 0;
}
