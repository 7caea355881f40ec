/* SPDX-License-Identifier: MIT */
/* Shared by the files that find candidates. */
#ifndef CHOKEPOINT_ANALYSIS_CAUSES_CAUSES_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_CAUSES_CAUSES_PRIVATE_H

#include "analysis/causes/candidate.h"
#include "analysis/evidence/computed.h"
#include "analysis/evidence/cores.h"
#include "analysis/evidence/flows.h"
#include "analysis/evidence/program_start.h"
#include "analysis/evidence/queues.h"
#include "analysis/evidence/quota.h"
#include "analysis/gain/demand.h"
#include "analysis/gain/free_loss.h"
#include "analysis/gain/throughput.h"

/* ---- the detectors of the rules: candidates added, -ENOMEM ---- */

int saturation_cpu(const struct run_model *model, size_t group, struct candidates *candidates);
int serial_process_detect(const struct run_model *model, size_t group,
                          struct candidates *candidates);
int saturation_quota(const struct run_model *model, size_t group, struct candidates *candidates);
int saturation_steal(const struct run_model *model, size_t group, struct candidates *candidates);
int saturation_disk(const struct run_model *model, size_t group, struct candidates *candidates);
int saturation_memory(const struct run_model *model, size_t group, struct candidates *candidates);
int link_connections_detect(const struct run_model *model, size_t group,
                            struct candidates *candidates);
int link_queue_detect(const struct run_model *model, size_t group, struct candidates *candidates);
int link_rate_detect(const struct run_model *model, size_t group, struct candidates *candidates);
int link_peers_detect(const struct run_model *model, size_t group, struct candidates *candidates);
int saturation_free(const struct run_model *model, size_t group, struct candidates *candidates);
int imbalance_detect(const struct run_model *model, size_t group, struct candidates *candidates);
int sleep_detect(const struct run_model *model, size_t group, struct candidates *candidates);
int stop_detect(const struct run_model *model, size_t group, struct candidates *candidates);
int buffers_detect(const struct run_model *model, size_t group, struct candidates *candidates);
int process_imbalance_detect(const struct run_model *model, size_t group,
                             struct candidates *candidates);
int process_sleep_detect(const struct run_model *model, size_t group,
                         struct candidates *candidates);
int awaited_sleep_detect(const struct run_model *model, size_t group,
                         struct candidates *candidates);
int awaited_stop_detect(const struct run_model *model, size_t group, struct candidates *candidates);
int awaited_computing_detect(const struct run_model *model, size_t group,
                             struct candidates *candidates);
int awaited_pool_detect(const struct run_model *model, size_t group, struct candidates *candidates);
int awaited_names_detect(const struct run_model *model, size_t group,
                         struct candidates *candidates);
int awaited_input_detect(const struct run_model *model, size_t group,
                         struct candidates *candidates);
int message_latency_detect(const struct run_model *model, size_t group,
                           struct candidates *candidates);
int machine_full_detect(const struct run_model *model, size_t group, struct candidates *candidates);
int compute_bound_detect(const struct run_model *model, size_t group,
                         struct candidates *candidates);

/* ---- what they share ---- */

/* Asks the rules of these resources (bits of enum resource). -ENOMEM. */
int rules_detect(const struct run_model *model, size_t group, unsigned resources,
                 struct candidates *candidates);

/* Something was found of these resources (bits of enum resource) in the group. */
bool candidates_any(const struct candidates *candidates, size_t group, unsigned resources);
/* The group's connections, made when first asked for; the candidates'. -ENOMEM. */
int candidates_flows(const struct run_model *model, size_t group, struct candidates *candidates,
                     const struct flows **ret_flows);

/* Gains of all candidates, and when each held. -ENOMEM. */
int candidates_estimate(const struct run_model *model, const struct whatif *whatif,
                        struct candidates *candidates);

/* Evidence of counters for a candidate that has its gain (gain_counted.h): `counted` and `lost`. */
void candidate_count(const struct run_model *model, const struct candidates *candidates,
                     struct candidate *candidate);

/* Frees and closes the gap. */
void candidates_remove(struct candidates *candidates, size_t at);

/* Takes out what held up a host only while the program started, and tells it instead. -ENOMEM. */
int saturation_start(const struct run_model *model, struct candidates *candidates);
/* The same of what held from the very beginning on and for less than a phase, when it is known when
 * each held (candidates_estimate()): connections may be made long before a program is loaded. */
void saturation_start_by_spans(const struct run_model *model, struct candidates *candidates);

/* Once gains are known: takes out links whose data may have waited for the cores that hosts share,
 * unless a replay says what a faster one would bring, and tells it instead. */
void links_drop_unclear(const struct run_model *model, struct candidates *candidates);

/* Share of the run that goes by waiting for a core on all hosts that share this one's cores, itself
 * included; 0: none does. */
double machine_waiting(const struct run_model *model, size_t group, int host);

/* A process (a number of the budgets) that others wait for while it does something that is no limit
 * of its host: the candidate without its words, and the scenario without that term. demand: of the
 * critical path. */
struct candidate pause_candidate(const struct run_model *model, size_t group, size_t who,
                                 enum cause cause, enum budget_term term, double demand);

/* Most of the time that a process does nothing goes by in look-ups of names. */
bool awaited_is_for_names(const struct run_model *model, size_t who, size_t group);

/* Evidence was found that the host lacks one of these resources (bits of enum resource). */
bool candidates_short_of(const struct candidates *candidates, int host, size_t group,
                         unsigned resources);
#define SHORT_OF_CPU (1u << RESOURCE_CPU | 1u << RESOURCE_CPU_QUOTA)
#define SHORT_OF_MEMORY (1u << RESOURCE_MEMORY)
#define SHORT_OF_NETWORK (1u << RESOURCE_NET_EGRESS | 1u << RESOURCE_NET_INGRESS)
#define SHORT_OF_ANYTHING (~0u)

/* Cause, evidence and culprit of the candidate. */
void core_holder_name(const struct run_model *model, size_t group, enum holder holder, double own,
                      struct candidate *c);

/* More CPU time, by that ratio to its peers, that nobody is blamed for: said where it is worth it.
 */
void core_speed_rule_out(const struct run_model *model, size_t group, const struct rank_budget *who,
                         double ratio, struct core_speed core, struct candidates *candidates);
/* For a rank slower by that ratio: the part that its core explains. */
void core_speed_explain(struct core_speed core, double ratio, struct remarks *to);
/* Against a candidate that rests on CPU time: what is known of the core. */
void core_speed_tell(struct core_speed core, struct candidate *c);

#endif
