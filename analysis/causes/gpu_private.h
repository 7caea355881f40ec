/* SPDX-License-Identifier: MIT */
/* Shared by the causes that a GPU has. */
#ifndef CHOKEPOINT_ANALYSIS_CAUSES_GPU_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_CAUSES_GPU_PRIVATE_H

#include "analysis/causes/causes_private.h"
#include "analysis/evidence/gpu_use.h"

/* The candidate for the time in which processes of the host wait for a GPU, or copy (term), without
 * words; without that term it would be gone.
 */
struct candidate gpu_awaited(size_t group, int host, enum budget_term term, enum cause_kind kind,
                             double demand);
/* As gpu_awaited(), for a part of that time: what the change is worth is bounded by it. */
struct candidate gpu_awaited_in_part(size_t group, int host, enum cause_kind kind, double demand,
                                     double part);

/* The candidate for the computing of the process that gives the GPU work, without words; twice as
 * fast a core halves it.
 */
struct candidate gpu_feeding(const struct run_model *model, size_t group, const struct gpu_use *use,
                             enum cause_kind kind);

/* Whether the GPU works for at least half of that time: its multiprocessors, where they are told,
 * else any part of it.
 */
bool gpu_works(const struct run_model *model, const struct gpu_while *during);

/* Whether another cause has already told what the GPU did in that term's time. */
bool gpu_is_told(const struct candidates *candidates, size_t group, int host,
                 enum budget_term term);

/* Evidence: what the multiprocessors did meanwhile. */
void gpu_tell_work(const struct run_model *model, const struct gpu_use *use,
                   const struct gpu_while *during, struct remarks *evidence);

/* Adds a candidate for the part of the waits by which a cap of this kind (a share of time) made
 * them longer. words: with the GPU's clock meanwhile, % of its highest. -ENOMEM.
 */
int gpu_add_cap(const struct run_model *model, size_t group, enum gpu_figure cap,
                enum cause_kind kind, const struct remark_kind *words,
                struct candidates *candidates);

#endif
