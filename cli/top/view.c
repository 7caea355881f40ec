/* SPDX-License-Identifier: MIT */
#include "cli/top/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"

void top_view_init(struct top_view *view, double delay_s) {
    *view = (struct top_view){.delay_s = delay_s, .page = 1};
}

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

static int compare_processes(const void *a, const void *b, void *ctx) {
    const struct order *order = ctx;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const struct live_process *all = order->snapshot->processes;
    enum top_sort sort = order->view->sort;
    return compare_keys(process_key(sort, &all[x]), process_key(sort, &all[y]), x, y,
                        order->view->reversed && sort != TOP_BY_NAME);
}

size_t *top_hosts_in_order(const struct top_view *view, const struct live_snapshot *snapshot) {
    struct order order = {view, snapshot};
    size_t n = snapshot->n_hosts, *items = malloc((n + 1) * sizeof *items);
    for (size_t i = 0; items && i < n; i++)
        items[i] = i;
    if (items)
        qsort_r(items, n, sizeof *items, compare_hosts, &order);
    return items;
}

size_t *top_processes_in_order(const struct top_view *view, const struct live_snapshot *snapshot,
                               int host, size_t *ret_n) {
    struct order order = {view, snapshot};
    size_t *items = malloc((snapshot->n_processes + 1) * sizeof *items);
    *ret_n = 0;
    for (size_t i = 0; items && i < snapshot->n_processes; i++)
        if (host < 0 || snapshot->processes[i].host == host)
            items[(*ret_n)++] = i;
    if (items)
        qsort_r(items, *ret_n, sizeof *items, compare_processes, &order);
    return items;
}

size_t top_marked(const struct top_view *view, const struct live_snapshot *snapshot,
                  const size_t *order) {
    for (size_t i = 0; i < snapshot->n_hosts; i++)
        if (strcmp(snapshot->hosts[order[i]].name, view->host) == 0)
            return i;
    return 0;
}

/* ---- keys ---- */

static void mark(struct top_view *view, const struct live_snapshot *snapshot, const size_t *order,
                 size_t place) {
    if (place < snapshot->n_hosts)
        snprintf(view->host, sizeof view->host, "%s", snapshot->hosts[order[place]].name);
}

/* Moves in a list, by lines up or down. */
static size_t moved(size_t place, size_t n, long by) {
    long last = n ? (long)n - 1 : 0, to = (long)place + by;
    return to < 0 ? 0 : to > last ? (size_t)last : (size_t)to;
}

static long lines_of(const struct top_view *view, int key) {
    long page = view->page > 1 ? (long)view->page - 1 : 1, far = 1L << 30;
    return key == TOP_KEY_UP          ? -1
           : key == TOP_KEY_DOWN      ? 1
           : key == TOP_KEY_PAGE_UP   ? -page
           : key == TOP_KEY_PAGE_DOWN ? page
           : key == TOP_KEY_HOME      ? -far
                                      : far;
}

static void move(struct top_view *view, const struct live_snapshot *snapshot, int key) {
    if (view->mode != TOP_ALL) { /* the drawing code knows the end of the list */
        view->scroll = moved(view->scroll, LIVE_PROCESSES_MAX, lines_of(view, key));
        return;
    }
    size_t *order = top_hosts_in_order(view, snapshot);
    if (order)
        mark(view, snapshot, order,
             moved(top_marked(view, snapshot, order), snapshot->n_hosts, lines_of(view, key)));
    free(order);
}

/* The host of that number in the list of all, or the marked one. */
static void open_host(struct top_view *view, const struct live_snapshot *snapshot) {
    uint64_t number;
    size_t *order = top_hosts_in_order(view, snapshot);
    bool typed = view->entry[0] && text_parse_u64(view->entry, &number) == 0;
    bool good =
        order && snapshot->n_hosts && (!typed || (number >= 1 && number <= snapshot->n_hosts));
    if (good) {
        mark(view, snapshot, order, typed ? number - 1 : top_marked(view, snapshot, order));
        view->mode = TOP_HOST;
        view->scroll = 0;
    }
    view->entry[0] = '\0';
    free(order);
}

static void add_to_entry(struct top_view *view, int key) {
    size_t n = strlen(view->entry);
    if (n + 1 < sizeof view->entry) {
        view->entry[n] = (char)key;
        view->entry[n + 1] = '\0';
    }
}

static void stop_typing(struct top_view *view) {
    view->asks_delay = false;
    view->entry[0] = '\0';
}

static void end_delay(struct top_view *view) {
    double delay;
    if (text_parse_double(view->entry, &delay) == 0 && delay >= TOP_DELAY_MIN_S &&
        delay <= TOP_DELAY_MAX_S)
        view->delay_s = delay;
    stop_typing(view);
}

/* Handles a key while a number is typed. True: the key is used up. */
static bool type(struct top_view *view, const struct live_snapshot *snapshot, int key) {
    size_t n = strlen(view->entry);
    bool digit = key >= '0' && key <= '9';
    if (key == TOP_KEY_ERASE && n)
        view->entry[n - 1] = '\0';
    else if (digit || (view->asks_delay && key == '.'))
        add_to_entry(view, key);
    else if (view->asks_delay && key == TOP_KEY_ENTER)
        end_delay(view);
    else if ((view->asks_delay || n) && key == TOP_KEY_ESCAPE)
        stop_typing(view);
    else
        return view->asks_delay && key != 'q';
    if (digit && !view->asks_delay && snapshot->n_hosts < 10)
        open_host(view, snapshot); /* one digit is enough */
    return true;
}

static void sort_by(struct top_view *view, int sort) {
    view->sort = (enum top_sort)((sort + TOP_SORTS) % TOP_SORTS);
    view->scroll = 0;
}

static void go(struct top_view *view, enum top_mode mode) {
    if (mode == TOP_HELP && view->mode != TOP_HELP)
        view->before_help = view->mode;
    view->mode = mode;
    view->scroll = 0;
}

/* Goes one screen back; from the first one out. */
static void go_back(struct top_view *view, bool out) {
    if (view->mode == TOP_ALL)
        view->quit = out;
    go(view, view->mode == TOP_HELP ? view->before_help : TOP_ALL);
}

void top_view_key(struct top_view *view, const struct live_snapshot *snapshot, int key) {
    if (type(view, snapshot, key))
        return;
    switch (key) {
    case 'q':
        go_back(view, true);
        break;
    case TOP_KEY_ESCAPE:
        go_back(view, false);
        break;
    case 'h':
    case '?':
        go(view, view->mode == TOP_HELP ? view->before_help : TOP_HELP);
        break;
    case 'p':
        go(view, view->mode == TOP_PROCESSES ? TOP_ALL : TOP_PROCESSES);
        break;
    case TOP_KEY_ENTER:
        if (view->mode == TOP_ALL)
            open_host(view, snapshot);
        else
            go_back(view, false);
        break;
    case ' ':
        view->paused = !view->paused;
        break;
    case 'd':
        view->asks_delay = true;
        view->entry[0] = '\0';
        break;
    case 'P':
    case 'M':
    case 'N':
        sort_by(view, key == 'P' ? TOP_BY_CPU : key == 'M' ? TOP_BY_MEMORY : TOP_BY_NETWORK);
        break;
    case '<':
    case '>':
        sort_by(view, (int)view->sort + (key == '<' ? -1 : 1));
        break;
    case 'R':
        view->reversed = !view->reversed;
        break;
    default:
        if (key >= TOP_KEY_UP && key <= TOP_KEY_END)
            move(view, snapshot, key);
    }
}
