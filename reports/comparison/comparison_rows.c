/* SPDX-License-Identifier: MIT */
/* Rows of a comparison: quantities of the runs as a whole, and averages of the hosts. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/comparison/comparison_private.h"
#include "reports/model/summary.h"

#define CURVES_MAX 8

/* ---- the run as a whole ---- */

struct quantity {
    const char *label, *unit;
    enum comparison_section section;
    size_t offset;    /* of a double in struct report_summary */
    bool of_the_loop; /* iterations in step and out of step are different work */
};

#define QUANTITY(label, unit, section, member)                                                     \
    { label, unit, COMPARISON_##section, offsetof(struct report_summary, member), false }
#define OF_THE_LOOP(label, unit, section, member)                                                  \
    { label, unit, COMPARISON_##section, offsetof(struct report_summary, member), true }

static const struct quantity quantities[] = {
    QUANTITY("duration", "s", TIME, duration_s),
    QUANTITY("CPU", "%", JOB, job_cpu_pct),
    QUANTITY("network read", "MB/s", JOB, net_recv_mb_s),
    QUANTITY("network write", "MB/s", JOB, net_send_mb_s),
    QUANTITY("disk read", "MB/s", JOB, disk_read_mb_s),
    QUANTITY("disk write", "MB/s", JOB, disk_write_mb_s),
    QUANTITY("GPU busy", "%", JOB, gpu_busy_pct),
    QUANTITY("GPU multiprocessors", "%", JOB, gpu_sm_pct),
    QUANTITY("GPU tensor cores", "%", JOB, gpu_tensor_pct),
    QUANTITY("GPU memory bandwidth", "%", JOB, gpu_dram_pct),
    QUANTITY("PCIe of GPUs", "MB/s", JOB, gpu_pcie_mb_s),
    QUANTITY("power of GPUs", "W", JOB, gpu_watts),
    OF_THE_LOOP("iteration", "s", PACE, iteration_median_s),
    OF_THE_LOOP("iterations", "1/s", PACE, iterations_per_s),
    QUANTITY("updates", "1/s", PACE, updates_per_s),
    QUANTITY("examples", "1/s", PACE, examples_per_s),
    QUANTITY("energy of GPUs an example", "J", PACE, gpu_joules_per_example),
    QUANTITY("staleness", "", PACE, staleness),
    QUANTITY("parallel efficiency", "%", EFFICIENCY, parallel_pct),
    QUANTITY("load balance", "%", EFFICIENCY, load_balance_pct),
    QUANTITY("communication efficiency", "%", EFFICIENCY, communication_pct),
};

static const struct report *typical(const struct comparison *c, size_t group) {
    return c->runs[c->groups[group].typical];
}

/* Why a group whose ranks move together cannot be compared with one whose ranks do not; NULL if
 * there is none.
 */
static char *different_loops(const struct comparison *c) {
    for (size_t g = 0; g < c->n_groups; g++)
        if (typical(c, g)->n_ranks && typical(c, c->baseline_group)->n_ranks &&
            typical(c, g)->ranks_in_step != typical(c, c->baseline_group)->ranks_in_step)
            return text_format(
                "an iteration is not the same work: the ranks of %s move together, "
                "those of %s do not; compare updates, examples and what was reached",
                c->groups[typical(c, g)->ranks_in_step ? g : c->baseline_group].label,
                c->groups[typical(c, g)->ranks_in_step ? c->baseline_group : g].label);
    return NULL;
}

static int add_quantity(struct comparison *c, const struct quantity *quantity,
                        const struct report_summary *summaries, double *values) {
    const struct comparison_row row = {.label = strdup(quantity->label),
                                       .host = -1,
                                       .unit = quantity->unit,
                                       .section = quantity->section};
    int error;
    for (size_t i = 0; i < c->n; i++)
        memcpy(&values[i], (const char *)&summaries[i] + quantity->offset, sizeof(double));
    struct comparison_row *added =
        comparison_add_row(c, &c->summary, &c->n_summary, &row, values, &error);
    if (added && quantity->of_the_loop)
        added->not_alike = different_loops(c);
    return error;
}

static bool has_row(const struct comparison *c, const char *label) {
    for (size_t i = 0; i < c->n_summary; i++)
        if (strcmp(c->summary[i].label, label) == 0)
            return true;
    return false;
}

/* A value that only one rank marks describes the whole run; one that all mark describes each of
 * them.
 */
static bool is_of_the_run(const struct report *report, const char *name) {
    size_t ranks = 0;
    for (size_t i = 0; i < report->n_curves; i++)
        ranks += strcmp(report->curves[i].name, name) == 0;
    return ranks == 1;
}

static int add_last_value(struct comparison *c, const char *name, double *values, size_t *added) {
    int error;
    struct comparison_row row = {.label = text_format("last %s", name),
                                 .host = -1,
                                 .unit = "",
                                 .section = COMPARISON_PROGRESS};
    if (!row.label)
        return -ENOMEM;
    if (has_row(c, row.label)) {
        free(row.label);
        return 0;
    }
    for (size_t i = 0; i < c->n; i++)
        values[i] = report_last_value(c->runs[i], name);
    *added += comparison_add_row(c, &c->summary, &c->n_summary, &row, values, &error) != NULL;
    return error;
}

/* Values that the programs marked (accuracy, updates ...): the last one of each. */
static int add_curves(struct comparison *c, double *values) {
    int result = 0;
    for (size_t run = 0, added = 0; run < c->n; run++)
        for (size_t k = 0; result == 0 && k < c->runs[run]->n_curves && added < CURVES_MAX; k++)
            if (is_of_the_run(c->runs[run], c->runs[run]->curves[k].name) &&
                strcmp(c->runs[run]->curves[k].name, "staleness") != 0) /* PACE has its mean */
                result = add_last_value(c, c->runs[run]->curves[k].name, values, &added);
    return result;
}

static int fill_summary(struct comparison *c, double *values) {
    struct report_summary *summaries = calloc(c->n + 1, sizeof *summaries);
    int result = summaries ? 0 : -ENOMEM;
    for (size_t i = 0; result == 0 && i < c->n; i++)
        summaries[i] = report_summarize(c->runs[i]);
    for (size_t q = 0; result == 0 && q < ARRAY_SIZE(quantities); q++) {
        if (quantities[q].section == COMPARISON_EFFICIENCY &&
            quantities[q - 1].section != COMPARISON_EFFICIENCY) {
            result = add_curves(c, values);
            if (result == 0)
                result = comparison_fill_progress(c);
        }
        if (result == 0)
            result = add_quantity(c, &quantities[q], summaries, values);
    }
    free(summaries);
    return result;
}

/* ---- hosts ---- */

int comparison_find_host(const struct report *report, const char *name) {
    for (size_t h = 0; h < report->n_hosts; h++)
        if (strcmp(report->hosts[h].name, name) == 0)
            return (int)h;
    return -1;
}

static double host_value(const struct report *report, const char *host,
                         const struct layout_row *metric) {
    int h = report->n_resources ? comparison_find_host(report, host) : -1;
    return h < 0 ? NAN : layout_value(report, &report->resources[0], (size_t)h, metric, false);
}

static bool all_have(const struct comparison *c, const char *host) {
    for (size_t g = 0; g < c->n_groups; g++)
        if (comparison_find_host(typical(c, g), host) < 0)
            return false;
    return true;
}

static int fill_hosts(struct comparison *c) {
    const struct report *base = c->runs[c->baseline];
    c->hosts = calloc(base->n_hosts + 1, sizeof *c->hosts);
    if (!c->hosts)
        return -ENOMEM;
    for (size_t h = 0; h < base->n_hosts; h++)
        if (all_have(c, base->hosts[h].name))
            c->hosts[c->n_hosts++] = (int)h;
    return 0;
}

/* Rows are kept even without known values, so that each metric has as many as there are hosts. */
static int add_resource(struct comparison *c, const struct layout_row *metric, int host,
                        double *values) {
    const char *name = c->runs[c->baseline]->hosts[host].name;
    struct comparison_row *row = &c->resources[c->n_resources++];
    *row =
        (struct comparison_row){.label = text_format("%s %s%s", name, metric_name(metric->metric),
                                                     metric->of_ceiling ? " of its ceiling" : ""),
                                .host = host,
                                .unit = metric->of_ceiling ? "%" : metric_unit(metric->metric),
                                .section = COMPARISON_HOSTS,
                                .of_ceiling = metric->of_ceiling};
    int result = comparison_init_row(row, c);
    for (size_t i = 0; result == 0 && i < c->n; i++)
        values[i] = row->value[i] = host_value(c->runs[i], name, metric);
    for (size_t i = 0; result == 0 && i < c->n; i++)
        row->difference[i] = i == c->baseline ? NAN : values[i] - values[c->baseline];
    return result;
}

static int fill_resources(struct comparison *c, double *values) {
    int result = fill_hosts(c);
    c->n_metrics = layout_expand_beside(c->runs[c->baseline], (const struct report *const *)c->runs,
                                        c->n, layout_averages, layout_averages_size, c->metrics);
    c->resources = calloc(c->n_metrics * c->n_hosts + 1, sizeof *c->resources);
    if (!c->resources)
        return -ENOMEM;
    for (size_t m = 0; m < c->n_metrics; m++)
        for (size_t h = 0; result == 0 && h < c->n_hosts; h++)
            result = add_resource(c, &c->metrics[m], c->hosts[h], values);
    return result;
}

int comparison_fill_rows(struct comparison *c) {
    double *values = calloc(c->n + 1, sizeof *values);
    int result = values ? fill_summary(c, values) : -ENOMEM;
    if (result == 0)
        result = fill_resources(c, values);
    free(values);
    return result;
}
