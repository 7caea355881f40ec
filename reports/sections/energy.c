/* SPDX-License-Identifier: MIT */
/* Energy that hosts used, and bytes that their memory moved, where the machine counts them. */
#include <math.h>
#include <string.h>

#include "common/error.h"
#include "reports/model/summary.h"
#include "reports/sections/sections.h"

struct energy_use {
    int host;
    double package_j, memory_j, mean_w, iteration_j, moved_gb, moved_gb_per_s, local_pct;
};

static const struct report_column columns[] = {
    {KIND_HOST, "host", "host", FIELD(energy_use, host)},
    {KIND_NUMBER, "package_j", "processors", "J", FIELD(energy_use, package_j)},
    {KIND_NUMBER, "memory_j", "memory", "J", FIELD(energy_use, memory_j)},
    {KIND_NUMBER, "mean_w", "both, mean", "W", FIELD(energy_use, mean_w)},
    {KIND_NUMBER, "iteration_j", "an iteration", "J", FIELD(energy_use, iteration_j)},
    {KIND_NUMBER, "moved_gb", "to and from memory", "GB", FIELD(energy_use, moved_gb)},
    {KIND_NUMBER, "moved_gb_per_s", "mean", "GB/s", FIELD(energy_use, moved_gb_per_s)},
    {KIND_NUMBER, "local_pct", "of its own socket", "%", FIELD(energy_use, local_pct)},
};

/* Zones: "package-0" is a processor with its cores; "package-0 dram" is memory, beside it. */
static bool is_package(const char *zone) {
    return strncmp(zone, "package-", 8) == 0 && !strchr(zone, ' ');
}

static bool is_memory(const char *zone) {
    const char *part = strchr(zone, ' ');
    return part && strcmp(part, " dram") == 0;
}

static bool every_series(const char *name) {
    (void)name;
    return true;
}

/* Growth of a counter over a host's series that are chosen by name; NAN: there is none. ret_s: the
 * longest time that one of them covers. */
static double growth_of(const struct run_model *model, enum recording_table of, int host,
                        size_t column, bool (*chosen)(const char *name), double *ret_s) {
    const struct series_set *set = &model->recording->tables[of];
    double sum = NAN;
    for (size_t i = 0; i < set->n; i++) {
        int64_t covered_ns = 0;
        if (set->items[i].host != host || !chosen(set->items[i].name))
            continue;
        double grown = series_growth(set, &set->items[i], column, phase_windows(&model->groups[0]),
                                     &covered_ns);
        if (covered_ns <= 0)
            continue;
        sum = isnan(sum) ? grown : sum + grown;
        *ret_s = fmax(*ret_s, (double)covered_ns / 1e9);
    }
    return sum;
}

/* iterations: of the whole run. */
static bool find_use(const struct run_model *model, int host, size_t iterations,
                     struct energy_use *use) {
    double energy_s = 0, moved_s = 0;
    double package = growth_of(model, RECORDING_ENERGY, host, ENERGY_JOULES, is_package, &energy_s);
    double memory = growth_of(model, RECORDING_ENERGY, host, ENERGY_JOULES, is_memory, &energy_s);
    double moved =
        growth_of(model, RECORDING_BANDWIDTH, host, BANDWIDTH_TOTAL, every_series, &moved_s);
    double local =
        growth_of(model, RECORDING_BANDWIDTH, host, BANDWIDTH_LOCAL, every_series, &moved_s);
    double both = package + (isnan(memory) ? 0 : memory);
    *use = (struct energy_use){
        .host = host,
        .package_j = package / 1e9,
        .memory_j = memory / 1e9,
        .mean_w = both / 1e9 / energy_s,
        .iteration_j = iterations ? both / 1e9 / (double)iterations : NAN,
        .moved_gb = moved / 1e9,
        .moved_gb_per_s = moved / 1e9 / moved_s,
        .local_pct = moved > 0 ? 100 * local / moved : NAN,
    };
    return !isnan(package) || !isnan(memory) || !isnan(moved);
}

void section_energy(const struct report *report, struct page *page) {
    const struct run_model *model = &report->run->model;
    struct report_table table;
    struct energy_use use;
    size_t iterations = report_summarize(report).iterations;
    TABLE_INIT(&table, "energy", report, columns);
    for (size_t h = 0; h < model->n_hosts; h++)
        if (find_use(model, (int)h, iterations, &use))
            TABLE_ADD_ALL(&table, &use, 1);
    table_title(&table, "Energy and traffic of memory (RAPL, resctrl; whole hosts)");
    page_table(page, &table);
}
