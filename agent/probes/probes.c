/* SPDX-License-Identifier: MIT */
/*
 * All probes, in the order of their tables. Table `self` is missing: only the sampler knows the
 * cost of probes.
 */
#include "agent/probes/probes.h"

#include "common/error.h"

const struct probe *const probe_list[] = {
    &probe_cpu,         &probe_memory,    &probe_vmstat,       &probe_disk,
    &probe_net,         &probe_psi,       &probe_process,      &probe_rank,
    &probe_mark,        &probe_mpi,       &probe_mpi_function, &probe_call,
    &probe_connection,  &probe_qdisc,     &probe_cgroup,       &probe_flow,
    &probe_nfs,         &probe_load,      &probe_filesystem,   &probe_wait,
    &probe_socket_wait, &probe_wakeup,    &probe_gpu,          &probe_gpu_process,
    &probe_gpu_device,  &probe_gpu_burst, &probe_gpu_kernel,   &probe_energy,
    &probe_bandwidth,   &probe_fabric,    &probe_lustre,       &probe_lustre_target,
    &probe_beegfs,
};
const size_t probe_list_size = ARRAY_SIZE(probe_list);
