/* SPDX-License-Identifier: MIT */
/* The probes, one a file of this folder; agent/probes/probes.c lists them. */
#ifndef CHOKEPOINT_AGENT_PROBES_PROBES_H
#define CHOKEPOINT_AGENT_PROBES_PROBES_H

#include "agent/base/probe.h"

extern const struct probe probe_cpu;
extern const struct probe probe_memory;
extern const struct probe probe_vmstat;
extern const struct probe probe_disk;
extern const struct probe probe_net;
extern const struct probe probe_psi;
extern const struct probe probe_process;
extern const struct probe probe_rank;
extern const struct probe probe_mark;
extern const struct probe probe_mpi;
extern const struct probe probe_mpi_function;
extern const struct probe probe_call;
extern const struct probe probe_connection;
extern const struct probe probe_qdisc;
extern const struct probe probe_cgroup;
extern const struct probe probe_flow;
extern const struct probe probe_nfs;
extern const struct probe probe_load;
extern const struct probe probe_filesystem;
extern const struct probe probe_wait;
extern const struct probe probe_socket_wait;
extern const struct probe probe_wakeup;
extern const struct probe probe_gpu;
extern const struct probe probe_gpu_process;
extern const struct probe probe_gpu_device;
extern const struct probe probe_gpu_burst;
extern const struct probe probe_gpu_kernel;
extern const struct probe probe_energy;
extern const struct probe probe_bandwidth;
extern const struct probe probe_fabric;
extern const struct probe probe_lustre;
extern const struct probe probe_lustre_target;
extern const struct probe probe_beegfs;

#endif
