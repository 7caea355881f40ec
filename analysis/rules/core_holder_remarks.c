/* SPDX-License-Identifier: MIT */
/* Who had the core for which a process of the job had to wait, as cause, evidence and culprit. */
#include <math.h>

#include "analysis/rules/rules_private.h"

#define MAIN_PART 0.5 /* of what is not of the job: who takes that stands for all of it */

static double or_zero(double value) {
    return isnan(value) ? 0 : value;
}

static void say_many(double cores, struct candidate *c) {
    text_list_add(&c->evidence, "all that is not of the job used %.2g cores there", cores);
}

static void name_foreign(const struct run_model *model, size_t group, struct candidate *c) {
    double foreign, many = core_outside_job(model, group, c->host);
    c->culprit = culprit_of(model, busiest_foreign(model, group, c->host, &foreign));
    bool alone = model_shares_cores(model, c->host) || foreign >= MAIN_PART * many;
    c->cause =
        text_format("contention with %s%s", c->culprit.process, alone ? "" : " and other programs");
    text_list_add(&c->evidence, "%s, not of the job, used %.0f %% of a core", c->culprit.process,
                  100 * foreign);
    if (!alone)
        say_many(many, c);
    c->signals++;
}

/* Programs of which none was seen to take much: the cores tell that there were some. */
static void name_many(const struct run_model *model, size_t group, struct candidate *c) {
    c->cause = text_format("contention with other programs");
    c->next = "see who else computes on that host (`top` there), and stop it or keep it away from "
              "the job (another host, cores of its own)";
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
        c->cause = text_format("more of the job is ready to run than there are cores (%u)",
                               model->hosts[c->host].n_cpus);
        text_list_add(&c->evidence, "other processes of the job used %.0f %% of a core there",
                      100 * own);
    } else if (holder == HELD_OUTSIDE) {
        c->cause = text_format("its cores are shared with something outside this host's view");
        c->next = "give that host cores of its own: another virtual machine or container has them, "
                  "too";
        text_list_add(&c->evidence,
                      "the host itself used only %.0f %% of its cores: they are shared with others "
                      "(emulated hosts, containers)",
                      busy);
    } else {
        c->cause = text_format("at times more threads are ready than there are cores");
    }
}
