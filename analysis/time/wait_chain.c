/* SPDX-License-Identifier: MIT */
#include "analysis/time/wait_chain.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/series/times.h"
#include "analysis/run_model.h"

#define CELLS_MAX 400     /* of equal length; more where windows begin and end */
#define MEMBERS_MAX 64    /* bits of `seen` */
#define DEPTH_MAX 8       /* processes of a chain */
#define PART_MIN 1e-3     /* of a cell: smaller parts of a chain are followed no further */
#define ALWAYS_WAITS 0.02 /* of a cell: a process waits for those before it all the time */
#define CLOCKED_MOST 0.8  /* of the processes' time */

struct member_times {
    struct budget *cells;    /* its budget in each cell */
    struct wait_peers peers; /* once all members are known */
};

struct wait_chain {
    const struct run_model *model;
    struct window *cells; /* touching */
    size_t n_cells;
    struct wait_member members[MEMBERS_MAX];
    struct member_times times[MEMBERS_MAX];
    size_t n, n_begin; /* the first ones begin chains; helpers of ranks are only followed */
    bool full; /* and more came: a chain may lead to one of those */
};

/* ---- cells ---- */

static int compare_times(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static size_t add_ends(struct windows windows, int64_t *times, size_t n) {
    for (size_t i = 0; i < windows.n; i++) {
        times[n++] = windows.items[i].begin_ns;
        times[n++] = windows.items[i].end_ns;
    }
    return n;
}

static int make_cells(const struct run_model *model, const struct critical_path *path,
                      struct wait_chain *chain) {
    int64_t duration = model->recording->duration_ns;
    int64_t step = duration / CELLS_MAX > model->recording->period_ns ? duration / CELLS_MAX
                                                                      : model->recording->period_ns;
    size_t room = CELLS_MAX + 2 + 2 * path->n_blocks, n = 0;
    for (size_t g = 0; g < model->n_groups; g++)
        room += 2 * phase_windows(&model->groups[g]).n;
    int64_t *times = calloc(room, sizeof *times);
    chain->cells = calloc(room, sizeof *chain->cells);
    if (!times || !chain->cells) {
        free(times);
        return -ENOMEM;
    }
    for (int64_t t = 0; step > 0 && t < duration && n <= CELLS_MAX; t += step)
        times[n++] = t;
    n = add_ends((struct windows){path->block_windows, path->n_blocks}, times, n);
    for (size_t g = 0; g < model->n_groups; g++)
        n = add_ends(phase_windows(&model->groups[g]), times, n);
    qsort(times, n, sizeof *times, compare_times);
    for (size_t i = 0; i + 1 < n; i++)
        if (times[i + 1] > times[i])
            chain->cells[chain->n_cells++] = (struct window){times[i], times[i + 1]};
    free(times);
    return 0;
}

int wait_chain_new(const struct run_model *model, const struct critical_path *path,
                   struct wait_chain **ret_chain) {
    *ret_chain = NULL;
    if (!model->recording->tables[RECORDING_WAIT].n || model->recording->calls.n)
        return 0;
    struct wait_chain *chain = calloc(1, sizeof *chain);
    if (!chain)
        return -ENOMEM;
    chain->model = model;
    int result = make_cells(model, path, chain);
    if (result < 0) {
        wait_chain_free(chain);
        return result;
    }
    *ret_chain = chain;
    return 0;
}

void wait_chain_free(struct wait_chain *chain) {
    for (size_t i = 0; chain && i < chain->n; i++) {
        process_waits_release(&chain->members[i].waits);
        wait_peers_release(&chain->times[i].peers);
        free(chain->times[i].cells);
    }
    if (chain)
        free(chain->cells);
    free(chain);
}

int wait_chain_add(struct wait_chain *chain, const struct budget_subject *subject, int host,
                   int64_t pid) {
    chain->full |= chain->n == MEMBERS_MAX;
    if (chain->full)
        return 0;
    size_t at = chain->n++;
    struct wait_member *member = &chain->members[at];
    struct windows *windows = calloc(chain->n_cells + 1, sizeof *windows);
    chain->times[at].cells = calloc(chain->n_cells + 1, sizeof *chain->times[at].cells);
    *member = (struct wait_member){.host = host, .pid = pid};
    for (size_t c = 0; windows && c < chain->n_cells; c++)
        windows[c] = (struct windows){&chain->cells[c], 1};
    int result = windows && chain->times[at].cells
                     ? process_waits_find(chain->model->recording, host, pid, &member->waits)
                     : -ENOMEM;
    if (result == 0)
        result = budget_make(subject, windows, chain->n_cells, chain->times[at].cells, NULL);
    free(windows);
    return result;
}

/* ---- who waits for whom in a cell ---- */

/* Shares of a cell. */
struct cell_waits {
    double life[MEMBERS_MAX];                 /* it lived, and its time is known */
    double readers[MEMBERS_MAX];              /* of `peer`: until they read what it had sent */
    double peer[MEMBERS_MAX][MEMBERS_MAX];    /* of the first: waiting for the second */
    double blocked[MEMBERS_MAX][MEMBERS_MAX]; /* likewise: for room to send */
    double sent[MEMBERS_MAX][MEMBERS_MAX];  /* likewise: data of the second were under way to it */
    double bytes[MEMBERS_MAX][MEMBERS_MAX]; /* bytes that the second sent to the first */
    double kinds[WAIT_KIND_COUNT_][MEMBERS_MAX][MEMBERS_MAX]; /* peer, by kind */
};

struct told { /* who ended waits of a kind, ns */
    double by[MEMBERS_MAX], all;
};

static void tell(struct told *told, size_t whom, double ns) {
    told->all += ns;
    if (whom != SIZE_MAX)
        told->by[whom] += ns;
}

/* A sender waits for its reader as far as data lie there unread; else for the link. */
static void add_blocked(const struct wait_chain *chain, size_t who, size_t socket,
                        struct windows cell, double length, struct cell_waits *waits) {
    const struct series_set *set = &chain->model->recording->tables[RECORDING_SOCKET_WAIT];
    const struct wait_peers *peers = &chain->times[who].peers;
    size_t whom = peers->sockets[socket];
    double blocked = process_waits_blocked(&chain->members[who].waits, socket, cell);
    if (whom == SIZE_MAX || blocked <= 0)
        return;
    double unread = peers->far[socket]
                        ? process_waits_growth(set, peers->far[socket], SOCKET_WAIT_UNREAD, cell)
                        : 0;
    double for_reader = fmin(blocked, unread) / length;
    waits->peer[who][whom] += for_reader;
    waits->kinds[WAIT_KIND_MESSAGE][who][whom] += for_reader;
    waits->readers[who] += for_reader;
    waits->blocked[who][whom] += blocked / length - for_reader;
}

/* While a receiver holds up its sender, data are under way, too, but wait for nobody else. */
static void add_sent(const struct wait_chain *chain, size_t who, size_t socket, struct windows cell,
                     double length, struct cell_waits *waits) {
    const struct series_set *set = &chain->model->recording->tables[RECORDING_CONNECTION];
    const struct series *sent = chain->times[who].peers.sent[socket];
    size_t whom = chain->times[who].peers.sockets[socket];
    if (whom == SIZE_MAX || !sent)
        return;
    double busy = process_waits_growth(set, sent, CONNECTION_BUSY, cell) -
                  process_waits_growth(set, sent, CONNECTION_RWND_LIMITED, cell);
    waits->bytes[who][whom] += process_waits_growth(set, sent, CONNECTION_SEND_BYTES, cell);
    waits->sent[who][whom] = fmax(waits->sent[who][whom], fmin(busy / length, 1));
}

static void collect(const struct wait_chain *chain, size_t who, struct windows cell, double length,
                    struct told told[WAIT_KIND_COUNT_], struct told *ret_polls,
                    struct cell_waits *waits) {
    const struct series_set *wakeups = &chain->model->recording->tables[RECORDING_WAKEUP];
    const struct process_waits *of = &chain->members[who].waits;
    const struct wait_peers *peers = &chain->times[who].peers;
    for (size_t s = 0; s < of->n_sockets; s++) {
        tell(&told[WAIT_KIND_MESSAGE], peers->sockets[s], process_waits_starved(of, s, cell));
        add_blocked(chain, who, s, cell, length, waits);
        add_sent(chain, who, s, cell, length, waits);
    }
    for (size_t w = 0; w < of->n_wakeups; w++) {
        int kind = process_waits_kind(wakeups, of->wakeups[w]);
        if (kind >= 0)
            tell(kind == WAIT_KIND_MESSAGE ? ret_polls : &told[kind], peers->wakeups[w],
                 process_waits_woken(of, w, cell));
    }
}

/* Gives a process's waits of a kind, `most_ns` in all, to whoever ended them. Returns the rest. */
static double give(const struct wait_chain *chain, size_t who, int kind, const struct told *told,
                   double most_ns, double length, struct cell_waits *waits) {
    double part = told->all > most_ns ? most_ns / told->all : 1;
    for (size_t whom = 0; whom < chain->n; whom++) {
        double share = whom == who ? 0 : told->by[whom] * part / length;
        waits->peer[who][whom] += share;
        waits->kinds[kind][who][whom] += share;
    }
    return fmax(most_ns - told->all, 0);
}

static void find_waits(const struct wait_chain *chain, size_t who, size_t cell,
                       struct cell_waits *waits) {
    struct windows window = {&chain->cells[cell], 1};
    double length = (double)windows_length(window);
    struct told told[WAIT_KIND_COUNT_] = {{.all = 0}}, polls = {.all = 0};
    const struct budget *budget = &chain->times[who].cells[cell];
    waits->life[who] = budget_sum(budget, (1u << BUDGET_TERMS) - 1) * 1e9 / length;
    if (!(waits->life[who] > 0) || !chain->members[who].waits.n_clocks)
        return;
    struct process_time time = process_waits_in(&chain->members[who].waits, window);
    collect(chain, who, window, length, told, &polls, waits);
    /* the agent keeps no pair where the waker wrote to a connection, so a pair is the exact one */
    time.pool[WAIT_KIND_MESSAGE] =
        give(chain, who, WAIT_KIND_MESSAGE, &polls, time.pool[WAIT_KIND_MESSAGE], length, waits);
    for (int kind = 0; kind < WAIT_KIND_COUNT_; kind++)
        give(chain, who, kind, &told[kind], time.pool[kind], length, waits);
}

/* ---- the chains of a cell ---- */

struct walk {
    const struct wait_chain *chain;
    const struct cell_waits *waits;
    size_t cell;
    double length_s;
    double *seconds; /* [member * BUDGET_TERMS + term] */
    double *moved;   /* [from host * (n_hosts + 1) + to host] */
};

static void charge(struct walk *w, size_t who, enum budget_term term, double share) {
    w->seconds[who * BUDGET_TERMS + (size_t)term] += share * w->length_s;
}

/* Charged to the one that waits. */
static void charge_transfer(struct walk *w, size_t who, size_t from, size_t to, double share) {
    size_t hosts = w->chain->model->n_hosts + 1;
    size_t a = from == SIZE_MAX ? hosts - 1 : (size_t)w->chain->members[from].host;
    size_t b = to == SIZE_MAX ? hosts - 1 : (size_t)w->chain->members[to].host;
    charge(w, who, BUDGET_TRANSFER, share);
    w->moved[a * hosts + b] += share * w->length_s;
}

/* Two that waited for each other: the time is that of the bytes that went either way. */
static void charge_ways(struct walk *w, size_t who, size_t whom, double share) {
    double here = w->waits->bytes[who][whom], back = w->waits->bytes[whom][who];
    double part = here + back > 0 ? here / (here + back) : 0.5;
    charge_transfer(w, who, whom, who, share * part);
    charge_transfer(w, who, who, whom, share * (1 - part));
}

/* Time in which it did not wait for one of the chain. */
static double life_without(const struct walk *w, size_t who, uint64_t seen) {
    double left = w->waits->life[who];
    for (size_t k = 0; k < w->chain->n; k++)
        left -= seen >> k & 1 ? w->waits->peer[who][k] : 0;
    return left;
}

static double term_share(const struct walk *w, size_t who, enum budget_term term) {
    double s = w->chain->times[who].cells[w->cell].term_s[term];
    return isnan(s) ? 0 : s / w->length_s;
}

static void charge_sending(struct walk *w, size_t who, double scale) {
    double all = fmax(term_share(w, who, BUDGET_TRANSFER) - w->waits->readers[who], 0), known = 0;
    for (size_t k = 0; k < w->chain->n; k++)
        known += w->waits->blocked[who][k];
    double fit = known > all ? all / known : 1;
    for (size_t k = 0; k < w->chain->n; k++)
        if (w->waits->blocked[who][k] > 0)
            charge_transfer(w, who, who, k, w->waits->blocked[who][k] * fit * scale);
    if (all > known)
        charge_transfer(w, who, who, SIZE_MAX, (all - known) * scale);
}

static void charge_own(struct walk *w, size_t who, double scale) {
    double told = -w->waits->readers[who];
    for (enum budget_term term = 0; term < BUDGET_TERMS; term++)
        if (term != BUDGET_PEER_WAIT && term != BUDGET_TRANSFER)
            charge(w, who, term, term_share(w, who, term) * scale);
    for (size_t k = 0; k < w->chain->n; k++)
        told += w->waits->peer[who][k];
    charge(w, who, BUDGET_PEER_WAIT, fmax(term_share(w, who, BUDGET_PEER_WAIT) - told, 0) * scale);
    charge_sending(w, who, scale);
}

/* A process is charged with what it did in its part of a chain; its waits go on in others.
 * Recursion ends: each process is in a chain once. from: who waits for it; SIZE_MAX: it begins the
 * chain. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void follow(struct walk *w, size_t who, size_t from, double part, uint64_t seen, int depth) {
    double left = life_without(w, who, seen);
    if (left < ALWAYS_WAITS && w->waits->life[who] < ALWAYS_WAITS) { /* it has ended */
        charge(w, from == SIZE_MAX ? who : from, BUDGET_PEER_WAIT, part);
        return;
    }
    if (left < ALWAYS_WAITS && from != SIZE_MAX) {
        charge_ways(w, from, who, part);
        return;
    }
    if (left < ALWAYS_WAITS) {
        charge_transfer(w, who, SIZE_MAX, who, part);
        return;
    }
    charge_own(w, who, part / left);
    seen |= UINT64_C(1) << who;
    for (size_t k = 0; k < w->chain->n; k++) {
        double wait = w->waits->peer[who][k], next = wait * part / left;
        if (seen >> k & 1 || next <= 0)
            continue;
        double free_of_it = fmax(fmin(life_without(w, k, seen), 1 - w->waits->sent[who][k]), 0);
        if (wait > free_of_it) { /* for longer than it can have been about something else */
            charge_ways(w, who, k, next * (1 - free_of_it / wait));
            next *= free_of_it / wait;
        }
        if (next < PART_MIN || depth == DEPTH_MAX)
            charge(w, who, BUDGET_PEER_WAIT, next);
        else
            follow(w, k, who, next, seen, depth + 1);
    }
}

/* How much it takes part: asleep, and waiting for nobody known, it does not. */
static double takes_part(const struct walk *w, size_t who) {
    double sum = 0;
    for (enum budget_term term = 0; term < BUDGET_TERMS; term++)
        if (term != BUDGET_PEER_WAIT && term != BUDGET_IDLE)
            sum += term_share(w, who, term);
    for (size_t k = 0; k < w->chain->n; k++)
        sum += w->waits->peer[who][k];
    return sum;
}

static void walk_cell(struct walk *w) {
    double all = 0, life = 0, longest = 0;
    for (size_t k = 0; k < w->chain->n_begin; k++) {
        all += takes_part(w, k);
        life += w->waits->life[k];
        longest = fmax(longest, w->waits->life[k]);
    }
    for (size_t k = 0; k < w->chain->n_begin && longest > 0; k++) {
        double part = all >= PART_MIN ? takes_part(w, k) / all : w->waits->life[k] / life;
        if (part > 0)
            follow(w, k, SIZE_MAX, part * fmin(longest, 1), 0, 0);
    }
}

/* ---- the path ---- */

static bool holds(struct windows windows, const struct window *cell) {
    return windows_hold(windows, cell->begin_ns + (cell->end_ns - cell->begin_ns) / 2);
}

static void add_to(const struct walk *w, struct critical_part *part) {
    const struct wait_chain *chain = w->chain;
    size_t hosts = chain->model->n_hosts + 1;
    for (size_t i = 0; i < chain->n * BUDGET_TERMS; i++) {
        size_t host = (size_t)chain->members[i / BUDGET_TERMS].host;
        part->seconds[host * BUDGET_TERMS + i % BUDGET_TERMS] += w->seconds[i];
        if (part->rank_seconds)
            part->rank_seconds[i] += w->seconds[i];
        part->total_s += w->seconds[i];
    }
    for (size_t i = 0; part->transfers && i < hosts * hosts; i++)
        part->transfers[i] += w->moved[i];
}

static void add_waits(const struct walk *w, double *waited) {
    size_t n = w->chain->n;
    for (size_t i = 0; i < n * n * WAIT_KIND_COUNT_; i++) {
        size_t kind = i / (n * n), who = i / n % n, whom = i % n;
        waited[i] += w->waits->kinds[kind][who][whom] * w->length_s;
    }
}

static void add_cell(const struct walk *w, struct critical_path *path, double *waited) {
    const struct run_model *model = w->chain->model;
    const struct window *cell = &w->chain->cells[w->cell];
    for (size_t g = 0; g < path->n_groups; g++)
        if (holds(phase_windows(&model->groups[g]), cell))
            add_to(w, &path->groups[g]);
    for (size_t b = 0; b < path->n_blocks; b++)
        if (holds((struct windows){&path->block_windows[b], 1}, cell))
            add_to(w, &path->blocks[b]);
    if (holds(phase_windows(&model->groups[model->main_group]), cell))
        add_waits(w, waited);
}

static int walk_all(const struct wait_chain *chain, struct critical_path *path, double *waited) {
    size_t hosts = chain->model->n_hosts + 1, n_seconds = chain->n * BUDGET_TERMS + 1;
    struct cell_waits *waits = malloc(sizeof *waits);
    double *seconds = malloc(n_seconds * sizeof *seconds);
    double *moved = malloc(hosts * hosts * sizeof *moved);
    for (size_t c = 0; waits && seconds && moved && c < chain->n_cells; c++) {
        double length_s = (double)(chain->cells[c].end_ns - chain->cells[c].begin_ns) / 1e9;
        struct walk w = {chain, waits, c, length_s, seconds, moved};
        memset(waits, 0, sizeof *waits);
        memset(seconds, 0, n_seconds * sizeof *seconds);
        memset(moved, 0, hosts * hosts * sizeof *moved);
        for (size_t k = 0; k < chain->n; k++)
            find_waits(chain, k, c, waits);
        walk_cell(&w);
        add_cell(&w, path, waited);
    }
    bool ok = waits && seconds && moved;
    free(waits);
    free(seconds);
    free(moved);
    return ok ? 0 : -ENOMEM;
}

/* Share of the processes' time that wait clocks tell. */
static double clocked(const struct wait_chain *chain) {
    double all = 0, told = 0;
    for (size_t k = 0; k < chain->n; k++)
        for (size_t c = 0; c < chain->n_cells; c++) {
            const struct budget *b = &chain->times[k].cells[c];
            all += b->wall_s;
            told += budget_is_told(b) ? b->wall_s : 0;
        }
    return all > 0 ? told / all : 0;
}

static int keep_waits(const struct wait_chain *chain, const double *waited,
                      struct rank_budgets *ranks) {
    size_t n = chain->n;
    ranks->waits = calloc(n * n * WAIT_KIND_COUNT_ + 1, sizeof *ranks->waits);
    if (!ranks->waits)
        return -ENOMEM;
    for (size_t i = 0; i < n * n * WAIT_KIND_COUNT_; i++)
        if (waited[i] > 0)
            ranks->waits[ranks->n_waits++] =
                (struct process_wait){i / n % n, i % n, (enum wait_kind)(i / (n * n)), waited[i]};
    return 0;
}

int wait_chain_walk(struct wait_chain *chain, struct critical_path *path,
                    struct rank_budgets *ranks) {
    struct wait_ends *ends = NULL;
    if (!chain->n || chain->full || clocked(chain) < CLOCKED_MOST)
        return 0;
    double *waited = calloc(chain->n * chain->n * WAIT_KIND_COUNT_, sizeof *waited);
    chain->n_begin = ranks->n;
    int result = waited ? wait_ends_make(chain->model->recording, &ends) : -ENOMEM;
    for (size_t k = 0; result == 0 && k < chain->n; k++)
        result = wait_peers_find(ends, chain->members, chain->n, k, &chain->times[k].peers);
    if (result == 0)
        result = walk_all(chain, path, waited);
    if (result == 0)
        result = keep_waits(chain, waited, ranks);
    if (result == 0)
        path->source = CRITICAL_FROM_WAITS;
    wait_ends_free(ends);
    free(waited);
    return result;
}
