/* SPDX-License-Identifier: MIT */
/* The holder of the core that a process of the job waited for, as cause, evidence and culprit. */
#include <math.h>

#include "analysis/causes/causes_private.h"

#define MAIN_PART 0.5 /* of use outside the job: such a process stands for all of it */

static double or_zero(double value) {
    return isnan(value) ? 0 : value;
}

static void say_many(double cores, struct candidate *c) {
    remarks_add(&c->evidence, OUTSIDERS_USED, NUMBERS(cores), NAMES());
}

static void name_foreign(const struct run_model *model, size_t group, struct candidate *c) {
    double foreign, many = core_outside_job(model, group, c->host);
    c->culprit = culprit_of(model, busiest_foreign(model, group, c->host, &foreign));
    bool alone = model_shares_cores(model, c->host) || foreign >= MAIN_PART * many;
    remark_set(&c->cause, CONTENTION_WITH, NUMBERS(alone), NAMES(c->culprit.process));
    remarks_add(&c->evidence, FOREIGN_USED, NUMBERS(100 * foreign), NAMES(c->culprit.process));
    if (!alone)
        say_many(many, c);
    c->signals++;
}

/* Programs of which none was seen to take much: the cores tell that there were some. */
static void name_many(const struct run_model *model, size_t group, struct candidate *c) {
    remark_set(&c->cause, CONTENTION_WITH_MANY, NUMBERS(), NAMES());
    c->next = REMARK_ADVISE_FIND_OUTSIDER;
    say_many(core_outside_job(model, group, c->host), c);
    c->signals++;
}

void core_holder_name(const struct run_model *model, size_t group, enum holder holder, double own,
                      struct candidate *c) {
    double busy = 100 - or_zero(model_mean(model, c->host, METRIC_CPU_IDLE, group));
    if (holder == HELD_BY_FOREIGN) {
        name_foreign(model, group, c);
    } else if (holder == HELD_BY_MANY) {
        name_many(model, group, c);
    } else if (holder == HELD_BY_JOB) {
        remark_set(&c->cause, MORE_READY_THAN_CORES, NUMBERS(model->hosts[c->host].n_cpus),
                   NAMES());
        remarks_add(&c->evidence, JOB_USED_BESIDE, NUMBERS(100 * own), NAMES());
    } else if (holder == HELD_OUTSIDE) {
        remark_set(&c->cause, CORES_SHARED_OUTSIDE, NUMBERS(), NAMES());
        c->next = REMARK_ADVISE_OWN_CORES;
        remarks_add(&c->evidence, HOST_USED_ONLY, NUMBERS(busy), NAMES());
    } else {
        remark_set(&c->cause, READY_AT_TIMES, NUMBERS(), NAMES());
    }
}
