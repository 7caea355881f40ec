/* SPDX-License-Identifier: MIT */
/* What the files of the verdict share. */
#ifndef CHOKEPOINT_ANALYSIS_VERDICT_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_VERDICT_PRIVATE_H

#include "analysis/saturation.h"
#include "analysis/scene.h"
#include "analysis/verdict.h"

#define VERDICT_SAMPLES_MIN 20

/* Samples within the run of the host with the fewest. */
size_t verdict_least_samples(const struct scene *scene);

/* The first candidate is the verdict; its sentences move over. -ENOMEM. */
int verdict_of_candidate(const struct scene *scene, const struct candidates *candidates,
                         struct verdict *v);

#endif
