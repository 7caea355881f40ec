/* SPDX-License-Identifier: MIT */
/* Pure arithmetic; see the header. sampler.c keeps times far from INT64_MAX. */
#include "agent/sampler/schedule.h"

static int64_t floor_to(int64_t t_ns, int64_t period_ns) {
    return t_ns - t_ns % period_ns;
}

void schedule_init(struct schedule *schedule, int64_t period_ns, int64_t slow_period_ns) {
    *schedule = (struct schedule){.period_ns = period_ns, .slow_period_ns = slow_period_ns};
}

void schedule_resume(struct schedule *schedule, int64_t slot_ns, int64_t wall_ns, int64_t mono_ns,
                     uint64_t missed) {
    schedule->started = true;
    schedule->slot_ns = slot_ns;
    schedule->wall_ns = wall_ns;
    schedule->mono_ns = mono_ns;
    schedule->missed = missed;
}

/* How far the wall clock moved beyond the elapsed time. A slewed clock moves by at most 500 ppm; a
 * thousandth is allowed. */
static bool was_stepped(const struct schedule *schedule, int64_t wall_ns, int64_t mono_ns) {
    int64_t went_by = mono_ns - schedule->mono_ns;
    int64_t moved = wall_ns - schedule->wall_ns - went_by;
    int64_t allowed = schedule->period_ns / 2 + went_by / 1000;
    return schedule->started && (moved > allowed || moved < -allowed);
}

int64_t schedule_next(const struct schedule *schedule, int64_t wall_ns, int64_t mono_ns) {
    int64_t next = floor_to(wall_ns, schedule->period_ns) + schedule->period_ns;
    int64_t apart = mono_ns + (next - wall_ns) - schedule->mono_ns;
    bool stepped = schedule->stepped || was_stepped(schedule, wall_ns, mono_ns);
    if (stepped && apart < schedule->period_ns / 2)
        next += schedule->period_ns;
    return next;
}

bool schedule_is_due(const struct schedule *schedule, int64_t planned_ns, int64_t wall_ns,
                     int64_t mono_ns) {
    return wall_ns >= planned_ns || was_stepped(schedule, wall_ns, mono_ns);
}

/* After a step the next slot may be one and a half periods away, which counts as none missed. */
static uint64_t missed_between(const struct schedule *schedule, const struct slot *slot,
                               bool stepped) {
    if (!schedule->started)
        return 0;
    int64_t apart = stepped || schedule->stepped
                        ? slot->mono_ns - schedule->mono_ns + schedule->period_ns / 8
                        : slot->slot_ns - schedule->slot_ns;
    int64_t periods = apart / schedule->period_ns;
    return periods > 1 ? (uint64_t)periods - 1 : 0;
}

static bool slow_is_due(const struct schedule *schedule, const struct slot *slot) {
    int64_t period = schedule->slow_period_ns;
    return slot->slot_ns / period != schedule->slow_slot_ns / period;
}

static void take(struct schedule *schedule, struct slot *slot, bool stepped, bool force_slow) {
    slot->missed = schedule->missed + missed_between(schedule, slot, stepped);
    slot->slow = force_slow || slow_is_due(schedule, slot);
    schedule->steps += stepped;
    schedule->stepped = stepped;
    schedule->started = true;
    schedule->slot_ns = slot->slot_ns;
    schedule->wall_ns = slot->wall_ns;
    schedule->mono_ns = slot->mono_ns;
    schedule->missed = slot->missed;
    if (slot->slow)
        schedule->slow_slot_ns = slot->slot_ns;
}

void schedule_take(struct schedule *schedule, int64_t planned_ns, int64_t wall_ns, int64_t mono_ns,
                   struct slot *ret_slot) {
    bool stepped = was_stepped(schedule, wall_ns, mono_ns);
    int64_t slot_ns = stepped ? floor_to(wall_ns, schedule->period_ns) : planned_ns;
    *ret_slot = (struct slot){
        .slot_ns = slot_ns, .wall_ns = wall_ns, .mono_ns = mono_ns, .late_ns = wall_ns - slot_ns};
    take(schedule, ret_slot, stepped, false);
}

void schedule_take_unplanned(struct schedule *schedule, int64_t wall_ns, int64_t mono_ns,
                             struct slot *ret_slot) {
    bool stepped = was_stepped(schedule, wall_ns, mono_ns);
    *ret_slot = (struct slot){
        .slot_ns = floor_to(wall_ns, schedule->period_ns), .wall_ns = wall_ns, .mono_ns = mono_ns};
    take(schedule, ret_slot, stepped, true);
}
