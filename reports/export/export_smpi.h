/* SPDX-License-Identifier: MIT */
/* Shared by the files of the export for SimGrid's SMPI. */
#ifndef CHOKEPOINT_REPORTS_EXPORT_SMPI_H
#define CHOKEPOINT_REPORTS_EXPORT_SMPI_H

#include <stdio.h>

#include "analysis/run_model.h"

/* Speed of the fastest host's cores in flop/s: there a second of CPU time is so much computing. */
#define SMPI_FLOP_S 1e9

/* A rank's time, and how much of it went into calls that a trace has no action for. */
struct smpi_told {
    double lived_s, untold_s;
    const char *function; /* the one that most of it went into, borrowed from the log; NULL */
};

/* Writes the actions of a rank with calls, in the order of its calls. flop_s: of its host's cores.
 * -ENOMEM, -EIO.
 */
int smpi_write_trace(const struct mpi_log *log, const struct mpi_rank *rank, double flop_s,
                     FILE *out, struct smpi_told *ret_told);

#define SMPI_ID_MAX 64
#define SMPI_ID_SIZE (SMPI_ID_MAX + 16)

/* The host's name on the platform: its own, or "host-0" if that has other letters than names of
 * hosts.
 */
void smpi_host_id(const struct run_model *model, int host, char id[SMPI_ID_SIZE]);

/* flop/s of a host's cores: by the calibration loop, where it ran on all hosts. */
double smpi_flop_s(const struct run_model *model, int host);

/* Writes the hosts that have ranks, with their links. -ENOMEM, -EIO. */
int smpi_write_platform(const struct run_model *model, FILE *out);

#endif
