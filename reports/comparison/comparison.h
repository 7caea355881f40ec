/* SPDX-License-Identifier: MIT */
/*
 * Groups of runs side by side (T2, T3, T5, F1), their differences from a baseline, and whether
 * these are established. A group is the repeats of one command; the unit of every test is the run.
 *
 * Holm's correction covers the rows of one section, since a section answers one question: how long,
 * with which resources, at what pace, how well, how efficient, and what on each host.
 */
#ifndef CHOKEPOINT_REPORTS_COMPARISON_H
#define CHOKEPOINT_REPORTS_COMPARISON_H

#include "analysis/verdict/compare.h"
#include "reports/model/layout.h"
#include "reports/model/model.h"

enum comparison_section {
    COMPARISON_TIME,     /* of the whole run */
    COMPARISON_JOB,      /* T3: what the job used */
    COMPARISON_PACE,     /* iterations, updates, examples a second, staleness */
    COMPARISON_PROGRESS, /* values that the program marked: at the end, at equal time and updates */
    COMPARISON_EFFICIENCY, /* POP */
    COMPARISON_HOSTS,      /* T2 */
    COMPARISON_SECTIONS
};

/* Values of a group in one row. Runs without a known value do not count. */
struct comparison_cell {
    size_t n; /* runs that count */
    double mean, median;
    double shown;      /* the mean for hosts, else the median */
    double difference; /* of `shown` from the baseline's; NAN for the baseline itself */
    struct compared test;
    double p_holm;
    enum compare_finding finding; /* COMPARE_TOO_FEW also if nothing was tested */
    char *words;                  /* owned; NULL for the baseline */
};

/* One compared quantity over all runs: value[run]. */
struct comparison_row {
    char *label; /* "vm1 net_send" */
    int host;    /* of the baseline's first run, -1 for the whole run */
    const char *unit;
    enum comparison_section section;
    bool of_ceiling; /* the row above as a share of the measured ceiling: shown, not tested */
    char *not_alike; /* owned: why it must not be compared, though it can be shown; NULL */
    double *value;
    double *difference; /* from the baseline's first run; NAN for that run */
    /* owned; for the group of each run; NULL for the baseline's. "not established: 1 run each ..."
     * for example; never "faster" without repeats
     */
    char **judgement;
    struct comparison_cell *groups;
};

struct comparison_group {
    char *label;  /* its name, with a number if several have it */
    size_t *runs; /* indexes, in order */
    size_t n;
    size_t counted; /* runs that ended well; if none did, all count */
    size_t typical; /* index of the counted run with the median duration */
    char *changed; /* owned: the words of its command that differ from the baseline's; NULL: none */
};

/* A part of the run time: seconds[group], means over repeats. All parts of a group add up to its
 * mean duration.
 */
struct comparison_part {
    char *label;
    int term; /* term of the budget; -1: not a rank's time */
    double *seconds;
};

/* A group beside the baseline and a limit (`compare --gate`). */
struct gated {
    double slower;    /* of the median run time; per unit of work if the groups did different
                         amounts; NAN: not known */
    bool per_work;    /* `slower` is per unit of work */
    bool established; /* the difference in run time is established, one way or the other */
    bool passed;      /* always for the baseline; else: within the limit, or not established */
};

/* Whether no group is slower than the baseline by more than a limit (`compare --gate`). */
struct comparison_gate {
    double limit;       /* 0.05: 5 % slower */
    struct gated *each; /* owned; by group; NULL: no gate */
    bool passed;
};

struct comparison {
    struct report **runs; /* owned; `n` of them */
    size_t n, baseline;   /* the first run of the baseline group */
    size_t *group_of;     /* by run */
    struct comparison_group *groups;
    size_t n_groups, baseline_group;
    struct comparison_row *summary; /* of the whole run, section by section */
    size_t n_summary;
    struct comparison_row *resources; /* [metric * n_hosts + host] */
    size_t n_resources;
    struct layout_row metrics[LAYOUT_ROWS_MAX]; /* T1's rows, with shares of ceilings */
    size_t n_metrics;
    int *hosts; /* of the baseline: those that all groups have */
    size_t n_hosts;
    struct comparison_part *parts; /* where the difference in run time lies, the largest first */
    size_t n_parts;
    const char *parts_source; /* "critical path", "budgets"; NULL: not known */
    char *headline;           /* owned: the difference in run time as a sentence, group by group */
    char **notes; /* reasons why the comparison is weak: other hosts, other commands, gaps */
    size_t n_notes;
    struct comparison_gate gate;
};

/* group_of[run]: 0 .. n_groups - 1, each with at least one run; NULL: runs with one name and
 * command are a group, in order of appearance. baseline: a run of the baseline group. Takes over
 * the reports on success.
 */
int comparison_build(struct report **runs, const size_t *group_of, size_t n, size_t baseline,
                     struct comparison **ret_comparison);
void comparison_free(struct comparison *comparison);
/* Frees everything except the reports, which belong to the caller again. */
void comparison_give_back(struct comparison *comparison);

/* Takes over the text, also on failure. -ENOMEM. */
int comparison_add_note(struct comparison *comparison, char *owned_text);

/* The work of a group and of the baseline in a second. */
struct comparison_work {
    const char *unit; /* "examples", "iterations" */
    double baseline_per_s, per_s;
};
/* False: the group did as much work as the baseline, or it is not known. */
bool comparison_work_differs(const struct comparison *comparison, size_t group,
                             struct comparison_work *ret_work);

/* Fills comparison->gate. With too few runs for a test the medians decide. -ENOMEM. */
int comparison_set_gate(struct comparison *comparison, double limit);

/* The least of a unit that is something: a smaller value is what idle hosts have, or what is not
 * measured, and a factor from it says nothing. 0: any value counts. */
double comparison_least(const char *unit);

/* Whether a run takes part in means and tests. */
bool comparison_counts(const struct comparison *comparison, size_t run);

/* "the job as a whole", ... */
const char *comparison_section_title(enum comparison_section section);

#endif
