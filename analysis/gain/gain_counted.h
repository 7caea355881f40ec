/* SPDX-License-Identifier: MIT */
/*
 * Gain of a run by the counters of one process: an estimate where no calls were recorded,
 * or no replay of them holds.
 *
 * A process that hardly waits for others (gain_awaited.c) is the one that the run's end waits for:
 * its time is the run's time, and the run becomes shorter by as much as it does, until another
 * process has as much work of its own. This holds without knowing who talks to whom. It does not
 * hold for a process that waits, so there is no estimate for one.
 *
 * It is a share of the time in which the process was recorded, which assumes that the time before
 * was like the rest. The interval allows for an error of that, and for another pace of the rest of
 * its work: cores take a tenth more or less for the same work at another time, and a process that
 * was put aside found its caches cold. Differences of the loss between stretches of the run are
 * mostly smaller than that.
 */
#ifndef CHOKEPOINT_ANALYSIS_GAIN_GAIN_COUNTED_H
#define CHOKEPOINT_ANALYSIS_GAIN_GAIN_COUNTED_H

#include <stdbool.h>
#include <stddef.h>

struct run_model;

/* The loss that is taken away: that of the process on that host, with that rank, which has most of
 * it. */
struct counted_loss {
    int host, rank;  /* -1: any */
    size_t group;    /* of the model: the time that is spoken of */
    unsigned terms;  /* bits of enum budget_term */
    double part;     /* of those, what is taken away */
    bool everywhere; /* from all processes */
    bool awaited;    /* other evidence tells that the others wait for it, however it waits itself */
};

/* Shares of time, with 95 % of a bootstrap over slices of the run, fixed seed. */
struct counted {
    double lost, lost_low, lost_high; /* of the process's recorded time; NAN: there is none */
    double gain, gain_low, gain_high; /* of the group's; NAN: counters do not tell */
};

/* True: the gain is told. *ret_counted is filled anyway. */
bool gain_counted(const struct run_model *model, const struct counted_loss *loss,
                  struct counted *ret_counted);

/* The same of what the host's process sleeps, where other evidence tells that the others wait for
 * it: its terms and those of others do not tell one from the other. */
bool gain_counted_sleep(const struct run_model *model, int host, size_t group,
                        struct counted *ret_counted);

/* A process that its peers are known to wait for. */
struct counted_process {
    int host;
    bool sleeps; /* else it computes more than they do */
    struct counted_loss loss;
};
/* The same of such a process. */
bool gain_counted_process(const struct run_model *model, const struct counted_process *process,
                          struct counted *ret_counted);

/* A host's link, and for what share of the run it was full. */
struct counted_link {
    int host;
    double way, ways; /* the way that was full for longest; the sum of both, as far as known */
};

/* The same of a link: where all processes wait for about as long, and data were under way through
 * it for as long, now this way, now the other, it is the link that they wait for. */
bool gain_counted_link(const struct run_model *model, const struct counted_link *link,
                       struct counted *ret_counted);

/* Without calls: what a quota of so many CPUs for all of a host's processes would cost, as a gain
 * below 0. */
bool gain_counted_quota(const struct run_model *model, int host, size_t group, double cpus,
                        struct counted *ret_counted);

/* The gain if the rest of the time passes at another pace (threshold.h). */
double gain_at_pace(double gain, double pace);

/* Share of the run that a change can save at most: no run is shorter than what one of its processes
 * has to do of its own. NAN: that is not known. The loss's `group` counts for nothing. */
double gain_most(const struct run_model *model, const struct counted_loss *loss);
/* The same of a quota that kept its group from running for a share of the run. */
double gain_most_of_quota(double throttled);

#endif
