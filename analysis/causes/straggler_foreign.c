/* SPDX-License-Identifier: MIT */
/* Programs outside the job that ran while a rank was slow. */
#include <math.h>

#include "analysis/causes/causes_private.h"

static double worth(double value) {
    return isnan(value) ? 0 : value;
}

/* The process outside the job that used most of a host's CPU, or of its disks, in these windows. */
const struct model_process *slowed_foreign(const struct run_model *model, int host,
                                           struct windows windows, bool disk, double *ret_amount) {
    const struct model_process *process = NULL, *most = NULL;
    *ret_amount = 0;
    while ((process = model_next_process(model, host, false, process))) {
        struct process_use use = model_process_use(model, process, windows);
        double amount = disk ? worth(use.read_bytes) + worth(use.write_bytes) : worth(use.cpu_s);
        if (amount > *ret_amount) {
            *ret_amount = amount;
            most = process;
        }
    }
    return most;
}

void slowed_blame(const struct run_model *model, const struct model_process *other,
                  struct straggler *s) {
    struct culprit culprit = culprit_of(model, other);
    s->culprit = culprit.process;
    s->culprit_pid = culprit.pid;
}
