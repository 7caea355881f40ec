/* SPDX-License-Identifier: MIT */
/* Where ranks run freely: the loss of a rank that computes longer than its peers. */
#ifndef CHOKEPOINT_ANALYSIS_GAIN_FREE_LOSS_H
#define CHOKEPOINT_ANALYSIS_GAIN_FREE_LOSS_H

#include "analysis/evidence/free_ranks.h"
#include "analysis/gain/loss.h"

/* The loss of `seconds` of computing beyond the rank's peers. */
struct loss free_loss(const struct run_model *model, size_t group, const struct free_rank *rank,
                      double seconds);
/* The loss of a rank that takes longer than its peers for its own iterations, as on a core like
 * theirs. False if not known.
 */
bool free_loss_like_peers(const struct run_model *model, size_t group, int rank,
                          struct loss *ret_loss);

#endif
