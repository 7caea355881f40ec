/* SPDX-License-Identifier: MIT */
/* Without calls: one process computes on a full core, while the others wait without using
 * theirs. */
#include <errno.h>
#include <math.h>

#include "analysis/causes/causes_private.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(SERIAL_ONE_CORE, 1.2, "cores", "used by a process with more than one busy thread")      \
    NUMBER(SERIAL_OTHERS, 0.5, "of a core", "used by the other ranks in the median")
#define OWN_REMARKS                                                                                \
    REMARK(PROCESS_FILLS_CORE,                                                                     \
           "%s used %.0f %% of one core, the other ranks %.0f %% in the median",                   \
           SLOTS("of a core, %", "median of the others, %"), SLOTS("process"))
#include "analysis/causes/own.h"

static int add_serial_process(const struct run_model *model, size_t group, int host,
                              const struct model_process *process, double share, double others,
                              struct candidates *candidates) {
    struct candidate c = candidate_of(host, group, RESOURCE_CPU, CAUSE_SERIAL);
    double mean = model_mean(model, host, METRIC_JOB_CPU, group);
    c.blocked = share;
    c.signals = 2;
    c.rank = process->rank;
    c.metric.signal = &model->hosts[host].metrics[METRIC_JOB_CPU];
    c.metric.factor = mean > 0 ? share / mean : 0;
    remark_set(&c.cause, PROCESS_COMPUTES_ALONE, NUMBERS(), NAMES());
    remarks_add(&c.evidence, PROCESS_FILLS_CORE, NUMBERS(100 * share, 100 * others),
                NAMES(process->series->name));
    remarks_add(&c.against, FASTER_CORE_OR_THREADS, NUMBERS(), NAMES());
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    double median = ranks_busy(model, group);
    const struct model_process *busiest = NULL;
    double most = 0;
    size_t ranks = 0;
    for (size_t p = 0; p < model->n_processes; p++) {
        const struct model_process *process = &model->processes[p];
        if (!model_is_rank(model, process))
            continue;
        struct process_use use = model_group_use(model, process, group);
        double share = use.cpu_s / use.wall_s;
        ranks++;
        if (share > most) {
            most = share;
            busiest = process;
        }
    }
    if (candidates_any(candidates, group, 1u << RESOURCE_CPU) || ranks < 3 ||
        most < number_of(model, BUSY_RANK) || most > number_of(model, SERIAL_ONE_CORE) ||
        !(median <= number_of(model, SERIAL_OTHERS)))
        return 0;
    return add_serial_process(model, group, busiest->host, busiest, fmin(1, most), median,
                              candidates);
}

const struct cause cause_serial_process = {
    .name = "serial-process",
    .resource = RESOURCE_CPU,
    .kind = CAUSE_SERIAL,
    .instead = 1u << SOURCE_CALLS | 1u << SOURCE_WAITS,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "one process computes on a full core while all others wait without using theirs",
    .yields_to = YIELDS_TO(&cause_contention),
    .detect = detect,
    .advise = advise_divide,
};
