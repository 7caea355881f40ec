/* SPDX-License-Identifier: MIT */
/* A replay reacts through each way of waiting: rank 1 computes, rank 0 waits for it, and cores
 * twice as fast save half of that. Calls that it cannot follow are named.
 */
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#include "tests/unit/plant.h"

#include <cmocka.h>

#include "analysis/gain/whatif.h"
#include "analysis/run_model.h"
#include "tests/unit/mpi_plant.h"
#include "tests/unit/warm.h"

#define ROUNDS 60
#define OWN (48 * MS)            /* that rank 1 computes in a round */
#define ROUND (OWN + 70 * US)    /* the length of a round */
#define EARLY (t - 18 * US)      /* rank 0 waits from here on */
#define CAME (t + OWN)           /* rank 1 comes */
#define DONE (t + OWN + 30 * US) /* rank 0 continues */

typedef void plant_round(struct mpi_log *log, int64_t t);

static void computed(struct mpi_log *log, const char *name, int peer, int64_t t, int64_t gap,
                     uint32_t comm) {
    PLANT(log, 1, 1, name, peer, 5, 8, CAME, CAME + 10 * US, MPI_FLAG_HAS_GAP_CPU,
          .gap_cpu_ns = gap, .comm = comm);
}

/* Rank 1 waits for a plain answer of rank 0 at the end of each round. */
static void build(struct recording *r, struct run_model *model, plant_round *way) {
    plant_init(r, 2, (double)ROUND / 1e9 * ROUNDS);
    r->clock_bound_ns = calloc(2, sizeof *r->clock_bound_ns);
    for (int rank = 0; rank < 2; rank++) {
        plant_process(r, rank, "train", (struct plant_process){rank, 1, 0, 0});
        PLANT(&r->calls, rank, rank, "MPI_Init", -1, -1, 0, -100 * US, -50 * US);
        PLANT(&r->calls, rank, rank, "MPI_Cart_create", !rank, -1, 0, -40 * US, -30 * US,
              MPI_FLAG_PART, .comm = 7);
        PLANT(&r->calls, rank, rank, "MPI_Cart_create", -1, -1, 0, -40 * US, -30 * US);
    }
    for (int64_t t = 0; t < ROUND * ROUNDS; t += ROUND) {
        way(&r->calls, t);
        PLANT(&r->calls, 0, 0, "MPI_Send", 1, 6, 1, t + OWN + 40 * US, t + OWN + 50 * US);
        PLANT(&r->calls, 1, 1, "MPI_Recv", 0, 6, 1, t + OWN + 20 * US, t + ROUND);
    }
    assert_int_equal(mpi_log_finish(&r->calls), 0);
    assert_int_equal(model_build(r, model), 0);
}

static struct whatif_answer ask(plant_round *way, char *ret_refused) {
    struct recording r;
    struct run_model model;
    struct whatif *w;
    struct whatif_answer a;
    struct whatif_scenario s = {.kind = WHATIF_CPU, .host = -1, .rank = -1, .factor = 2};
    build(&r, &model, way);
    assert_int_equal(whatif_new(&model, &w), 0);
    assert_int_equal(whatif_ask(w, &s, 1, &a), 0);
    snprintf(ret_refused, 200, "%s", a.refused.call ? a.refused.call : "");
    whatif_free(w);
    model_release(&model);
    recording_release(&r);
    return a;
}

static void check_reacts(plant_round *way) {
    char refused[200];
    struct whatif_answer a = ask(way, refused);
    double should_s = warm_s((double)(ROUND - OWN / 2) * ROUNDS / 1e9, a.measured_s);
    if (!a.replayed || !(fabs(a.predicted_s / should_s - 1) < 0.02))
        fail_msg("%.4g s, then %.4g, not %.4g; %s", a.measured_s, a.predicted_s, should_s, refused);
}

static void check_refused(plant_round *way, const char *name) {
    char refused[200];
    struct whatif_answer a = ask(way, refused);
    if (a.replayed || !strstr(refused, name))
        fail_msg("%s: '%s'", name, refused);
}

/* ---- ways of waiting ---- */

static void probe(struct mpi_log *log, int64_t t) {
    computed(log, "MPI_Send", 0, t, OWN, 0);
    PLANT(log, 0, 0, "MPI_Mprobe", 1, 5, 8, EARLY, DONE, MPI_FLAG_WILDCARD);
    PLANT(log, 0, 0, "MPI_Mrecv", 1, 5, 8, DONE + 2 * US, DONE + 3 * US);
}

/* Its receiver asks for it only after the probe. */
static void probe_of_a_megabyte(struct mpi_log *log, int64_t t) {
    PLANT(log, 1, 1, "MPI_Isend", 0, 5, 1 << 20, CAME, CAME + 1 * US, MPI_FLAG_HAS_GAP_CPU,
          .gap_cpu_ns = OWN);
    PLANT(log, 0, 0, "MPI_Probe", 1, 5, 1 << 20, EARLY, CAME + 5 * US);
    PLANT(log, 0, 0, "MPI_Recv", 1, 5, 1 << 20, CAME + 6 * US, DONE);
    PLANT(log, 1, 1, "MPI_Isend", 0, 5, 1 << 20, CAME, CAME + 19 * US, MPI_FLAG_REQUEST);
    PLANT(log, 1, 1, "MPI_Wait", 0, 5, 1 << 20, CAME + 2 * US, CAME + 19 * US);
}

static void synchronous_send(struct mpi_log *log, int64_t t) {
    computed(log, "MPI_Recv", 0, t, OWN, 0);
    PLANT(log, 0, 0, "MPI_Ssend", 1, 5, 8, EARLY, DONE);
}

static void neighbours(struct mpi_log *log, int64_t t) {
    computed(log, "MPI_Neighbor_alltoall", -1, t, OWN, 7);
    PLANT(log, 0, 0, "MPI_Neighbor_alltoall", -1, -1, 8, EARLY, DONE, .comm = 7);
}

static void unknown_neighbours(struct mpi_log *log, int64_t t) {
    computed(log, "MPI_Neighbor_alltoall", -1, t, OWN, 8);
    PLANT(log, 0, 0, "MPI_Neighbor_alltoall", -1, -1, 8, EARLY, DONE, .comm = 8);
}

static void epoch(struct mpi_log *log, int64_t t) {
    PLANT(log, 0, 0, "MPI_Win_post", 1, -1, 0, t - 20 * US, t - 19 * US, MPI_FLAG_PART, .comm = 9);
    PLANT(log, 0, 0, "MPI_Win_post", -1, -1, 0, t - 20 * US, t - 19 * US, .comm = 9);
    PLANT(log, 1, 1, "MPI_Win_start", 0, -1, 0, t, t + 1 * US, MPI_FLAG_PART, .comm = 9);
    PLANT(log, 1, 1, "MPI_Win_start", -1, -1, 0, t, t + 1 * US, .comm = 9);
    computed(log, "MPI_Win_complete", -1, t, OWN - 1 * US, 9);
    PLANT(log, 0, 0, "MPI_Win_wait", -1, -1, 0, EARLY, DONE, .comm = 9);
}

static void lock(struct mpi_log *log, int64_t t) {
    PLANT(log, 1, 1, "MPI_Win_lock", 0, -1, 0, t, t + 1 * US, MPI_FLAG_EXCLUSIVE, .comm = 9);
    computed(log, "MPI_Win_unlock", 0, t, OWN - 1 * US, 9);
    PLANT(log, 0, 0, "MPI_Win_lock", 0, -1, 0, EARLY, DONE, MPI_FLAG_EXCLUSIVE, .comm = 9);
    PLANT(log, 0, 0, "MPI_Win_unlock", 0, -1, 0, DONE + 2 * US, DONE + 3 * US, .comm = 9);
}

static void windows_looked_into(struct mpi_log *log, int64_t t) {
    computed(log, "MPI_Accumulate", 0, t, OWN, 9);
    PLANT(log, 0, 0, "MPI_Fetch_and_op", 0, -1, 8000, EARLY, DONE, MPI_FLAG_FOLDED,
          .inside_ns = OWN / 2, .calls = 1000, .comm = 9);
}

static void newcomers(struct mpi_log *log, int64_t t) {
    probe(log, t);
    if (t == 0)
        PLANT(log, 0, 0, "MPI_Comm_spawn", -1, -1, 0, -25 * US, -20 * US, .comm = 3);
}

static void whoever_probes_waits_for_the_message(void **state) {
    (void)state;
    check_reacts(probe);
    check_reacts(probe_of_a_megabyte);
}

static void a_synchronous_send_waits_for_its_receiver(void **state) {
    (void)state;
    check_reacts(synchronous_send);
}

static void neighbours_wait_for_each_other(void **state) {
    (void)state;
    check_reacts(neighbours);
}

static void the_end_of_an_epoch_waits_for_its_accesses(void **state) {
    (void)state;
    check_reacts(epoch);
}

static void a_lock_waits_for_its_holder(void **state) {
    (void)state;
    check_reacts(lock);
}

static void what_is_not_followed_is_named(void **state) {
    (void)state;
    check_refused(unknown_neighbours, "MPI_Neighbor_alltoall");
    check_refused(windows_looked_into, "MPI_Fetch_and_op");
    check_refused(newcomers, "MPI_Comm_spawn");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_probes_waits_for_the_message),
        cmocka_unit_test(a_synchronous_send_waits_for_its_receiver),
        cmocka_unit_test(neighbours_wait_for_each_other),
        cmocka_unit_test(the_end_of_an_epoch_waits_for_its_accesses),
        cmocka_unit_test(a_lock_waits_for_its_holder),
        cmocka_unit_test(what_is_not_followed_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
