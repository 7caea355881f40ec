/* SPDX-License-Identifier: MIT */
/*
 * When to sample: arithmetic on wall-clock slots (multiples of the period), no clock, no waiting.
 * All hosts sample on the same slots, so their frames belong together.
 *
 * The wall clock names the slots; how much time really went by is asked of the monotonic clock. The
 * two disagreeing means that the wall clock was stepped: slots then go on from the new time, and
 * what was missed is counted on the monotonic clock, so that a step of an hour is no missed hour.
 */
#ifndef CHOKEPOINT_AGENT_SCHEDULE_H
#define CHOKEPOINT_AGENT_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

struct schedule {
    int64_t period_ns, slow_period_ns;
    /* of the last frame; started: there was one */
    bool started;
    int64_t slot_ns, wall_ns, mono_ns;
    bool stepped;         /* the wall clock had been stepped before it */
    int64_t slow_slot_ns; /* of the last frame with the slow tables */
    uint64_t missed;      /* slots passed over since the stream began */
    uint64_t steps;       /* of the wall clock that were noticed */
};

/* One instant to sample at. */
struct slot {
    int64_t slot_ns, wall_ns, mono_ns, late_ns;
    uint64_t missed; /* as schedule.missed, this frame included */
    bool slow;       /* the slow tables join */
};

void schedule_init(struct schedule *schedule, int64_t period_ns, int64_t slow_period_ns);

/* Goes on after a stream's last frame: the slots since then count as missed. */
void schedule_resume(struct schedule *schedule, int64_t slot_ns, int64_t wall_ns, int64_t mono_ns,
                     uint64_t missed);

/* The wall-clock time of the next slot. After a step the slot nearest to the last frame may be left
 * out, since two frames a few ms apart would make noise of every rate. */
int64_t schedule_next(const struct schedule *schedule, int64_t wall_ns, int64_t mono_ns);

/* Whether to take the frame when the wait for its slot is over: not if the clock shows a little
 * less, but if it was set back in the meantime. */
bool schedule_is_due(const struct schedule *schedule, int64_t planned_ns, int64_t wall_ns,
                     int64_t mono_ns);

/* A frame is taken now, for the slot that schedule_next gave. */
void schedule_take(struct schedule *schedule, int64_t planned_ns, int64_t wall_ns, int64_t mono_ns,
                   struct slot *ret_slot);

/* A frame is taken now, between slots: the first and the last of an agent. The slow tables join;
 * late_ns is 0, since it waited for nothing. */
void schedule_take_unplanned(struct schedule *schedule, int64_t wall_ns, int64_t mono_ns,
                             struct slot *ret_slot);

#endif
