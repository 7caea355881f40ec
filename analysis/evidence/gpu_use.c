/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/gpu_use.h"

#include <math.h>
#include <string.h>

#include "analysis/time/process_waits.h"
#include "common/error.h" /* ARRAY_SIZE */

#define USED_FIRST 0.02    /* of all its work: before, a driver only looked at it */
#define UNITS_READ_NS 10e9 /* longer without growth: they did nothing */
#define LANE_BYTES_S                                                                               \
    246e6 /* of PCIe 1: 2.5 GT/s a lane, 8 of 10 bits; each generation doubles it */
#define NVLINK_BYTES_S 25e9     /* a link one way: NVLink 2 to 4 */
#define NVLINK_NEW_BYTES_S 50e9 /* NVLink 5, of compute capability 10 and later */
#define NVLINK_NEW_CAPABILITY 100

#define REASON_POWER 4
#define REASON_HEAT (32 | 64)

static const struct {
    size_t column;
    bool level;
} columns[GPU_FIGURES] = {
    [GPU_FIGURE_BUSY] = {GPU_BUSY, false},
    [GPU_FIGURE_SM] = {GPU_SM, false},
    [GPU_FIGURE_TENSOR] = {GPU_TENSOR, false},
    [GPU_FIGURE_FP16] = {GPU_FP16, false},
    [GPU_FIGURE_FP32] = {GPU_FP32, false},
    [GPU_FIGURE_FP64] = {GPU_FP64, false},
    [GPU_FIGURE_DRAM] = {GPU_DRAM, false},
    [GPU_FIGURE_POWER_CAP] = {GPU_POWER_CAP, false},
    [GPU_FIGURE_HEAT_CAP] = {GPU_HEAT_CAP, false},
    [GPU_FIGURE_PCIE_TO] = {GPU_PCIE_RECEIVE, false},
    [GPU_FIGURE_PCIE_FROM] = {GPU_PCIE_SEND, false},
    [GPU_FIGURE_NVLINK_TO] = {GPU_NVLINK_RECEIVE, false},
    [GPU_FIGURE_NVLINK_FROM] = {GPU_NVLINK_SEND, false},
    [GPU_FIGURE_CLOCK] = {GPU_SM_CLOCK, true},
    [GPU_FIGURE_WATTS] = {GPU_WATTS, true},
};

static const struct series_set *table(const struct run_model *model, enum recording_table id) {
    return &model->recording->tables[id];
}

static double value_in(const struct run_model *model, const struct series *gpu, size_t row,
                       size_t column) {
    int64_t value = series_value(table(model, RECORDING_GPU), gpu, row, column);
    return value == VALUE_ABSENT ? NAN : series_amount(value);
}

/* The reasons of the clock at the row's end tell of caps as well: counters of some drivers stand
 * still.
 */
static double capped_in(const struct run_model *model, const struct series *gpu, size_t row,
                        enum gpu_figure figure, double counted) {
    int64_t bits = series_value(table(model, RECORDING_GPU), gpu, row, GPU_CLOCK_REASONS);
    int64_t mask = figure == GPU_FIGURE_POWER_CAP ? REASON_POWER : REASON_HEAT;
    if (bits == VALUE_ABSENT)
        return counted;
    double held = bits & mask ? 1 : 0;
    return isnan(counted) ? held : fmax(held, counted);
}

/* Figures of units, which may be read more seldom than the others. */
static bool is_of_units(enum gpu_figure figure) {
    return !columns[figure].level && figure != GPU_FIGURE_POWER_CAP &&
           figure != GPU_FIGURE_HEAT_CAP;
}

/* length_ns: of the time in which the counters grew. */
static double figure_in(const struct run_model *model, const struct series *gpu, size_t row,
                        enum gpu_figure figure, double length_ns) {
    double value = value_in(model, gpu, row, columns[figure].column);
    bool is_bytes = figure >= GPU_FIGURE_PCIE_TO && figure <= GPU_FIGURE_NVLINK_FROM;
    if (figure == GPU_FIGURE_WATTS)
        return value / 1e9;
    if (columns[figure].level)
        return value;
    value /= length_ns;
    if (figure == GPU_FIGURE_POWER_CAP || figure == GPU_FIGURE_HEAT_CAP)
        value = capped_in(model, gpu, row, figure, value);
    return is_bytes ? 1e9 * value : value > 1 ? 1 : value; /* absent stays so */
}

/* Whether the counters of units were read at the row: even an idle link carries some bytes. */
static bool reads_units(const struct run_model *model, const struct series *gpu, size_t row) {
    for (int f = 0; f < GPU_FIGURES; f++)
        if (is_of_units((enum gpu_figure)f) && value_in(model, gpu, row, columns[f].column) > 0)
            return true;
    return false;
}

/* ---- which process, which GPU ---- */

static double waited_for_gpu(const struct run_model *model, size_t group, size_t who) {
    return budget_sum(&model->budgets.items[who].groups[group],
                      1u << BUDGET_GPU | 1u << BUDGET_GPU_COPY);
}

/* Its row in the list of a driver; NULL: it is in none. */
static const struct series *listed(const struct run_model *model, const struct rank_budget *b) {
    return series_of_pid(table(model, RECORDING_GPU_PROCESS), b->host, GPU_PROCESS_PID, b->pid);
}

bool gpu_is_used_by(const struct run_model *model, size_t group, size_t who) {
    return listed(model, &model->budgets.items[who]) || waited_for_gpu(model, group, who) > 0;
}

static size_t user_of(const struct run_model *model, size_t group, int host) {
    size_t user = SIZE_MAX;
    double most = 0;
    for (size_t r = 0; r < rank_budgets_all(&model->budgets); r++) {
        const struct rank_budget *b = &model->budgets.items[r];
        if (b->host != host || !gpu_is_used_by(model, group, r))
            continue;
        double s =
            waited_for_gpu(model, group, r) + budget_sum(&b->groups[group], 1u << BUDGET_CPU);
        if (s <= most)
            continue;
        most = s;
        user = r;
    }
    return user;
}

static bool is_named(const struct series *s, int host, const char *name, size_t size) {
    return s->host == host && strlen(s->name) >= size && memcmp(s->name, name, size) == 0;
}

/* The GPU that a driver lists the process on; of a host with one GPU, that. */
static const struct series *gpu_of(const struct run_model *model, const struct rank_budget *b) {
    const struct series_set *gpus = table(model, RECORDING_GPU);
    const struct series *of = listed(model, b), *only = NULL;
    size_t n = 0;
    for (size_t s = 0; s < gpus->n; s++) {
        const struct series *gpu = &gpus->items[s];
        if (gpu->host != b->host)
            continue;
        if (of && of->key.form == KEY_GPU_PROCESS && strlen(gpu->name) == of->key.gpu.size &&
            memcmp(gpu->name, of->key.gpu.data, of->key.gpu.size) == 0)
            return gpu;
        only = gpu;
        n++;
    }
    return n == 1 ? only : NULL;
}

const struct series *gpu_device_of(const struct run_model *model, const struct series *gpu) {
    const struct series_set *set = table(model, RECORDING_GPU_DEVICE);
    size_t size = strlen(gpu->name);
    for (size_t s = 0; s < set->n; s++)
        if (is_named(&set->items[s], gpu->host, gpu->name, size) &&
            (set->items[s].name[size] == ' ' || set->items[s].name[size] == 0))
            return &set->items[s];
    return NULL;
}

/* ---- when ---- */

static bool has_growth(const struct series *gpu, size_t row, struct windows windows) {
    return gpu->interval_ns[row] > 0 && series_row_ends_in(gpu, row, windows);
}

/* False: it did nothing. */
static bool find_span(const struct run_model *model, const struct series *gpu,
                      struct windows windows, struct window *ret_span) {
    double all = series_growth(table(model, RECORDING_GPU), gpu, GPU_BUSY, windows, NULL), sum = 0;
    *ret_span = (struct window){0, 0};
    for (size_t i = 0; all > 0 && i < gpu->n; i++) {
        if (!has_growth(gpu, i, windows))
            continue;
        double before = sum, busy = value_in(model, gpu, i, GPU_BUSY);
        sum += isnan(busy) ? 0 : busy;
        if (before < USED_FIRST * all && sum >= USED_FIRST * all)
            ret_span->begin_ns = gpu->t_ns[i] - gpu->interval_ns[i];
        if (before < (1 - USED_FIRST) * all)
            ret_span->end_ns = gpu->t_ns[i];
    }
    return all > 0;
}

static double grown(const struct run_model *model, const struct series *clocks, size_t column,
                    struct window window) {
    return process_waits_growth(table(model, RECORDING_WAIT), clocks, column,
                                (struct windows){&window, 1});
}

struct weighed {
    double weight[GPU_FIGURES], sum[GPU_FIGURES];
    double units_weight, units_ns; /* since units were read last */
};

static void weigh_figures(const struct run_model *model, const struct series *gpu, size_t row,
                          double weight, double length_ns, bool units, struct weighed *w) {
    for (int f = 0; f < GPU_FIGURES; f++) {
        if (is_of_units((enum gpu_figure)f) != units || !(weight > 0))
            continue;
        double value = figure_in(model, gpu, row, (enum gpu_figure)f, length_ns);
        w->weight[f] += isnan(value) ? 0 : weight;
        w->sum[f] += isnan(value) ? 0 : weight * value;
    }
}

/* Levels are of the row; units are of all rows since they were read last. */
static void weigh_row(const struct run_model *model, const struct series *gpu, size_t row,
                      double weight, struct weighed *w) {
    double length_ns = (double)gpu->interval_ns[row];
    weigh_figures(model, gpu, row, weight, length_ns, false, w);
    w->units_weight += weight;
    w->units_ns += length_ns;
    if (!reads_units(model, gpu, row) && w->units_ns < UNITS_READ_NS)
        return;
    weigh_figures(model, gpu, row, w->units_weight, w->units_ns, true, w);
    w->units_weight = w->units_ns = 0;
}

/* Weighs each row of the GPU by the time that the process spent in these states meanwhile; without
 * states by its length.
 */
static struct gpu_while while_in(const struct run_model *model, const struct gpu_use *use,
                                 const struct series *clocks, const size_t *states, size_t n) {
    struct windows span = {&use->span, 1};
    struct weighed w = {.weight = {0}};
    struct gpu_while during = {.seconds = 0};
    for (size_t i = 0; i < use->gpu->n; i++) {
        if (!has_growth(use->gpu, i, span))
            continue;
        double weight = n ? 0 : (double)use->gpu->interval_ns[i];
        struct window row = {use->gpu->t_ns[i] - use->gpu->interval_ns[i], use->gpu->t_ns[i]};
        for (size_t s = 0; s < n; s++)
            weight += grown(model, clocks, states[s], row);
        during.seconds += weight / 1e9;
        weigh_row(model, use->gpu, i, weight, &w);
    }
    for (int f = 0; f < GPU_FIGURES; f++)
        during.mean[f] = w.weight[f] > 0 ? w.sum[f] / w.weight[f] : NAN;
    return during;
}

struct gpu_while gpu_means(const struct run_model *model, const struct series *gpu,
                           struct window span) {
    struct gpu_use use = {.gpu = gpu, .span = span};
    return while_in(model, &use, NULL, NULL, 0);
}

/* The process's CPU time: how much of that in the group lies in the span, and the kernel's part. */
static void find_cpu(const struct run_model *model, size_t group, struct gpu_use *use) {
    const struct series_set *set = table(model, RECORDING_PROCESS);
    const struct rank_budget *b = &model->budgets.items[use->who];
    const struct series *process = series_of_pid(set, b->host, PROCESS_PID, b->pid);
    struct windows whole = phase_windows(&model->groups[group]), span = {&use->span, 1};
    use->span_part = 1;
    use->system_part = 0;
    if (!process)
        return;
    double all = process_waits_growth(set, process, PROCESS_USER, whole) +
                 process_waits_growth(set, process, PROCESS_SYSTEM, whole);
    double system = process_waits_growth(set, process, PROCESS_SYSTEM, span);
    double in = system + process_waits_growth(set, process, PROCESS_USER, span);
    use->span_part = all > 0 ? fmin(1, in / all) : 1;
    use->system_part = in > 0 ? system / in : 0;
}

static double most_memory(const struct run_model *model, const struct gpu_use *use) {
    double most = NAN;
    for (size_t i = 0; i < use->gpu->n; i++)
        if (series_row_ends_in(use->gpu, i, (struct windows){&use->span, 1}))
            most = fmax(most, value_in(model, use->gpu, i, GPU_MEMORY_USED));
    return most;
}

bool gpu_use_by(const struct run_model *model, size_t group, size_t who, struct gpu_use *ret_use) {
    static const size_t computing[] = {WAIT_PROCESS_RUN}, waiting[] = {WAIT_PROCESS_GPU},
                        copying[] = {WAIT_PROCESS_COPY_TO_GPU, WAIT_PROCESS_COPY_FROM_GPU};
    struct gpu_use use = {.who = who};
    const struct rank_budget *b = &model->budgets.items[use.who];
    const struct series *clocks =
        series_of_pid(table(model, RECORDING_WAIT), b->host, WAIT_PID, b->pid);
    use.gpu = gpu_of(model, b);
    if (!use.gpu || !clocks ||
        !find_span(model, use.gpu, phase_windows(&model->groups[group]), &use.span))
        return false;
    use.device = gpu_device_of(model, use.gpu);
    use.memory = most_memory(model, &use);
    find_cpu(model, group, &use);
    use.all = while_in(model, &use, clocks, NULL, 0);
    use.computing = while_in(model, &use, clocks, computing, ARRAY_SIZE(computing));
    use.waiting = while_in(model, &use, clocks, waiting, ARRAY_SIZE(waiting));
    use.copying = while_in(model, &use, clocks, copying, ARRAY_SIZE(copying));
    *ret_use = use;
    return true;
}

bool gpu_use_find(const struct run_model *model, size_t group, int host, struct gpu_use *ret_use) {
    size_t who = user_of(model, group, host);
    return who != SIZE_MAX && gpu_use_by(model, group, who, ret_use);
}

/* ---- facts ---- */

double gpu_fact(const struct run_model *model, const struct gpu_use *use, size_t column) {
    int64_t value = use->device
                        ? series_last(table(model, RECORDING_GPU_DEVICE), use->device, column)
                        : VALUE_ABSENT;
    return value == VALUE_ABSENT || value <= 0 ? NAN : (double)value;
}

double gpu_pcie_ceiling(const struct run_model *model, const struct gpu_use *use) {
    double generation = gpu_fact(model, use, GPU_DEVICE_PCIE_GENERATION);
    double lanes = gpu_fact(model, use, GPU_DEVICE_PCIE_LANES);
    return generation > 8 || lanes > 32 ? NAN : LANE_BYTES_S * exp2(generation - 1) * lanes;
}

double gpu_nvlink_ceiling(const struct run_model *model, const struct gpu_use *use) {
    double links = gpu_fact(model, use, GPU_DEVICE_NVLINKS);
    bool is_new = gpu_fact(model, use, GPU_DEVICE_CAPABILITY) >= NVLINK_NEW_CAPABILITY;
    return links * (is_new ? NVLINK_NEW_BYTES_S : NVLINK_BYTES_S);
}

enum gpu_figure gpu_fullest_unit(const struct gpu_while *during) {
    enum gpu_figure fullest = GPU_FIGURES;
    for (int f = GPU_FIGURE_TENSOR; f <= GPU_FIGURE_DRAM; f++)
        if (!isnan(during->mean[f]) &&
            (fullest == GPU_FIGURES || during->mean[f] > during->mean[fullest]))
            fullest = (enum gpu_figure)f;
    return fullest;
}

/* ---- others ---- */

static const struct model_process *process_of(const struct run_model *model, int host,
                                              int64_t pid) {
    for (size_t p = 0; p < model->n_processes; p++)
        if (model->processes[p].host == host &&
            model_process_pid(model, &model->processes[p]) == pid)
            return &model->processes[p];
    return NULL;
}

const struct model_process *gpu_other_user(const struct run_model *model, const struct gpu_use *use,
                                           double *ret_cores) {
    const struct series_set *set = table(model, RECORDING_GPU_PROCESS);
    const struct model_process *busiest = NULL;
    size_t size = strlen(use->gpu->name);
    *ret_cores = 0;
    for (size_t s = 0; s < set->n; s++) {
        const struct series *user = &set->items[s];
        if (user->host != use->gpu->host || user->key.form != KEY_GPU_PROCESS ||
            user->key.gpu.size != size || memcmp(user->key.gpu.data, use->gpu->name, size) != 0)
            continue;
        const struct model_process *process =
            process_of(model, user->host, series_last(set, user, GPU_PROCESS_PID));
        if (!process || process->job)
            continue;
        struct process_use cpu = model_process_use(model, process, (struct windows){&use->span, 1});
        double cores = cpu.wall_s > 0 ? cpu.cpu_s / cpu.wall_s : 0;
        if (cores > *ret_cores)
            busiest = process;
        *ret_cores = fmax(cores, *ret_cores);
    }
    return busiest;
}
