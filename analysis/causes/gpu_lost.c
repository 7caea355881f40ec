/* SPDX-License-Identifier: MIT */
/* A GPU has fallen off its bus, or its memory had an error that could not be corrected. */
#include <errno.h>
#include <math.h>

#include "analysis/causes/gpu_private.h"

#define OWN_REMARKS                                                                                \
    REMARK(GPU_IS_LOST,                                                                            \
           "%s %[has fallen off the bus, or must be reset|had errors of its memory "               \
           "that could not be corrected]",                                                         \
           SLOTS("1 lost, 2 memory"), SLOTS("GPU"))                                                \
    REMARK(GPU_LAST_XID_WAS, "the last error that its driver reported was Xid %d", SLOTS("Xid"),   \
           SLOTS())                                                                                \
    REMARK(ADVISE_GPU_LOST,                                                                        \
           "take the GPU of %s out of use: `dmesg` there has the driver's messages, `nvidia-smi "  \
           "-q` its errors; reset it, or have it exchanged",                                       \
           SLOTS(), SLOTS("host"))
#include "analysis/causes/own.h"

#define LOST 1
#define ECC 2

struct lost {
    int what;
    double share; /* of the group's time, from then on */
};

static struct lost look_for_loss(const struct series_set *set, const struct series *gpu,
                                 struct windows windows) {
    struct lost found = {0};
    for (size_t i = 0; i < gpu->n && !found.what; i++) {
        if (!series_row_ends_in(gpu, i, windows))
            continue;
        bool lost = series_value(set, gpu, i, GPU_LOST) == 1;
        bool ecc = series_amount(series_value(set, gpu, i, GPU_ECC_UNCORRECTED)) > 0;
        if (!lost && !ecc)
            continue;
        int64_t end_ns = windows.items[windows.n - 1].end_ns;
        found.what = lost ? LOST : ECC;
        found.share =
            windows_common_ns(windows, gpu->t_ns[i], end_ns) / (double)windows_length(windows);
    }
    return found;
}

static int add_loss(const struct series_set *set, const struct series *gpu, size_t group,
                    struct lost lost, struct candidates *candidates) {
    struct candidate c = candidate_of(gpu->host, group, RESOURCE_GPU, CAUSE_GPU_LOST);
    int64_t xid = series_last(set, gpu, GPU_LAST_XID);
    c.blocked = lost.share;
    c.saturated = true;
    c.signals = 2;
    remark_set(&c.cause, GPU_IS_LOST, NUMBERS(lost.what), NAMES(gpu->name));
    if (xid > 0)
        remarks_add(&c.evidence, GPU_LAST_XID_WAS, NUMBERS((double)xid), NAMES());
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    const struct series_set *set = &model->recording->tables[RECORDING_GPU];
    int result = 0;
    for (size_t s = 0; result == 0 && s < set->n; s++) {
        struct lost lost = look_for_loss(set, &set->items[s], phase_windows(&model->groups[group]));
        if (lost.what && lost.share >= number_of(model, BLOCKED_MIN))
            result = add_loss(set, &set->items[s], group, lost, candidates);
    }
    return result;
}

static void advise(const struct advised *advised) {
    remarks_add(advised->next, ADVISE_GPU_LOST, NUMBERS(), NAMES(advised->host));
}

const struct cause cause_gpu_lost = {
    .name = "gpu-lost",
    .resource = RESOURCE_GPU,
    .kind = CAUSE_GPU_LOST,
    .remarks = own_remarks,
    .reason = "a lost GPU does nothing, and one with broken memory ends its work",
    .detect = detect,
    .advise = advise,
};
