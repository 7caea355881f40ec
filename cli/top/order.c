/* SPDX-License-Identifier: MIT */
/* The part of a picture that is shown, and its order. */
#include "cli/top/order.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *top_sort_name(enum top_sort sort) {
    static const char *const names[] = {"name", "CPU", "memory", "disk", "network"};
    return names[sort];
}

/* ---- sorting ---- */

struct order {
    const struct top_view *view;
    const struct live_snapshot *snapshot;
};

static double sum_of(double a, double b) {
    return isnan(a) ? b : isnan(b) ? a : a + b;
}

static double host_key(enum top_sort sort, const struct live_host *host) {
    const double *m = host->metrics;
    switch (sort) {
    case TOP_BY_CPU:
        return host->cpu_pct;
    case TOP_BY_MEMORY:
        return m[METRIC_MEM_USED];
    case TOP_BY_DISK:
        return sum_of(m[METRIC_DISK_READ], m[METRIC_DISK_WRITE]);
    case TOP_BY_NETWORK:
        return sum_of(m[METRIC_NET_SEND], m[METRIC_NET_RECV]);
    default:
        return 0;
    }
}

/* The network use of processes is not known: they are sorted by CPU, as before. */
static double process_key(enum top_sort sort, const struct live_process *process) {
    if (sort == TOP_BY_MEMORY)
        return process->memory_gb;
    if (sort == TOP_BY_DISK)
        return sum_of(process->read_mb_s, process->write_mb_s);
    return sort == TOP_BY_NAME ? 0 : process->cpu_pct;
}

/* Largest first, unknown last, equal ones as before. */
static int compare_keys(double x, double y, size_t a, size_t b, bool reversed) {
    int places = (a > b) - (a < b);
    if (isnan(x) || isnan(y)) {
        int unknown = isnan(x) - isnan(y);
        return unknown ? unknown : places;
    }
    int order = (x < y) - (x > y);
    return (order ? order : places) * (reversed ? -1 : 1);
}

/* A silent host's figures are outdated. */
static int compare_hosts(const void *a, const void *b, void *ctx) {
    const struct order *order = ctx;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const struct live_host *hosts = order->snapshot->hosts;
    enum top_sort sort = order->view->sort;
    bool quiet_x = sort != TOP_BY_NAME && hosts[x].silent_s > 0,
         quiet_y = sort != TOP_BY_NAME && hosts[y].silent_s > 0;
    if (quiet_x != quiet_y)
        return quiet_x ? 1 : -1;
    return compare_keys(host_key(sort, &hosts[x]), host_key(sort, &hosts[y]), x, y,
                        order->view->reversed);
}

static int compare_rows(const void *a, const void *b, void *ctx) {
    const struct order *order = ctx;
    const struct top_process *x = a, *y = b;
    enum top_sort sort = order->view->sort;
    return compare_keys(process_key(sort, &x->process), process_key(sort, &y->process), x->place,
                        y->place, order->view->reversed && sort != TOP_BY_NAME);
}

/* Without another order, programs are in that of their CPU time, as their processes are. */
static int compare_programs(const void *a, const void *b, void *ctx) {
    const struct order *order = ctx;
    const struct top_process *x = a, *y = b;
    if (order->view->sort == TOP_BY_NAME)
        return compare_keys(x->process.cpu_pct, y->process.cpu_pct, x->place, y->place, false);
    return compare_rows(a, b, ctx);
}

size_t *top_hosts_in_order(const struct top_view *view, const struct live_snapshot *snapshot,
                           size_t *ret_n) {
    struct order order = {view, snapshot};
    size_t *items = malloc((snapshot->n_hosts + 1) * sizeof *items);
    *ret_n = 0;
    for (size_t i = 0; items && i < snapshot->n_hosts; i++)
        if (top_shows_host(view, snapshot, i))
            items[(*ret_n)++] = i;
    if (items)
        qsort_r(items, *ret_n, sizeof *items, compare_hosts, &order);
    return items;
}

size_t top_marked(const struct top_view *view, const struct live_snapshot *snapshot,
                  const size_t *order, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(snapshot->hosts[order[i]].name, view->host) == 0)
            return i;
    return 0;
}

/* ---- what has the letters of the filter ---- */

static bool has_letters(const struct top_view *view, const char *text) {
    return text && strcasestr(text, view->filter);
}

static bool names_a_host(const struct top_view *view, const struct live_snapshot *snapshot) {
    for (size_t h = 0; h < snapshot->n_hosts; h++)
        if (has_letters(view, snapshot->hosts[h].name))
            return true;
    return false;
}

void top_filter_look(struct top_view *view, const struct live_snapshot *snapshot) {
    view->filters_hosts = view->filter[0] && names_a_host(view, snapshot);
}

bool top_shows_host(const struct top_view *view, const struct live_snapshot *snapshot,
                    size_t host) {
    return !view->filters_hosts || has_letters(view, snapshot->hosts[host].name);
}

static bool shows_process(const struct top_view *view, const struct live_snapshot *snapshot,
                          const struct live_process *p) {
    char pid[24];
    if (view->job_only && !view->own && !p->job)
        return false;
    snprintf(pid, sizeof pid, "%lld", (long long)p->pid);
    return !view->filter[0] || has_letters(view, p->name) || has_letters(view, p->command) ||
           has_letters(view, snapshot->hosts[p->host].name) || strcmp(pid, view->filter) == 0;
}

static bool shows_budget(const struct top_view *view, const struct live_snapshot *snapshot,
                         const struct live_budget *b) {
    char rank[24];
    snprintf(rank, sizeof rank, "rank %d", b->rank);
    return !view->filter[0] || has_letters(view, snapshot->hosts[b->host].name) ||
           has_letters(view, b->rank >= 0 ? rank : b->process);
}

static bool shows_pair(const struct top_view *view, const struct live_pair *pair) {
    return !view->filters_hosts || has_letters(view, pair->host_name) ||
           has_letters(view, pair->peer_name);
}

/* Copies those of n items that are shown. */
#define SELECT(to, from, member, n_member, shown)                                                  \
    do {                                                                                           \
        (to)->member = malloc(((from)->n_member + 1) * sizeof *(to)->member);                      \
        (to)->n_member = 0;                                                                        \
        for (size_t i = 0; (to)->member && i < (from)->n_member; i++)                              \
            if (shown)                                                                             \
                (to)->member[(to)->n_member++] = (from)->member[i];                                \
    } while (0)

int top_select(struct top_view *view, const struct live_snapshot *snapshot,
               struct live_snapshot *ret_selected) {
    struct live_snapshot *to = ret_selected;
    *to = *snapshot;
    top_filter_look(view, snapshot);
    SELECT(to, snapshot, processes, n_processes,
           shows_process(view, snapshot, &snapshot->processes[i]));
    SELECT(to, snapshot, budgets, n_budgets, shows_budget(view, snapshot, &snapshot->budgets[i]));
    SELECT(to, snapshot, pairs, n_pairs, shows_pair(view, &snapshot->pairs[i]));
    if (to->processes && to->budgets && to->pairs)
        return 0;
    top_selection_release(to);
    return -ENOMEM;
}

void top_selection_release(struct live_snapshot *selected) {
    free(selected->processes);
    free(selected->budgets);
    free(selected->pairs);
}

/* ---- processes, by program if asked for ---- */

static struct top_process *list_processes(const struct live_snapshot *snapshot, int host,
                                          size_t *ret_n) {
    /* twice: each may be the only one of its program */
    struct top_process *rows = calloc(2 * snapshot->n_processes + 1, sizeof *rows);
    *ret_n = 0;
    for (size_t i = 0; rows && i < snapshot->n_processes; i++)
        if (host < 0 || snapshot->processes[i].host == host)
            rows[(*ret_n)++] = (struct top_process){.process = snapshot->processes[i], .place = i};
    return rows;
}

static void add_process(struct top_process *program, const struct live_process *p) {
    struct live_process *sum = &program->process;
    program->n++;
    program->many_hosts |= sum->host != p->host;
    sum->job |= p->job;
    sum->cpu_pct = sum_of(sum->cpu_pct, p->cpu_pct);
    sum->run_queue_pct = sum_of(sum->run_queue_pct, p->run_queue_pct);
    sum->memory_gb = sum_of(sum->memory_gb, p->memory_gb);
    sum->read_mb_s = sum_of(sum->read_mb_s, p->read_mb_s);
    sum->write_mb_s = sum_of(sum->write_mb_s, p->write_mb_s);
}

static bool same_program(const struct top_process *a, const struct top_process *b) {
    return strcmp(a->process.name, b->process.name) == 0;
}

/* Fills `programs` with the sums of n processes; returns their number. */
static size_t sum_programs(const struct top_process *rows, size_t n, struct top_process *programs) {
    size_t n_programs = 0;
    for (size_t i = 0; i < n; i++) {
        size_t p = 0;
        while (p < n_programs && !same_program(&programs[p], &rows[i]))
            p++;
        if (p == n_programs) {
            programs[n_programs++] = rows[i];
            programs[p].process.pid = programs[p].process.rank = -1;
            programs[p].process.command = NULL;
            programs[p].n = 1;
        } else {
            add_process(&programs[p], &rows[i].process);
        }
    }
    return n_programs;
}

/* The rows of a program below its line. */
static size_t put_branches(const struct top_process *program, const struct top_process *rows,
                           size_t n, struct top_process *to) {
    size_t put = 0;
    for (size_t i = 0; i < n; i++)
        if (same_program(program, &rows[i])) {
            to[put] = rows[i];
            to[put++].branch = TOP_BRANCH;
        }
    if (put)
        to[put - 1].branch = TOP_LAST_BRANCH;
    return put;
}

/* A program of one process is that process. */
static struct top_process *group(struct order *order, struct top_process *rows, size_t *n) {
    struct top_process *programs = calloc(*n + 1, sizeof *programs);
    struct top_process *grouped = calloc(2 * *n + 1, sizeof *grouped);
    size_t used = 0;
    if (programs && grouped) {
        size_t n_programs = sum_programs(rows, *n, programs);
        qsort_r(programs, n_programs, sizeof *programs, compare_programs, order);
        for (size_t p = 0; p < n_programs; p++) {
            bool one = programs[p].n == 1;
            if (!one)
                grouped[used++] = programs[p];
            if (one || order->view->list == TOP_TREE)
                used += put_branches(&programs[p], rows, *n, grouped + used);
            if (one)
                grouped[used - 1].branch = TOP_NO_BRANCH;
        }
        *n = used;
    } else {
        free(grouped);
        grouped = NULL;
    }
    free(programs);
    free(rows);
    return grouped;
}

struct top_process *top_processes_in_order(const struct top_view *view,
                                           const struct live_snapshot *snapshot, int host,
                                           size_t *ret_n) {
    struct order order = {view, snapshot};
    struct top_process *rows = list_processes(snapshot, host, ret_n);
    if (!rows)
        return NULL;
    qsort_r(rows, *ret_n, sizeof *rows, compare_rows, &order);
    return view->list == TOP_LIST ? rows : group(&order, rows, ret_n);
}
