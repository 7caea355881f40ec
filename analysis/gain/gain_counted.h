/* SPDX-License-Identifier: MIT */
/*
 * The gain of a run from the counters of one process: an estimate where no calls were recorded, or
 * where no replay reproduces them.
 *
 * The run's end waits for a process that hardly waits for others (gain_awaited.c). Its time is the
 * run's time, and the run becomes shorter by as much as the process does, until another process has
 * as much work of its own. This holds without knowing who talks to whom. It does not hold for a
 * process that waits, so there is no estimate for one.
 *
 * The gain is a share of the time in which the process was recorded, and assumes that the time
 * before was alike. Its interval allows for an error of that, and for a changed pace of the
 * process's other work: the same work takes a tenth more or less at another time, and a process
 * that was descheduled finds cold caches. Differences of the loss between slices of the run are
 * mostly smaller than that.
 */
#ifndef CHOKEPOINT_ANALYSIS_GAIN_GAIN_COUNTED_H
#define CHOKEPOINT_ANALYSIS_GAIN_GAIN_COUNTED_H

#include <stdbool.h>
#include <stddef.h>

struct run_model;
struct whatif_scenario;

/* The loss to take away, from the process with that host and rank that lost most. */
struct counted_loss {
    int host, rank;  /* -1: any */
    size_t group;    /* index in the model: the loss is in its time */
    unsigned terms;  /* a mask of enum budget_term */
    double part;     /* the share of those terms to take away; below 0: they last longer */
    bool everywhere; /* from all processes at once */
    bool awaited;    /* other evidence shows that others wait for it, even if it waits itself */
};

/* Shares of time, with 95 % intervals by a bootstrap over slices with a fixed seed. */
struct counted {
    double lost, lost_low, lost_high; /* of the process's recorded time; NAN: no process */
    double gain, gain_low, gain_high; /* of the group's time; NAN: counters do not tell */
};

/* Returns whether the gain is known. *ret_counted is filled in any case. */
bool gain_counted(const struct run_model *model, const struct counted_loss *loss,
                  struct counted *ret_counted);

/* The gain without the sleep of the host's process, where other evidence shows that others wait for
 * it: budgets alone cannot tell its sleep from the others' waits.
 */
bool gain_counted_sleep(const struct run_model *model, int host, size_t group,
                        struct counted *ret_counted);

/* A process that its peers are known to wait for. */
struct counted_process {
    int host;
    bool sleeps; /* else it computes more than they do */
    struct counted_loss loss;
};
/* The gain if such a process were like its peers. */
bool gain_counted_process(const struct run_model *model, const struct counted_process *process,
                          struct counted *ret_counted);

/* A host's link, and the share of the run for which it was full. */
struct counted_link {
    int host;
    double way, ways; /* the direction that was full longer; the sum of both, if known */
};

/* The gain without a link's limit. If all processes wait about as long as data were under way
 * through it, in turn in either direction, they wait for that link.
 */
bool gain_counted_link(const struct run_model *model, const struct counted_link *link,
                       struct counted *ret_counted);

/* Without calls: the cost, as a gain below 0, of a quota of so many CPUs for all processes of a
 * host.
 */
bool gain_counted_quota(const struct run_model *model, int host, size_t group, double cpus,
                        struct counted *ret_counted);

/* The most that a change saves which leaves the job's computing and its quotas as they are: its CPU
 * time takes as long as the fullest quota makes it take, whatever else it waits for. NAN: there is
 * no quota, it is another change, or ranks may spin. */
double gain_most_within_quota(const struct run_model *model,
                              const struct whatif_scenario *scenario);

/* The gain if the rest of the time passes at another pace (number.h). */
double gain_at_pace(double gain, double pace);

/* The share of the run that a change can save at most: a run takes at least as long as each
 * process's own work. NAN if not known. The loss's `group` is ignored.
 */
double gain_most(const struct run_model *model, const struct counted_loss *loss);
/* The most that a change can save of a quota that throttled its group for a share of the run. */
double gain_most_of_quota(const struct run_model *model, double throttled);

#endif
