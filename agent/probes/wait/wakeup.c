/* SPDX-License-Identifier: MIT */
/*
 * Pairs of waiter and waker on a host. The waker's system call woke a thread of the job from a
 * futex, a pipe, a socket within the host, poll, or the wait for a child. A name server has no id:
 * its answers may come from anywhere. All pairs beyond the first PAIRS_MAX share one row.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "agent/base/counter.h"
#include "agent/base/source.h"
#include "agent/probes/probes.h"
#include "agent/probes/wait/wait_watch.h"
#include "common/text.h"
#include "tables/keys.h"

#define PAIRS_MAX 256
#define PROCESS_MAX 30
#define OTHER "other"

struct pair {
    struct wait_wakeup_key key;
    uint64_t ns, times, process_ns; /* as reported; never step back */
    bool seen, born, sent;
    char name[INSTANCE_MAX + 1];
    uint64_t waiter_start_ns; /* identifies the waiter if ids are reused */
};

struct wakeup {
    struct wait_watch *watch;
    uint64_t sample;
    size_t n;
    struct pair pairs[PAIRS_MAX];
    uint64_t other_ns, other_times;
    bool other_sent;
    struct wait_wakeup_key keys[WAIT_WAKEUPS];
    struct wait_wakeup values[WAIT_WAKEUPS];
};

static const struct {
    const char *name; /* NULL: pairs leave this state out */
    int number;
} reasons[WAIT_REASONS] = {
#define BLOCKED_ON_PEER(ID, number, name, what) [WAIT_##ID] = {name, number},
#define PAIR(ID, number, name, what) [WAIT_##ID] = {name, number},
#include "tables/wait_states.def"
};

/* ---- pairs ---- */

static struct pair *find_pair(struct wakeup *probe, const struct wait_wakeup_key *key) {
    for (size_t i = 0; i < probe->n; i++)
        if (memcmp(&probe->pairs[i].key, key, sizeof *key) == 0)
            return &probe->pairs[i];
    return NULL;
}

/* "comm[pid]", for processes outside the job from their file in /proc; "[pid]" without a name. */
static void name_process(const struct wakeup *probe, const struct probe_env *env, uint32_t pid,
                         char name[INSTANCE_MAX + 1]) {
    const struct wait_group *group = wait_watch_find(probe->watch, pid);
    char path[600], comm[32];
    if (group && group->listed) {
        memcpy(name, group->name, INSTANCE_MAX + 1);
        return;
    }
    snprintf(path, sizeof path, "%s/%u/comm", env->proc, pid);
    int n = file_read_small(AT_FDCWD, path, comm, sizeof comm);
    n = n > 0 && comm[n - 1] == '\n' ? n - 1 : n;
    key_write(&KEY_OF_PROCESS(comm, n > 0 ? (size_t)n : 0, pid), name);
}

/* Cuts a process's name so that another one fits behind it. */
static struct key_process first_of(const char *name) {
    return (struct key_process){{name, strnlen(name, PROCESS_MAX)}, KEY_NO_ID};
}

static struct pair *add_pair(struct wakeup *probe, const struct probe_env *env,
                             const struct wait_wakeup_key *key, const struct wait_group *waiter) {
    char waker[INSTANCE_MAX + 1] = KEY_NAME_SERVER;
    if (probe->n == PAIRS_MAX)
        return NULL;
    struct pair *pair = &probe->pairs[probe->n++];
    *pair =
        (struct pair){.key = *key, .born = probe->sample > 1, .waiter_start_ns = waiter->start_ns};
    if (key->state != WAIT_NAME)
        name_process(probe, env, key->waker, waker);
    const struct table_key named = {.form = KEY_PAIR,
                                    .process = first_of(waiter->name),
                                    .waker = first_of(waker),
                                    .reason = text_span(reasons[key->state].name)};
    key_write(&named, pair->name);
    return pair;
}

/* ---- rows ---- */

static void append_pair(struct pair *pair, struct rows *rows) {
    struct row *row = rows_append(rows, pair->name, strlen(pair->name));
    if (!row)
        return;
    row->flags = pair->born && !pair->sent ? ROW_BORN : 0;
    pair->sent = true;
    row->values[WAKEUP_PID] = pair->key.waiter;
    row->values[WAKEUP_WAKER] = pair->key.waker;
    row->values[WAKEUP_REASON] = reasons[pair->key.state].number;
    row->values[WAKEUP_WAIT] = counter_value(pair->ns, 1);
    row->values[WAKEUP_TIMES] = counter_value(pair->times, 1);
    row->values[WAKEUP_PROCESS] = counter_value(pair->process_ns, 1);
}

static void append_other(struct wakeup *probe, struct rows *rows) {
    const struct wait_totals *totals = probe->watch->memory.totals;
    uint64_t ns = probe->other_ns + totals->lost_wakeup_ns;
    uint64_t times = probe->other_times + totals->lost[WAIT_LOST_WAKEUPS];
    if (!times)
        return;
    struct row *row = rows_append(rows, OTHER, strlen(OTHER));
    if (!row)
        return;
    row->flags = probe->other_sent ? 0 : ROW_BORN;
    probe->other_sent = true;
    row->values[WAKEUP_WAIT] = counter_value(ns, 1);
    row->values[WAKEUP_TIMES] = counter_value(times, 1);
}

static void forget(struct wakeup *probe, const struct wait_wakeup_key *key) {
    if (probe->watch->source)
        wait_source_forget_wakeup(probe->watch->source, key);
}

static void take_pair(struct wakeup *probe, const struct probe_env *env,
                      const struct wait_wakeup_key *key, const struct wait_wakeup *value) {
    const struct wait_group *waiter = wait_watch_find(probe->watch, key->waiter);
    struct pair *pair = find_pair(probe, key);
    if (key->state >= WAIT_REASONS || !reasons[key->state].name || (!waiter && !pair)) {
        forget(probe, key);
        return;
    }
    if (waiter && !waiter->listed)
        return; /* not listed yet, ended, or moved to another host */
    if (!pair)
        pair = add_pair(probe, env, key, waiter);
    if (!pair) {
        /* Each pair is removed, so that it is added once; its next growth begins at zero. */
        probe->other_ns += value->ns;
        probe->other_times += value->times;
        forget(probe, key);
        return;
    }
    pair->seen = true;
    pair->ns = value->ns > pair->ns ? value->ns : pair->ns;
    pair->times = value->times > pair->times ? value->times : pair->times;
    pair->process_ns = value->process_ns > pair->process_ns ? value->process_ns : pair->process_ns;
}

/* Drops the pairs whose waiter ended: they have had their last row. */
static void keep(struct wakeup *probe) {
    size_t kept = 0;
    for (size_t i = 0; i < probe->n; i++) {
        struct pair *pair = &probe->pairs[i];
        const struct wait_group *waiter = wait_watch_find(probe->watch, pair->key.waiter);
        if (waiter && waiter->start_ns == pair->waiter_start_ns)
            probe->pairs[kept++] = *pair;
        else
            forget(probe, &pair->key);
    }
    probe->n = kept;
}

static int wakeup_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct wakeup *probe = state;
    probe->sample++;
    int n = probe->watch->source ? wait_source_wakeups(probe->watch->source, probe->keys,
                                                       probe->values, WAIT_WAKEUPS)
                                 : 0;
    if (n < 0)
        return n;
    for (int i = 0; i < n && i < WAIT_WAKEUPS; i++)
        take_pair(probe, env, &probe->keys[i], &probe->values[i]);
    for (size_t i = 0; i < probe->n; i++)
        append_pair(&probe->pairs[i], rows);
    append_other(probe, rows);
    keep(probe);
    return 0;
}

static int wakeup_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct wakeup *probe = state;
    (void)why, (void)why_size;
    if (!env->waits || !env->waits->is_open)
        return PROBE_ABSENT; /* table wait says why */
    probe->watch = env->waits;
    return 0;
}

static size_t wakeup_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return PAIRS_MAX + 1;
}

const struct probe probe_wakeup = {
    .table = &all_tables[TABLE_WAKEUP],
    .pace = PACE_PROCESS,
    .state_size = sizeof(struct wakeup),
    .max_rows = wakeup_max_rows,
    .open = wakeup_open,
    .sample = wakeup_sample,
};
