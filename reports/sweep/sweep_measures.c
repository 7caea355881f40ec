/* SPDX-License-Identifier: MIT */
/*
 * Measures of a run, one line each. A time to an accuracy runs from the begin of the phase
 * "training" (of the command if the program marks none) to the first test that reached it: a
 * program's start is not part of its learning.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/text.h"
#include "reports/model/summary.h"
#include "reports/sweep/sweep_private.h"

#define EXAMPLES_MAX 1e15

typedef double measure_value(const struct report *report, const struct sweep_measure *measure);

static double run_time(const struct report *report, const struct sweep_measure *measure) {
    (void)measure;
    return report->duration_s;
}

static const struct report_resources *find_phase(const struct report *report, const char *name) {
    for (size_t i = 1; i < report->n_resources; i++)
        if (strcmp(report->resources[i].phase, name) == 0)
            return &report->resources[i];
    return NULL;
}

static double training_time(const struct report *report, const struct sweep_measure *measure) {
    const struct report_resources *training = find_phase(report, "training");
    (void)measure;
    return training ? training->duration_s : NAN;
}

/* An accuracy is marked as a share of 1. */
static double last_accuracy(const struct report *report, const struct sweep_measure *measure) {
    (void)measure;
    return 100 * report_last_value(report, "accuracy");
}

static double last_value(const struct report *report, const struct sweep_measure *measure) {
    return report_last_value(report, measure->of);
}

double sweep_training_begin(const struct report *report) {
    for (size_t i = 0; i < report->n_phases; i++)
        if (strcmp(report->phases[i].name, "training") == 0)
            return report->phases[i].start_s;
    return 0;
}

static double time_to(const struct report *report, const struct sweep_measure *measure) {
    for (size_t i = 0; i < report->n_curves; i++) {
        const struct report_curve *curve = &report->curves[i];
        if (strcmp(curve->name, "accuracy") != 0)
            continue;
        for (size_t k = 0; k < curve->n; k++)
            if (100 * curve->value[k] >= measure->argument)
                return curve->t_s[k] - sweep_training_begin(report);
        return NAN;
    }
    return NAN;
}

/* By its rate: a run of that many examples may be too short to be measured, or too long. */
static double time_for(const struct report *report, const struct sweep_measure *measure) {
    return measure->argument / report_summarize(report).examples_per_s;
}

#define SUMMARY(function, member)                                                                  \
    static double function(const struct report *report, const struct sweep_measure *measure) {     \
        (void)measure;                                                                             \
        return report_summarize(report).member;                                                    \
    }
SUMMARY(examples_per_s, examples_per_s)
SUMMARY(updates_per_s, updates_per_s)
SUMMARY(iteration_s, iteration_median_s)
SUMMARY(staleness, staleness)
SUMMARY(job_cpu, job_cpu_pct)
SUMMARY(net_recv, net_recv_mb_s)
SUMMARY(net_send, net_send_mb_s)
SUMMARY(disk_read, disk_read_mb_s)
SUMMARY(disk_write, disk_write_mb_s)
SUMMARY(gpu_busy, gpu_busy_pct)
SUMMARY(gpu_sm, gpu_sm_pct)
SUMMARY(gpu_tensor, gpu_tensor_pct)
SUMMARY(gpu_dram, gpu_dram_pct)
SUMMARY(gpu_pcie, gpu_pcie_mb_s)
SUMMARY(gpu_watts, gpu_watts)
SUMMARY(gpu_joules, gpu_joules_per_example)

static const struct kind {
    const char *name, *title, *unit;
    measure_value *value;
} kinds[] = {
    {"time", "run time", "s", run_time},
    {"training", "training time", "s", training_time},
    {"accuracy", "accuracy", "%", last_accuracy},
    {"examples", "examples a second", "1/s", examples_per_s},
    {"updates", "updates a second", "1/s", updates_per_s},
    {"iteration", "iteration", "s", iteration_s},
    {"staleness", "staleness", "", staleness},
    {"cpu", "CPU", "%", job_cpu},
    {"recv", "network read", "MB/s", net_recv},
    {"send", "network write", "MB/s", net_send},
    {"disk-read", "disk read", "MB/s", disk_read},
    {"disk-write", "disk write", "MB/s", disk_write},
    {"gpu-busy", "GPU busy", "%", gpu_busy},
    {"gpu-sm", "GPU multiprocessors", "%", gpu_sm},
    {"gpu-tensor", "GPU tensor cores", "%", gpu_tensor},
    {"gpu-dram", "GPU memory bandwidth", "%", gpu_dram},
    {"gpu-pcie", "PCIe of GPUs", "MB/s", gpu_pcie},
    {"gpu-power", "power of GPUs", "W", gpu_watts},
    {"gpu-energy", "energy of GPUs an example", "J", gpu_joules},
    {"to:", "time to an accuracy of %g %%", "s", time_to},
    {"for:", "time for %.0f examples", "s", time_for},
    {"last:", "last %s", "", last_value},
};

const char sweep_measure_words[] =
    "time, training, accuracy, examples, updates, iteration, staleness, cpu, recv, send, "
    "disk-read, disk-write, gpu-busy, gpu-sm, gpu-tensor, gpu-dram, gpu-pcie, gpu-power, "
    "gpu-energy, to:PERCENT, for:EXAMPLES, last:NAME";

/* Finds the kind, and what follows its colon. */
static bool find_kind(const char *word, size_t *ret_kind, const char **ret_rest) {
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        size_t n = strlen(kinds[i].name);
        bool has_rest = kinds[i].name[n - 1] == ':';
        if (has_rest ? strncmp(word, kinds[i].name, n) == 0 && word[n]
                     : strcmp(word, kinds[i].name) == 0)
            return *ret_kind = i, *ret_rest = has_rest ? word + n : NULL, true;
    }
    return false;
}

static bool is_good(size_t kind, const char *rest, double *ret_argument) {
    double most = kinds[kind].value == time_to ? 100 : EXAMPLES_MAX;
    *ret_argument = NAN;
    if (kinds[kind].value != time_to && kinds[kind].value != time_for)
        return !rest || strlen(rest) < SWEEP_TEXT_MAX;
    return text_parse_double(rest, ret_argument) == 0 && *ret_argument > 0 && *ret_argument <= most;
}

bool sweep_is_measure(const char *word) {
    size_t kind;
    const char *rest;
    double argument;
    return find_kind(word, &kind, &rest) && is_good(kind, rest, &argument);
}

static char *make_title(size_t kind, const char *rest, double argument) {
    char *title = NULL, text[SWEEP_TEXT_MAX + 64];
    if (kinds[kind].value == time_to)
        snprintf(text, sizeof text, "time to an accuracy of %g %%", argument);
    else if (kinds[kind].value == time_for)
        snprintf(text, sizeof text, "time for %.0f examples", argument);
    else if (rest)
        snprintf(text, sizeof text, "last %s", rest);
    else
        snprintf(text, sizeof text, "%s", kinds[kind].title);
    const char *unit = kinds[kind].unit;
    if (asprintf(&title, *unit ? "%s (%s)" : "%s", text, unit) < 0)
        return NULL;
    return title;
}

int sweep_add_measure(struct sweep *sweep, const char *word) {
    size_t kind;
    const char *rest;
    double argument;
    if (!find_kind(word, &kind, &rest) || !is_good(kind, rest, &argument))
        return -EINVAL;
    if (sweep->n_measures == SWEEP_MEASURES_MAX)
        return -E2BIG;
    struct sweep_measure *added = &sweep->measures[sweep->n_measures++];
    *added = (struct sweep_measure){.name = strdup(word),
                                    .title = make_title(kind, rest, argument),
                                    .unit = kinds[kind].unit,
                                    .kind = kind,
                                    .argument = argument,
                                    .of = rest ? strdup(rest) : NULL};
    return added->name && added->title && (added->of || !rest) ? 0 : -ENOMEM;
}

/* Removes a measure and its column of figures. */
static void drop_measure(struct sweep *sweep, size_t m) {
    size_t after = --sweep->n_measures - m;
    free(sweep->measures[m].name);
    free(sweep->measures[m].title);
    free(sweep->measures[m].of);
    memmove(&sweep->measures[m], &sweep->measures[m + 1], after * sizeof *sweep->measures);
    for (size_t c = 0; c < sweep->n_cells; c++) {
        struct sweep_cell *cell = &sweep->cells[c];
        memmove(&cell->figures[m], &cell->figures[m + 1], after * sizeof *cell->figures);
        for (size_t r = 0; r < cell->n_runs; r++)
            memmove(&cell->runs[r].measures[m], &cell->runs[r].measures[m + 1],
                    after * sizeof *cell->runs[r].measures);
    }
}

static bool is_known(const struct sweep *sweep, size_t m) {
    for (size_t c = 0; c < sweep->n_cells; c++)
        if (sweep->cells[c].figures[m].n)
            return true;
    return false;
}

static bool is_of_gpu(const struct sweep_measure *measure) {
    return strncmp(kinds[measure->kind].name, "gpu-", 4) == 0;
}

void sweep_drop_gpus(struct sweep *sweep) {
    for (size_t m = sweep->n_measures; m-- > 0;)
        if (is_of_gpu(&sweep->measures[m]) && !is_known(sweep, m))
            drop_measure(sweep, m);
}

double sweep_measure_run(const struct report *report, const struct sweep_measure *measure) {
    return kinds[measure->kind].value(report, measure);
}
