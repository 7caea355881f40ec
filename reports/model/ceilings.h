/* SPDX-License-Identifier: MIT */
/* Measured limits of hosts and links (`chokepoint calibrate`), as tables and as JSON. */
#ifndef CHOKEPOINT_REPORTS_CEILINGS_H
#define CHOKEPOINT_REPORTS_CEILINGS_H

#include <stddef.h>
#include <stdio.h>

struct store_ceiling;

/* -ENOMEM, -EIO. */
int ceilings_print(FILE *out, const struct store_ceiling *ceilings, size_t n);
/* One object, chokepoint.calibration/1. */
int ceilings_print_json(FILE *out, const struct store_ceiling *ceilings, size_t n,
                        char *const *notes, size_t n_notes);

#endif
