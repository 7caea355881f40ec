/* SPDX-License-Identifier: MIT */
/* Computing of a rank that its peers do not do: alone, while they wait, or for them. */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_COMPUTED_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_COMPUTED_H

#include "analysis/run_model.h"

/* Share of a group that a rank (index of the model's budgets) computed alone, others waiting. */
double alone_share(const struct run_model *model, size_t group, size_t who);

/* Share of the time that the other ranks waited in the mean until this one was inside MPI again and
 * could answer their one-sided accesses: an even share of the work would make them wait as long. */
double absence_share(const struct run_model *model, size_t group, size_t who);

/* When a mark says that its process ran an operator; false: it says no such thing, or nonsense. */
bool operator_window(const struct mark *mark, struct window *ret_window);

/* Share of a group that a rank (of the log), through which all messages go, computed with what had
 * come from others, and its peers do not; outside of all operators (server_work.c). */
double served_share(const struct run_model *model, size_t group, size_t log_rank);

#endif
