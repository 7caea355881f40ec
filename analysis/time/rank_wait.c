/* SPDX-License-Identifier: MIT */
/*
 * The kernel counts a wait for a core or a disk when it ends, so an interval may hold more waiting
 * than time if the wait began earlier. The excess goes back to the intervals before, up to the time
 * in which the process neither ran nor waited there. An excess that fits nowhere stays (waits of
 * several threads may overlap).
 *
 * Throttling of a group is counted when it may run again, and the wait of its process when that
 * runs: a sample between the two puts one of them into the earlier interval. Neighbours exchange
 * it.
 *
 * Stops are sampled: an interval counts as stopped if the process is stopped at its end. So the
 * first interval of a stop counts too much, by the time in which the process ran and waited before,
 * and the interval in which it continues counts too little. The excess of the first goes to the
 * last.
 */
#include <math.h>

#include "analysis/time/budget_private.h"
#include "analysis/time/rank_budget_private.h"

#define APART_MAX_NS 1000000 /* intervals touch, except for corrections of their clocks */

static bool follows(const struct budget_interval *a, const struct budget_interval *b) {
    return b->begin_ns - a->end_ns <= APART_MAX_NS;
}

/* Time of the interval in which the process is not known to have done anything. */
static double room_of(const struct budget_interval *i, double waits) {
    return fmax((double)(i->end_ns - i->begin_ns) - budget_amount(i->cpu) - waits, 0);
}

static double room_for_queue(const struct budget_interval *i) {
    return room_of(i, budget_amount(i->run_queue));
}

static double room_for_disk(const struct budget_interval *i) {
    return room_of(i, budget_amount(i->run_queue) + budget_amount(i->disk));
}

/* The interval's terms beyond its length, at most `waited`. */
static double excess_of(const struct budget_interval *i, double waits, double waited) {
    return fmin(fmax(budget_amount(i->cpu) + waits - (double)(i->end_ns - i->begin_ns), 0), waited);
}

static void move_queue(struct budget_interval *from, struct budget_interval *to, double amount) {
    double quota = budget_amount(from->quota) * (amount / from->run_queue);
    if (quota > 0) {
        from->quota -= quota;
        to->quota = budget_amount(to->quota) + quota;
    }
    from->run_queue -= amount;
    to->run_queue += amount;
}

/* Moves the disk's part of short memory, too. */
static void move_disk(struct budget_interval *from, struct budget_interval *to, double amount) {
    double memory = fmin(budget_amount(from->memory), from->disk) * (amount / from->disk);
    if (memory > 0) {
        from->memory -= memory;
        to->memory = budget_amount(to->memory) + memory;
    }
    from->disk -= amount;
    to->disk += amount;
}

static void hand_back_queue(struct budget_interval *items, size_t last) {
    double excess =
        excess_of(&items[last], budget_amount(items[last].run_queue), items[last].run_queue);
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
    double waits = budget_amount(items[last].run_queue) + budget_amount(items[last].disk);
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

/* Waits in an interval that no quota explains yet take a part of the neighbour's excess of quota.
 */
static void take_quota(struct budget_interval *from, struct budget_interval *to) {
    double spare = budget_amount(from->quota) - budget_amount(from->run_queue);
    double part = fmin(spare, budget_amount(to->run_queue) - budget_amount(to->quota));
    if (part > 0) {
        from->quota -= part;
        to->quota = budget_amount(to->quota) + part;
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
        if (items[i].quota > budget_amount(items[i].run_queue))
            items[i].quota = budget_amount(items[i].run_queue);
}

/* A stop continues through intervals that it fills; the first interval with room is its last. */
static void hand_on_stop(struct budget_interval *items, size_t n, size_t first) {
    double room = room_for_disk(&items[first]), excess = items[first].stopped - room;
    for (size_t i = first; excess > 0 && i + 1 < n && follows(&items[i], &items[i + 1]);) {
        i++;
        room = room_for_disk(&items[i]) - budget_amount(items[i].stopped);
        if (room > 0) {
            items[i].stopped = budget_amount(items[i].stopped) + fmin(room, excess);
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
