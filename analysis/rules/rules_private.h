/* SPDX-License-Identifier: MIT */
/* What the files that find candidates share. */
#ifndef CHOKEPOINT_ANALYSIS_RULES_RULES_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_RULES_RULES_PRIVATE_H

#include "analysis/rules/rules.h"

/* Gains of all candidates, and when each held. -ENOMEM. */
int candidates_estimate(const struct run_model *model, struct candidates *candidates);

/* What counters tell of a candidate that has its gain (gain_counted.h): `counted` and `lost`. */
void candidate_count(const struct run_model *model, const struct candidates *candidates,
                     struct candidate *candidate);

/* Where no calls are known: of the run without the limit of a host's link, both ways. 1: it is
 * told; 0: it is not, or none limits; -ENOMEM. */
struct counted;
int saturation_count_link(const struct run_model *model, int host, struct counted *ret_counted);
/* The same without what the peers of the host's process wait for: "skew" or "sleep". */
int saturation_count_process(const struct run_model *model, int host, const char *kind,
                             struct counted *ret_counted);

/* Frees and closes the gap. */
void candidates_remove(struct candidates *candidates, size_t at);

/* Until when the program was being loaded, which no marks and no calls tell; 0: it was not, or not
 * known. -ENOMEM. */
int saturation_started(const struct run_model *model, int64_t *ret_start_ns);
/* Takes out what held up a host only while the program started, and tells it instead. -ENOMEM. */
int saturation_start(const struct run_model *model, struct candidates *candidates);
/* The same of what held from the very beginning on and for less than a phase, when it is known when
 * each held (candidates_estimate()): connections may be made long before a program is loaded. */
void saturation_start_by_spans(const struct run_model *model, struct candidates *candidates);

/* Where ranks run freely: who computes more than its peers, or for them. */
int saturation_free(const struct run_model *model, size_t group, struct candidates *candidates);
/* What a rank that makes progress computes beyond its peers, median, for its own iterations, as on
 * a core like theirs. False: not known. */
bool saturation_free_like_peers(const struct run_model *model, size_t group, int rank,
                                struct candidate *ret_candidate);
/* Iterations a second that the server's own work for them allows; INFINITY. */
double saturation_free_limit(const struct run_model *model, size_t group);

/* Evidence was found that the host lacks a resource whose name begins so. */
bool candidates_short_of(const struct candidates *candidates, int host, size_t group,
                         const char *resource);

/* Where a host's processes had to wait, who had the core (saturation_holder.c)? */
enum holder {
    HELD_BY_FOREIGN, /* one process that is not of the job */
    HELD_BY_JOB,
    HELD_BY_MANY, /* processes that are not of the job, of which none stands out */
    HELD_OUTSIDE, /* nobody on this host */
    HELD_AT_TIMES /* nobody in particular */
};
/* CPU of the job's other processes there, in cores. */
double core_beside(const struct run_model *model, size_t group, int host,
                   const struct model_process *than);
/* own: of the job's other processes, in cores. */
enum holder core_holder(const struct run_model *model, size_t group, double own,
                        const struct candidate *c);
/* Cause, evidence and culprit of the candidate. */
void core_holder_name(const struct run_model *model, size_t group, enum holder holder, double own,
                      struct candidate *c);

/* Two hosts are one kernel, and may run on the same cores. */
bool model_shares_machine(const struct run_model *model, int one, int other);

/* "python3[4711]": the name of the program. */
bool is_same_program(const char *a, const char *b);

/* Without calls of MPI: processes of one role compared. */
int saturation_processes(const struct run_model *model, size_t group,
                         struct candidates *candidates);

/* Data that a send buffer holds up, or a receiver that does not read. */
int saturation_buffers(const struct run_model *model, size_t group, struct candidates *candidates);

/* Share of a group that a rank (index of the model's budgets) computed alone, others waiting. */
double alone_share(const struct run_model *model, size_t group, size_t who);
/* Of the time, what the other ranks waited in the mean until this one was inside MPI again and
 * could answer their one-sided accesses: an even share of the work would make them wait as long. */
double absence_share(const struct run_model *model, size_t group, size_t who);

/* What operators tell of each host beside the others; NAN: nothing. */
struct operator_work {
    double pace;   /* time for as much output, of the operator that is least behind */
    double amount; /* output an iteration, of the operator that gives most */
    double more;   /* of the ranks' computing, what output takes beyond that elsewhere */
};
/* Of each host; the caller's to free. NULL: no memory. */
struct operator_work *operator_works_of(const struct run_model *model, size_t group);
/* How fast the cores of a host are beside those of the other hosts of the job, by what sampling
 * takes there (saturation_core.c), and the program's own operators (saturation_pace.c). */
struct core_speed {
    double slower;   /* times the CPU time that the same work takes elsewhere; 1: no more, or not
                        known */
    double sampling; /* CPU time of a sample over that of the others; NAN: not known */
    double beat;     /* of the same arithmetic on either, the same; NAN: not known */
    bool by_beat;    /* `slower` is told by that, unless by_pace is true as well */
    double pace;     /* time of operators for as much output, over that elsewhere; NAN: not known */
    bool by_pace;    /* `slower` is told by that */
    double at_best;  /* CPU time of its fastest iterations, if that tells it, over theirs; NAN */
    double amount; /* of the operators' output an iteration, over that elsewhere; NAN: not known */
    double more;   /* of the ranks' computing, what output takes beyond that elsewhere; NAN */
};
/* The operators tell more work, by weight. */
bool core_has_more_to_do(const struct core_speed *core);
/* What tells that a core is slower; owned. NULL: no memory. */
char *core_speed_words(struct core_speed core);
/* Of each host; the caller's to free. NULL: no memory. */
struct core_speed *core_speeds_of(const struct run_model *model, size_t group);
/* More CPU time, by that ratio to its peers, that nobody is blamed for: said where it is worth it.
 */
void core_speed_rule_out(const struct run_model *model, size_t group, const struct rank_budget *who,
                         double ratio, struct core_speed core, struct candidates *candidates);
/* Against a candidate that rests on CPU time: what is known of the core. */
void core_speed_tell(struct core_speed core, struct candidate *c);

/* When a mark says that its process ran an operator; false: it says no such thing, or nonsense. */
bool operator_window(const struct mark *mark, struct window *ret_window);

/* Share of a group that a rank (of the log), through which all messages go, computed with what had
 * come from others, and its peers do not; outside of all operators (saturation_serving.c). */
double served_share(const struct run_model *model, size_t group, size_t log_rank);

/* Of the model's connections: whether one side of one host explains those that were held up by
 * their path (saturation_flow.c). */
struct flow {
    int from, to;         /* hosts */
    double bytes;         /* that reached the other end */
    double limited_s;     /* with data under way that nothing but the path held up */
    double need_s;        /* what the bytes take at the rate the kernel measured on it */
    double receiver_s;    /* held up by the receiver, */
    double send_buffer_s; /* by the send buffer */
    double rate_bytes_s;  /* the median the kernel measured; NAN */
    double queue_ns;      /* round trips beyond the shortest, mean; NAN */
    double send_room;     /* of the sender's buffer for it, bytes; NAN */
    double back_room;     /* of the sender's buffer for what comes back; NAN */
    double held;          /* how far its path held it up, 0..1 */
    bool limited;         /* that is beyond doubt */
};

struct flows {
    struct flow *items; /* one for each ordered pair of hosts */
    size_t n, n_limited;
    double held; /* the sum */
};

/* -ENOMEM. Empty where no connection between hosts was recorded. */
int flows_make(const struct run_model *model, struct windows windows, struct flows *ret_flows);
void flows_release(struct flows *flows);

enum flow_side { FLOW_SEND, FLOW_RECEIVE };

/* How well one side of one host explains the set of limited flows: harmonic mean of precision and
 * recall (F1); 0 where it has none of them. A link that is slow both ways explains both sets. */
double flows_f1(const struct flows *flows, int host, enum flow_side side);

/* The share of a host's critical transfers that go through one side of it; NAN. */
double flows_critical_part(const struct run_model *model, size_t group, int host,
                           enum flow_side side);

#endif
