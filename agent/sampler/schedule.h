/* SPDX-License-Identifier: MIT */
/*
 * When to sample: arithmetic on wall-clock slots (multiples of the period), without clocks or
 * waits. All hosts sample on the same slots, so their frames belong together.
 *
 * The wall clock names the slots; the monotonic clock measures elapsed time. If the two disagree,
 * the wall clock was stepped: slots continue from the new time, and missed slots are counted by the
 * monotonic clock, so that a step of an hour is no missed hour.
 */
#ifndef CHOKEPOINT_AGENT_SCHEDULE_H
#define CHOKEPOINT_AGENT_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

struct schedule {
    int64_t period_ns, slow_period_ns;
    /* of the last frame; started: there is one */
    bool started;
    int64_t slot_ns, wall_ns, mono_ns;
    bool stepped;         /* the wall clock was stepped before the last frame */
    int64_t slow_slot_ns; /* slot of the last frame with the slow tables */
    uint64_t missed;      /* slots skipped since the stream began */
    uint64_t steps;       /* detected steps of the wall clock */
};

/* One instant of sampling. */
struct slot {
    int64_t slot_ns, wall_ns, mono_ns, late_ns;
    uint64_t missed; /* schedule.missed, with this frame */
    bool slow;       /* the slow tables join this frame */
};

void schedule_init(struct schedule *schedule, int64_t period_ns, int64_t slow_period_ns);

/* Continues after a stream's last frame: the slots since then count as missed. */
void schedule_resume(struct schedule *schedule, int64_t slot_ns, int64_t wall_ns, int64_t mono_ns,
                     uint64_t missed);

/* The wall-clock time of the next slot. After a step the slot nearest to the last frame may be
 * skipped, since two frames a few ms apart would make every rate noisy. */
int64_t schedule_next(const struct schedule *schedule, int64_t wall_ns, int64_t mono_ns);

/* Whether to take the frame after the wait for its slot. Yes if the clock is a little early, no if
 * it was set back meanwhile. */
bool schedule_is_due(const struct schedule *schedule, int64_t planned_ns, int64_t wall_ns,
                     int64_t mono_ns);

/* Takes a frame now, for the slot of schedule_next. */
void schedule_take(struct schedule *schedule, int64_t planned_ns, int64_t wall_ns, int64_t mono_ns,
                   struct slot *ret_slot);

/* Takes a frame now, between slots: the first and the last of an agent. The slow tables join;
 * late_ns is 0, since it waited for nothing. */
void schedule_take_unplanned(struct schedule *schedule, int64_t wall_ns, int64_t mono_ns,
                             struct slot *ret_slot);

#endif
