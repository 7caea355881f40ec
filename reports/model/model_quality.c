/* SPDX-License-Identifier: MIT */
/*
 * Quality: how far samples and clocks can be trusted, and what could not be seen. The grade is that
 * of this recording: A no problem, B small ones, C gaps that may matter, D hardly usable.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/cores.h"
#include "analysis/evidence/ended.h"
#include "common/error.h"
#include "reports/model/model_private.h"
#include "reports/says/remark_words.h"

#define CLOCK_ERROR_MAX_S 0.02 /* misplaces samples of two hosts by a fifth of an interval */

static const char *plural(uint64_t n) {
    return n == 1 ? "" : "s";
}

static void worsen(struct report *report, char grade) {
    if (grade > report->quality.grade)
        report->quality.grade = grade;
}

/* For rows joined to steps: the number of samples that the store has counted for the host, times
 * the part of their time within the run. */
static uint64_t count_in_steps(const struct store_host *from, int64_t duration_ns) {
    double begin = fmax((double)from->first_ns, 0),
           end = fmin((double)from->last_ns, (double)duration_ns),
           length = (double)from->last_ns - (double)from->first_ns;
    bool any = from->frames > 1 && length > 0 && end > begin;
    return any ? (uint64_t)((double)(from->frames - 1) * ((end - begin) / length) + 0.5) : 0;
}

/* Compares the number of samples within the run with the number for its length. */
static void count_samples(struct report_host *to, const struct store_host *from,
                          const struct run_model *model, size_t h) {
    const struct rate *cpu = &model->hosts[h].metrics[METRIC_CPU_IDLE];
    int64_t duration = model->recording->duration_ns, period = model->recording->period_ns;
    to->samples_recorded = model->recording->tables[RECORDING_CPU].step_ns
                               ? count_in_steps(from, duration)
                               : rate_find(cpu, duration) - rate_find(cpu, 0);
    to->samples_expected = period > 0 ? (uint64_t)(duration / period) : 0;
    if (to->samples_expected < to->samples_recorded)
        to->samples_expected = to->samples_recorded;
    to->samples_missed = to->samples_expected - to->samples_recorded;
    if (to->samples_missed == 1) { /* the ends of the run may cut one slot */
        to->samples_missed = 0;
        to->samples_expected--;
    }
    to->samples_duplicate = from->duplicates;
    to->gaps = from->gaps;
    to->n_cpus = model->hosts[h].n_cpus;
    to->missing = from->frames == 0;
    to->beat_us = core_calibration_ns(model, (int)h, phase_windows(&model->groups[0])) / 1e3;
    bool known = from->clock_error_ns != VALUE_ABSENT;
    to->clock_offset_s = known ? (double)from->clock_offset_ns / 1e9 : NAN;
    to->clock_drift_ppm = known ? from->clock_drift_ppm : NAN;
    to->clock_error_s = known ? (double)from->clock_error_ns / 1e9 : NAN;
}

/* Share of the run that the host's counters cover. Growth across a gap between samples covers the
 * gap; the time after the last sample is not covered. */
static double seen_share(const struct run_model *model, size_t h) {
    struct windows all = phase_windows(&model->groups[0]);
    double length = (double)windows_length(all);
    return length > 0
               ? (double)rate_covered(&model->hosts[h].metrics[METRIC_CPU_IDLE], all) / length
               : 0;
}

static int note_samples(struct report *report, const struct report_host *host,
                        const struct store_host *from, double seen) {
    char means[80] = "means stay exact, detail is lost there";
    if (seen < 0.99)
        snprintf(means, sizeof means, "its means speak of the %.0f %% of the run that was seen",
                 100 * seen);
    double missed =
        host->samples_expected ? (double)host->samples_missed / (double)host->samples_expected : 0;
    if (host->missing) {
        worsen(report, 'C');
        return report_add_note(report, text_format("%s: nothing was recorded", host->name));
    }
    if (!host->samples_expected) {
        worsen(report, 'D');
        return report_add_note(report,
                               text_format("%s: no sample lies within the run", host->name));
    }
    if (missed > 0.01 || host->gaps || from->lost_frames) {
        worsen(report, missed > 0.2 ? 'D' : missed > 0.05 || host->gaps ? 'C' : 'B');
        char gaps[48] = "", lost[64] = "";
        if (host->gaps)
            snprintf(gaps, sizeof gaps, ", in %llu gap%s", (unsigned long long)host->gaps,
                     plural(host->gaps));
        if (from->lost_frames)
            snprintf(lost, sizeof lost, ", %llu dropped from a full spool",
                     (unsigned long long)from->lost_frames);
        return report_add_note(
            report, text_format("%s: %llu of %llu samples missing%s%s; %s", host->name,
                                (unsigned long long)host->samples_missed,
                                (unsigned long long)host->samples_expected, gaps, lost, means));
    }
    return 0;
}

static int note_clock(struct report *report, const struct report_host *host) {
    if (host->missing || report->n_hosts < 2)
        return 0;
    if (isnan(host->clock_error_s)) {
        worsen(report, 'B');
        return report_add_note(report,
                               text_format("%s: the offset of its clock was never measured; "
                                           "its series may be shifted against the others",
                                           host->name));
    }
    if (host->clock_error_s <= CLOCK_ERROR_MAX_S)
        return 0;
    worsen(report, 'B');
    return report_add_note(report, text_format("%s: its clock is known to %.0f ms only", host->name,
                                               1e3 * host->clock_error_s));
}

static int note_probes(struct report *report, const struct run_model *model) {
    const struct series_set *set = &model->recording->tables[RECORDING_SELF];
    struct window ever = {INT64_MIN / 2, INT64_MAX / 2};
    for (size_t s = 0; s < set->n; s++) {
        const struct series *probe = &set->items[s];
        struct windows all = {&ever, 1};
        double failures = series_growth(set, probe, SELF_FAILURES, all, NULL);
        double dropped = series_growth(set, probe, SELF_DROPPED, all, NULL);
        if (failures < 1 && dropped < 1)
            continue;
        worsen(report, 'B');
        int result = report_add_note(
            report, text_format("%s: probe %s failed %.0f time%s and dropped %.0f row%s",
                                model->hosts[probe->host].name, probe->name, failures,
                                plural((uint64_t)failures), dropped, plural((uint64_t)dropped)));
        if (result < 0)
            return result;
    }
    return 0;
}

/* Notes MPI calls and marks of a host's programs that were lost. */
static int note_missing(struct report *report, struct report_host *host,
                        const struct recording *recording, int h) {
    host->calls_missing = recording_calls_missing(recording, h);
    host->marks_missing = recording_marks_missing(recording, h);
    if (host->calls_missing)
        worsen(report, 'B');
    int result =
        host->calls_missing
            ? report_add_note(
                  report,
                  text_format("%s: %llu single MPI calls are missing: they were overwritten before "
                              "an agent read them, or were not delivered; totals are complete",
                              host->name, (unsigned long long)host->calls_missing))
            : 0;
    if (result < 0 || !host->marks_missing)
        return result;
    worsen(report, 'B');
    return report_add_note(
        report, text_format("%s: %llu marks are missing: they were overwritten before an agent "
                            "read them",
                            host->name, (unsigned long long)host->marks_missing));
}

static int note_hosts(struct report *report, const struct report_input *input,
                      const struct run_model *model) {
    for (size_t h = 0; h < report->n_hosts; h++) {
        count_samples(&report->hosts[h], &input->hosts[h], model, h);
        int result =
            note_samples(report, &report->hosts[h], &input->hosts[h], seen_share(model, h));
        if (result == 0)
            result = note_clock(report, &report->hosts[h]);
        if (result == 0)
            result = note_missing(report, &report->hosts[h], model->recording, (int)h);
        if (result < 0)
            return result;
    }
    if (input->run.n_hosts_expected <= (int)report->n_hosts)
        return 0;
    worsen(report, 'C');
    return report_add_note(report, text_format("%zu of %d hosts were recorded", report->n_hosts,
                                               input->run.n_hosts_expected));
}

/* A restart of an agent's own counters only shows that the agent was restarted; the gap shows this,
 * too. */
static bool is_only_a_restart(const char *note) {
    return strstr(note, ": a counter of self ") != NULL;
}

/* Whether the note belongs under the verdict: something failed, or a command would mend it. */
static bool is_amiss(const struct store_note *note) {
    return !note->information || strstr(note->text, "before a run:") || strchr(note->text, '`');
}

/* Notes of `run` come before notes of agents: a host without the library explains what its agent
 * reports missing. */
static int note_store(struct report *report, const struct report_input *input, bool amiss) {
    int result = 0;
    for (size_t turn = 0; turn < 2; turn++)
        for (size_t i = 0; result == 0 && i < input->n_notes; i++) {
            const struct store_note *note = &input->notes[i];
            worsen(report, 'B');
            if ((report_note_host(report, note->text) >= 0) == (turn == 1) &&
                is_amiss(note) == amiss && !is_only_a_restart(note->text))
                result = report_add_note(report, text_format("%s", note->text));
        }
    return result;
}

/* Names hosts without the metric, if other hosts have it. */
static int note_unknown(struct report *report, enum metric metric, const char *words) {
    char hosts[256] = "";
    size_t used = 0, unknown = 0;
    for (size_t h = 0; report->n_resources && h < report->n_hosts; h++) {
        if (!isnan(report->resources[0].values[h * METRIC_COUNT_ + (size_t)metric].mean))
            continue;
        int n = used < sizeof hosts ? snprintf(hosts + used, sizeof hosts - used, "%s%s",
                                               unknown ? ", " : "", report->hosts[h].name)
                                    : 0;
        used += n > 0 ? (size_t)n : 0;
        unknown++;
    }
    if (!unknown)
        return 0;
    return report_add_note(report, unknown == report->n_hosts
                                       ? text_format("%s not known on any host", words)
                                       : text_format("%s not known on %s", words, hosts));
}

static bool anything(const struct run_model *model, enum metric metric) {
    for (size_t h = 0; h < model->n_hosts; h++)
        if (!isnan(model_mean(model, (int)h, metric, 0)))
            return true;
    return false;
}

static size_t count_lost(const struct run_model *model) {
    size_t n = 0;
    for (size_t r = 0; r < model->recording->calls.n; r++)
        n += model->recording->calls.ranks[r].lost_ns != INT64_MAX;
    return n;
}

/* Notes data about calls that the budgets lack. */
static int note_calls(struct report *report, const struct run_model *model) {
    const struct rank_budgets *b = &model->budgets;
    int result = 0;
    if (b->totals && !b->events)
        result = report_add_note(report, text_format("single MPI calls were not recorded: time "
                                                     "inside MPI is known, not what for"));
    size_t lost = count_lost(model);
    if (result == 0 && lost)
        result = report_add_note(
            report, text_format("MPI calls of %zu rank%s are missing from some time on: from "
                                "there only the time inside MPI is known",
                                lost, plural(lost)));
    if (result == 0 && b->unmatched)
        result = report_add_note(
            report, text_format("%llu MPI messages and group calls have no known "
                                "partner (of %llu): whom they waited for is unknown",
                                (unsigned long long)b->unmatched,
                                (unsigned long long)(b->unmatched + b->messages + b->groups)));
    if (result == 0 && b->refused)
        result = report_add_note(
            report, text_format("%llu MPI calls made no sense", (unsigned long long)b->refused));
    if (result == 0 && b->events && isnan(b->clock_bound_s))
        result = report_add_note(report, text_format("waits between hosts cannot be told from "
                                                     "transfer: some clock was never measured"));
    else if (result == 0 && b->events && b->clock_bound_s > 1e-4)
        result = report_add_note(report, text_format("waits between hosts shorter than %.2g ms "
                                                     "cannot be told from transfer (clocks)",
                                                     1e3 * b->clock_bound_s));
    return result;
}

/* Notes marks that the program lacks, and their replacement. */
static int note_detected(struct report *report, const struct run_model *model) {
    static const char *const words[] = {
        [ITERATION_NONE] =
            "the program marks no iterations, and none could be found: what hangs on "
            "them is judged over fixed windows",
        [ITERATION_CALLS] = "the program marks no iterations: they were found in its MPI calls",
        [ITERATION_COUNTERS] = "the program marks no iterations: their mean length was found in "
                               "the pace of its bytes, single ones are not known"};
    const char *text = words[model->iterations.source];
    int result = text && model->iterations.source != ITERATION_MARKER
                     ? report_add_note(report, text_format("%s", text))
                     : 0;
    if (result == 0 && model->phases_detected)
        result = report_add_note(
            report, text_format("the program marks no phases: they begin where the ranks' time "
                                "goes elsewhere"));
    return result;
}

static int note_blind_spots(struct report *report, const struct run_model *model) {
    bool ranks = false;
    int result = 0;
    for (size_t p = 0; p < model->n_processes; p++)
        ranks |= model->processes[p].job && model->processes[p].rank >= 0;
    if (model->n_hosts && !anything(model, METRIC_PSI_CPU))
        result = report_add_note(report, text_format("no pressure stall information: the kernel "
                                                     "keeps none (boot with psi=1)"));
    if (result == 0 && ranks && !model->budgets.events && !model->budgets.totals)
        result =
            report_add_note(report, text_format("what ranks do inside MPI is not recorded: CPU "
                                                "time of a rank may be spinning"));
    if (result == 0)
        result = note_calls(report, model);
    return result == 0 ? note_detected(report, model) : result;
}

static bool has_job(const struct run_model *model, int host) {
    for (size_t p = 0; p < model->n_processes; p++)
        if (model->processes[p].job && (host < 0 || model->processes[p].host == host))
            return true;
    return false;
}

/* Notes a host of the run without a process of the job: the job did nothing there, or its processes
 * were not recognised. */
static int note_without_job(struct report *report, const struct report_input *input,
                            const struct run_model *model) {
    int result = 0;
    if (!has_job(model, -1))
        return model->n_hosts
                   ? report_add_note(report, text_format("no process of the job was seen: "
                                                         "its own waiting is not known"))
                   : 0;
    for (size_t h = 0; h < report->n_hosts && result == 0; h++)
        if (!has_job(model, (int)h) && input->hosts[h].frames)
            result = report_add_note(
                report, text_format("%s: no process of the job was seen", report->hosts[h].name));
    return result;
}

/* Kills of which the verdict does not speak: the command may have gone on without that process. */
static int note_kills(struct report *report, const struct judgement *judgement) {
    if (verdict_is_of_memory_kill(&judgement->verdict))
        return 0;
    for (size_t h = 0; h < report->n_hosts; h++) {
        struct memory_kill kill;
        char limit[64] = "";
        if (!memory_kill_of(judgement->model, (int)h, &kill))
            continue;
        if (kill.group)
            snprintf(limit, sizeof limit, ", at the %.4g MB of its control group", kill.limit_mb);
        int result = report_add_note(
            report,
            text_format("%s: the kernel killed %.0f process%s for want of memory%s",
                        report->hosts[h].name, kill.kills, kill.kills < 1.5 ? "" : "es", limit));
        if (result < 0)
            return result;
    }
    return 0;
}

static int note_steps(struct report *report, const struct run_model *model) {
    const struct series_set *tables = model->recording->tables;
    double step_s = (double)tables[RECORDING_NET].step_ns / 1e9;
    double core_s = (double)tables[RECORDING_CPU].step_ns / 1e9;
    if (!(core_s > 0))
        return 0;
    if (!(step_s > 0))
        return report_add_note(
            report,
            text_format("a large recording: what cores did is held in steps of %g s", core_s));
    return report_add_note(report, text_format("a large recording: samples are held in steps of "
                                               "%g s, what cores did of %g s",
                                               step_s, core_s));
}

static int note_stragglers(struct report *report, const struct stragglers *stragglers) {
    AUTO(text_free) char *words = remark_words(&stragglers->note);
    if (!words)
        return -ENOMEM;
    return *words ? report_add_note(report, text_format("stragglers: %s", words)) : 0;
}

int report_fill_quality(struct report *report, const struct report_input *input,
                        const struct judgement *judgement) {
    const struct run_model *model = judgement->model;
    int result = 0;
    report->quality.grade = report->n_hosts ? 'A' : 'D';
    result = report_note_end(report, false);
    if (result == 0)
        result = note_without_job(report, input, model);
    if (result == 0)
        result = note_store(report, input, true);
    if (result == 0)
        result = note_steps(report, model);
    if (result == 0)
        result = note_hosts(report, input, model);
    if (result == 0)
        result = note_probes(report, model);
    if (result == 0)
        result = note_kills(report, judgement);
    report->quality.n_amiss = report->quality.n_notes;
    if (result == 0)
        result = report_note_end(report, true);
    if (result == 0)
        result = note_store(report, input, false);
    if (result == 0)
        result = note_blind_spots(report, model);
    if (result == 0)
        result = note_unknown(report, METRIC_DISK_READ, "bytes read from and written to disks are");
    if (result == 0)
        result = note_unknown(report, METRIC_NET_SEND, "bytes sent and received are");
    if (result == 0 && input->unknown)
        result = report_add_note(report, text_format("%s", input->unknown));
    if (result == 0)
        result = note_stragglers(report, &judgement->stragglers);
    return result < 0 ? result : report_merge_notes(report);
}

const char *report_missing(const struct report *report, char to[REPORT_MISSING_SIZE]) {
    struct {
        const char *what;
        uint64_t n;
    } kinds[] = {{"sample", 0}, {"MPI call", 0}, {"mark", 0}};
    size_t used = 0;
    for (size_t h = 0; h < report->n_hosts; h++) {
        kinds[0].n += report->hosts[h].samples_missed;
        kinds[1].n += report->hosts[h].calls_missing;
        kinds[2].n += report->hosts[h].marks_missing;
    }
    to[0] = '\0';
    for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
        if (kinds[k].n)
            used += (size_t)snprintf(to + used, REPORT_MISSING_SIZE - used, "%s%llu %s%s",
                                     used ? ", " : "", (unsigned long long)kinds[k].n,
                                     kinds[k].what, plural(kinds[k].n));
    if (used)
        snprintf(to + used, REPORT_MISSING_SIZE - used, " missing");
    return to;
}
