/* SPDX-License-Identifier: MIT */
/* The nodes of the allocation that this process is in. A heterogeneous job has components, each
 * with its own node list; a step is started in one of them. */
#ifndef CHOKEPOINT_CLI_SLURM_NODES_H
#define CHOKEPOINT_CLI_SLURM_NODES_H

#include <stdbool.h>
#include <stddef.h>

struct hosts;

bool slurm_has_components(void);

/* The nodes of all components; none outside an allocation. -EINVAL with one line in why. */
int slurm_add_nodes(struct hosts *hosts, char *why, size_t why_size);

/* The component with that node, numbered as for srun's --het-group; -1: the job has none. */
int slurm_component_of(const char *host);

/* "n[1-2]"; for several components "n[1-2]; m1"; "": not known. */
void slurm_describe_nodes(char *to, size_t size);

#endif
