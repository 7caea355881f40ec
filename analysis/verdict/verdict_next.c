/* SPDX-License-Identifier: MIT */
/*
 * Advice for a verdict: the setting by its name on that host, with its recorded value, and how to
 * see whether a change helped. If the recording does not know the setting, the advice says where to
 * look, never merely "try more".
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/evidence/beside_job.h"
#include "analysis/evidence/remote_storage.h"
#include "analysis/verdict/verdict_private.h"

#define NO_LIMIT 1e11 /* bytes/s: set by whoever wanted none */

struct advised {
    const struct run_model *model;
    const struct candidate *c;
    const char *host;
    struct windows windows;
    struct remarks *next;
};

/* ---- knobs that were recorded ---- */

/* The series of a table on the host whose column grew most, or is highest (levels). */
static const struct series *most(const struct advised *a, enum recording_table table, size_t column,
                                 bool level, const char *not_named) {
    const struct series_set *set = &a->model->recording->tables[table];
    const struct series *best = NULL;
    double most = 0;
    for (size_t s = 0; s < set->n; s++) {
        const struct series *one = &set->items[s];
        if (one->host != a->c->host || series_last(set, one, column) == VALUE_ABSENT ||
            strncmp(one->name, not_named, strlen(not_named)) == 0)
            continue;
        double value = level ? (double)series_last(set, one, column)
                             : series_growth(set, one, column, a->windows, NULL);
        if (value > most) {
            most = value;
            best = one;
        }
    }
    return best;
}

static double level_of(const struct advised *a, enum recording_table table,
                       const struct series *series, size_t column) {
    return (double)series_last(&a->model->recording->tables[table], series, column);
}

static bool is_in_group(const struct series *group) {
    return group && strcmp(group->name, "/") != 0;
}

/* ---- by kind ---- */

static void about_culprit(const struct advised *a) {
    const char *process = a->c->culprit.process;
    if (host_may_serve_job(a->model, a->c->host))
        remarks_add(a->next, ADVISE_NAME_SERVER, NUMBERS(), NAMES(process, a->host, a->host));
    else
        remarks_add(a->next, ADVISE_STOP_PROGRAM, NUMBERS(), NAMES(process, a->host));
}

static void about_shaped(const struct advised *a, const struct series *queue) {
    double rate = level_of(a, RECORDING_QDISC, queue, QDISC_RATE);
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(queue->name, " "), queue->name);
    remarks_add(a->next, ADVISE_RAISE_RATE, NUMBERS(rate * 8e-6), NAMES(a->host, name, name));
}

static void about_full_link(const struct advised *a, const struct series *interface) {
    double mbit_s = a->c->ceiling * 8e-3;
    if (interface)
        remarks_add(a->next, ADVISE_FASTER_LINK, NUMBERS(mbit_s), NAMES(a->host, interface->name));
    else
        remarks_add(a->next, ADVISE_FASTER_SOME_LINK, NUMBERS(mbit_s), NAMES(a->host));
}

static void about_unmeasured_link(const struct advised *a, const struct series *interface) {
    if (interface)
        remarks_add(a->next, ADVISE_MEASURE_LINK, NUMBERS(),
                    NAMES(a->host, interface->name, interface->name));
    else
        remarks_add(a->next, ADVISE_MEASURE_SOME_LINK, NUMBERS(), NAMES(a->host));
}

static void about_interface(const struct advised *a) {
    const char *other = a->c->cause.names[1];
    if (a->c->cause.code == REMARK_FASTER_INTERFACE_IDLE)
        remarks_add(a->next, ADVISE_OTHER_INTERFACE, NUMBERS(),
                    NAMES(a->host, other, other, other));
}

static void about_link(const struct advised *a) {
    bool send = a->c->resource == RESOURCE_NET_EGRESS;
    struct queues queues = link_queues(a->model, a->c->group, a->c->host);
    bool shaped = send && queues.fullest && queues.rate_mb_s > 0 &&
                  (a->c->saturated || link_is_backed_up(a->model, &queues));
    const struct series *interface =
        most(a, RECORDING_NET, send ? NET_SEND_BYTES : NET_RECEIVE_BYTES, false, "lo");
    if (a->c->culprit.process)
        about_culprit(a);
    if (shaped)
        about_shaped(a, queues.fullest);
    else if (a->c->reached > 0)
        about_full_link(a, interface);
    else
        about_unmeasured_link(a, interface);
}

static void about_contention(const struct advised *a) {
    if (a->c->culprit.process)
        about_culprit(a);
    else if (!a->c->next)
        remarks_add(a->next, ADVISE_FEWER_RANKS, NUMBERS(a->model->hosts[a->c->host].n_cpus),
                    NAMES(a->host));
}

static void about_quota(const struct advised *a) {
    const struct series *group = most(a, RECORDING_CGROUP, CGROUP_THROTTLED, false, "//");
    double quota = group ? level_of(a, RECORDING_CGROUP, group, CGROUP_QUOTA) : 0;
    double period = group ? level_of(a, RECORDING_CGROUP, group, CGROUP_PERIOD) : 0;
    if (quota > 0 && period > 0)
        remarks_add(a->next, ADVISE_RAISE_CPU_MAX,
                    NUMBERS(quota / 1e3, period / 1e3, quota / period),
                    NAMES(a->host, group->name));
    else
        remarks_add(a->next, ADVISE_RAISE_QUOTA, NUMBERS(), NAMES(a->host));
}

static void about_steal(const struct advised *a) {
    remarks_add(a->next, ADVISE_MOVE_HOST, NUMBERS(), NAMES(a->host));
}

static bool most_remote(const struct advised *a, struct remote_storage *ret_remote) {
    return remote_storage_most(a->model, a->c->group, a->c->host, ret_remote);
}

static void about_disk(const struct advised *a) {
    const struct series *disk = most(a, RECORDING_DISK, DISK_BUSY, false, "//");
    const struct series *group = most(a, RECORDING_CGROUP, CGROUP_READ_BYTES, false, "//");
    double limit = group ? level_of(a, RECORDING_CGROUP, group, CGROUP_READ_LIMIT) : 0;
    bool idle = a->c->resource == RESOURCE_DISK_THROTTLE;
    struct remote_storage remote;
    if (a->c->culprit.process)
        about_culprit(a);
    else if (a->c->kind == CAUSE_REMOTE_STORAGE && most_remote(a, &remote))
        remarks_add(a->next, ADVISE_SEE_SERVER, NUMBERS(), NAMES(a->host, remote.export));
    else if (idle && limit > 0 && limit < NO_LIMIT)
        remarks_add(a->next, ADVISE_RAISE_IO_MAX, NUMBERS(limit / 1e6),
                    NAMES(a->host, group->name));
    else if (idle)
        remarks_add(a->next, ADVISE_SEE_VOLUME, NUMBERS(), NAMES(a->host));
    else if (!a->c->next && disk)
        remarks_add(a->next, ADVISE_FASTER_DISK, NUMBERS(), NAMES(a->host, disk->name));
    else if (!a->c->next)
        remarks_add(a->next, ADVISE_FASTER_SOME_DISK, NUMBERS(), NAMES(a->host));
}

static void about_memory(const struct advised *a) {
    const struct series *group = most(a, RECORDING_CGROUP, CGROUP_LIMIT_HITS, false, "//");
    double limit = group ? level_of(a, RECORDING_CGROUP, group, CGROUP_MEMORY_LIMIT) : 0;
    if (limit > 0 && is_in_group(group))
        remarks_add(a->next, ADVISE_RAISE_MEMORY_MAX, NUMBERS(limit / 1e6),
                    NAMES(a->host, group->name));
    else
        remarks_add(a->next, ADVISE_MORE_MEMORY, NUMBERS(a->model->hosts[a->c->host].memory_gb),
                    NAMES(a->host));
}

static void about_skew(const struct advised *a) {
    if (a->c->rank < 0) {
        remarks_add(a->next, ADVISE_LESS_WORK_HOST, NUMBERS(), NAMES(a->host));
        return;
    }
    if (a->c->shared.replayed && a->c->shared.estimate < number_of(a->model, GAIN_MIN))
        remarks_add(a->next, ADVISE_SEE_EXCESS, NUMBERS(a->c->rank), NAMES());
    else
        remarks_add(a->next, ADVISE_LESS_WORK, NUMBERS(a->c->rank), NAMES());
}

static void about_serial(const struct advised *a) {
    if (a->c->rank >= 0)
        remarks_add(a->next, ADVISE_DIVIDE_RANK, NUMBERS(a->c->rank), NAMES());
    else
        remarks_add(a->next, ADVISE_DIVIDE_PROCESS, NUMBERS(), NAMES(a->host));
}

static void about_sleep(const struct advised *a) {
    if (a->c->rank < 0) {
        remarks_add(a->next, ADVISE_TRACE_PROCESS, NUMBERS(), NAMES(a->host));
        return;
    }
    remarks_add(a->next, ADVISE_TRACE_RANK, NUMBERS(a->c->rank), NAMES(a->host));
}

static void about_stop(const struct advised *a) {
    remarks_add(a->next, ADVISE_CONTINUE, NUMBERS(), NAMES(a->host));
}

static void about_pool(const struct advised *a) {
    remarks_add(a->next, ADVISE_POOL, NUMBERS(), NAMES(a->host));
}

static void about_names(const struct advised *a) {
    remarks_add(a->next, ADVISE_NAMES, NUMBERS(), NAMES(a->host));
}

static void about_input(const struct advised *a) {
    remarks_add(a->next, ADVISE_INPUT, NUMBERS(a->c->rank), NAMES(a->host));
}

static void about_receiver(const struct advised *a) {
    remarks_add(a->next, ADVISE_RECEIVE_BUFFERS, NUMBERS(), NAMES(a->host));
}

static void about_send_buffer(const struct advised *a) {
    remarks_add(a->next, ADVISE_SEND_BUFFERS, NUMBERS(), NAMES(a->host));
}

static void about_own_end(const struct advised *a) {
    remarks_add(a->next, ADVISE_SEE_TRANSFERS, NUMBERS(a->c->rank), NAMES(a->host));
}

static void about_machine(const struct advised *a) {
    remarks_add(a->next, ADVISE_OWN_CORES_EACH, NUMBERS(), NAMES());
}

static void about_single_thread(const struct advised *a) {
    remarks_add(a->next, ADVISE_MORE_THREADS, NUMBERS(a->model->hosts[a->c->host].n_cpus),
                NAMES(a->host));
}

static void about_latency(const struct advised *a) {
    remarks_add(a->next, ADVISE_LARGER_MESSAGES, NUMBERS(), NAMES());
}

static void about_computing(const struct advised *a) {
    remarks_add(a->next, ADVISE_SEE_COMPUTING, NUMBERS(), NAMES());
}

/* By the resource, and by the kind where one resource has several answers. */
static const struct {
    enum resource resource;
    enum cause_kind kind; /* CAUSE_NONE: any */
    void (*add)(const struct advised *a);
} advice[] = {
    {RESOURCE_NET_EGRESS, CAUSE_WRONG_INTERFACE, about_interface},
    {RESOURCE_NET_INGRESS, CAUSE_WRONG_INTERFACE, about_interface},
    {RESOURCE_NET_EGRESS, CAUSE_NONE, about_link},
    {RESOURCE_NET_INGRESS, CAUSE_NONE, about_link},
    {RESOURCE_CPU, CAUSE_SERIAL, about_serial},
    {RESOURCE_CPU, CAUSE_MACHINE_FULL, about_machine},
    {RESOURCE_CPU, CAUSE_SINGLE_THREAD, about_single_thread},
    {RESOURCE_CPU, CAUSE_COMPUTE_BOUND, about_computing},
    {RESOURCE_CPU, CAUSE_NONE, about_contention},
    {RESOURCE_CPU_QUOTA, CAUSE_NONE, about_quota},
    {RESOURCE_STEAL, CAUSE_NONE, about_steal},
    {RESOURCE_DISK, CAUSE_NONE, about_disk},
    {RESOURCE_DISK_THROTTLE, CAUSE_NONE, about_disk},
    {RESOURCE_MEMORY, CAUSE_NONE, about_memory},
    {RESOURCE_IMBALANCE, CAUSE_NONE, about_skew},
    {RESOURCE_APPLICATION, CAUSE_LATENCY, about_latency},
    {RESOURCE_APPLICATION, CAUSE_SLEEP, about_sleep},
    {RESOURCE_APPLICATION, CAUSE_STOPPED, about_stop},
    {RESOURCE_APPLICATION, CAUSE_POOL, about_pool},
    {RESOURCE_APPLICATION, CAUSE_NAMES, about_names},
    {RESOURCE_APPLICATION, CAUSE_INPUT, about_input},
    {RESOURCE_APPLICATION, CAUSE_RECEIVER, about_receiver},
    {RESOURCE_APPLICATION, CAUSE_SNDBUF, about_send_buffer},
    {RESOURCE_APPLICATION, CAUSE_UNKNOWN, about_own_end},
};

void verdict_next_for(const struct run_model *model, const struct candidate *c, struct verdict *v) {
    struct advised a = {.model = model,
                        .c = c,
                        .host = model->hosts[c->host].name,
                        .windows = phase_windows(&model->groups[c->group]),
                        .next = &v->next};
    if (c->next)
        remarks_append(&v->next, c->next, NUMBERS(), NAMES());
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++)
        if (advice[i].resource == c->resource && (!advice[i].kind || advice[i].kind == c->kind)) {
            advice[i].add(&a);
            break;
        }
    if (c->answered) /* the gain that was said is the answer */
        remarks_add(&v->next, ADVISE_ASK, NUMBERS(), NAMES());
    remarks_add(&v->next, ADVISE_COMPARE, NUMBERS(), NAMES());
}
