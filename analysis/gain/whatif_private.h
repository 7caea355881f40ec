/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_ANALYSIS_GAIN_WHATIF_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_GAIN_WHATIF_PRIVATE_H

#include "analysis/gain/whatif.h"
#include "analysis/simulate/replay.h"

#define WHATIF_REACT_MIN 0.1   /* of the time: a larger part of the path must show in a replay */
#define WHATIF_CALIBRATED 1e-3 /* share by which the unchanged replay may miss the run's time */

/* The length with all other ranks so fast that nobody waits for them. */
struct whatif_alone {
    enum whatif_kind kind; /* WHATIF_RANK: of one rank; else of a host's ranks */
    int which;
    double s;
};

struct whatif {
    const struct run_model *model;
    struct replay *replay; /* NULL: the replay was refused */
    struct refusal refused;
    int *roles;         /* of the replay's ranks */
    size_t server_rank; /* the server rank; SIZE_MAX: none */
    double n_workers;   /* ranks other than the server */
    size_t reference;   /* the rank whose calls mark the begin and end of phases */
    int64_t *times;     /* measured ends of the group's windows, then of the blocks */
    int64_t *replayed;  /* the same in the unchanged replay */
    size_t n_times;
    double measured_s, replay_s;
    double frozen_s; /* the longest that a rank waits for nobody known, if that is much */
    bool prepared;   /* the replay was made (at the first question) */
    int failed;      /* -ENOMEM: making the replay failed */
    struct whatif_told told;
    struct whatif_alone *alone; /* what was replayed to doubt answers; ranks with calls each */
    size_t n_alone;
    struct whatif_sweep *sweep; /* NULL: nobody asked for it */
    double scale;               /* factor on the model's rates: see whatif.c */
};

/* Makes the replay once. -ENOMEM. */
int whatif_prepare(const struct whatif *whatif);

/* Whether a time lies in the main phase. */
bool whatif_in_group(const struct whatif *whatif, int64_t t_ns);

/* Whether a window lies in the replayed part of the run. */
bool whatif_is_replayed(const struct whatif *whatif, struct window window);
/* The length of a window whose ends are among `times`, in a replay that gave `replayed`. */
double whatif_length_s(const struct whatif *whatif, const int64_t *replayed, struct window window);
/* The length of the main phase, or of its replayed part, in such a replay. */
double whatif_group_s(const struct whatif *whatif, const int64_t *replayed);
/* The reason for a replay's error; REFUSAL_NONE if no recording can cause that error. */
struct refusal whatif_why_not(int error);

/* Answers by a replay; the answer's bound must be filled in. If the replay gives up, the answer is
 * refused. -ENOMEM.
 */
int whatif_predict(const struct whatif *whatif, const struct whatif_scenario *scenarios, size_t n,
                   struct whatif_answer *answer);

/* The most seconds of the main phase that the changes together take away; below 0 if they add time.
 * NAN if not known, or if they add work.
 */
double whatif_removable(const struct whatif *whatif, const struct whatif_scenario *scenarios,
                        size_t n);

/* The seconds of any part of the path that the changes together take away; below 0 if they add
 * time. Unlike the bound, transfers over a slower link take longer in proportion, too. NAN like it,
 * or if the present speed is not known.
 */
double whatif_taken_of(const struct whatif *whatif, const struct critical_part *part,
                       const struct whatif_scenario *scenarios, size_t n);

/* The least time of the main phase by what slower resources have to do anyway: the bytes that the
 * job's connections moved through a link, and the own work of each process. 0: nothing tells.
 * -ENOMEM.
 */
int whatif_least(const struct whatif *whatif, const struct whatif_scenario *scenarios, size_t n,
                 double *ret_s);
/* As whatif_least(), for one faster link: it only saves time in which its path throttled the
 * connections.
 */
int whatif_least_by_paths(const struct whatif *whatif, const struct whatif_scenario *scenario,
                          double *ret_s);

/* Answers by chains of waits (critical_path.h) where there are any. -ENOMEM. */
int whatif_by_waits(const struct whatif *whatif, const struct whatif_scenario *scenarios, size_t n,
                    struct whatif_answer *answer);

/* The most seconds that the changes take away from the rest of the run, for what is missing or slow
 * there. 0 if ranks are compared or run freely: a rank with more to do in one phase may have less
 * in another.
 */
double whatif_elsewhere(const struct whatif *whatif, const struct whatif_scenario *scenarios,
                        size_t n);

/* Without a replay: answers by counters or iterations, if they tell. -ENOMEM. */
int whatif_count(const struct whatif *whatif, const struct whatif_scenario *scenarios, size_t n,
                 struct whatif_answer *answer);

/* Fills in the answer for the whole run. */
void whatif_of_run(const struct whatif *whatif, const struct whatif_scenario *scenarios, size_t n,
                   struct whatif_answer *answer);

/* Refuses a replay that does not react as it should, for all questions or for an answered one.
 * -ENOMEM.
 */
int whatif_react(struct whatif *whatif);
int whatif_doubt(const struct whatif *whatif, const struct whatif_scenario *scenario,
                 struct whatif_answer *answer);

/* Sets the bound of a complete answer so that no run can beat it; least_s: see whatif_least(). */
void whatif_sure_bound(const struct whatif *whatif, double least_s, struct whatif_answer *answer);

/* Changes by WHATIF_LIKE_PEERS and WHATIF_BALANCED. -ENODATA if none of the ranks has a peer;
 * -ENOMEM.
 */
int whatif_change_ranks(const struct whatif *whatif, const struct whatif_scenario *scenario,
                        struct replay_change *change);

/* Changes by WHATIF_WORKERS. -EINVAL if not all ranks speak with one of them, or none would be
 * left; -ENOMEM.
 */
int whatif_change_workers(const struct whatif *whatif, const struct whatif_scenario *scenario,
                          struct replay_change *change);

/* The reason why a replay cannot answer this scenario. */
struct refusal whatif_beyond_replay(const struct whatif *whatif,
                                    const struct whatif_scenario *scenario);

/* Whether a scenario is about this link, numbered [egress by host, ingress by host]. */
bool whatif_asks_link(const struct whatif *whatif, const struct whatif_scenario *scenario,
                      size_t link);
/* The present rate in bytes/s: the configured or measured one, if messages moved about that fast;
 * else the rate at which they moved. NAN if not known.
 */
double whatif_present_rate(const struct whatif *whatif, size_t link);
/* The factor that is asked for on the link's present rate; NAN if a rate is asked for and the
 * present one is not known.
 */
double whatif_asked_factor(const struct whatif *whatif, const struct whatif_scenario *scenario,
                           size_t link);
/* The largest such factor of all links in the scenario; INFINITY if not known. */
double whatif_asked_most(const struct whatif *whatif, const struct whatif_scenario *scenario);
/* The factor on the speed of what the scenario changes, below 1 if that is slower: of several links
 * that of the slowest if one gets slower. INFINITY if nobody waits for it any more; NAN if the
 * scenario changes no speed, or if the present one is not known.
 */
double whatif_speed(const struct whatif *whatif, const struct whatif_scenario *scenario);
/* The budget's term that such a scenario changes. */
enum budget_term whatif_term(const struct whatif_scenario *scenario);

/* The share of its time that something takes less with `speed` times its speed; below 0: more. */
static inline double whatif_part_saved(double speed) {
    return 1 - 1 / speed;
}
/* The rate of a link after it becomes `factor` times as fast as in the replay. */
double whatif_carried(const struct whatif *whatif, size_t link, double rate, double factor);

/* Makes a change that changes nothing yet. -ENOMEM. */
int whatif_change_init(const struct whatif *whatif, struct replay_change *ret_change);
void whatif_change_release(struct replay_change *change);
/* -EINVAL if the scenario makes no sense for this program; -ENODATA if none of the ranks has a
 * peer; -ENOMEM.
 */
int whatif_change_add(const struct whatif *whatif, const struct whatif_scenario *scenario,
                      struct replay_change *change);

#endif
