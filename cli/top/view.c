/* SPDX-License-Identifier: MIT */
#include "cli/top/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/top/order.h"
#include "common/text.h"

void top_view_init(struct top_view *view, double delay_s) {
    *view = (struct top_view){.delay_s = delay_s, .page = 1};
}

/* ---- keys ---- */

static void mark(struct top_view *view, const struct live_snapshot *snapshot, const size_t *order,
                 size_t n, size_t place) {
    if (place < n)
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
        view->scroll = moved(view->scroll, 2 * LIVE_PROCESSES_MAX, lines_of(view, key));
        return;
    }
    size_t n, *order = top_hosts_in_order(view, snapshot, &n);
    if (order)
        mark(view, snapshot, order, n,
             moved(top_marked(view, snapshot, order, n), n, lines_of(view, key)));
    free(order);
}

/* The host of that number in the list of all, or the marked one. */
static void open_host(struct top_view *view, const struct live_snapshot *snapshot) {
    uint64_t number;
    size_t n, *order = top_hosts_in_order(view, snapshot, &n);
    bool typed = view->entry[0] && text_parse_u64(view->entry, &number) == 0;
    bool good = order && n && (!typed || (number >= 1 && number <= n));
    if (good) {
        mark(view, snapshot, order, n, typed ? number - 1 : top_marked(view, snapshot, order, n));
        view->mode = TOP_HOST;
        view->scroll = 0;
    }
    view->entry[0] = '\0';
    free(order);
}

static void add_letter(char *text, size_t size, int key) {
    size_t n = strlen(text);
    if (n + 1 < size) {
        text[n] = (char)key;
        text[n + 1] = '\0';
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
        add_letter(view->entry, sizeof view->entry, key);
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

/* Handles a key while the filter is typed; what is shown changes with each letter. True: the key is
 * used up. */
static bool type_filter(struct top_view *view, int key) {
    size_t n = strlen(view->filter);
    if (!view->asks_filter)
        return false;
    if (key == TOP_KEY_ENTER) {
        view->asks_filter = false;
    } else if (key == TOP_KEY_ESCAPE || (key == TOP_KEY_ERASE && !n)) {
        view->asks_filter = false;
        view->filter[0] = '\0';
    } else if (key == TOP_KEY_ERASE) {
        view->filter[n - 1] = '\0';
    } else if (key >= ' ' && key < 127) {
        add_letter(view->filter, sizeof view->filter, key);
    } else {
        return false; /* lists move while letters are typed */
    }
    view->scroll = 0;
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

/* A filter ends first. */
static void escape(struct top_view *view) {
    if (view->filter[0])
        view->filter[0] = '\0';
    else
        go_back(view, false);
}

/* Keys that change what is shown. */
static bool choose(struct top_view *view, int key) {
    if (key == '/')
        view->asks_filter = true;
    else if (key == 'j')
        view->job_only = !view->job_only;
    else if (key == 't')
        view->list = (enum top_list)((view->list + 1) % TOP_LISTS);
    else if (key == 'g')
        view->history = view->shows_history ? TOP_HISTORY_NEVER : TOP_HISTORY_ALWAYS;
    else
        return false;
    if (key != 'g')
        view->scroll = 0;
    return true;
}

void top_view_key(struct top_view *view, const struct live_snapshot *snapshot, int key) {
    top_filter_look(view, snapshot);
    if (type_filter(view, key) || type(view, snapshot, key) || choose(view, key))
        return;
    switch (key) {
    case 'q':
        go_back(view, true);
        break;
    case TOP_KEY_ESCAPE:
        escape(view);
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
