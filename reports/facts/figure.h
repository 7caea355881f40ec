/* SPDX-License-Identifier: MIT */
/*
 * A figure of the verdict with its proof: the query that gives it when it is put to the database.
 * The queries read the views NAME_rate, which have the clock of the run and the units that people
 * use. A figure for which no query is given says why, and names the tables it comes from.
 */
#ifndef CHOKEPOINT_REPORTS_FACTS_FIGURE_H
#define CHOKEPOINT_REPORTS_FACTS_FIGURE_H

#include "analysis/causes/candidate.h"
#include "analysis/run_model.h"
#include "collector/store_budget_read.h"

#define FIGURE_TABLES 3

struct figure {
    const char *name, *unit; /* static: "psi_io", "%"; NULL: it is no figure */
    double value;            /* NAN: none */
    int host;                /* -1: none, or all */
    size_t group;            /* the phase, as index in the model */
    char *sql;               /* owned; NULL: no query gives it */
    const char *why;         /* static: why not; NULL with a query */
    const char *tables[FIGURE_TABLES];
    size_t n_tables;
};

/* The run that queries are about. */
struct figure_run {
    const struct run_model *model;
    int64_t id;   /* of the run */
    double cpu_s; /* of the command and of all that it waited for, by the kernel; NAN */
    double duration_s;
    const struct store_budget_sum *budgets; /* as they were stored */
    size_t n_budgets;
};

/* The mean of a metric of a host in a phase. The value is NAN where nothing is known. -ENOMEM. */
int figure_of_metric(const struct figure_run *run, int host, enum metric metric, size_t group,
                     struct figure *ret_figure);

/* The first figure of a remark. c: the candidate whose remark it is; NULL: of no candidate.
 * -ENOMEM. */
int figure_of_remark(const struct figure_run *run, const struct candidate *c,
                     const struct remark *remark, struct figure *ret_figure);

void figure_release(struct figure *figure);

/* Whether the remark is a conclusion from other figures, and nothing that was recorded. */
bool figure_is_inferred(const struct remark *remark);

#endif
