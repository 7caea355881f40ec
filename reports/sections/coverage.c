/* SPDX-License-Identifier: MIT */
/* The limits of what a recording can tell: hosts that were heard and when, and its sources. */
#include <math.h>

#include "common/clock.h"
#include "reports/sections/sections.h"

enum { FIRST = 2, LAST, RESOLUTION = 9 };

static const struct report_column columns[] = {
    {KIND_TEXT, "host", FIELD(report_host, name)},
    {KIND_FLAG, "heard", COMPUTED},
    [FIRST] = {KIND_NUMBER, "first_s", COMPUTED},
    [LAST] = {KIND_NUMBER, "last_s", COMPUTED},
    {KIND_COUNT, "samples" INTO "expected", FIELD(report_host, samples_expected)},
    {KIND_COUNT, "samples" INTO "recorded", FIELD(report_host, samples_recorded)},
    {KIND_COUNT, "samples" INTO "missed", FIELD(report_host, samples_missed)},
    {KIND_COUNT, "gaps", FIELD(report_host, gaps)},
    {KIND_NUMBER, "clock_error_s", FIELD(report_host, clock_error_s)},
    [RESOLUTION] = {KIND_NUMBER, "resolution_s", COMPUTED},
};

/* From the first sample to the last, and the mean time between two. */
static void put_span(struct report_table *table, size_t row, const struct store_host *host) {
    double length = (double)(host->last_ns - host->first_ns) / NS_PER_S;
    if (!host->frames)
        return;
    table_number(table, row, FIRST, (double)host->first_ns / NS_PER_S);
    table_number(table, row, LAST, (double)host->last_ns / NS_PER_S);
    if (host->frames > 1)
        table_number(table, row, RESOLUTION, length / (double)(host->frames - 1));
}

static void put_coverage_hosts(const struct report *report, struct page *page) {
    const struct report_input *input = &report->run->input;
    struct report_table table;
    TABLE_INIT(&table, "coverage" INTO "hosts", report, columns);
    table.audience = FOR_DOCUMENT;
    for (size_t h = 0; h < report->n_hosts; h++) {
        size_t row = table_add(&table, &report->hosts[h]);
        table_integer(&table, row, 1, !report->hosts[h].missing);
        if (h < input->n_hosts)
            put_span(&table, row, &input->hosts[h]);
    }
    page_table(page, &table);
}

/* The use of each source, and the reason why a recording may lack it. */
static const struct {
    const char *tells, *lacks;
} sources[SOURCE_COUNT_] = {
    [SOURCE_CALLS] = {"MPI calls, matched across ranks: who waited for whom",
                      "no MPI calls of all ranks were recorded: it is no MPI program, or its calls"
                      " could not be observed"},
    [SOURCE_WAITS] = {"wait clocks: which process waited for which, without MPI calls",
                      "wait clocks were not recorded, or the calls tell it already: "
                      "`run --wait-clocks` asks for them, which takes root"},
    [SOURCE_CONNECTIONS] = {"the kernel's clocks of TCP connections",
                            "no TCP connection of the job was seen"},
    [SOURCE_QDISC] = {"queues before the interfaces", "the hosts did not tell of such queues"},
    [SOURCE_PSI] = {"pressure stall information: how long tasks waited for CPU, memory and disks",
                    "the kernels do not keep it (CONFIG_PSI, or psi=1)"},
    [SOURCE_DELAYS] = {"how long each process waited for disks",
                       "no process waited, or the kernels do not count it"
                       " (sysctl kernel.task_delayacct=1)"},
    [SOURCE_CGROUP] = {"limits of control groups", "the job was in no control group that is read"},
    [SOURCE_OPERATORS] = {"operators that the program marks", "the program marks none"},
    [SOURCE_CALIBRATION] = {"the speed of the cores, by a loop of the agents",
                            "the agents did not measure it"},
    [SOURCE_CLOCKS] = {"wait clocks of each process, also beside MPI calls",
                       "wait clocks were not recorded: `run --wait-clocks` asks for them, which"
                       " takes root"},
};

enum { SOURCE, RECORDED, TELLS, WHY_NOT };

static const struct report_column source_columns[] = {
    [SOURCE] = {KIND_TEXT, "source", COMPUTED},
    [RECORDED] = {KIND_FLAG, "recorded", COMPUTED},
    [TELLS] = {KIND_TEXT, "tells", COMPUTED},
    [WHY_NOT] = {KIND_TEXT, "why_not", COMPUTED},
};

static const char *why_not(const struct run_model *model, enum observed_source source) {
    bool clocks = source == SOURCE_WAITS || source == SOURCE_CLOCKS;
    return clocks && model->recording && model->recording->waits_refused
               ? "an agent could not have the wait clocks that it was asked for"
               : sources[source].lacks;
}

static void put_sources(const struct report *report, struct page *page) {
    const struct run_model *model = &report->run->model;
    struct report_table table;
    TABLE_INIT(&table, "coverage" INTO "sources", report, source_columns);
    table.audience = FOR_DOCUMENT;
    for (int s = 0; s < SOURCE_COUNT_; s++) {
        bool recorded = model->observed.sources >> s & 1;
        size_t row = table_add(&table, NULL);
        table_borrow(&table, row, SOURCE, observed_source_name((enum observed_source)s));
        table_integer(&table, row, RECORDED, recorded);
        table_borrow(&table, row, TELLS, sources[s].tells);
        if (!recorded)
            table_borrow(&table, row, WHY_NOT, why_not(model, (enum observed_source)s));
    }
    page_table(page, &table);
}

static const struct report_column expected[] = {
    {KIND_COUNT, "hosts_expected", FIELD(store_run, n_hosts_expected)}};

void section_coverage(const struct report *report, struct page *page) {
    struct report_table table;
    if (!page_is_for(page, FOR_DOCUMENT))
        return;
    TABLE_INIT(&table, "coverage", report, expected);
    table_add(&table, &report->run->input.run);
    table.shape = SHAPE_ONE;
    table.audience = FOR_DOCUMENT;
    page_table(page, &table);
    put_coverage_hosts(report, page);
    put_sources(report, page);
}
