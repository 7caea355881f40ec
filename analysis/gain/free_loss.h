/* SPDX-License-Identifier: MIT */
/* Where ranks run freely, the loss that a rank's computing beyond its peers is. */
#ifndef CHOKEPOINT_ANALYSIS_GAIN_FREE_LOSS_H
#define CHOKEPOINT_ANALYSIS_GAIN_FREE_LOSS_H

#include "analysis/evidence/free_ranks.h"
#include "analysis/gain/loss.h"

/* The part of `seconds` that the rank computes beyond its peers. */
struct loss free_loss(const struct run_model *model, size_t group, const struct free_rank *rank,
                      double seconds);
/* Computing of a rank that makes progress, beyond its peers, for its own iterations, as on a core
 * like theirs. False: not known. */
bool free_loss_like_peers(const struct run_model *model, size_t group, int rank,
                          struct loss *ret_loss);

#endif
