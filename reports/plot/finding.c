/* SPDX-License-Identifier: MIT */
/* Each kind of picture has a function that names the first in it, and its distance. */
#include "reports/plot/finding.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/facts/waits.h"
#include "reports/model/budget_words.h"
#include "reports/model/layout.h"
#include "reports/model/reported.h"
#include "reports/says/term_words.h"
#include "reports/says/text_list.h"

#define IDLE_MIN .9 /* of its time: a process that does hardly anything */

/* Text for text_format(): a number of at most three digits. */
struct digits {
    char text[LAYOUT_NUMBER_SIZE];
};

static const char *three(double value, struct digits *to) {
    snprintf(to->text, sizeof to->text, fabs(value) >= 100 ? "%.0f" : "%.3g", value);
    return to->text;
}

static struct report_value value_of(const struct report *report, size_t host, enum metric metric) {
    return report->resources[0].values[host * METRIC_COUNT_ + (size_t)metric];
}

/* The host with the highest mean of a metric; -1 if none is known. */
static int highest(const struct report *report, enum metric metric) {
    double most = -1;
    int found = -1;
    for (size_t h = 0; h < report->n_hosts; h++)
        if (value_of(report, h, metric).mean > most) {
            most = value_of(report, h, metric).mean;
            found = (int)h;
        }
    return found;
}

static const char *name_of(const struct report *report, int host) {
    return report->hosts[host].name;
}

static char *of_cpu(const struct report *report) {
    struct digits first, last, core;
    int busiest = -1, idlest = highest(report, METRIC_CPU_IDLE);
    double least = INFINITY;
    for (size_t h = 0; h < report->n_hosts; h++)
        if (value_of(report, h, METRIC_CPU_IDLE).mean < least) {
            least = value_of(report, h, METRIC_CPU_IDLE).mean;
            busiest = (int)h;
        }
    if (busiest < 0)
        return NULL;
    three(100 - least, &first);
    three(value_of(report, (size_t)busiest, METRIC_CPU_CORE_MAX).mean, &core);
    three(100 - value_of(report, (size_t)idlest, METRIC_CPU_IDLE).mean, &last);
    if (idlest == busiest)
        return text_format("%s is busy %s %% of the time, its fullest core %s %%.",
                           name_of(report, busiest), first.text, core.text);
    return text_format("%s is the busiest host: %s %% of the time, its fullest core %s %%. "
                       "%s is the idlest: %s %%.",
                       name_of(report, busiest), first.text, core.text, name_of(report, idlest),
                       last.text);
}

#define HARDLY_MB_S .1

/* The higher of two metrics, and its host. */
static char *of_rates(const struct report *report, enum metric one, enum metric other,
                      const char *one_does, const char *other_does) {
    struct digits mean, peak, top;
    int a = highest(report, one), b = highest(report, other);
    if (a < 0 && b < 0)
        return NULL;
    bool first = b < 0 || (a >= 0 && value_of(report, (size_t)a, one).mean >=
                                         value_of(report, (size_t)b, other).mean);
    int host = first ? a : b;
    struct report_value v = value_of(report, (size_t)host, first ? one : other);
    if (v.mean < HARDLY_MB_S)
        return text_format("Hardly any: %s MB/s on average, on %s.", three(v.mean, &mean),
                           name_of(report, host));
    const struct report_ceiling *ceiling =
        report->series ? &report->series[host].ceilings[first ? one : other] : NULL;
    three(v.mean, &mean);
    three(v.peak, &peak);
    if (!ceiling || !(ceiling->value > 0))
        return text_format("%s %s most: %s MB/s on average, %s at most.", name_of(report, host),
                           first ? one_does : other_does, mean.text, peak.text);
    return text_format("%s %s most: %s MB/s on average, %s at most, of %s MB/s (%s).",
                       name_of(report, host), first ? one_does : other_does, mean.text, peak.text,
                       three(ceiling->value, &top), report_arithmetic_rate(ceiling->known));
}

static char *of_network(const struct report *report) {
    return of_rates(report, METRIC_NET_SEND, METRIC_NET_RECV, "sends", "receives");
}

static char *of_disk(const struct report *report) {
    return of_rates(report, METRIC_DISK_READ, METRIC_DISK_WRITE, "reads", "writes");
}

static char *of_memory(const struct report *report) {
    struct digits used, all;
    int host = highest(report, METRIC_MEM_USED);
    if (host < 0)
        return NULL;
    struct report_value v = value_of(report, (size_t)host, METRIC_MEM_USED);
    double free_gb = value_of(report, (size_t)host, METRIC_MEM_FREE).mean;
    return text_format("%s uses most: at most %s of %s GB.", name_of(report, host),
                       three(v.peak, &used), three(v.mean + free_gb, &all));
}

static char *of_pressure(const struct report *report) {
    static const struct {
        enum metric metric;
        const char *what;
    } kinds[] = {{METRIC_PSI_CPU, "a core"}, {METRIC_PSI_IO, "I/O"}, {METRIC_PSI_MEMORY, "memory"}};
    struct digits share;
    double most = 0;
    int host = -1;
    const char *what = "";
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        int h = highest(report, kinds[i].metric);
        if (h >= 0 && value_of(report, (size_t)h, kinds[i].metric).mean >= most) {
            most = value_of(report, (size_t)h, kinds[i].metric).mean;
            host = h;
            what = kinds[i].what;
        }
    }
    if (host < 0)
        return NULL;
    three(most, &share);
    if (most < 1)
        return text_format("Tasks hardly waited: at most %s %% of the time.", share.text);
    return text_format("Tasks waited most on %s: for %s, %s %% of the time.", name_of(report, host),
                       what, share.text);
}

/* Older GPUs tell only whether anything was on them. */
static char *of_gpu(const struct report *report) {
    struct digits work, busy;
    int host = highest(report, METRIC_GPU_SM), any = highest(report, METRIC_GPU_BUSY);
    if (host < 0 && any < 0)
        return NULL;
    if (host < 0)
        return text_format("%s has work on its GPUs %s %% of the time.", name_of(report, any),
                           three(value_of(report, (size_t)any, METRIC_GPU_BUSY).mean, &busy));
    three(value_of(report, (size_t)host, METRIC_GPU_SM).mean, &work);
    return text_format("%s uses its GPUs most: %s %% of their multiprocessors work on average, and "
                       "%s %% of the time they have any work.",
                       name_of(report, host), work.text,
                       three(value_of(report, (size_t)host, METRIC_GPU_BUSY).mean, &busy));
}

static char *of_gpu_link(const struct report *report) {
    return of_rates(report, METRIC_GPU_TO, METRIC_GPU_FROM, "copies to its GPUs",
                    "copies from its GPUs");
}

/* The most that a host used, and its mean. */
static char *of_level(const struct report *report, enum metric metric, const char *what,
                      const char *unit) {
    struct digits peak, mean;
    int host = highest(report, metric);
    if (host < 0)
        return NULL;
    struct report_value v = value_of(report, (size_t)host, metric);
    return text_format("%s %s most: %s %s on average, %s at most.", name_of(report, host), what,
                       three(v.mean, &mean), unit, three(v.peak, &peak));
}

static char *of_gpu_memory(const struct report *report) {
    return of_level(report, METRIC_GPU_MEM, "uses", "GB");
}

static char *of_gpu_power(const struct report *report) {
    return of_level(report, METRIC_GPU_WATTS, "draws", "W");
}

static char *of_pairs(const struct report *report) {
    struct digits mean, share;
    if (!report->n_routes)
        return NULL;
    const struct report_route *r = &report->routes[0];
    return text_format("%s to %s carried most: %s MB/s on average, %s %% of all.",
                       name_of(report, r->from), name_of(report, r->to), three(r->mean_mb_s, &mean),
                       three(r->share_pct, &share));
}

/* The term that takes most of the ranks' total time, except those already taken. */
static int largest_term(const double *sums, int taken) {
    int found = -1;
    for (int term = 0; term < BUDGET_TERMS; term++)
        if (term != taken && sums[term] > 0 && (found < 0 || sums[term] > sums[found]))
            found = term;
    return found;
}

/* Wait clocks show it asleep, and no process waited for it: it delays none. */
static bool idles(const struct waits *waits, const struct report_budget *b) {
    if (b->rank >= 0 || !b->source || strcmp(b->source, "clocks") != 0 ||
        !(b->term_s[BUDGET_IDLE] >= IDLE_MIN * b->wall_s))
        return false;
    for (size_t i = 0; i < waits->n; i++)
        if (waits->items[i].whom_host == b->host && strcmp(waits->items[i].whom, b->process) == 0)
            return false;
    return true;
}

static char *of_budget(const struct report *report) {
    double sums[BUDGET_TERMS] = {0}, wall = 0;
    size_t first, n = budget_of_phase(report, report->main_phase, &first), left_out = 0;
    struct digits one, other;
    char without[96] = "";
    struct waits waits;
    if (waits_find(&report->run->model, &waits) < 0)
        return NULL;
    for (size_t i = first; i < first + n; i++) {
        if (idles(&waits, &report->budget[i])) {
            left_out++;
            continue;
        }
        wall += report->budget[i].wall_s;
        for (int term = 0; term < BUDGET_TERMS; term++)
            sums[term] +=
                isnan(report->budget[i].term_s[term]) ? 0 : report->budget[i].term_s[term];
    }
    free(waits.items);
    int a = largest_term(sums, -1), b = largest_term(sums, a);
    if (a < 0 || !(wall > 0))
        return NULL;
    three(100 * sums[a] / wall, &one);
    if (left_out)
        snprintf(without, sizeof without,
                 " %zu process%s that slept and that nobody waited for %s left out.", left_out,
                 left_out == 1 ? "" : "es", left_out == 1 ? "is" : "are");
    if (b < 0)
        return text_format("All of it: %s, %s %%.%s", budget_term_words((enum budget_term)a),
                           one.text, without);
    return text_format("Most of it: %s, %s %%; then %s, %s %%.%s",
                       budget_term_words((enum budget_term)a), one.text,
                       budget_term_words((enum budget_term)b), three(100 * sums[b] / wall, &other),
                       without);
}

static char *of_iterations(const struct report *report) {
    const struct report_rank *slowest = NULL, *fastest = NULL;
    struct digits median, p95, other;
    for (size_t i = 0; i < report->n_ranks; i++) {
        const struct report_rank *r = &report->ranks[i];
        if (r->n && (!slowest || r->median_s > slowest->median_s))
            slowest = r;
        if (r->n && (!fastest || r->median_s < fastest->median_s))
            fastest = r;
    }
    if (!slowest)
        return NULL;
    three(slowest->median_s, &median);
    three(slowest->p95_s, &p95);
    if (slowest->median_s < 1.02 * fastest->median_s)
        return text_format("An iteration takes %s s, of all ranks alike; 95 %% take at most %s s.",
                           median.text, p95.text);
    return text_format("Rank %d on %s takes longest: %s s an iteration; rank %d on %s takes %s s.",
                       slowest->rank, layout_host(report, slowest->host), median.text,
                       fastest->rank, layout_host(report, fastest->host),
                       three(fastest->median_s, &other));
}

char *picture_finding(const struct report *report, const char *name) {
    static const struct {
        const char *name;
        char *(*of)(const struct report *report);
    } kinds[] = {
        {"cpu", of_cpu},           {"network", of_network},       {"memory", of_memory},
        {"disk", of_disk},         {"pressure", of_pressure},     {"pairs", of_pairs},
        {"budget", of_budget},     {"iterations", of_iterations}, {"gpu", of_gpu},
        {"gpu-link", of_gpu_link}, {"gpu-memory", of_gpu_memory}, {"gpu-power", of_gpu_power}};
    for (size_t i = 0; name && report->n_resources && i < ARRAY_SIZE(kinds); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return kinds[i].of(report);
    return NULL;
}
