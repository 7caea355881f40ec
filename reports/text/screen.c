/* SPDX-License-Identifier: MIT */
/* The verdict on one screen: at most 24 lines of 100 columns. Tables take the lines that they need;
 * sentences share the rest, the verdict first. A sentence is cut only if there is no room. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/formats/terminal.h"
#include "reports/model/layout.h"
#include "reports/model/reported.h"
#include "reports/says/commands.h"
#include "reports/says/remark_words.h"
#include "reports/says/text_list.h"
#include "reports/sections/sections.h"
#include "reports/text/budget_bars.h"
#include "reports/writer.h"

#define SCREEN_LINES 24
#define HEAD_NAME_WIDTH 34
#define HOSTS_SHOWN 6
#define HOSTS_BESIDE_BUDGET 4

static void print_screen_head(FILE *out, const struct report *report) {
    char duration[LAYOUT_NUMBER_SIZE];
    char missing[REPORT_MISSING_SIZE];
    fprintf(out, "chokepoint: run %lld ", (long long)report->run_id);
    terminal_put(out, report->run_name, HEAD_NAME_WIDTH);
    if (terminal_width(report->run_name) > HEAD_NAME_WIDTH)
        fputs("...", out);
    fprintf(out, ", %s, %s", report->state, layout_duration(duration, report->duration_s));
    if (report->exit_status > 0)
        fprintf(out, ", exit status %d", report->exit_status);
    fprintf(out, ", %zu host%s, recording grade %c", report->n_hosts,
            report->n_hosts == 1 ? "" : "s", report->quality.grade ? report->quality.grade : '-');
    if (*report_missing(report, missing))
        fprintf(out, " (%s)", missing);
    fputc('\n', out);
}

/* Lines left for sentences; a sentence takes at most `most` lines and leaves `others`. */
struct room {
    size_t left;
};

static size_t share_of_room(const struct room *room, size_t most, size_t others) {
    size_t free = room->left > others ? room->left - others : 1;
    return free < most ? free : most;
}

static void take_room(struct room *room, size_t lines) {
    room->left -= lines < room->left ? lines : room->left;
}

static void put_verdict(FILE *out, const struct report *report, bool colour, struct room *room) {
    static const char *const colours[] = {[VERDICT_SATURATED] = "\033[1;31m",
                                          [VERDICT_SUSPECTED] = "\033[1;33m",
                                          [VERDICT_BALANCED] = "\033[1;32m",
                                          [VERDICT_INSUFFICIENT] = "\033[1m",
                                          [VERDICT_IDLE] = "\033[1;32m"};
    const struct report_verdict *v = &report->verdict;
    char label[64], text[1600];
    if (v->confidence > 0)
        snprintf(label, sizeof label, "%s (confidence %.0f %%)", verdict_state_name(v->state),
                 100 * v->confidence);
    else
        snprintf(label, sizeof label, "%s", verdict_state_name(v->state));
    snprintf(text, sizeof text, "%s: %s", label, v->summary);
    /* Only a terminal with colours gets escapes around the first line's label. */
    take_room(room, terminal_coloured_paragraph(out, colour ? colours[v->state] : NULL,
                                                strlen(label), text, share_of_room(room, 5, 6)));
}

static double mean_on_host(const struct report *report, size_t host, enum metric metric) {
    return report->resources[0].values[host * METRIC_COUNT_ + (size_t)metric].mean;
}

static size_t hosts_shown(const struct report *report) {
    size_t max = report->n_budget ? HOSTS_BESIDE_BUDGET : HOSTS_SHOWN;
    return report->n_hosts <= max ? report->n_hosts : max - 1;
}

static size_t hosts_lines(const struct report *report) {
    if (!report->n_resources || !report->n_hosts)
        return 0;
    return 1 + hosts_shown(report) + (hosts_shown(report) < report->n_hosts);
}

struct host_column {
    enum metric metric;
    const char *name;
    double factor;
    int decimals; /* equal in the whole column, unlike in the report, to be read at a glance */
};

/* Memory is in MB if no host uses 1 GB. */
static struct host_column memory_column(const struct report *report) {
    double most = 0;
    for (size_t h = 0; h < report->n_hosts; h++)
        most = fmax(most, mean_on_host(report, h, METRIC_MEM_USED));
    return most < 1 ? (struct host_column){METRIC_MEM_USED, "mem MB", 1000, DIGITS_NONE}
                    : (struct host_column){METRIC_MEM_USED, "mem GB", 1, 2};
}

static void put_hosts(FILE *out, const struct report *report) {
    const struct host_column columns[] = {
        {METRIC_CPU_IDLE, "idle CPU %", 1, 1},   {METRIC_CPU_CORE_MAX, "core %", 1, 1},
        {METRIC_JOB_RUN_QUEUE, "queue %", 1, 1}, memory_column(report),
        {METRIC_NET_RECV, "recv MB/s", 1, 2},    {METRIC_NET_SEND, "send MB/s", 1, 2},
        {METRIC_DISK_READ, "disk-r MB/s", 1, 2}, {METRIC_DISK_WRITE, "disk-w MB/s", 1, 2}};
    enum { N = sizeof columns / sizeof *columns };
    size_t shown = hosts_shown(report), width = terminal_columns(out);
    size_t n = width >= 90 ? N : width >= 70 ? N - 2 : N - 4; /* the report has all columns */
    struct report_table table;
    if (!report->n_resources || !report->n_hosts)
        return;
    table_init(&table, NULL, report,
               &(struct report_column){KIND_TEXT, NULL, "host", .shrinks = true}, 1);
    for (size_t c = 0; c < n; c++)
        table_add_column(&table, &(struct report_column){KIND_NUMBER, NULL, columns[c].name,
                                                         .scale = columns[c].factor,
                                                         .digits = columns[c].decimals});
    for (size_t h = 0; h < shown; h++) {
        table_borrow(&table, table_add(&table, NULL), 0, report->hosts[h].name);
        for (size_t c = 0; c < n; c++)
            table_number(&table, h, c + 1, mean_on_host(report, h, columns[c].metric));
    }
    text_put_table(out, &table, 2);
    table_release(&table);
    if (shown < report->n_hosts)
        fprintf(out, "  ... and %zu more hosts\n", report->n_hosts - shown);
}

static const struct stragglers *stragglers_of(const struct report *report) {
    return &report->run->judgement.stragglers;
}

/* If the verdict names a rank, no line says that iterations are of equal length: that does not
 * contradict it. */
static bool has_straggler_line(const struct report *report) {
    const struct stragglers *s = stragglers_of(report);
    return s->n || (s->note.code && !(s->judged && report->verdict.rank >= 0));
}

/* Owned; NULL: no memory. */
static char *say_stragglers(const struct report *report) {
    const struct stragglers *all = stragglers_of(report);
    const struct straggler *s = all->items;
    char gain[120];
    AUTO(text_free) char *words = remark_words(all->n ? &s->cause : &all->note);
    if (!words)
        return NULL;
    if (!all->n)
        return text_format("%s (%s)", all->judged ? "none found" : "not judged", words);
    layout_straggler_gain(gain, sizeof gain, report, s);
    return text_format("rank %d on %s takes %.2f times as long as its peers (%s): %s%s%s", s->rank,
                       layout_host(report, s->host), s->slowdown, s->kind, words, gain,
                       all->n > 1 ? "; others in the report" : "");
}

static void put_straggler(FILE *out, const struct report *report, struct room *room) {
    AUTO(text_free) char *text = has_straggler_line(report) ? say_stragglers(report) : NULL;
    if (text)
        take_room(room, terminal_paragraph(out, "  stragglers: ", text, share_of_room(room, 2, 2)));
}

/* Writes limits of the phases that the verdict leaves out. */
static void put_phases(FILE *out, char *text, struct room *room, size_t others) {
    if (text)
        take_room(room,
                  terminal_paragraph(out, "  by phase:   ", text, share_of_room(room, 2, others)));
    free(text);
}

/* Writes as many whole items as fit, and always the first. */
static void put_joined(FILE *out, const char *label, char *const *items, size_t n,
                       struct room *room, size_t most, size_t others) {
    size_t lines = share_of_room(room, most, others), used = 0;
    char text[1000] = "";
    for (size_t i = 0; i < n && used < sizeof text - 1; i++) {
        int written = snprintf(text + used, sizeof text - used, "%s%s", i ? "; " : "", items[i]);
        if (i && terminal_paragraph_lines(out, label, text) > lines) {
            text[used] = '\0';
            break;
        }
        used += written > 0 ? (size_t)written : 0;
    }
    if (n)
        take_room(room, terminal_paragraph(out, label, text, lines));
}

int report_write_screen(const struct report *report, bool colour, FILE *out) {
    const struct report_verdict *v = &report->verdict;
    bool any_straggler = has_straggler_line(report);
    char *phases = phase_verdicts_beside(report);
    size_t after = any_straggler + (v->n_ruled_out > 0) + (v->n_next > 0) + (phases != NULL) +
                   (report->quality.n_amiss > 0);
    struct room room = {SCREEN_LINES - 2 - budget_put_bars(NULL, report) - hosts_lines(report)};
    print_screen_head(out, report);
    put_verdict(out, report, colour, &room);
    if (v->too_short) {
        free(phases);
        return ferror(out) ? -EIO : 0;
    }
    for (size_t i = 0; i < v->n_evidence && i < 2; i++)
        take_room(&room,
                  terminal_paragraph(out, i ? "              " : "  evidence:   ", v->evidence[i],
                                     share_of_room(&room, 2, after + 2 - i)));
    put_joined(out, "  against it: ", v->against, v->n_against < 1 ? v->n_against : 1, &room, 2,
               after);
    budget_put_bars(out, report);
    if (room.left > after + 4) /* sentences go first */
        take_room(&room, budget_put_legend(out, report));
    put_hosts(out, report);
    after -= report->quality.n_amiss > 0;
    put_joined(out, "  mind:       ", report->quality.notes, report->quality.n_amiss, &room, 2,
               after);
    put_phases(out, phases, &room, after - (phases != NULL));
    put_straggler(out, report, &room);
    put_joined(out, "  ruled out:  ", v->ruled_out, v->n_ruled_out, &room, 3, v->n_next > 0);
    put_joined(out, "  next:       ", v->next, v->n_next, &room, 3, 0);
    AUTO(text_free)
    char *page =
        command_words(&report->caller, (struct command){"report", "{run} -o run-{run}.html"});
    fprintf(out, "  more:       %s\n", page ? page : "");
    return ferror(out) ? -EIO : 0;
}
