/* SPDX-License-Identifier: MIT */
/* PyTorch's processes: a launcher, its ranks, and processes that a rank forks; and names set by
 * Dask and Spark.
 */
#include "tests/unit/planted_process.h"

/* `name`: of the program it runs. */
static void plant_torch(const struct tree *tree, int pid, int parent, const char *name,
                        const char *environ, size_t size) {
    plant(tree, (struct planted){.pid = pid, .parent = parent, .comm = name});
    put_file(tree, pid, "environ", environ, size);
    point_exe(tree, pid, name);
}

#define PLANT(tree, pid, parent, name, environ)                                                    \
    plant_torch(tree, pid, parent, name, MARK "\0" environ, sizeof(MARK "\0" environ))

#define OF_RANK(rank, local) "RANK=" rank "\0WORLD_SIZE=4\0GROUP_RANK=0\0LOCAL_RANK=" local

static void what_a_rank_has_forked_is_no_second_rank(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    begin(&h, &tree);
    PLANT(&tree, 40, 1, "python3", "A=b"); /* torchrun */
    PLANT(&tree, 50, 40, "python3", OF_RANK("0", "0"));
    PLANT(&tree, 51, 40, "python3", OF_RANK("1", "1"));
    PLANT(&tree, 60, 50, "python3", OF_RANK("0", "0")); /* a loader of data */
    PLANT(&tree, 61, 60, "python3", OF_RANK("0", "0")); /* and its child */
    look(&h, 101);
    assert_int_equal(rank_of(&h, 40), -1);
    assert_int_equal(rank_of(&h, 50), 0);
    assert_int_equal(rank_of(&h, 51), 1);
    assert_int_equal(rank_of(&h, 60), -1);
    assert_int_equal(rank_of(&h, 61), -1);
    assert_true(is_member(&h, 60) && is_member(&h, 61));
    expect(&h, "python3[60]", "parent", 50);
    look(&h, 102); /* examined again, since it is young */
    assert_int_equal(rank_of(&h, 60), -1);
    end(&h, &tree);
}

static void what_the_shell_of_a_rank_starts_is_the_rank(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    begin(&h, &tree);
    PLANT(&tree, 50, 1, "sh", OF_RANK("2", "0"));
    PLANT(&tree, 51, 50, "python3", OF_RANK("2", "0"));
    PLANT(&tree, 52, 51, "python3", OF_RANK("2", "0"));
    look(&h, 101);
    assert_int_equal(rank_of(&h, 51), 2);
    assert_int_equal(rank_of(&h, 52), -1);
    end(&h, &tree);
}

/* Between fork and exec a child of the shell is a shell. */
static void a_child_becomes_the_rank_when_it_runs_another_program(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    begin(&h, &tree);
    PLANT(&tree, 50, 1, "sh", OF_RANK("2", "0"));
    PLANT(&tree, 51, 50, "sh", OF_RANK("2", "0"));
    look(&h, 101);
    assert_int_equal(rank_of(&h, 51), -1);
    PLANT(&tree, 51, 50, "python3", OF_RANK("2", "0"));
    look(&h, 102);
    assert_int_equal(rank_of(&h, 51), 2);
    end(&h, &tree);
}

static void a_helper_may_be_met_before_its_rank(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    tree_make(&tree, NULL);
    PLANT(&tree, 900, 1, "python3", OF_RANK("3", "0"));
    for (int pid = 20; pid < 40; pid++) /* in any order of the directory */
        PLANT(&tree, pid, pid == 20 ? 900 : pid - 1, "python3", OF_RANK("3", "0"));
    assert_int_equal(harness_init(&h, tree.path, SCOPE_HOST), 0);
    h.env.run_token_id = "r1";
    assert_int_equal(harness_open(&h, &probe_process), 0);
    look(&h, 100);
    assert_int_equal(rank_of(&h, 900), 3);
    for (int pid = 20; pid < 40; pid++)
        assert_int_equal(rank_of(&h, pid), -1);
    end(&h, &tree);
}

/* An operator gives each node's launcher a RANK and a WORLD_SIZE, which number nodes. */
static void a_launcher_with_the_number_of_its_node_is_no_rank(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    begin(&h, &tree);
    PLANT(&tree, 40, 1, "python3", "RANK=0\0WORLD_SIZE=2");
    PLANT(&tree, 50, 40, "python3", OF_RANK("0", "0"));
    PLANT(&tree, 51, 40, "python3", OF_RANK("1", "1"));
    look(&h, 101);
    assert_int_equal(rank_of(&h, 40), -1);
    assert_int_equal(rank_of(&h, 50), 0);
    assert_int_equal(rank_of(&h, 51), 1);
    end(&h, &tree);
}

static void ranks_that_mpi_numbers_keep_theirs(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    begin(&h, &tree);
    PLANT(&tree, 50, 1, "prog", "OMPI_COMM_WORLD_RANK=1");
    PLANT(&tree, 51, 50, "prog", "OMPI_COMM_WORLD_RANK=1");
    look(&h, 101);
    assert_int_equal(rank_of(&h, 50), 1);
    assert_int_equal(rank_of(&h, 51), 1);
    end(&h, &tree);
}

static void a_role_is_a_part_of_the_name(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    begin(&h, &tree);
    PLANT(&tree, 50, 1, "dask-worker", "DASK_WORKER_NAME=left-0");
    PLANT(&tree, 51, 1, "java", "SPARK_EXECUTOR_ID=7");
    PLANT(&tree, 52, 1, "java", "SPARK_EXECUTOR_ID=7;x");
    look(&h, 101);
    expect(&h, "dask-worker worker left-0[50]", "job", 1);
    expect(&h, "java executor 7[51]", "job", 1);
    expect(&h, "java[52]", "job", 1);
    end(&h, &tree);
}

static void a_role_is_not_told_where_command_lines_are_not(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    begin(&h, &tree);
    h.env.no_command_lines = true;
    PLANT(&tree, 50, 1, "dask-worker", "DASK_WORKER_NAME=left-0");
    look(&h, 101);
    expect(&h, "dask-worker[50]", "job", 1);
    end(&h, &tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_rank_has_forked_is_no_second_rank),
        cmocka_unit_test(what_the_shell_of_a_rank_starts_is_the_rank),
        cmocka_unit_test(a_child_becomes_the_rank_when_it_runs_another_program),
        cmocka_unit_test(a_helper_may_be_met_before_its_rank),
        cmocka_unit_test(a_launcher_with_the_number_of_its_node_is_no_rank),
        cmocka_unit_test(ranks_that_mpi_numbers_keep_theirs),
        cmocka_unit_test(a_role_is_a_part_of_the_name),
        cmocka_unit_test(a_role_is_not_told_where_command_lines_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
