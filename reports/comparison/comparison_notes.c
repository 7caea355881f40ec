/* SPDX-License-Identifier: MIT */
/* Reasons why a comparison is weak: once for a group if possible, else once for a run. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/series/stats.h"
#include "analysis/number.h"
#include "reports/comparison/comparison_private.h"

static const struct report *first_of(const struct comparison *c, size_t group) {
    return c->runs[c->groups[group].runs[0]];
}

static const struct comparison_group *base_of(const struct comparison *c) {
    return &c->groups[c->baseline_group];
}

static bool has_host(const struct report *report, const char *name) {
    return comparison_find_host(report, name) >= 0;
}

static bool same_hosts(const struct report *a, const struct report *b) {
    if (a->n_hosts != b->n_hosts)
        return false;
    for (size_t h = 0; h < a->n_hosts; h++)
        if (!has_host(b, a->hosts[h].name))
            return false;
    return true;
}

/* Notes which hosts have no row, and why. */
static void note_hosts(const struct comparison *c, size_t group, struct text_list *notes) {
    const struct report *a = first_of(c, c->baseline_group), *b = first_of(c, group);
    if (same_hosts(a, b))
        return;
    text_list_add(
        notes,
        "%s had other hosts than the baseline %s (%zu and %zu): sums over hosts are not of "
        "the same hosts",
        c->groups[group].label, base_of(c)->label, b->n_hosts, a->n_hosts);
    for (size_t h = 0; h < a->n_hosts; h++)
        if (!has_host(b, a->hosts[h].name))
            text_list_add(notes, "%s is left out of the averages per host: %s did not run there",
                          a->hosts[h].name, c->groups[group].label);
    for (size_t h = 0; h < b->n_hosts; h++)
        if (!has_host(a, b->hosts[h].name))
            text_list_add(notes, "%s is left out of the averages per host: %s did not run there",
                          b->hosts[h].name, base_of(c)->label);
}

static void note_within(const struct comparison *c, size_t group, struct text_list *notes) {
    const struct report *first = first_of(c, group);
    size_t hosts = 0, commands = 0;
    for (size_t i = 1; i < c->groups[group].n; i++) {
        const struct report *run = c->runs[c->groups[group].runs[i]];
        hosts += !same_hosts(run, first);
        commands += strcmp(run->command, first->command) != 0;
    }
    if (hosts)
        text_list_add(notes, "%zu run%s of %s had other hosts than its first", hosts,
                      hosts == 1 ? "" : "s", c->groups[group].label);
    if (commands)
        text_list_add(
            notes, "%zu run%s of %s had another command than its first: no repeat%s of it",
            commands, commands == 1 ? "" : "s", c->groups[group].label, commands == 1 ? "" : "s");
}

static void note_run(const struct comparison *c, size_t i, struct text_list *notes) {
    const struct report *run = c->runs[i];
    if (strcmp(run->state, "done") != 0)
        text_list_add(notes, "run %lld (%s) did not end well: %s%s", (long long)run->run_id,
                      run->run_name, run->state,
                      comparison_counts(c, i) ? ""
                                              : "; it is left out of all figures of its group");
    if (run->quality.grade > 'B')
        text_list_add(notes, "run %lld (%s) has a recording of grade %c: see its report",
                      (long long)run->run_id, run->run_name, run->quality.grade);
}

/* ---- cores that were not alike ---- */

static double host_beat_us(const struct report *report, const char *host) {
    int h = comparison_find_host(report, host);
    return h < 0 ? NAN : report->hosts[h].beat_us;
}

/* Median over the group's counted runs; NAN if not known. `room` has space for all of them. */
static double beat_us(const struct comparison *c, size_t group, const char *host, double *room) {
    size_t n = 0;
    for (size_t i = 0; i < c->groups[group].n; i++) {
        size_t run = c->groups[group].runs[i];
        double us = host_beat_us(c->runs[run], host);
        if (comparison_counts(c, run) && !isnan(us))
            room[n++] = us;
    }
    return n ? stats_median(room, n) : NAN;
}

/* Hosts on which the calibration loop took longer (or less long) than in the baseline. */
struct unlike {
    size_t n, known;
    double ratio; /* of the farthest one, above 1 in either direction */
    double us, base_us;
    const char *host;
};

static void look_at(struct unlike *unlike, const char *host, double us, double base_us,
                    bool slower) {
    double ratio = slower ? us / base_us : base_us / us;
    if (isnan(ratio))
        return;
    unlike->known++;
    if (!(ratio >= number_CORE_SLOWER.usual))
        return;
    unlike->n++;
    if (ratio > unlike->ratio)
        *unlike = (struct unlike){unlike->n, unlike->known, ratio, us, base_us, host};
}

static void tell_unlike(const struct comparison *c, size_t group, const struct unlike *unlike,
                        bool slower, struct text_list *notes) {
    if (unlike->n)
        text_list_add(notes,
                      "%s ran on cores that were %s than those of the baseline %s on %zu of %zu "
                      "hosts: the same arithmetic took %.2f us on %s against %.2f (%.2f times %s): "
                      "as much of a difference may be the machines', unless the runs themselves "
                      "slowed them down (caches, clock)",
                      c->groups[group].label, slower ? "slower" : "faster", base_of(c)->label,
                      unlike->n, unlike->known, unlike->us, unlike->host, unlike->base_us,
                      unlike->ratio, slower ? "as long" : "as fast");
}

static int note_cores(const struct comparison *c, size_t group, struct text_list *notes) {
    const struct report *base = c->runs[c->baseline];
    struct unlike unlike[2] = {{.ratio = 1}, {.ratio = 1}};
    double *room = calloc(c->n + 1, sizeof *room);
    if (!room)
        return -ENOMEM;
    for (size_t h = 0; h < c->n_hosts; h++) {
        const char *host = base->hosts[c->hosts[h]].name;
        double us = beat_us(c, group, host, room),
               base_us = beat_us(c, c->baseline_group, host, room);
        look_at(&unlike[0], host, us, base_us, true);
        look_at(&unlike[1], host, us, base_us, false);
    }
    tell_unlike(c, group, &unlike[0], true, notes);
    tell_unlike(c, group, &unlike[1], false, notes);
    free(room);
    return 0;
}

/* If so few runs could not have shown anything, no difference is no finding. */
static void note_power(const struct comparison *c, const struct comparison_row *rows, size_t n,
                       size_t group, struct text_list *notes) {
    double least = 0;
    size_t tests = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(rows[i].groups[group].test.p)) {
            least = fmax(least, rows[i].groups[group].test.p_least);
            tests++;
        }
    if (tests && least * (double)tests >= COMPARE_P)
        text_list_add(
            notes,
            "%s: with so few runs of %s the %zu rows cannot pass Holm's correction (p is at least "
            "%.4f); it takes %zu runs of each",
            comparison_section_title(rows[0].section), c->groups[group].label, tests, least,
            compare_runs_needed(tests));
}

static void note_powers(const struct comparison *c, const struct comparison_row *rows, size_t n,
                        struct text_list *notes) {
    for (size_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && rows[end].section == rows[begin].section; end++)
            ;
        for (size_t g = 0; g < c->n_groups; g++)
            if (g != c->baseline_group)
                note_power(c, rows + begin, end - begin, g, notes);
    }
}

/* Rows of one list that are shown, but not compared: each reason once. */
static void note_not_alike(const struct comparison *c, struct text_list *notes) {
    const char *said = "";
    for (size_t i = 0; i < c->n_summary; i++) {
        const struct comparison_row *row = &c->summary[i];
        if (!row->not_alike || strcmp(row->not_alike, said) == 0)
            continue;
        said = row->not_alike;
        text_list_add(notes, "times per iteration are not compared: %s", said);
    }
}

int comparison_fill_notes(struct comparison *c, struct text_list *notes) {
    for (size_t g = 0; g < c->n_groups; g++)
        if (g != c->baseline_group)
            note_hosts(c, g, notes);
    for (size_t g = 0; g < c->n_groups; g++)
        note_within(c, g, notes);
    note_not_alike(c, notes);
    for (size_t g = 0; g < c->n_groups; g++)
        if (g != c->baseline_group && note_cores(c, g, notes) < 0)
            return -ENOMEM;
    for (size_t i = 0; i < c->n; i++)
        note_run(c, i, notes);
    note_powers(c, c->summary, c->n_summary, notes);
    note_powers(c, c->resources, c->n_resources, notes);
    return notes->error;
}
