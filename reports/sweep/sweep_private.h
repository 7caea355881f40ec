/* SPDX-License-Identifier: MIT */
/* Shared by the sweep*.c files. */
#ifndef CHOKEPOINT_REPORTS_SWEEP_PRIVATE_H
#define CHOKEPOINT_REPORTS_SWEEP_PRIVATE_H

#include "reports/sweep/sweep_tables.h"

/* -EINVAL: no such measure; -E2BIG. */
int sweep_add_measure(struct sweep *sweep, const char *word);
/* Removes measures of GPUs that no run tells. */
void sweep_drop_gpus(struct sweep *sweep);
/* NAN if the run does not tell. */
double sweep_measure_run(const struct report *report, const struct sweep_measure *measure);
/* When training begins: with the phase of that name, else with the command. */
double sweep_training_begin(const struct report *report);

/* The number of cells with a run that ended well. */
size_t sweep_n_typical(const struct sweep *sweep);

/* Figures as means, a row for each cell. -ENOMEM. */
int sweep_tables_add_means(struct sweep_tables *tables, const struct sweep *sweep);

/* The whole job, a row for each cell; its ranks by role. -ENOMEM. */
int sweep_tables_add_job(struct sweep_tables *tables, const struct sweep *sweep);
int sweep_tables_add_roles(struct sweep_tables *tables, const struct sweep *sweep);

/* Tables of the programs' operators, and of differences between cells. -ENOMEM. */
int sweep_tables_add_operators(struct sweep_tables *tables, const struct sweep *sweep);
int sweep_tables_add_timelines(struct sweep_tables *tables, const struct sweep *sweep);
int sweep_tables_add_differences(struct sweep_tables *tables, const struct sweep *sweep,
                                 size_t hosts_max);

/* Tables of how programs learned: during the run, and at equal time, updates and examples. -ENOMEM.
 */
int sweep_tables_add_curves(struct sweep_tables *tables, const struct sweep *sweep);
int sweep_tables_add_pace(struct sweep_tables *tables, const struct sweep *sweep);

#endif
