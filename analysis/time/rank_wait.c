/* SPDX-License-Identifier: MIT */
/*
 * The kernel counts a wait for a core or a disk when it ends, so one that began in an earlier
 * interval makes its last interval hold more waiting than time. The excess is handed back to the
 * intervals before, up to the time in which the process neither ran nor waited there: the wait was
 * in them. An excess that fits nowhere stays (waits of several threads may overlap).
 *
 * Throttling of a group is counted when it may run again, and the wait of its process when that
 * runs: a sample between the two leaves one of them an interval behind. Neighbours make that up.
 *
 * Stops are sampled: an interval at whose end the process is stopped counts as stopped, the one in
 * which it goes on does not. The first one of a stop so holds too much, by what the process ran and
 * waited before, and the last one has room for about as much: it gets it.
 */
#include <math.h>

#include "analysis/time/rank_budget_private.h"

#define APART_MAX_NS 1000000 /* intervals meet but for what their clocks are corrected by */

static bool follows(const struct budget_interval *a, const struct budget_interval *b) {
    return b->begin_ns - a->end_ns <= APART_MAX_NS;
}

static double number(double value) {
    return isnan(value) || value < 0 ? 0 : value;
}

/* Time of the interval in which nothing is known to have been done. */
static double room_of(const struct budget_interval *i, double waits) {
    return fmax((double)(i->end_ns - i->begin_ns) - number(i->cpu) - waits, 0);
}

static double room_for_queue(const struct budget_interval *i) {
    return room_of(i, number(i->run_queue));
}

static double room_for_disk(const struct budget_interval *i) {
    return room_of(i, number(i->run_queue) + number(i->disk));
}

/* How much more than its time the interval holds, at most `waited`. */
static double excess_of(const struct budget_interval *i, double waits, double waited) {
    return fmin(fmax(number(i->cpu) + waits - (double)(i->end_ns - i->begin_ns), 0), waited);
}

static void move_queue(struct budget_interval *from, struct budget_interval *to, double amount) {
    double quota = number(from->quota) * (amount / from->run_queue);
    if (quota > 0) {
        from->quota -= quota;
        to->quota = number(to->quota) + quota;
    }
    from->run_queue -= amount;
    to->run_queue += amount;
}

/* The disk's part of short memory goes along. */
static void move_disk(struct budget_interval *from, struct budget_interval *to, double amount) {
    double memory = fmin(number(from->memory), from->disk) * (amount / from->disk);
    if (memory > 0) {
        from->memory -= memory;
        to->memory = number(to->memory) + memory;
    }
    from->disk -= amount;
    to->disk += amount;
}

static void hand_back_queue(struct budget_interval *items, size_t last) {
    double excess = excess_of(&items[last], number(items[last].run_queue), items[last].run_queue);
    for (size_t i = last; excess > 0 && i-- > 0 && follows(&items[i], &items[i + 1]);) {
        double part = fmin(excess, room_for_queue(&items[i]));
        if (isnan(items[i].run_queue))
            return;
        if (part > 0)
            move_queue(&items[last], &items[i], part);
        excess -= part;
    }
}

static void hand_back_disk(struct budget_interval *items, size_t last) {
    double waits = number(items[last].run_queue) + number(items[last].disk);
    double excess = excess_of(&items[last], waits, items[last].disk);
    for (size_t i = last; excess > 0 && i-- > 0 && follows(&items[i], &items[i + 1]);) {
        double part = fmin(excess, room_for_disk(&items[i]));
        if (isnan(items[i].disk))
            return;
        if (part > 0)
            move_disk(&items[last], &items[i], part);
        excess -= part;
    }
}

/* Waits of an interval that no quota explains yet take part of the excess of its neighbour. */
static void take_quota(struct budget_interval *from, struct budget_interval *to) {
    double spare = number(from->quota) - number(from->run_queue);
    double part = fmin(spare, number(to->run_queue) - number(to->quota));
    if (part > 0) {
        from->quota -= part;
        to->quota = number(to->quota) + part;
    }
}

static void settle_quota(struct budget_interval *items, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && follows(&items[i - 1], &items[i]))
            take_quota(&items[i], &items[i - 1]);
        if (i + 1 < n && follows(&items[i], &items[i + 1]))
            take_quota(&items[i], &items[i + 1]);
    }
    for (size_t i = 0; i < n; i++)
        if (items[i].quota > number(items[i].run_queue))
            items[i].quota = number(items[i].run_queue);
}

/* A stop goes on through intervals that it fills; the first one with room is its last. */
static void hand_on_stop(struct budget_interval *items, size_t n, size_t first) {
    double room = room_for_disk(&items[first]), excess = items[first].stopped - room;
    for (size_t i = first; excess > 0 && i + 1 < n && follows(&items[i], &items[i + 1]);) {
        i++;
        room = room_for_disk(&items[i]) - number(items[i].stopped);
        if (room > 0) {
            items[i].stopped = number(items[i].stopped) + fmin(room, excess);
            break;
        }
    }
    if (excess > 0)
        items[first].stopped -= excess;
}

void budget_settle_waits(struct budget_interval *items, size_t n) {
    settle_quota(items, n);
    for (size_t i = n; i-- > 1;)
        if (!isnan(items[i].run_queue))
            hand_back_queue(items, i);
    for (size_t i = n; i-- > 1;)
        if (!isnan(items[i].disk))
            hand_back_disk(items, i);
    for (size_t i = 0; i < n; i++)
        if (items[i].stopped > 0)
            hand_on_stop(items, n, i);
}
