/* SPDX-License-Identifier: MIT */
/*
 * A job that asks nothing of its hosts: its processes sleep. That is an answer, not a riddle. Wait
 * clocks tell in what they sleep. Without clocks a process with a connection, or on a host whose
 * disks were waited for, may wait for these, so that nothing is said.
 */
#include <math.h>

#include "analysis/evidence/asked.h"
#include "analysis/time/process_waits.h"
#include "analysis/verdict/verdict_private.h"

struct sleeps {
    double timer, events; /* ns of the job's processes */
    bool clocked;         /* of all of them */
};

static struct sleeps look_at_sleeps(const struct run_model *model) {
    const struct series_set *set = &model->recording->tables[RECORDING_WAIT];
    struct windows windows = phase_windows(&model->groups[model->main_group]);
    struct sleeps sleeps = {.clocked = model->budgets.n > 0};
    for (size_t r = 0; r < model->budgets.n; r++) {
        const struct rank_budget *process = &model->budgets.items[r];
        const struct series *clocks = series_of_pid(set, process->host, WAIT_PID, process->pid);
        if (!clocks) {
            sleeps.clocked = false;
            continue;
        }
        sleeps.timer += process_waits_growth(set, clocks, WAIT_PROCESS_TIMER, windows);
        const size_t events[] = {WAIT_PROCESS_POLL, WAIT_PROCESS_ACCEPT, WAIT_PROCESS_OTHER};
        for (size_t e = 0; e < sizeof events / sizeof *events; e++)
            sleeps.events += process_waits_growth(set, clocks, events[e], windows);
    }
    return sleeps;
}

/* Whether the job might have waited for something that its counters do not tell. */
static bool may_wait_unseen(const struct run_model *model) {
    const struct series_set *connections = &model->recording->tables[RECORDING_CONNECTION];
    for (size_t s = 0; s < connections->n; s++)
        for (size_t r = 0; r < model->budgets.n; r++)
            if (connections->items[s].host == model->budgets.items[r].host &&
                series_last(connections, &connections->items[s], CONNECTION_PID) ==
                    model->budgets.items[r].pid)
                return true;
    for (size_t h = 0; h < model->n_hosts; h++)
        if (model_mean(model, (int)h, METRIC_PSI_IO, model->main_group) >
            100 * number_of(model, GAIN_MIN))
            return true;
    return false;
}

static void say_asleep(const struct sleeps *sleeps, double asleep, struct verdict *v) {
    double pct = round(100 * asleep);
    if (!sleeps->clocked)
        remarks_add(&v->summary, ASLEEP, NUMBERS(pct), NAMES());
    else if (sleeps->timer >= sleeps->events)
        remarks_add(&v->summary, ASLEEP_UNTIL, NUMBERS(pct), NAMES());
    else
        remarks_add(&v->summary, ASLEEP_FOR_EVENT, NUMBERS(pct), NAMES());
}

bool verdict_of_idle(const struct run_model *model, struct verdict *v) {
    struct sleeps sleeps = look_at_sleeps(model);
    if (verdict_has_ranks(model) || !asks_nothing(model) ||
        (!sleeps.clocked && may_wait_unseen(model)))
        return false;
    v->state = VERDICT_IDLE;
    v->confidence = verdict_confidence_counted(model, 1);
    remark_set(&v->cause, NOTHING_ASKED, NUMBERS(), NAMES());
    say_asleep(&sleeps, 1 - asked_cores(model), v);
    return true;
}
