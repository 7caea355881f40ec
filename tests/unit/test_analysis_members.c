/* SPDX-License-Identifier: MIT */
/* Relation of each process to the job, by descent and behaviour, never by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/facts/recording/members.h"
#include "tests/unit/plant.h"

#define SECONDS 10
#define LEVELS (PROCESS_LEVELS | 1u << PROCESS_PARENT)

struct planted {
    const char *name;
    int64_t pid, parent;
    int rank;
    bool job;
    double cpu;
};
static struct planted planted_now;

static double value_of(size_t column, double t_s) {
    (void)t_s;
    switch (column) {
    case PROCESS_PID:
        return (double)planted_now.pid;
    case PROCESS_PARENT:
        return (double)planted_now.parent;
    case PROCESS_RANK:
        return planted_now.rank < 0 ? NAN : planted_now.rank;
    case PROCESS_JOB:
        return planted_now.job;
    case PROCESS_USER:
        return planted_now.cpu * 1e9;
    default:
        return 0;
    }
}

static void plant_one(struct recording *r, int host, struct planted planted) {
    planted_now = planted;
    plant(r, RECORDING_PROCESS, host, planted.name, 1, LEVELS, value_of);
}

static double mpi_record(size_t column, double t_s) {
    (void)t_s;
    return column == MPI_PID ? 40 : column == MPI_RANK ? 0 : 1;
}

static void find(const struct recording *r, struct member *to, size_t n) {
    struct member *members;
    assert_int_equal(r->tables[RECORDING_PROCESS].n, n);
    assert_int_equal(members_find(r, &members), 0);
    memcpy(to, members, n * sizeof *to);
    free(members);
}

static void a_launcher_is_an_ancestor_of_work_that_does_none(void **state) {
    struct recording r;
    struct member m[7];
    (void)state;
    plant_init(&r, 2, SECONDS);
    plant_one(&r, 0, (struct planted){"any[10]", 10, 9, -1, true, 0.001});
    plant_one(&r, 0, (struct planted){"thing[11]", 11, 10, -1, true, 0.002});
    plant_one(&r, 0, (struct planted){"mpirun[12]", 12, 11, -1, true, 0.5}); /* works itself */
    plant_one(&r, 0, (struct planted){"worker[13]", 13, 12, -1, true, 0.9});
    plant_one(&r, 0, (struct planted){"rank[14]", 14, 11, 3, true, 0.001});
    plant_one(&r, 0, (struct planted){"shell[9]", 9, 1, -1, false, 0.001});
    plant_one(&r, 1, (struct planted){"any[10]", 10, 9, -1, true, 0.001}); /* on another host */
    find(&r, m, 7);
    assert_true(m[0].launcher && m[0].job);
    assert_true(m[1].launcher);
    assert_false(m[2].launcher);
    assert_false(m[3].launcher);
    assert_false(m[4].launcher); /* a rank that waits is still a rank */
    assert_int_equal(m[4].rank, 3);
    assert_false(m[5].launcher || m[5].job);
    assert_false(m[6].launcher);
    recording_release(&r);
}

static void where_nobody_works_nobody_is_a_launcher(void **state) {
    struct recording r;
    struct member m[2];
    (void)state;
    plant_init(&r, 1, SECONDS);
    plant_one(&r, 0, (struct planted){"sh[10]", 10, 1, -1, true, 0.001});
    plant_one(&r, 0, (struct planted){"sleep[11]", 11, 10, -1, true, 0});
    find(&r, m, 2);
    assert_false(m[0].launcher || m[1].launcher);
    recording_release(&r);
}

/* Without mpirun a program starts the daemon itself, and has its rank number from MPI. */
static void a_program_without_a_launcher_is_a_rank_and_its_daemon_is_none(void **state) {
    struct recording r;
    struct member m[2];
    (void)state;
    plant_init(&r, 1, SECONDS);
    plant_one(&r, 0, (struct planted){"prog[40]", 40, 1, -1, true, 0.9});
    plant_one(&r, 0, (struct planted){"any[41]", 41, 40, -1, true, 0.001});
    plant(&r, RECORDING_MPI, 0, "rank 0", 1, 1u << MPI_PID | 1u << MPI_RANK, mpi_record);
    find(&r, m, 2);
    assert_int_equal(m[0].rank, 0);
    assert_int_equal(m[1].rank, -1);
    recording_release(&r);
}

/* A wrapper that became the program (exec) is one process under two names. */
static void names_of_one_process_are_one(void **state) {
    struct recording r;
    struct member m[3];
    (void)state;
    plant_init(&r, 1, SECONDS);
    plant_one(&r, 0, (struct planted){"sh[10]", 10, 1, -1, true, 0.001});
    plant_one(&r, 0, (struct planted){"prog[10]", 10, 1, -1, true, 0.9});
    plant_one(&r, 0, (struct planted){"child[11]", 11, 10, -1, true, 0.1});
    find(&r, m, 3);
    assert_false(m[0].launcher || m[1].launcher);
    recording_release(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launcher_is_an_ancestor_of_work_that_does_none),
        cmocka_unit_test(where_nobody_works_nobody_is_a_launcher),
        cmocka_unit_test(a_program_without_a_launcher_is_a_rank_and_its_daemon_is_none),
        cmocka_unit_test(names_of_one_process_are_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
