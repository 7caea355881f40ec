/* SPDX-License-Identifier: MIT */
/* A rank's computing that its peers do not do: alone while they wait, or for them. */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_COMPUTED_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_COMPUTED_H

#include "analysis/run_model.h"

/* The share of a group for which a rank (index of the model's budgets) computed alone while others
 * waited.
 */
double alone_share(const struct run_model *model, size_t group, size_t who);

/* The mean share of time for which other ranks waited until this one was inside MPI again and
 * answered their one-sided accesses. Evenly shared work would make them wait as long.
 */
double absence_share(const struct run_model *model, size_t group, size_t who);

/* The window in which a process ran an operator, by a mark. False if the mark is of another kind,
 * or makes no sense.
 */
bool operator_window(const struct mark *mark, struct window *ret_window);

/* The share of a group for which a rank of the log, through which all messages go, computed with
 * data from others, outside of all operators (server_work.c). Its peers do no such work.
 */
double served_share(const struct run_model *model, size_t group, size_t log_rank);

#endif
