/* SPDX-License-Identifier: MIT */
/*
 * The contract chokepoint.report/1 (docs/report-json.md). Made with jansson, which escapes; a value
 * that is not known is null. Members are only ever added within version 1.
 */
#include "reports/json/json.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "common/error.h"
#include "common/text.h"
#include "reports/model/layout.h"
#include "reports/model/summary.h"
#include "reports/writer.h"

json_t *json_number_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_text(const char *text) {
    json_t *string = text ? json_string(text) : NULL;
    if (string || !text)
        return string ? string : json_null();
    char clean[4096]; /* not UTF-8 */
    text_sanitize(clean, sizeof clean, text, strlen(text));
    return json_string(clean);
}

static json_t *host_name(const struct report *report, int host) {
    return host < 0 ? json_null() : json_text(layout_host(report, host));
}

static json_t *rank_number(int rank) {
    return rank < 0 ? json_null() : json_integer(rank);
}

static json_t *texts(char *const *items, size_t n) {
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, json_text(items[i]));
    return array;
}

json_t *json_instant(int64_t wall_ns) {
    char text[64], seconds[32];
    time_t t = (time_t)(wall_ns / 1000000000);
    struct tm tm;
    if (wall_ns <= 0 || !gmtime_r(&t, &tm))
        return json_null();
    strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text, sizeof text, "%s.%03dZ", seconds, (int)(wall_ns / 1000000 % 1000));
    return json_string(text);
}

static json_t *host_object(const struct report_host *host) {
    return json_pack(
        "{s:o, s:i, s:b, s:{s:I, s:I, s:I, s:I}, s:I, s:o, s:o, s:o, s:o}", "name",
        json_text(host->name), "cores", (int)host->n_cpus, "missing", host->missing, "samples",
        "expected", (json_int_t)host->samples_expected, "recorded",
        (json_int_t)host->samples_recorded, "missed", (json_int_t)host->samples_missed, "duplicate",
        (json_int_t)host->samples_duplicate, "gaps", (json_int_t)host->gaps, "clock_offset_s",
        json_number_or_null(host->clock_offset_s), "clock_drift_ppm",
        json_number_or_null(host->clock_drift_ppm), "clock_error_s",
        json_number_or_null(host->clock_error_s), "beat_us", json_number_or_null(host->beat_us));
}

json_t *json_run(const struct report *report) {
    json_t *hosts = json_array(), *details = json_array();
    json_int_t expected = 0, recorded = 0, missed = 0, duplicate = 0;
    for (size_t h = 0; h < report->n_hosts; h++) {
        const struct report_host *host = &report->hosts[h];
        expected += (json_int_t)host->samples_expected;
        recorded += (json_int_t)host->samples_recorded;
        missed += (json_int_t)host->samples_missed;
        duplicate += (json_int_t)host->samples_duplicate;
        json_array_append_new(hosts, json_text(host->name));
        json_array_append_new(details, host_object(host));
    }
    json_t *status = report->exit_status < 0 ? json_null() : json_integer(report->exit_status);
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:{s:I, s:I, s:I, s:I}}",
                     "id", (json_int_t)report->run_id, "name", json_text(report->run_name),
                     "command", json_text(report->command), "state", json_text(report->state),
                     "exit_status", status, "started_at", json_instant(report->started_wall_ns),
                     "duration_s", json_number_or_null(report->duration_s), "period_s",
                     json_number_or_null(report->period_s), "hosts", hosts, "host_details", details,
                     "samples", "expected", expected, "recorded", recorded, "missed", missed,
                     "duplicate", duplicate);
}

static json_t *phases(const struct report *report) {
    json_t *array = json_array();
    for (size_t i = 0; i < report->n_phases; i++) {
        const struct report_phase *p = &report->phases[i];
        json_array_append_new(array, json_pack("{s:o, s:f, s:f, s:s}", "name", json_text(p->name),
                                               "start_s", p->start_s, "end_s", p->end_s, "source",
                                               p->source));
    }
    return array;
}

static json_t *metric_ceiling(const struct report *report, size_t host, int metric) {
    return report->metric_ceilings
               ? json_number_or_null(report->metric_ceilings[host * METRIC_COUNT_ + (size_t)metric])
               : json_null();
}

static json_t *resources(const struct report *report) {
    json_t *array = json_array();
    for (size_t i = 0; i < report->n_resources; i++)
        for (size_t h = 0; h < report->n_hosts; h++)
            for (int m = 0; m < METRIC_COUNT_; m++) {
                const struct report_value *v =
                    &report->resources[i].values[h * METRIC_COUNT_ + (size_t)m];
                json_array_append_new(
                    array,
                    json_pack("{s:o, s:o, s:s, s:s, s:o, s:o, s:o, s:o}", "host",
                              host_name(report, (int)h), "phase",
                              json_text(report->resources[i].phase), "metric", metric_name(m),
                              "unit", metric_unit(m), "mean", json_number_or_null(v->mean), "p95",
                              json_number_or_null(v->p95), "peak", json_number_or_null(v->peak),
                              "ceiling", metric_ceiling(report, h, m)));
            }
    return array;
}

static json_t *json_word(const char *word) {
    return word ? json_string(word) : json_null();
}

static json_t *culprit(const struct report *report, const struct report_verdict *v) {
    if (!v->culprit)
        return json_null();
    return json_pack("{s:o, s:I, s:o}", "process", json_text(v->culprit), "pid",
                     (json_int_t)v->culprit_pid, "host", host_name(report, v->host));
}

json_t *json_verdict(const struct report *report) {
    const struct report_verdict *v = &report->verdict;
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:o, s:{s:o, s:o, s:o, s:o}, "
        "s:o, s:o, s:o, s:o, s:o}",
        "state", verdict_state_name(v->state), "subject", v->subject, "host",
        host_name(report, v->host), "rank", rank_number(v->rank), "resource",
        json_text(v->resource), "cause", json_text(v->cause), "cause_kind",
        json_word(v->cause_kind), "culprit", culprit(report, v), "start_s",
        json_number_or_null(v->start_s), "end_s", json_number_or_null(v->end_s), "confidence",
        v->confidence, "confidence_computed", json_number_or_null(v->confidence_computed),
        "gain_pct", "estimate", json_number_or_null(v->gain_pct), "low",
        json_number_or_null(v->gain_low_pct), "high", json_number_or_null(v->gain_high_pct),
        "source", json_text(v->gain_source), "summary", json_text(v->summary), "evidence",
        texts(v->evidence, v->n_evidence), "against", texts(v->against, v->n_against), "ruled_out",
        texts(v->ruled_out, v->n_ruled_out), "next", texts(v->next, v->n_next));
}

static json_t *verdict_by_phase(const struct report *report) {
    json_t *array = json_array();
    for (size_t i = 0; i < report->n_phase_verdicts; i++) {
        const struct report_phase_verdict *p = &report->phase_verdicts[i];
        json_array_append_new(
            array,
            json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "phase", json_text(p->phase),
                      "state", verdict_state_name(p->state), "host", host_name(report, p->host),
                      "rank", rank_number(p->rank), "resource", json_text(p->resource),
                      "cause_kind", json_word(p->cause_kind), "blocked_pct",
                      json_number_or_null(p->blocked_pct), "summary", json_text(p->summary)));
    }
    return array;
}

static json_t *ranking(const struct report *report) {
    json_t *array = json_array();
    for (size_t i = 0; i < report->n_ranking; i++) {
        const struct report_rank_entry *e = &report->ranking[i];
        json_array_append_new(
            array,
            json_pack("{s:o, s:o, s:o, s:o, s:s, s:o, s:o}", "host", host_name(report, e->host),
                      "rank", rank_number(e->rank), "resource", json_text(e->resource),
                      "cause_kind", json_word(e->cause_kind), "state", verdict_state_name(e->state),
                      "gain_pct", json_number_or_null(e->gain_pct), "blocked_pct",
                      json_number_or_null(e->blocked_pct)));
    }
    return array;
}

static json_t *straggler_culprit(const struct report *report, const struct report_straggler *s) {
    if (!s->culprit)
        return json_null();
    return json_pack("{s:o, s:I, s:o}", "process", json_text(s->culprit), "pid",
                     (json_int_t)s->culprit_pid, "host", host_name(report, s->host));
}

static json_t *stragglers(const struct report *report) {
    json_t *array = json_array();
    for (size_t i = 0; i < report->n_stragglers; i++) {
        const struct report_straggler *s = &report->stragglers[i];
        json_array_append_new(
            array,
            json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "host",
                      host_name(report, s->host), "rank", rank_number(s->rank), "kind", s->kind,
                      "slowdown", json_number_or_null(s->slowdown), "iterations_pct",
                      json_number_or_null(s->iterations_pct), "cause", json_text(s->cause),
                      "explained_pct", json_number_or_null(s->explained_pct), "evidence",
                      texts(s->evidence, s->n_evidence), "severity",
                      json_number_or_null(s->severity), "severity_max",
                      json_number_or_null(s->severity_max), "cause_kind", s->cause_kind, "culprit",
                      straggler_culprit(report, s)));
    }
    return array;
}

static json_t *by_rank(const struct report *report) {
    json_t *array = json_array();
    for (size_t i = 0; i < report->n_ranks; i++) {
        const struct report_rank *r = &report->ranks[i];
        json_array_append_new(
            array, json_pack("{s:o, s:o, s:o, s:I, s:o, s:o}", "rank", rank_number(r->rank), "host",
                             host_name(report, r->host), "role", json_text(r->role), "count",
                             (json_int_t)r->n, "median_s", json_number_or_null(r->median_s),
                             "p95_s", json_number_or_null(r->p95_s)));
    }
    return array;
}

json_t *json_iterations(const struct report *report) {
    struct report_summary s = report_summarize(report);
    return json_pack("{s:I, s:s, s:o, s:o, s:o, s:b, s:o}", "count", (json_int_t)s.iterations,
                     "source", report->iteration_source ? report->iteration_source : "none",
                     "median_s", json_number_or_null(s.iteration_median_s), "p95_s",
                     json_number_or_null(s.iteration_p95_s), "per_s",
                     json_number_or_null(s.iterations_per_s), "in_step", report->ranks_in_step,
                     "by_rank", by_rank(report));
}

static json_t *alerts(const struct report *report) {
    json_t *array = json_array();
    for (size_t i = 0; i < report->n_alerts; i++) {
        const struct report_alert *a = &report->alerts[i];
        json_array_append_new(array,
                              json_pack("{s:s, s:o, s:s, s:f, s:f, s:o, s:s}", "level",
                                        a->level == ALERT_CRITICAL ? "critical" : "warning", "host",
                                        host_name(report, a->host), "resource", a->resource,
                                        "start_s", a->start_s, "duration_s", a->duration_s, "peak",
                                        json_number_or_null(a->peak), "unit", a->unit));
    }
    return array;
}

static json_t *arithmetic(const struct report *report) {
    json_t *array = json_array();
    for (size_t i = 0; i < report->n_arithmetic; i++) {
        const struct report_arithmetic *a = &report->arithmetic[i];
        json_array_append_new(
            array,
            json_pack("{s:o, s:s, s:o, s:o, s:o, s:b, s:s, s:o, s:o, s:o}", "host",
                      host_name(report, a->host), "direction", a->direction, "phase",
                      json_text(a->phase), "bytes_per_iteration",
                      json_number_or_null(a->bytes_per_iteration), "bandwidth_mb_s",
                      json_number_or_null(a->bandwidth_mb_s), "calibrated",
                      a->known == ARITHMETIC_MEASURED, "rate", report_arithmetic_rate(a->known),
                      "bound_s", json_number_or_null(a->bound_s), "iteration_s",
                      json_number_or_null(a->iteration_s), "share_pct",
                      json_number_or_null(a->share_pct)));
    }
    return array;
}

static json_t *processes(const struct report *report) {
    json_t *array = json_array();
    for (size_t i = 0; i < report->n_processes; i++) {
        const struct report_process *p = &report->processes[i];
        json_array_append_new(array,
                              json_pack("{s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o}", "host",
                                        host_name(report, p->host), "process", json_text(p->name),
                                        "rank", rank_number(p->rank), "job", p->job, "cpu_pct",
                                        json_number_or_null(p->cpu_pct), "rss_gb",
                                        json_number_or_null(p->rss_gb), "run_queue_pct",
                                        json_number_or_null(p->run_queue_pct), "read_mb_s",
                                        json_number_or_null(p->read_mb_s), "write_mb_s",
                                        json_number_or_null(p->write_mb_s)));
    }
    return array;
}

static json_t *quality(const struct report *report) {
    char grade[2] = {report->grade ? report->grade : '-', 0};
    return json_pack("{s:s, s:o}", "grade", grade, "notes", texts(report->notes, report->n_notes));
}

json_t *json_report(const struct report *report) {
    const struct {
        const char *name;
        json_t *value;
    } members[] = {{"schema", json_string("chokepoint.report/1")},
                   {"run", json_run(report)},
                   {"phases", phases(report)},
                   {"resources", resources(report)},
                   {"verdict", json_verdict(report)},
                   {"verdict_by_phase", verdict_by_phase(report)},
                   {"ranking", ranking(report)},
                   {"stragglers", stragglers(report)},
                   {"budget", json_budget(report)},
                   {"critical_path", json_critical_path(report)},
                   {"efficiency", json_efficiency(report)},
                   {"budget_iterations", json_budget_iterations(report)},
                   {"iterations", json_iterations(report)},
                   {"alerts", alerts(report)},
                   {"arithmetic", arithmetic(report)},
                   {"processes", processes(report)},
                   {"operators", json_operators(report)},
                   {"timeline", json_timeline(report)},
                   {"ceilings", json_ceilings(report->ceilings, report->n_ceilings)},
                   {"quality", quality(report)}};
    json_t *object = json_object();
    int result = 0;
    for (size_t i = 0; i < ARRAY_SIZE(members); i++)
        result |= json_object_set_new(object, members[i].name, members[i].value);
    if (result == 0)
        return object;
    json_decref(object); /* no memory for one of them */
    return NULL;
}

int json_write(json_t *document, FILE *out) {
    if (!document)
        return -ENOMEM;
    int result = json_dumpf(document, out, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    json_decref(document);
    fputc('\n', out);
    return result < 0 || ferror(out) ? -EIO : 0;
}

static int write_report(const struct report *report, FILE *out) {
    return json_write(json_report(report), out);
}

const struct report_format report_json = {"json", write_report, json_write_comparison};
