/* SPDX-License-Identifier: MIT */
/*
 * One rank without exchange: the yardstick of parallel training. Nothing is gathered, sorted or
 * sent, so an example costs a read and a write of its weights, wherever they are in the model.
 */
#include <errno.h>

#include "agent/mark/chokepoint.h"
#include "workloads/sgd/together.h"

static int iterate_alone(struct lead *l, uint64_t number, int64_t *start_ns) {
    struct trainer *t = l->t;
    if (trainer_read_batch(t) < 0)
        return -ECANCELED;
    l->outcome.loss = trainer_descend(t, t->weights, trainer_rate(t, number - 1));
    plants_apply(&t->plants, trainer_done(t));
    trainer_count_batches(t);
    l->outcome.updates++;
    l->outcome.examples += t->options->batch;
    trainer_finish_iteration(t, number, start_ns, l->outcome.loss);
    return lead_check_loss(l, l->outcome.loss, number) ? 0 : -EDOM;
}

int single_run(struct lead *l) {
    struct trainer *t = l->t;
    lead_begin(l);
    int r = lead_test(l);
    int64_t start_ns = chokepoint_now_ns();
    for (uint64_t i = t->resumed.updates + 1; r == 0 && i <= t->iterations; i++) {
        if ((l->outcome.out_of_time = lead_is_out_of_time(l)))
            break;
        r = iterate_alone(l, i, &start_ns);
        if (r == 0 && lead_tests_after(t, i)) {
            r = lead_test(l);
            start_ns = chokepoint_now_ns();
        }
        if (r == 0 && lead_saves_after(t, i)) {
            r = lead_save(l);
            start_ns = chokepoint_now_ns();
        }
        lead_show(l, (double)i, (double)t->iterations);
    }
    if (r == 0) /* out of time */
        r = lead_test(l);
    if (r == 0)
        r = lead_save(l);
    lead_end(l);
    return r;
}
