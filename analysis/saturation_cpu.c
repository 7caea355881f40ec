/* SPDX-License-Identifier: MIT */
/*
 * CPU: run-queue delay of the job's processes is the evidence (they wanted to run and could not),
 * with PSI as a second witness. A full core is a candidate of its own only where one process
 * computes while the others wait without spinning. Steal is told by the kernel.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/saturation.h"

struct contended {
    const struct scene_process *process; /* of the job, with the most delay */
    struct process_use use;
    double blocked; /* share of its time lost in the run queue */
};

static double or_zero(double value) {
    return isnan(value) ? 0 : value;
}

/* Time lost by one process: of several threads the delay of one counts. */
static double lost_share(struct process_use use) {
    double wanted = or_zero(use.cpu_s) + or_zero(use.run_queue_s);
    if (wanted <= 0 || use.wall_s <= 0)
        return 0;
    return or_zero(use.run_queue_s) / wanted * fmin(1, wanted / use.wall_s);
}

/* Where a rank's budget is known only that delay counts which held it up: one that spins while it
 * waits for a peer loses nothing by being put aside. */
static double lost_by(const struct scene *scene, size_t group, const struct scene_process *process,
                      struct process_use use) {
    const struct budget *b = saturation_budget(scene, process, group);
    return b ? (or_zero(b->term_s[BUDGET_RUN_QUEUE]) + or_zero(b->term_s[BUDGET_QUOTA])) / b->wall_s
             : lost_share(use);
}

static struct contended most_contended(const struct scene *scene, size_t group, int host) {
    struct contended worst = {0};
    for (size_t p = 0; p < scene->n_processes; p++) {
        const struct scene_process *process = &scene->processes[p];
        if (process->host != host || !process->job)
            continue;
        struct process_use use =
            scene_process_use(scene, process, phase_windows(&scene->groups[group]));
        double lost = lost_by(scene, group, process, use);
        if (!worst.process || lost > worst.blocked)
            worst = (struct contended){process, use, lost};
    }
    return worst;
}

static const struct scene_process *busiest_foreign(const struct scene *scene, size_t group,
                                                   int host, double *ret_share) {
    const struct scene_process *busiest = NULL;
    *ret_share = 0;
    for (size_t p = 0; p < scene->n_processes; p++) {
        const struct scene_process *process = &scene->processes[p];
        if (process->host != host || process->job)
            continue;
        struct process_use use =
            scene_process_use(scene, process, phase_windows(&scene->groups[group]));
        if (use.cpu_s / use.wall_s > *ret_share) {
            *ret_share = use.cpu_s / use.wall_s;
            busiest = process;
        }
    }
    return busiest;
}

static void name_cause(const struct scene *scene, size_t group, struct candidate *c) {
    double foreign, busy = 100 - or_zero(scene_mean(scene, c->host, METRIC_CPU_IDLE, group));
    const struct scene_process *other = busiest_foreign(scene, group, c->host, &foreign);
    if (other && foreign >= 0.2) {
        c->cause = text_format("contention with %s", other->series->name);
        text_list_add(&c->evidence, "%s, not of the job, used %.0f %% of a core",
                      other->series->name, 100 * foreign);
        c->signals++;
    } else if (busy < 50) { /* with half of its own cores idle hardly anybody queues */
        c->cause = text_format("its cores are shared with something outside this host's view");
        text_list_add(&c->evidence,
                      "the host itself used only %.0f %% of its cores: they are shared with others "
                      "(emulated hosts, containers)",
                      busy);
    } else {
        c->cause = text_format("at times more threads are ready than there are cores");
    }
}

static int add_contention(const struct scene *scene, size_t group, int host,
                          const struct contended *worst, double all_busy,
                          struct candidates *candidates) {
    const struct rate *signal = &scene->hosts[host].metrics[METRIC_JOB_RUN_QUEUE];
    double mean = scene_mean(scene, host, METRIC_JOB_RUN_QUEUE, group);
    double psi = scene_mean(scene, host, METRIC_PSI_CPU, group);
    struct candidate c = {.host = host,
                          .group = group,
                          .resource = "cpu",
                          .blocked = worst->blocked,
                          .signals = 1,
                          .supply = true,
                          .signal = signal,
                          .factor = mean > 0 ? worst->blocked / mean : 0};
    text_list_add(&c.evidence, "%s was ready to run but waited for a core %.0f %% of the time",
                  worst->process->series->name, 100 * worst->blocked);
    if (psi >= 100 * PSI_CPU_MIN) {
        text_list_add(&c.evidence, "PSI cpu: some task waited %.0f %% of the time", psi);
        c.signals++;
    }
    if (all_busy >= BUSY_RANK && scene->n_hosts > 1 &&
        !saturation_budget(scene, worst->process, group)) {
        c.supply = false;
        text_list_add(&c.against,
                      "every rank keeps its core busy: ranks that spin while they wait would look "
                      "the same");
    }
    name_cause(scene, group, &c);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* One process computes on a full core, the others wait without using theirs. */
static int add_serial(const struct scene *scene, size_t group, int host,
                      const struct scene_process *process, double share, double others,
                      struct candidates *candidates) {
    struct candidate c = {.host = host,
                          .group = group,
                          .resource = "cpu",
                          .blocked = share,
                          .signals = 2,
                          .signal = &scene->hosts[host].metrics[METRIC_JOB_CPU],
                          .cause = text_format("serial: one process computes, the others wait")};
    double mean = scene_mean(scene, host, METRIC_JOB_CPU, group);
    c.factor = mean > 0 ? share / mean : 0;
    text_list_add(&c.evidence, "%s used %.0f %% of one core, the other ranks %.0f %% in the median",
                  process->series->name, 100 * share, 100 * others);
    text_list_add(&c.against, "nobody waited for a core: a faster core or more threads would help, "
                              "more cores alone would not");
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static int look_for_serial(const struct scene *scene, size_t group, double median,
                           struct candidates *candidates) {
    const struct scene_process *busiest = NULL;
    double most = 0;
    size_t ranks = 0;
    for (size_t p = 0; p < scene->n_processes; p++) {
        const struct scene_process *process = &scene->processes[p];
        if (!process->job || process->rank < 0)
            continue;
        struct process_use use =
            scene_process_use(scene, process, phase_windows(&scene->groups[group]));
        const struct budget *b = saturation_budget(scene, process, group);
        double share = b ? or_zero(b->term_s[BUDGET_CPU]) / b->wall_s : use.cpu_s / use.wall_s;
        ranks++;
        if (share > most) {
            most = share;
            busiest = process;
        }
    }
    if (ranks < 3 || most < BUSY_RANK || most > 1.2 || !(median <= 0.5))
        return 0;
    return add_serial(scene, group, busiest->host, busiest, fmin(1, most), median, candidates);
}

static void rule_out(const struct scene *scene, size_t group, struct candidates *candidates) {
    double psi = NAN, queue = NAN, busy = NAN;
    for (size_t h = 0; h < scene->n_hosts; h++) {
        psi = fmax(psi, scene_mean(scene, (int)h, METRIC_PSI_CPU, group));
        queue = fmax(queue, scene_mean(scene, (int)h, METRIC_JOB_RUN_QUEUE, group));
        busy = fmax(busy, 100 - scene_mean(scene, (int)h, METRIC_CPU_IDLE, group));
    }
    if (isnan(busy))
        return;
    if (isnan(queue) && isnan(psi)) /* full or not, whether anybody waited is not known */
        return;
    text_list_add(&candidates->ruled_out,
                  "cpu: the fullest host used %.0f %%%s; tasks waited for a core %.1f %% of the "
                  "time at most",
                  busy,
                  busy >= 90 ? ", yet nobody queued for it (work that fits, or spinning)" : "",
                  fmax(queue, psi));
}

int saturation_cpu(const struct scene *scene, size_t group, struct candidates *candidates) {
    size_t before = candidates->n;
    double all_busy = ranks_busy(scene, group);
    int result = 0;
    for (size_t h = 0; result == 0 && h < scene->n_hosts; h++) {
        struct contended worst = most_contended(scene, group, (int)h);
        if (worst.process && worst.blocked >= BLOCKED_MIN &&
            or_zero(worst.use.run_queue_s) >= CONTENTION_MIN * worst.use.cpu_s)
            result = add_contention(scene, group, (int)h, &worst, all_busy, candidates);
    }
    if (result == 0 && candidates->n == before)
        result = look_for_serial(scene, group, all_busy, candidates);
    if (result == 0 && candidates->n == before && group == scene->main_group)
        rule_out(scene, group, candidates);
    return result;
}

int saturation_steal(const struct scene *scene, size_t group, struct candidates *candidates) {
    double most = NAN;
    for (size_t h = 0; h < scene->n_hosts; h++) {
        double steal = scene_mean(scene, (int)h, METRIC_CPU_STEAL, group);
        most = fmax(most, steal);
        if (!(steal >= 100 * STEAL_MIN))
            continue;
        struct candidate c = {.host = (int)h,
                              .group = group,
                              .resource = "steal",
                              .blocked = steal / 100,
                              .supply = true,
                              .signals = 1,
                              .signal = &scene->hosts[h].metrics[METRIC_CPU_STEAL],
                              .factor = 0.01,
                              .cause = text_format("the hypervisor runs others on these cores")};
        text_list_add(&c.evidence, "%.1f %% of the cores' time was stolen", steal);
        if (!candidates_add(candidates, &c))
            return -ENOMEM;
    }
    if (group == scene->main_group && most < 100 * STEAL_MIN)
        text_list_add(&candidates->ruled_out, "steal: %.1f %% of CPU time at most", most);
    return 0;
}
