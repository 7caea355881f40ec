/* SPDX-License-Identifier: MIT */
/* The tables' rows as data: a new row of T1 is one line here and appears in every format. */
#include "reports/model/layout.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/error.h"

const struct layout_row layout_averages[] = {
    {METRIC_CPU_IDLE, "avg_idle_cpu (%)", false},
    {METRIC_MEM_USED, "avg_mem_used (GB)", false},
    {METRIC_MEM_FREE, "avg_mem_free (GB)", false},
    {METRIC_NET_RECV, "avg_nw_rec (MB/s)", false},
    {METRIC_NET_SEND, "avg_nw_send (MB/s)", false},
    {METRIC_DISK_READ, "avg_disk_read (MB/s)", false},
    {METRIC_DISK_WRITE, "avg_disk_write (MB/s)", false},
    {METRIC_GPU_BUSY, "avg_gpu_busy (%)", false},
    {METRIC_GPU_SM, "avg_gpu_sm (%)", false},
    {METRIC_GPU_TENSOR, "avg_gpu_tensor (%)", false},
    {METRIC_GPU_DRAM, "avg_gpu_dram (%)", false},
    {METRIC_GPU_TO, "avg_gpu_pcie_to (MB/s)", false},
    {METRIC_GPU_FROM, "avg_gpu_pcie_from (MB/s)", false},
    {METRIC_GPU_MEM, "avg_gpu_mem (GB)", false},
    {METRIC_GPU_WATTS, "avg_gpu_power (W)", false},
};
const size_t layout_averages_size = ARRAY_SIZE(layout_averages);

const struct layout_row layout_peaks[] = {
    {METRIC_DISK_READ, "disk read (MB/s)", false},
    {METRIC_DISK_WRITE, "disk write (MB/s)", false},
    {METRIC_JOB_CPU, "CPU of the job (%)", false},
    {METRIC_CPU_CORE_MAX, "fullest core (%)", false},
    {METRIC_MEM_USED, "memory used (GB)", false},
    {METRIC_NET_RECV, "network receive (MB/s)", false},
    {METRIC_NET_SEND, "network send (MB/s)", false},
    {METRIC_GPU_SM, "GPU multiprocessors (%)", false},
    {METRIC_GPU_MEM, "GPU memory (GB)", false},
    {METRIC_GPU_WATTS, "GPU power (W)", false},
};
const size_t layout_peaks_size = ARRAY_SIZE(layout_peaks);

bool layout_worth_a_table(const struct report *report, const struct report_resources *resources) {
    return resources->duration_s >= 3 * report->period_s;
}

#define HARDLY 0.00005 /* four decimals show zero */

/* Three digits, and four decimals at most. */
static int decimals(double size) {
    static const double from[] = {100, 10, 1, 0.1};
    int n = 0;
    while (size != 0 && n < 4 && size < from[n])
        n++;
    return size == 0 ? 2 : n;
}

const char *layout_number(char text[LAYOUT_NUMBER_SIZE], double value) {
    double size = fabs(value);
    if (size < HARDLY) /* zero has no sign */
        value = size;
    if (isnan(value))
        strcpy(text, "-");
    else if (size >= 1e12)
        snprintf(text, LAYOUT_NUMBER_SIZE, "%.4g", value);
    else if (size >= 1e4 || (size >= 1e3 && value == floor(value)))
        snprintf(text, LAYOUT_NUMBER_SIZE, "%.0f", value);
    else
        snprintf(text, LAYOUT_NUMBER_SIZE, "%.*f", decimals(size), value);
    return text;
}

const char *layout_duration(char text[LAYOUT_NUMBER_SIZE], double seconds) {
    long whole = isnan(seconds) || seconds > 1e9 ? -1 : lround(seconds);
    if (whole < 0)
        return strcpy(text, "-");
    if (seconds < 60)
        snprintf(text, LAYOUT_NUMBER_SIZE, seconds < 10 ? "%.2f s" : "%.1f s", seconds);
    else if (whole < 3600)
        snprintf(text, LAYOUT_NUMBER_SIZE, "%ld min %02ld s", whole / 60, whole % 60);
    else
        snprintf(text, LAYOUT_NUMBER_SIZE, "%ld h %02ld min", whole / 3600, whole / 60 % 60);
    return text;
}

const char *layout_time(char text[LAYOUT_NUMBER_SIZE], int64_t wall_ns) {
    time_t seconds = (time_t)(wall_ns / NS_PER_S);
    struct tm tm;
    if (!localtime_r(&seconds, &tm) ||
        strftime(text, LAYOUT_NUMBER_SIZE, "%Y-%m-%d %H:%M:%S", &tm) == 0)
        return strcpy(text, "-");
    return text;
}

const char *layout_host(const struct report *report, int host) {
    return host >= 0 && (size_t)host < report->n_hosts ? report->hosts[host].name : "-";
}

double layout_ceiling(const struct report *report, size_t host, enum metric metric) {
    return report->metric_ceilings ? report->metric_ceilings[host * METRIC_COUNT_ + metric] : NAN;
}

static bool has_ceiling(const struct report *report, enum metric metric) {
    for (size_t h = 0; h < report->n_hosts; h++)
        if (!isnan(layout_ceiling(report, h, metric)))
            return true;
    return false;
}

bool layout_has(const struct report *report, enum metric metric) {
    if (!metric_is_of_gpu(metric))
        return true;
    for (size_t h = 0; report->n_resources && h < report->n_hosts; h++)
        if (!isnan(report->resources[0].values[h * METRIC_COUNT_ + (size_t)metric].mean))
            return true;
    return false;
}

/* Whether a run of the comparison has it. */
static bool any_has(const struct report *const *reports, size_t n, enum metric metric) {
    for (size_t i = 0; i < n; i++)
        if (layout_has(reports[i], metric))
            return true;
    return false;
}

size_t layout_expand_beside(const struct report *report, const struct report *const *all,
                            size_t n_all, const struct layout_row *rows, size_t n,
                            struct layout_row ret_rows[LAYOUT_ROWS_MAX]) {
    size_t made = 0;
    for (size_t i = 0; i < n && made + 2 <= LAYOUT_ROWS_MAX; i++) {
        if (!any_has(all, n_all, rows[i].metric))
            continue;
        ret_rows[made++] = rows[i];
        if (has_ceiling(report, rows[i].metric))
            ret_rows[made++] =
                (struct layout_row){rows[i].metric, "  of what was measured (%)", true};
    }
    return made;
}

size_t layout_expand(const struct report *report, const struct layout_row *rows, size_t n,
                     struct layout_row ret_rows[LAYOUT_ROWS_MAX]) {
    return layout_expand_beside(report, &report, 1, rows, n, ret_rows);
}

double layout_value(const struct report *report, const struct report_resources *resources,
                    size_t host, const struct layout_row *row, bool peak) {
    const struct report_value *value =
        &resources->values[host * METRIC_COUNT_ + (size_t)row->metric];
    double shown = peak ? value->peak : value->mean;
    return row->of_ceiling ? 100 * shown / layout_ceiling(report, host, row->metric) : shown;
}

#define STRAGGLER_WORTH 0.05 /* of the run; less is not worth a word */

void layout_straggler_gain(char *text, size_t size, const struct report *report,
                           const struct straggler *straggler) {
    double most = fmax(straggler->severity, straggler->severity_max); /* one of them may be NAN */
    double gain = 1 - 1 / straggler->severity;
    text[0] = '\0';
    if (gain >= STRAGGLER_WORTH)
        snprintf(text, size, "; else the run would be %.0f %% shorter", 100 * gain);
    else if (1 - 1 / most < STRAGGLER_WORTH && report->verdict.host != straggler->host)
        snprintf(text, size, "; the run hardly waits for it");
}

void layout_timeline_title(const struct report *report, char *text, size_t size) {
    const struct report_timeline *t = &report->timeline;
    char rank[32] = "", number[32] = "";
    *text = '\0';
    if (!t->n_bars)
        return;
    if (t->rank >= 0)
        snprintf(rank, sizeof rank, " of rank %d", t->rank);
    if (t->number >= 0)
        snprintf(number, sizeof number, " %" PRId64, t->number);
    snprintf(text, size, "Timeline of iteration%s%s, the one of median length (%.4g ms)", number,
             rank, 1e3 * t->duration_s);
}
