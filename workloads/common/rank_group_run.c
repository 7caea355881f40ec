/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "agent/mark/chokepoint.h"
#include "workloads/common/printed.h"
#include "workloads/common/rank_group.h"

/* Whether all plants name existing ranks; announces the plants. */
static bool say_plants(const struct rank_group *c, const struct plants *plants) {
    int nobody;
    bool fit = plants_fit(plants, c->n_ranks, &nobody);
    if (c->rank == 0 && !fit)
        rank_group_say(c, "--plant names rank %d of %d", nobody, c->n_ranks);
    else if (c->rank == 0)
        plants_say(plants, c->program);
    return fit;
}

/* Rank 0 finishes, and reports success only when its output is flushed. */
static int finish(const struct rank_group_job *job, const struct rank_group *c,
                  const void *accounts) {
    int r = job->finish(job->ctx, accounts);
    return r < 0 ? r : rank_group_wrote(c, "standard output", printed());
}

static bool run_together(const struct rank_group_job *job, struct rank_group *c) {
    int r = job->run(job->ctx);
    void *accounts = rank_group_gather(c, job->account, job->account_size);
    if (r == 0 && c->rank == 0)
        r = finish(job, c, accounts);
    free(accounts);
    return rank_group_is_well(c, r);
}

/* Returns the exit status. A program that cannot begin has bad input: arguments or data. */
static int run(const struct rank_group_job *job) {
    struct rank_group c;
    rank_group_join(&c, job->program, job->spin);
    if (job->plants && !say_plants(&c, job->plants))
        return RANK_GROUP_BAD_INPUT;
    chokepoint_phase("loading");
    int r = job->begin(job->ctx, &c);
    bool began = rank_group_is_well(&c, r), good = began && run_together(job, &c);
    job->release(job->ctx);
    return good ? EXIT_SUCCESS : began ? EXIT_FAILURE : RANK_GROUP_BAD_INPUT;
}

/* Without a launcher OpenMPI starts a daemon and looks at every network and GPU that more ranks
 * could use: more than half of the CPU time of its start. One rank needs none of these. The user's
 * settings stay. */
static void start_alone(void) {
    setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    setenv("OMPI_MCA_pml", "ob1", 0);
    setenv("OMPI_MCA_btl", "self", 0);
    setenv("OMPI_MCA_coll", "self,basic,libnbc", 0);
    setenv("HWLOC_PLUGINS_BLACKLIST", "hwloc_gl.so,hwloc_opencl.so", 0);
}

int rank_group_run(int *argc, char ***argv, const struct rank_group_job *job) {
    if (chokepoint_rank_() < 0)
        start_alone();
    MPI_Init(argc, argv);
    int status = run(job);
    MPI_Finalize();
    return status;
}
