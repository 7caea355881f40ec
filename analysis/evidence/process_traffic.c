/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/process_traffic.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct traffic_owner {
    int host;
    int64_t pid, since_ns;
    const struct series *process; /* NULL: the process table may lack the id */
    struct traffic traffic;
};

static int compare_owners(const void *a, const void *b) {
    const struct traffic_owner *x = a, *y = b;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->since_ns > y->since_ns) - (x->since_ns < y->since_ns);
}

static void sort(struct process_traffic *t) {
    if (t->n)
        qsort(t->owners, t->n, sizeof *t->owners, compare_owners);
}

static void add_owner(struct process_traffic *t, int host, int64_t pid, int64_t since_ns,
                      const struct series *process) {
    t->owners[t->n++] = (struct traffic_owner){host, pid, since_ns, process, {NAN, NAN}};
}

static void list_named(const struct series_set *processes, struct process_traffic *t) {
    for (size_t s = 0; s < processes->n; s++) {
        const struct series *series = &processes->items[s];
        int64_t pid = series->n ? series_last(processes, series, PROCESS_PID) : VALUE_ABSENT;
        int64_t interval = series->n ? series->interval_ns[0] : VALUE_ABSENT;
        if (pid != VALUE_ABSENT)
            add_owner(t, series->host, pid, series->t_ns[0] - (interval > 0 ? interval : 0),
                      series);
    }
}

/* The owner of an id at that time; before its first row, its first owner. NULL if there is none. */
static struct traffic_owner *find_owner(const struct process_traffic *t, int host, int64_t pid,
                                        int64_t t_ns) {
    size_t low = 0, high = t->n;
    const struct traffic_owner key = {.host = host, .pid = pid, .since_ns = t_ns};
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare_owners(&t->owners[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && t->owners[low - 1].host == host && t->owners[low - 1].pid == pid)
        return &t->owners[low - 1];
    return low < t->n && t->owners[low].host == host && t->owners[low].pid == pid ? &t->owners[low]
                                                                                  : NULL;
}

/* An id that is not in the process table gets its own owner. */
static void list_nameless(const struct series_set *connections, struct process_traffic *t) {
    const struct process_traffic named = *t;
    for (size_t s = 0; s < connections->n; s++) {
        const struct series *c = &connections->items[s];
        int64_t pid = series_last(connections, c, CONNECTION_PID);
        if (pid != VALUE_ABSENT && !find_owner(&named, c->host, pid, 0))
            add_owner(t, c->host, pid, -TIME_SANE_NS, NULL);
    }
    sort(t);
}

static void add_known(double *sum, int64_t value) {
    if (value != VALUE_ABSENT)
        *sum = (isnan(*sum) ? 0 : *sum) + (double)value;
}

static void add_row(const struct series_set *set, const struct series *connection, size_t row,
                    struct process_traffic *t) {
    struct traffic nobody = {0, 0};
    int64_t pid = series_value(set, connection, row, CONNECTION_PID);
    struct traffic_owner *owner =
        pid == VALUE_ABSENT ? NULL : find_owner(t, connection->host, pid, connection->t_ns[row]);
    struct traffic *to = owner ? &owner->traffic : &nobody;
    add_known(&to->sent_bytes, series_value(set, connection, row, CONNECTION_SEND_BYTES));
    add_known(&to->received_bytes, series_value(set, connection, row, CONNECTION_RECEIVE_BYTES));
    t->unowned_bytes += nobody.sent_bytes + nobody.received_bytes;
}

int process_traffic_make(const struct recording *recording, struct process_traffic *ret_traffic) {
    const struct series_set *processes = &recording->tables[RECORDING_PROCESS],
                            *connections = &recording->tables[RECORDING_CONNECTION];
    struct process_traffic t = {.processes = processes,
                                .owners =
                                    calloc(processes->n + connections->n + 1, sizeof *t.owners)};
    if (!t.owners)
        return -ENOMEM;
    list_named(processes, &t);
    sort(&t);
    list_nameless(connections, &t);
    for (size_t s = 0; s < connections->n; s++)
        for (size_t row = 0; row < connections->items[s].n; row++)
            add_row(connections, &connections->items[s], row, &t);
    *ret_traffic = t;
    return 0;
}

void process_traffic_release(struct process_traffic *traffic) {
    free(traffic->owners);
    *traffic = (struct process_traffic){0};
}

static void add_traffic(struct traffic *sum, const struct traffic *part) {
    if (!isnan(part->sent_bytes))
        sum->sent_bytes = (isnan(sum->sent_bytes) ? 0 : sum->sent_bytes) + part->sent_bytes;
    if (!isnan(part->received_bytes))
        sum->received_bytes =
            (isnan(sum->received_bytes) ? 0 : sum->received_bytes) + part->received_bytes;
}

struct traffic process_traffic_of(const struct process_traffic *traffic, int host, int64_t pid) {
    struct traffic sum = {NAN, NAN};
    const struct traffic_owner *end = traffic->owners + traffic->n;
    for (const struct traffic_owner *o = find_owner(traffic, host, pid, -TIME_SANE_NS);
         o && o < end && o->host == host && o->pid == pid; o++)
        add_traffic(&sum, &o->traffic);
    return sum;
}

struct traffic process_traffic_named(const struct process_traffic *traffic,
                                     const struct series *process) {
    int64_t pid = process->n ? series_last(traffic->processes, process, PROCESS_PID) : VALUE_ABSENT;
    const struct traffic_owner *end = traffic->owners + traffic->n;
    for (const struct traffic_owner *o = find_owner(traffic, process->host, pid, -TIME_SANE_NS);
         o && o < end && o->host == process->host && o->pid == pid; o++)
        if (o->process == process)
            return o->traffic;
    return (struct traffic){NAN, NAN};
}
