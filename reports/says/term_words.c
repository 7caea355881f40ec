/* SPDX-License-Identifier: MIT */
#include "reports/says/term_words.h"

static const char *const words[BUDGET_TERMS] = {
    [BUDGET_CPU] = "computing",
    [BUDGET_RUN_QUEUE] = "waiting for a core",
    [BUDGET_QUOTA] = "throttled by its quota",
    [BUDGET_STEAL] = "core taken by the hypervisor",
    [BUDGET_DISK] = "disk",
    [BUDGET_MEMORY] = "short memory",
    [BUDGET_GPU] = "waiting for the GPU",
    [BUDGET_GPU_COPY] = "copying to or from the GPU",
    [BUDGET_STOPPED] = "stopped by a signal or a debugger",
    [BUDGET_IDLE] = "asleep or blocked",
    [BUDGET_PEER_WAIT] = "waiting for a peer",
    [BUDGET_TRANSFER] = "transfer",
    [BUDGET_FILE] = "file I/O in MPI",
    [BUDGET_OVERHEAD] = "MPI overhead",
    [BUDGET_UNSPLIT] = "in MPI, not known why",
};

const char *budget_term_words(enum budget_term term) {
    return words[term];
}
