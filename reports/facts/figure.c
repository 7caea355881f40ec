/* SPDX-License-Identifier: MIT */
/*
 * The proof of each figure. A remark has numbers and no pointer to what they were made from, so a
 * number is looked for among the figures that its kind can be: a metric of one of the hosts in one
 * of the phases. Only the very same number counts; otherwise there is no query.
 */
#include "reports/facts/figure.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes/cause.h"
#include "common/error.h"
#include "reports/facts/figure_sql.h"

#define CORES_DIFFER_MOST                                                                          \
    0.02 /* the kernel's charge to the command against the rows of the job                         \
          */

/* Kinds of remarks whose number `at` is a metric's mean in one phase. */
static const struct {
    const char *kind;
    int at;
    enum metric metric;
} means[] = {
    {"PSI_CPU", 0, METRIC_PSI_CPU},
    {"PSI_MEMORY", 0, METRIC_PSI_MEMORY},
    {"PSI_IO", 0, METRIC_PSI_IO},
    {"DEVICE_HAD_REQUESTS", 0, METRIC_DISK_BUSY},
    {"STOLEN", 0, METRIC_CPU_STEAL},
    {"STEAL_LITTLE", 0, METRIC_CPU_STEAL},
    {"CPU_IDLE", 0, METRIC_CPU_IDLE},
    {"CPU_NOT_SHORT", 2, METRIC_PSI_CPU},
    {"CPU_HARMLESS", 0, METRIC_PSI_CPU},
    {"DISK_BUSY_AT_MOST", 0, METRIC_DISK_BUSY},
    {"DISK_NOT_SHORT", 0, METRIC_DISK_BUSY},
    {"DISK_NOT_SHORT", 1, METRIC_PSI_IO},
    {"MEMORY_FREE_BUT_WAITED", 1, METRIC_PSI_MEMORY},
    {"MEMORY_NEARLY_FREE_BUT_WAITED", 0, METRIC_PSI_MEMORY},
};

/* Conclusions that have figures. Remarks without a figure are conclusions as well. */
static const char *const inferred[] = {"RUN_WAITS_FOR_IT",
                                       "FASTER_CORES_TELL",
                                       "WOULD_GAIN_MOST",
                                       "RUNNER_UP",
                                       "SLOWER_CORE",
                                       "SLOWER_CORE_AT_BEST",
                                       "CORES_DIFFER",
                                       "CORE_SLOWER",
                                       "CORE_SLOWER_AT_BEST",
                                       "CORE_SLOWER_TOO",
                                       "CORE_SLOWER_TOO_AT_BEST",
                                       "OPERATORS_GAVE_MORE",
                                       "ARITHMETIC",
                                       "ALL_MAY_LACK",
                                       "MORE_UNEXPLAINED",
                                       "WAITING_NEEDS_DIVISION",
                                       "ON_NO_SINGLE_HOST"};

static bool is_kind(const struct remark *remark, const char *name) {
    return remark->kind && remark->kind->name && strcmp(remark->kind->name, name) == 0;
}

bool figure_is_inferred(const struct remark *remark) {
    for (size_t i = 0; i < ARRAY_SIZE(inferred); i++)
        if (is_kind(remark, inferred[i]))
            return true;
    return !remark->kind || !remark->kind->n_numbers;
}

void figure_release(struct figure *figure) {
    free(figure->sql);
}

/* ---- what a figure comes from ---- */

static void add_table(struct figure *figure, const char *table) {
    if (figure->n_tables < FIGURE_TABLES)
        figure->tables[figure->n_tables++] = table;
}

/* The table of a resource. */
static const char *table_of(const struct candidate *c) {
    switch (c ? c->resource : RESOURCE_NONE) {
    case RESOURCE_NET_EGRESS:
    case RESOURCE_NET_INGRESS:
        return "net";
    case RESOURCE_DISK:
    case RESOURCE_DISK_THROTTLE:
        return "disk";
    case RESOURCE_MEMORY:
        return "memory";
    case RESOURCE_GPU:
        return "gpu";
    default:
        return "process";
    }
}

/* For a figure without a query: the tables, by what its cause needs. */
static void name_tables(const struct run_model *model, const struct candidate *c,
                        struct figure *figure) {
    static const struct {
        enum observed_source source;
        const char *table;
    } tables[] = {{SOURCE_CALLS, "call"},      {SOURCE_WAITS, "wait"},
                  {SOURCE_CLOCKS, "wait"},     {SOURCE_CONNECTIONS, "connection"},
                  {SOURCE_QDISC, "qdisc"},     {SOURCE_PSI, "psi"},
                  {SOURCE_CGROUP, "cgroup"},   {SOURCE_OPERATORS, "mark"},
                  {SOURCE_CALIBRATION, "self"}};
    unsigned needs = c && c->by ? c->by->needs : 0;
    bool calls = model->observed.sources >> SOURCE_CALLS & 1;
    for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
        if (needs >> tables[i].source & 1)
            add_table(figure, tables[i].table);
    if (calls && !(needs >> SOURCE_CALLS & 1))
        add_table(figure, "call");
    add_table(figure, table_of(c));
    figure->why =
        calls ? "it comes from MPI calls that were matched across ranks, which SQL cannot do"
              : "it is computed from several rows of these tables at once";
}

/* ---- figures with a query ---- */

static struct figure_place place_of(const struct figure_run *run, int host, size_t group) {
    return (struct figure_place){run->id, run->model->hosts[host].name,
                                 phase_windows(&run->model->groups[group])};
}

static size_t count_devices(const struct run_model *model, int host) {
    const struct series_set *disks = &model->recording->tables[RECORDING_DISK];
    size_t n = 0;
    for (size_t s = 0; s < disks->n; s++)
        n += disks->items[s].host == host;
    return n;
}

static const char *why_no_query(const struct run_model *model, int host, enum metric metric,
                                size_t group) {
    bool of_cores = metric <= METRIC_CPU_STEAL;
    if (!figure_has_sql(metric))
        return "it is computed from several rows of these tables at once";
    if (metric == METRIC_DISK_BUSY && count_devices(model, host) != 1)
        return "it is the busiest of several devices at each instant";
    if (of_cores && recording_counts_group(model->recording, host))
        return "the host is a control group, whose CPU time the scheduler counts";
    return figure_windows_fit(phase_windows(&model->groups[group]))
               ? NULL
               : "its phase has too many stretches for one query";
}

/* Takes the query; without one the figure has no memory. */
static int take_query(struct figure *figure, char *sql) {
    figure->sql = sql;
    figure->why = NULL;
    return sql ? 0 : -ENOMEM;
}

int figure_of_metric(const struct figure_run *run, int host, enum metric metric, size_t group,
                     struct figure *ret_figure) {
    struct figure figure = {.name = metric_name(metric),
                            .unit = metric_unit(metric),
                            .value = model_mean(run->model, host, metric, group),
                            .host = host,
                            .group = group};
    int result = 0;
    figure.why = why_no_query(run->model, host, metric, group);
    if (!figure.why) {
        const char *table = NULL;
        struct figure_place place = place_of(run, host, group);
        result = take_query(&figure, figure_sql_metric(&place, metric, &table));
        add_table(&figure, table);
    } else {
        add_table(&figure, metric_is_of_gpu(metric)     ? "gpu"
                           : metric == METRIC_DISK_BUSY ? "disk"
                           : metric == METRIC_JOB_CPU || metric == METRIC_JOB_RUN_QUEUE ||
                                   metric == METRIC_JOB_MEM
                               ? "process"
                               : "cpu");
    }
    *ret_figure = figure;
    return result;
}

/* ---- of remarks ---- */

static bool is_same(double a, double b) {
    return fabs(a - b) <= 1e-9 * fmax(1e-3, fabs(b));
}

/* The host and the phase whose mean is that number; the candidate's own come first. */
static bool find_mean(const struct run_model *model, const struct candidate *c, enum metric metric,
                      double number, int *ret_host, size_t *ret_group) {
    size_t first = c ? c->group : model->main_group;
    for (size_t g = 0; g < model->n_groups; g++)
        for (size_t h = 0; h < model->n_hosts; h++) {
            size_t group = (first + g) % model->n_groups;
            if (is_same(model_mean(model, (int)h, metric, group), number)) {
                *ret_host = (int)h;
                *ret_group = group;
                return true;
            }
        }
    return false;
}

static int of_mean(const struct figure_run *run, const struct candidate *c,
                   const struct remark *remark, struct figure *figure) {
    for (size_t i = 0; i < ARRAY_SIZE(means); i++) {
        int host = -1;
        size_t group = 0;
        if (is_kind(remark, means[i].kind) &&
            find_mean(run->model, c, means[i].metric, remark->numbers[means[i].at], &host, &group))
            return figure_of_metric(run, host, means[i].metric, group, figure);
    }
    return 0;
}

/* A program beside the job. */
static int of_program(const struct figure_run *run, const struct candidate *c,
                      const struct remark *remark, struct figure *figure) {
    const struct run_model *model = run->model;
    if (!c || c->host < 0 || !is_kind(remark, "FOREIGN_USED"))
        return 0;
    const struct model_process *other = NULL;
    struct windows windows = phase_windows(&model->groups[c->group]);
    while ((other = model_next_process(model, c->host, false, other))) {
        struct process_use use = model_process_use(model, other, windows);
        struct figure_place place = place_of(run, c->host, c->group);
        if (strcmp(other->series->name, remark->names[0]) != 0 || !figure_windows_fit(windows) ||
            !is_same(100 * use.cpu_s / use.wall_s, remark->numbers[0]))
            continue;
        *figure = (struct figure){.name = "CPU time",
                                  .unit = "% of a core",
                                  .value = 100 * use.cpu_s / use.wall_s,
                                  .host = c->host,
                                  .group = c->group};
        add_table(figure, "process");
        return take_query(figure, figure_sql_process(&place, other->series->name));
    }
    return 0;
}

static int of_quota(const struct figure_run *run, const struct candidate *c,
                    const struct remark *remark, struct figure *figure) {
    if (!c || c->host < 0 || !is_kind(remark, "QUOTA_THROTTLED") ||
        !figure_windows_fit(phase_windows(&run->model->groups[c->group])))
        return 0;
    struct figure_place place = place_of(run, c->host, c->group);
    *figure = (struct figure){.name = "throttled",
                              .unit = "%",
                              .value = remark->numbers[0],
                              .host = c->host,
                              .group = c->group};
    add_table(figure, "cgroup");
    return take_query(figure, figure_sql_throttled(&place));
}

/* The job's cores, where the kernel's charge to the command is the same over the whole run. */
static int of_cores(const struct figure_run *run, const struct remark *remark,
                    struct figure *figure) {
    double cores = run->cpu_s / run->duration_s;
    if (!(is_kind(remark, "CORES_USED") || is_kind(remark, "CORES_USED_HERE")) ||
        !(fabs(cores - remark->numbers[0]) <= CORES_DIFFER_MOST * cores))
        return 0;
    *figure = (struct figure){.name = "cores used", .unit = "cores", .value = cores, .host = -1};
    add_table(figure, "run_usage");
    return take_query(figure, figure_sql_cores(run->id));
}

/* The first number that has a meaning of its own; -1: none. */
static int first_number(const struct remark_kind *kind) {
    for (int i = 0; kind && i < kind->n_numbers; i++)
        if (kind->numbers[1 + i] && strchr(kind->numbers[1 + i], '%'))
            return i;
    return kind && kind->n_numbers ? 0 : -1;
}

/* ---- shares of a process's time ---- */

#define SHARE_LEAST 0.01 /* %; 0 and 100 could be of many */

/* The only stored budget of a process in a phase; NULL: none, or several. */
static const struct store_budget_sum *find_stored(const struct figure_run *run, const char *host,
                                                  const char *process, const char *phase) {
    const struct store_budget_sum *found = NULL;
    for (size_t i = 0; i < run->n_budgets; i++) {
        const struct store_budget_sum *sum = &run->budgets[i];
        if (strcmp(sum->host, host) != 0 || strcmp(sum->process, process) != 0 ||
            strcmp(sum->phase, phase) != 0)
            continue;
        if (found)
            return NULL;
        found = sum;
    }
    return found;
}

/* Whether the stored budget says the same: an older version may have judged otherwise. */
static bool is_stored(const struct store_budget_sum *sum, enum budget_term term, double percent) {
    if (!sum || sum->wall_ns <= 0 || sum->term_ns[term] < 0)
        return false;
    double stored = 100.0 * (double)sum->term_ns[term] / (double)sum->wall_ns;
    return fabs(stored - percent) <= 1e-3 * percent;
}

static int take_share(const struct figure_run *run, const struct rank_budget *who, size_t group,
                      enum budget_term term, double percent, struct figure *figure) {
    const char *phase = run->model->groups[group].name;
    struct figure_place place = place_of(run, who->host, group);
    if (!is_stored(find_stored(run, place.host, who->process, phase), term, percent))
        return 0;
    *figure = (struct figure){.name = budget_term_name(term),
                              .unit = "% of the time",
                              .value = percent,
                              .host = who->host,
                              .group = group};
    add_table(figure, "budget");
    return take_query(figure, figure_sql_budget(&place, who->process, phase, term));
}

/* A share of one process's time in a phase, which the table of budgets has as well. */
static int of_budget(const struct figure_run *run, const struct remark *remark,
                     struct figure *figure) {
    const struct rank_budgets *budgets = &run->model->budgets;
    int at = first_number(remark->kind), result = 0;
    double percent = at < 0 ? NAN : remark->numbers[at];
    if (!run->n_budgets || !(percent >= SHARE_LEAST && percent <= 100 - SHARE_LEAST))
        return 0;
    for (size_t r = 0; r < budgets->n; r++)
        for (size_t g = 0; g < run->model->n_groups; g++)
            for (int t = 0; t < BUDGET_TERMS && result == 0 && !figure->name; t++) {
                const struct budget *b = &budgets->items[r].groups[g];
                if (b->wall_s > 0 && is_same(100 * b->term_s[t] / b->wall_s, percent))
                    result = take_share(run, &budgets->items[r], g, (enum budget_term)t, percent,
                                        figure);
            }
    return result;
}

/* "waited, %" is in %. */
static const char *unit_of(const char *label) {
    const char *comma = label ? strrchr(label, ',') : NULL;
    return comma ? comma + 1 + strspn(comma + 1, " ") : label;
}

static void take_number(const struct run_model *model, const struct candidate *c,
                        const struct remark *remark, struct figure *figure) {
    int at = first_number(remark->kind);
    *figure = (struct figure){.value = at < 0 ? NAN : remark->numbers[at],
                              .host = c ? c->host : -1,
                              .group = c ? c->group : model->main_group};
    if (at >= 0) {
        figure->name = remark->kind->numbers[1 + at];
        figure->unit = unit_of(figure->name);
        name_tables(model, c, figure);
    } else {
        figure->why = "it is a conclusion without a figure of its own";
    }
}

int figure_of_remark(const struct figure_run *run, const struct candidate *c,
                     const struct remark *remark, struct figure *ret_figure) {
    struct figure figure = {.host = -1, .value = NAN};
    int result = of_mean(run, c, remark, &figure);
    if (result == 0 && !figure.name)
        result = of_program(run, c, remark, &figure);
    if (result == 0 && !figure.name)
        result = of_quota(run, c, remark, &figure);
    if (result == 0 && !figure.name)
        result = of_cores(run, remark, &figure);
    if (result == 0 && !figure.name && !figure_is_inferred(remark))
        result = of_budget(run, remark, &figure);
    if (result == 0 && !figure.name)
        take_number(run->model, c, remark, &figure);
    *ret_figure = figure;
    return result;
}
