/* SPDX-License-Identifier: MIT */
/*
 * CSV by RFC 4180: one tidy table, a line for each run, host, phase and metric. A text that a
 * spreadsheet would take for a formula gets an apostrophe in front.
 */
#include "reports/text/csv.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "reports/comparison/comparison.h"
#include "reports/model/operators.h"
#include "reports/writer.h"

void csv_put_text(FILE *out, const char *text) {
    fputc('"', out);
    if (*text && strchr("=+-@\t\r", *text))
        fputc('\'', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text == '\r' || *text == '\n' ? ' ' : *text, out);
    }
    fputc('"', out);
}

static void put_number(FILE *out, double value) {
    fputc(',', out);
    if (isfinite(value))
        fprintf(out, "%.10g", value);
}

static void put_header(FILE *out) {
    fputs("run,host,phase,metric,unit,mean,p95,peak,run_id,ceiling,group\r\n", out);
}

/* The end of a line: whose it is. */
static void put_tail(FILE *out, const struct report *report, double ceiling, const char *group) {
    fprintf(out, ",%lld", (long long)report->run_id);
    put_number(out, ceiling);
    fputc(',', out);
    csv_put_text(out, group);
    fputs("\r\n", out);
}

static void put_ratio(FILE *out, const struct report *report, const char *phase, const char *metric,
                      double percent, const char *group) {
    if (isnan(percent))
        return;
    csv_put_text(out, report->run_name);
    fputs(",\"\",", out);
    csv_put_text(out, phase);
    fprintf(out, ",%s,%%", metric);
    put_number(out, percent);
    fputs(",,", out);
    put_tail(out, report, NAN, group);
}

static void put_efficiency(FILE *out, const struct report *report, const char *group) {
    for (size_t i = 0; i < report->n_efficiency; i++) {
        const struct report_efficiency *e = &report->efficiency[i];
        put_ratio(out, report, e->phase, "parallel_efficiency", e->parallel_pct, group);
        put_ratio(out, report, e->phase, "load_balance", e->load_balance_pct, group);
        put_ratio(out, report, e->phase, "communication_efficiency", e->communication_pct, group);
        if (strcmp(e->source, "replay") != 0) /* bounds are no values */
            continue;
        put_ratio(out, report, e->phase, "serialisation_efficiency", e->serialisation_pct, group);
        put_ratio(out, report, e->phase, "transfer_efficiency", e->transfer_pct, group);
    }
}

static double ceiling_of(const struct report *report, size_t host, int metric) {
    return report->metric_ceilings ? report->metric_ceilings[host * METRIC_COUNT_ + (size_t)metric]
                                   : NAN;
}

static void put_report(FILE *out, const struct report *report, const char *group) {
    for (size_t i = 0; i < report->n_resources; i++)
        for (size_t h = 0; h < report->n_hosts; h++)
            for (int m = 0; m < METRIC_COUNT_; m++) {
                const struct report_value *v =
                    &report->resources[i].values[h * METRIC_COUNT_ + (size_t)m];
                csv_put_text(out, report->run_name);
                fputc(',', out);
                csv_put_text(out, report->hosts[h].name);
                fputc(',', out);
                csv_put_text(out, report->resources[i].phase);
                fprintf(out, ",%s,%s", metric_name(m), metric_unit(m));
                put_number(out, v->mean);
                put_number(out, v->p95);
                put_number(out, v->peak);
                put_tail(out, report, ceiling_of(report, h, m), group);
            }
    put_efficiency(out, report, group);
    csv_put_operators(out, report, group);
}

static int write_report(const struct report *report, FILE *out) {
    put_header(out);
    put_report(out, report, "");
    return ferror(out) ? -EIO : 0;
}

static int write_comparison(const struct comparison *comparison, FILE *out) {
    put_header(out);
    for (size_t i = 0; i < comparison->n; i++)
        put_report(out, comparison->runs[i], comparison->groups[comparison->group_of[i]].label);
    return ferror(out) ? -EIO : 0;
}

const struct report_format report_csv = {"csv", write_report, write_comparison};
