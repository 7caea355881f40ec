/* SPDX-License-Identifier: MIT */
/* In the place of nvml_library.c for the static agent, which cannot load a library of its host. */
#include <stdio.h>
#include <unistd.h>

#include "agent/base/probe.h"
#include "agent/probes/gpu/nvml.h"

int nvml_library_open(struct nvml *nvml, char *why, size_t why_size) {
    (void)nvml;
    if (access("/dev/nvidiactl", F_OK) == 0)
        snprintf(why, why_size,
                 "GPUs are seen by an installed agent alone: this one came with the run");
    return PROBE_ABSENT;
}

void nvml_library_close(struct nvml *nvml) {
    (void)nvml;
}
