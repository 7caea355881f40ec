/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_ANALYSIS_GAIN_WHATIF_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_GAIN_WHATIF_PRIVATE_H

#include "analysis/gain/whatif.h"
#include "analysis/simulate/replay.h"

#define WHATIF_CALIBRATED 1e-3 /* the replay as measured takes as long as the run, within that */

struct whatif {
    const struct run_model *model;
    struct replay *replay; /* NULL: refused */
    struct refusal refused;
    int *roles;         /* of the replay's ranks */
    size_t server_rank; /* the one rank all messages go to or come from; SIZE_MAX: there is none */
    double n_workers;   /* ranks beside the server */
    size_t reference;   /* the rank whose calls tell when a phase begins and ends */
    int64_t *times;     /* ends of the group's windows, then of the blocks: as measured */
    int64_t *replayed;  /* as replayed, unchanged */
    size_t n_times;
    double measured_s, replay_s;
    double frozen_s; /* most that a rank waits for nobody known, where that is much */
    bool prepared;   /* the replay is made when first asked for */
    int failed;      /* -ENOMEM: it could not be */
    struct whatif_told told;
    double scale; /* of the model's rates: see whatif.c */
};

/* Makes the replay, once. -ENOMEM. */
int whatif_prepare(const struct whatif *whatif);

/* Whether a time lies in the main phase. */
bool whatif_in_group(const struct whatif *whatif, int64_t t_ns);

/* Whether a window lies in what of the run is replayed. */
bool whatif_is_replayed(const struct whatif *whatif, struct window window);
/* How long a window took, as one of `times` each of its ends is, by when these came in a replay. */
double whatif_length_s(const struct whatif *whatif, const int64_t *replayed, struct window window);
/* The same of the main phase, or of what is replayed of it. */
double whatif_group_s(const struct whatif *whatif, const int64_t *replayed);
/* Why a replay gave up; REFUSAL_NONE: it is no error that a recording can cause. */
struct refusal whatif_why_not(int error);

/* The answer by replay; its bound must be there. A replay that gave up: the answer is refused.
 * -ENOMEM. */
int whatif_predict(const struct whatif *whatif, const struct whatif_scenario *scenarios, size_t n,
                   struct whatif_answer *answer);

/* Seconds of the main phase that the changes together take away at most; below 0 where they add
 * some. NAN: not known, or they add work. */
double whatif_removable(const struct whatif *whatif, const struct whatif_scenario *scenarios,
                        size_t n);

/* The same of any part of the path. */
double whatif_removable_of(const struct whatif *whatif, const struct critical_part *part,
                           const struct whatif_scenario *scenarios, size_t n);

/* Where chains of waits tell (critical_path.h): what they say. -ENOMEM. */
int whatif_by_waits(const struct whatif *whatif, const struct whatif_scenario *scenarios, size_t n,
                    struct whatif_answer *answer);

/* The same of the rest of the run, of what is missing or slow there; 0 where ranks are compared, or
 * run freely: a rank with more to do in one phase may have less in another. */
double whatif_elsewhere(const struct whatif *whatif, const struct whatif_scenario *scenarios,
                        size_t n);

/* Where there is no replay: what counters tell, or iterations. Else the answer is left as it is.
 * -ENOMEM. */
int whatif_count(const struct whatif *whatif, const struct whatif_scenario *scenarios, size_t n,
                 struct whatif_answer *answer);

/* Fills what the answer is for the whole run. */
void whatif_of_run(const struct whatif *whatif, const struct whatif_scenario *scenarios, size_t n,
                   struct whatif_answer *answer);

/* A replay that does not react to what it should is refused: of all questions, or of one whose
 * answer is there. -ENOMEM. */
int whatif_react(struct whatif *whatif);
int whatif_doubt(const struct whatif *whatif, const struct whatif_scenario *scenario,
                 struct whatif_answer *answer);

/* The bound of an answer that is all there: none that a run may beat. */
void whatif_sure_bound(const struct whatif *whatif, struct whatif_answer *answer);

/* Changes by WHATIF_LIKE_PEERS and WHATIF_BALANCED. -ENODATA: no rank that is meant has a peer;
 * -ENOMEM. */
int whatif_change_ranks(const struct whatif *whatif, const struct whatif_scenario *scenario,
                        struct replay_change *change);

/* Why a replay cannot tell what this changes. */
struct refusal whatif_beyond_replay(const struct whatif *whatif,
                                    const struct whatif_scenario *scenario);

/* A faster link, where nothing shows whether it is what calls of groups wait for. */
bool whatif_is_untold(const struct whatif *whatif, const struct whatif_scenario *scenario);

/* Whether a scenario is about this link: [egress by host, ingress by host]. */
bool whatif_asks_link(const struct whatif *whatif, const struct whatif_scenario *scenario,
                      size_t link);
/* Bytes/s: what it is set to or was measured to carry, if messages moved about that fast; else how
 * fast they moved. NAN: not known. */
double whatif_present_rate(const struct whatif *whatif, size_t link);
/* How many times as fast as at present the link is to be; NAN: a rate, and the present one is not
 * known. */
double whatif_asked_factor(const struct whatif *whatif, const struct whatif_scenario *scenario,
                           size_t link);
/* The greatest of all links in question; INFINITY: not known. */
double whatif_asked_most(const struct whatif *whatif, const struct whatif_scenario *scenario);
/* Rate of a link that is so many times as fast as the replay's rate. */
double whatif_carried(const struct whatif *whatif, size_t link, double rate, double factor);

/* Nothing changed yet. -ENOMEM. */
int whatif_change_init(const struct whatif *whatif, struct replay_change *ret_change);
void whatif_change_release(struct replay_change *change);
/* -EINVAL: this program cannot be asked this; -ENODATA: no rank that is meant has a peer; -ENOMEM.
 */
int whatif_change_add(const struct whatif *whatif, const struct whatif_scenario *scenario,
                      struct replay_change *change);

#endif
