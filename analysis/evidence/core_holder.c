/* SPDX-License-Identifier: MIT */
/*
 * Who had the core for which a process of the job had to wait. That need not be one process that
 * was seen: many short ones (compilers, scripts) are known by what the cores did beyond the job.
 */
#include <math.h>
#include <string.h>

#include "analysis/rules/rules_private.h"

#define MAIN_PART 0.5 /* of what is not of the job: who takes that stands for all of it */

static double or_zero(double value) {
    return isnan(value) ? 0 : value;
}

double core_beside(const struct run_model *model, size_t group, int host,
                   const struct model_process *than) {
    double cores = 0;
    for (size_t p = 0; p < model->n_processes; p++) {
        const struct model_process *process = &model->processes[p];
        if (process->host != host || !process->job || process == than)
            continue;
        struct process_use use =
            model_process_use(model, process, phase_windows(&model->groups[group]));
        cores += or_zero(use.cpu_s) / use.wall_s;
    }
    return cores;
}

/* CPU of all that is not of the job there, in cores, by the cores' own counters: programs that did
 * not live until the next sample as well. */
static double outside_job(const struct run_model *model, size_t group, int host) {
    double used = model_mean(model, host, METRIC_CPU_USER, group) +
                  model_mean(model, host, METRIC_CPU_SYSTEM, group);
    double job = model_mean(model, host, METRIC_JOB_CPU, group);
    return fmax(0, or_zero(used * model->hosts[host].n_cpus - job) / 100);
}

static bool could_hold(double cores, const struct candidate *c) {
    return cores >= FOREIGN_MIN && cores >= FOREIGN_PART * c->blocked;
}

/* Counters of whole cores count whoever ran there; those of a group do not know who else has its
 * cores. */
static bool sees_whole_cores(const struct run_model *model, int host) {
    const struct series_set *set = &model->recording->tables[RECORDING_CPU];
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host && strcmp(set->items[s].name, "cpus") == 0)
            return false;
    return true;
}

/* The counters of shared cores count for the other hosts as well. With half idle hardly anybody
 * queues, but for a process whose own threads wake at the same time. */
enum holder core_holder(const struct run_model *model, size_t group, double own,
                        const struct candidate *c) {
    double foreign, busy = 100 - or_zero(model_mean(model, c->host, METRIC_CPU_IDLE, group));
    const struct model_process *other = busiest_foreign(model, group, c->host, &foreign);
    double many = model_shares_cores(model, c->host) ? 0 : outside_job(model, group, c->host);
    if (other && could_hold(foreign, c))
        return HELD_BY_FOREIGN;
    if (could_hold(many, c) && many > own)
        return HELD_BY_MANY;
    if (could_hold(own, c))
        return HELD_BY_JOB;
    return busy < 50 && !sees_whole_cores(model, c->host) ? HELD_OUTSIDE : HELD_AT_TIMES;
}

static void say_many(double cores, struct candidate *c) {
    text_list_add(&c->evidence, "all that is not of the job used %.2g cores there", cores);
}

static void name_foreign(const struct run_model *model, size_t group, struct candidate *c) {
    double foreign, many = outside_job(model, group, c->host);
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
    say_many(outside_job(model, group, c->host), c);
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
