/* SPDX-License-Identifier: MIT */
/* Shared by the files that find candidates. */
#ifndef CHOKEPOINT_ANALYSIS_CAUSES_CAUSES_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_CAUSES_CAUSES_PRIVATE_H

#include "analysis/causes/cause.h"
#include "analysis/causes/straggler_private.h"
#include "analysis/evidence/computed.h"
#include "analysis/evidence/cores.h"
#include "analysis/evidence/flows.h"
#include "analysis/evidence/peers.h"
#include "analysis/evidence/program_start.h"
#include "analysis/evidence/queues.h"
#include "analysis/evidence/quota.h"
#include "analysis/gain/demand.h"
#include "analysis/gain/free_loss.h"
#include "analysis/gain/throughput.h"

/* Whether the main group was searched and no candidate was added, so that a remark is due.
 * before: candidates->n before the search. */
static inline bool found_none(const struct run_model *model, size_t group,
                              const struct candidates *candidates, size_t before) {
    return candidates->n == before && group == model->main_group;
}

/* Whether the group has a candidate of these resources (bits of enum resource). */
bool candidates_any(const struct candidates *candidates, size_t group, unsigned resources);
/* The group's connections, made when first needed; owned by the candidates. -ENOMEM. */
int candidates_flows(const struct run_model *model, size_t group, struct candidates *candidates,
                     const struct flows **ret_flows);

/* Estimates the gain of the candidates from `first` on, and when each held. -ENOMEM. */
int candidates_estimate(const struct run_model *model, const struct whatif *whatif, size_t first,
                        struct candidates *candidates);

/* Adds evidence from counters to a candidate with a gain (gain_counted.h): `counted` and `lost`. */
void candidate_count(const struct run_model *model, const struct candidates *candidates,
                     struct candidate *candidate);

/* Full links among the candidates, and processes that pause, for what-if questions; owned by told.
 * -ENOMEM. */
int candidates_tell_links(const struct run_model *model, struct candidates *found,
                          struct whatif_told *told);
int candidates_tell_processes(const struct run_model *model, struct candidates *found,
                              struct whatif_told *told);

/* Frees the candidate and closes the gap. */
void candidates_remove(struct candidates *candidates, size_t at);

/* Removes candidates that held up a host only while the program started, and adds a remark instead.
 * -ENOMEM. */
int start_take_out(const struct run_model *model, struct candidates *candidates);
/* Removes candidates that held from the very beginning and for less than a phase, once their times
 * are known (candidates_estimate()): a program may make connections long before it is loaded. */
void start_take_out_by_spans(const struct run_model *model, struct candidates *candidates);

/* Share of the run that this host, and the hosts that share its cores, spend waiting for a core; 0:
 * none waits. */
double machine_waiting(const struct run_model *model, size_t group, int host);

/* A process (index in the budgets) that others wait for while it does something that is no limit of
 * its host: the candidate without words, and the scenario without that term. demand: of the
 * critical path. */
struct candidate pause_candidate(const struct run_model *model, size_t group, size_t who,
                                 enum cause_kind cause, enum budget_term term, double demand);

/* Whether look-ups of names take most of a process's idle time. */
bool awaited_is_for_names(const struct run_model *model, size_t who, size_t group);

/* Whether evidence shows that the host lacks one of these resources (bits of enum resource). */
bool candidates_short_of(const struct candidates *candidates, int host, size_t group,
                         unsigned resources);
#define SHORT_OF_CPU (1u << RESOURCE_CPU | 1u << RESOURCE_CPU_QUOTA)
#define SHORT_OF_MEMORY (1u << RESOURCE_MEMORY)
#define SHORT_OF_NETWORK (1u << RESOURCE_NET_EGRESS | 1u << RESOURCE_NET_INGRESS)
#define SHORT_OF_ANYTHING (~0u)

/* Remarks on a rank with more CPU time than its peers, by that ratio, that is no reason for blame,
 * if it is worth naming. */
void core_speed_rule_out(const struct run_model *model, size_t group, const struct rank_budget *who,
                         double ratio, struct core_speed core, struct candidates *candidates);
/* Explains the core's part in a rank that is slower by that ratio. */
void core_speed_explain(struct core_speed core, double ratio, struct remarks *to);
/* Adds facts about the core that weaken a candidate based on CPU time. */
void core_speed_tell(const struct run_model *model, struct core_speed core, struct candidate *c);

/* ---- ranks whose calls are known ---- */

/* Share of a rank's time; NAN if its budget does not close. */
double rank_share(const struct run_model *model, size_t group, size_t rank, enum budget_term term);
/* Median over the other ranks that have at least `least` of it; NAN: there are none. */
double rank_peers_median(const struct run_model *model, size_t group, size_t rank,
                         enum budget_term term, double least, size_t *ret_n);
/* cores: of the hosts, if a faster core shortens the term; else NULL. */
size_t rank_with_most(const struct run_model *model, size_t group, enum budget_term term,
                      const struct core_speed *cores);

/* Reasons that stop a rank without a need of its host. */
struct rank_pause {
    enum cause_kind cause;
    enum budget_term term;
    const struct remark_kind *says, *evidence; /* with the rank; with the rank and a percentage */
};

int rank_pause_add(const struct run_model *model, size_t group, size_t who,
                   const struct rank_pause *pause, double demand, struct candidates *candidates);
/* The rank that pauses longest; SIZE_MAX: no rank pauses long enough. */
size_t rank_pause_longest(const struct run_model *model, size_t group, enum budget_term term,
                          double *ret_demand);

/* Whether a buffer is so small that somebody set it. */
bool buffer_is_small(const struct run_model *model, struct flow_room room);

/* ---- ranks slower than their peers ---- */

/* The process outside the job that used most of a host's CPU, or of its disks, in these windows. */
const struct model_process *slowed_foreign(const struct run_model *model, int host,
                                           struct windows windows, bool disk, double *ret_amount);
void slowed_blame(const struct run_model *model, const struct model_process *other,
                  struct straggler *s);

/* ---- processes of one role ---- */

typedef int peers_look(const struct run_model *model, size_t group, const struct peers *peers,
                       struct candidates *candidates);
/* -ENOMEM. */
int peers_compare(const struct run_model *model, size_t group, peers_look *look_at,
                  struct candidates *candidates);
/* Whether data wait for this process, and hardly for the others. */
bool peer_is_late(const struct run_model *model, const struct peers *peers, const struct peer *p);
void peer_tell_late(const struct run_model *model, const struct peers *peers, const struct peer *p,
                    struct candidate *c);

/* ---- processes that others wait for ---- */

/* The process with most of a term on the path; SIZE_MAX: no process has BLOCKED_MIN. */
size_t awaited_most(const struct run_model *model, size_t group, enum budget_term term,
                    double *ret_demand);
/* Share of its own time, and of its host's part of the path. */
double awaited_term_share(const struct run_model *model, size_t group, size_t who, unsigned terms);
double awaited_part(const struct run_model *model, size_t group, size_t who, enum budget_term term,
                    double demand);
int awaited_pause_add(const struct run_model *model, size_t group, size_t who,
                      enum budget_term term, enum cause_kind cause, double demand,
                      struct candidates *candidates);

#endif
