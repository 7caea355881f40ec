/* SPDX-License-Identifier: MIT */
/* The queries of figures (figure.h). Each gives one row of one column. */
#ifndef CHOKEPOINT_REPORTS_FACTS_FIGURE_SQL_H
#define CHOKEPOINT_REPORTS_FACTS_FIGURE_SQL_H

#include "reports/facts/figure.h"

/* Where a query looks: windows of one host. */
struct figure_place {
    int64_t run;
    const char *host; /* may come from outside */
    struct windows windows;
};

/* Whether so many windows fit into a query. */
bool figure_windows_fit(struct windows windows);

/* The mean of a metric; *ret_table: static, the table it reads. Owned by the caller; NULL: no query
 * gives this metric, or no memory. */
char *figure_sql_metric(const struct figure_place *place, enum metric metric,
                        const char **ret_table);
/* Whether there is a query for a metric. */
bool figure_has_sql(enum metric metric);

/* The CPU time of a process in % of a core. name: as the table process has it, from outside. */
char *figure_sql_process(const struct figure_place *place, const char *name);
/* The time for which the most throttled control group was kept from running, in %, 100 at most. */
char *figure_sql_throttled(const struct figure_place *place);
/* A term of a process's budget in a phase, in % of its wall time. process, phase: from outside. */
char *figure_sql_budget(const struct figure_place *place, const char *process, const char *phase,
                        enum budget_term term);
/* The cores that the command used, by the kernel's charge to it. */
char *figure_sql_cores(int64_t run);

#endif
