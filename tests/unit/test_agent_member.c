/* SPDX-License-Identifier: MIT */
/* Which processes belong to the job: by session, control group and ancestry, never by name, and
 * with no way to leave.
 */
#include "tests/unit/planted_process.h"

static void a_child_of_a_member_needs_no_mark(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    begin(&h, &tree);
    plant(&tree, (struct planted){.pid = 50, .parent = 1, .comm = "sh", .environ = MARK});
    plant(&tree, (struct planted){.pid = 60, .parent = 50, .comm = "server"});
    plant(&tree, (struct planted){.pid = 61, .parent = 60, .comm = "worker"});
    plant(&tree, (struct planted){.pid = 70, .parent = 1, .comm = "worker"});
    look(&h, 101);
    assert_true(is_member(&h, 60));
    assert_true(is_member(&h, 61));
    assert_false(is_member(&h, 70)); /* a name alone makes no member */
    expect(&h, "worker[61]", "parent", 60);
    end(&h, &tree);
}

static void what_run_starts_is_the_job_without_any_environment(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    begin(&h, &tree);
    h.env.job_parent = 40;
    plant(&tree, (struct planted){.pid = 40, .parent = 1, .comm = "chokepoint"});
    plant(&tree, (struct planted){.pid = 41, .parent = 40, .comm = "chokepoint"});
    plant(&tree, (struct planted){
                     .pid = 42, .parent = 40, .comm = "agent", .environ = "CHOKEPOINT_AGENT=r1"});
    plant(&tree, (struct planted){.pid = 50, .parent = 40, .comm = "emptied", .environ = ""});
    plant(&tree, (struct planted){.pid = 60, .parent = 50, .comm = "child", .environ = ""});
    plant(&tree, (struct planted){.pid = 70, .parent = 1, .comm = "other", .environ = ""});
    point_exe(&tree, 40, "chokepoint");
    point_exe(&tree, 41, "chokepoint"); /* between fork and exec */
    for (int pid = 42; pid <= 70; pid++)
        if (pid == 42 || pid == 50 || pid == 60 || pid == 70)
            point_exe(&tree, pid, "program");
    look(&h, 101);
    assert_true(is_member(&h, 50));
    assert_true(is_member(&h, 60));
    assert_false(is_member(&h, 40) || is_member(&h, 41) || is_member(&h, 42) || is_member(&h, 70));
    end(&h, &tree);
}

/* The first pass meets ids in the order of /proc, so children may come before parents with higher
 * ids.
 */
static void children_that_are_met_before_their_parent_are_found(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    tree_make(&tree, NULL);
    plant(&tree, (struct planted){.pid = 900, .parent = 1, .comm = "sh", .environ = MARK});
    for (int pid = 20; pid < 60; pid++) /* in any order of the directory */
        plant(&tree,
              (struct planted){.pid = pid, .parent = pid == 20 ? 900 : pid - 1, .comm = "child"});
    assert_int_equal(harness_init(&h, tree.path, SCOPE_HOST), 0);
    h.env.run_token_id = "r1";
    assert_int_equal(harness_open(&h, &probe_process), 0);
    look(&h, 100);
    assert_int_equal(h.job.n, 41);
    end(&h, &tree);
}

static void a_member_stays_one_whatever_it_does(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    begin(&h, &tree);
    plant(&tree, (struct planted){.pid = 50,
                                  .parent = 1,
                                  .comm = "train",
                                  .environ = MARK,
                                  .environ2 = "OMPI_COMM_WORLD_RANK=3"});
    plant(&tree, (struct planted){.pid = 60, .parent = 50, .comm = "server"});
    look(&h, 101);
    drop(&tree, 50); /* and 60 becomes a daemon with another name */
    plant(&tree, (struct planted){.pid = 60, .parent = 1, .session = 60, .comm = "renamed"});
    look(&h, 102);
    assert_true(is_member(&h, 60));
    look(&h, 200);
    assert_true(is_member(&h, 60));
    plant(&tree, (struct planted){.pid = 51,
                                  .parent = 1,
                                  .comm = "train",
                                  .environ = MARK,
                                  .environ2 = "OMPI_COMM_WORLD_RANK=3"});
    look(&h, 201);
    plant(&tree, (struct planted){.pid = 51, .parent = 1, .comm = "title: busy"});
    look(&h, 202);
    assert_int_equal(rank_of(&h, 51), 3);
    end(&h, &tree);
}

/* Between two samples a daemon forks twice and wipes its environment. */
static void a_daemon_is_known_by_the_session_that_began_in_the_job(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    begin(&h, &tree);
    plant(&tree,
          (struct planted){.pid = 50, .parent = 1, .session = 50, .comm = "sh", .environ = MARK});
    plant(&tree, (struct planted){.pid = 51, .parent = 50, .session = 50, .comm = "stays"});
    look(&h, 101);
    plant(&tree, (struct planted){
                     .pid = 60, .parent = 1, .session = 50, .comm = "d", .start_ticks = 10150});
    look(&h, 102);
    assert_true(is_member(&h, 60));
    drop(&tree, 50); /* the leader ends: others of its session still carry it */
    look(&h, 103);
    plant(&tree, (struct planted){
                     .pid = 61, .parent = 1, .session = 50, .comm = "d", .start_ticks = 10350});
    plant(&tree, (struct planted){
                     .pid = 62, .parent = 1, .session = 49, .comm = "d", .start_ticks = 10350});
    look(&h, 104);
    assert_true(is_member(&h, 61));
    assert_false(is_member(&h, 62));
    end(&h, &tree);
}

/* The command runs in the session of the shell that started it. */
static void the_session_of_whoever_started_the_job_is_not_the_jobs(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    begin(&h, &tree);
    plant(&tree, (struct planted){.pid = 40, .parent = 1, .session = 40, .comm = "bash"});
    plant(&tree, (struct planted){
                     .pid = 50, .parent = 40, .session = 40, .comm = "prog", .environ = MARK});
    plant(&tree, (struct planted){.pid = 60, .parent = 40, .session = 40, .comm = "editor"});
    look(&h, 101);
    drop(&tree, 40);
    plant(&tree, (struct planted){
                     .pid = 61, .parent = 1, .session = 40, .comm = "nohup", .start_ticks = 10150});
    look(&h, 102);
    assert_true(is_member(&h, 50));
    assert_false(is_member(&h, 60));
    assert_false(is_member(&h, 61));
    end(&h, &tree);
}

static void an_orphan_in_a_control_group_of_the_jobs_own_is_of_the_job(void **state) {
    static const char step[] = "0::/step\n", agents[] = "0::/agents\n";
    struct harness h;
    struct tree tree;
    (void)state;
    begin(&h, &tree);
    plant(&tree,
          (struct planted){.pid = 50, .parent = 1, .comm = "prog", .environ = MARK, .group = step});
    plant(&tree, (struct planted){
                     .pid = 51, .parent = 1, .comm = "prog", .environ = MARK, .group = agents});
    look(&h, 101);
    plant(&tree, (struct planted){
                     .pid = 60, .parent = 1, .comm = "d", .group = step, .start_ticks = 10150});
    plant(&tree, (struct planted){/* any process may be in the agent's own group */
                                  .pid = 61,
                                  .parent = 1,
                                  .comm = "d",
                                  .group = agents,
                                  .start_ticks = 10150});
    plant(&tree,
          (struct planted){
              .pid = 62, .parent = 1, .comm = "d", .group = "0::/other\n", .start_ticks = 10150});
    look(&h, 102);
    assert_true(is_member(&h, 60));
    assert_false(is_member(&h, 61));
    assert_false(is_member(&h, 62));
    end(&h, &tree);
}

/* mpirun's daemon on another host: ssh passed no environment on. */
static void what_started_ranks_is_of_the_job_and_no_rank(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    begin(&h, &tree);
    plant(&tree, (struct planted){.pid = 40, .parent = 1, .session = 40, .comm = "sshd"});
    plant(&tree, (struct planted){.pid = 41, .parent = 40, .session = 41, .comm = "sh"});
    plant(&tree, (struct planted){.pid = 42, .parent = 41, .session = 41, .comm = "d"});
    plant(&tree, (struct planted){.pid = 43, .parent = 41, .session = 41, .comm = "editor"});
    plant(&tree, (struct planted){.pid = 50,
                                  .parent = 42,
                                  .session = 41,
                                  .comm = "prog",
                                  .environ = MARK,
                                  .environ2 = "PMI_RANK=1"});
    look(&h, 101);
    assert_int_equal(rank_of(&h, 50), 1);
    assert_int_equal(rank_of(&h, 42), -1);
    assert_int_equal(rank_of(&h, 41), -1);
    assert_false(is_member(&h, 40)); /* leads another session */
    plant(&tree, (struct planted){
                     .pid = 44, .parent = 41, .session = 41, .comm = "new", .start_ticks = 10150});
    look(&h, 102);
    assert_false(is_member(&h, 43)); /* it may be a user's shell */
    assert_false(is_member(&h, 44));
    end(&h, &tree);
}

/* In a batch step all that the script starts has the step's number. */
static void the_number_of_the_batch_step_is_no_rank(void **state) {
    static const char step[] = "SLURM_PROCID=0";
    struct harness h;
    struct tree tree;
    (void)state;
    begin(&h, &tree);
    plant(&tree, (struct planted){.pid = 30, .parent = 1, .comm = "run", .environ = step});
    plant(&tree,
          (struct planted){.pid = 31, .parent = 30, .comm = "c", .environ = "CHOKEPOINT_AGENT=r1"});
    look(&h, 101);
    plant(&tree, (struct planted){
                     .pid = 50, .parent = 30, .comm = "any", .environ = MARK, .environ2 = step});
    plant(&tree, (struct planted){.pid = 51,
                                  .start_ticks = 10150,
                                  .parent = 50,
                                  .comm = "tool",
                                  .environ = MARK,
                                  .environ2 = step});
    plant(&tree, (struct planted){.pid = 52,
                                  .parent = 50,
                                  .comm = "prog",
                                  .environ = MARK,
                                  .environ2 = "OMPI_COMM_WORLD_RANK=0"});
    plant(&tree, (struct planted){/* the batch system itself has started it */
                                  .pid = 60,
                                  .parent = 1,
                                  .comm = "task",
                                  .environ = MARK,
                                  .environ2 = step});
    look(&h, 102);
    look(&h, 103); /* young ones are examined again: the directory may list a child first */
    assert_int_equal(rank_of(&h, 50), -1);
    assert_int_equal(rank_of(&h, 51), -1);
    assert_int_equal(rank_of(&h, 52), 0);
    assert_int_equal(rank_of(&h, 60), 0);
    end(&h, &tree);
}

/* Our processes are known by the run that started them: another program with our name counts as any
 * program outside the job.
 */
static void only_what_this_run_started_is_the_profiler(void **state) {
    struct harness h;
    struct tree tree;
    (void)state;
    begin(&h, &tree);
    plant(&tree, (struct planted){.pid = 30, .parent = 1, .comm = "chokepoint"});
    plant(&tree, (struct planted){
                     .pid = 31, .parent = 30, .comm = "collect", .environ = "CHOKEPOINT_AGENT=r1"});
    plant(&tree,
          (struct planted){
              .pid = 32, .parent = 1, .comm = "chokepoint", .environ = "CHOKEPOINT_AGENT=r2"});
    plant(&tree, (struct planted){.pid = 33, .parent = 1, .comm = "mpirun"});
    look(&h, 101);
    for (int pid = 30; pid < 34; pid++)
        plant(&tree, (struct planted){.pid = pid,
                                      .parent = pid == 31 ? 30 : 1,
                                      .comm = pid == 31   ? "collect"
                                              : pid == 33 ? "mpirun"
                                                          : "chokepoint",
                                      .environ = pid == 31   ? "CHOKEPOINT_AGENT=r1"
                                                 : pid == 32 ? "CHOKEPOINT_AGENT=r2"
                                                             : NULL,
                                      .user_ticks = 50});
    look(&h, 102);
    assert_int_equal(h.rows.n, 2);
    expect(&h, "chokepoint[32]", "job", 0);
    expect(&h, "mpirun[33]", "job", 0);
    end(&h, &tree);
}

static void time_in_which_it_was_stopped_is_counted(void **state) {
    static const char states[] = "SRTTtSDZ";
    struct harness h;
    struct tree tree;
    (void)state;
    begin(&h, &tree);
    for (int i = 0; states[i]; i++) {
        plant(&tree, (struct planted){
                         .pid = 50, .parent = 1, .comm = "p", .environ = MARK, .state = states[i]});
        look(&h, 101 + i);
        expect(&h, "p[50]", "stopped_ns", (i < 2 ? 0 : i < 4 ? i - 1 : 3) * S);
    }
    end(&h, &tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_of_a_member_needs_no_mark),
        cmocka_unit_test(what_run_starts_is_the_job_without_any_environment),
        cmocka_unit_test(children_that_are_met_before_their_parent_are_found),
        cmocka_unit_test(a_member_stays_one_whatever_it_does),
        cmocka_unit_test(a_daemon_is_known_by_the_session_that_began_in_the_job),
        cmocka_unit_test(the_session_of_whoever_started_the_job_is_not_the_jobs),
        cmocka_unit_test(an_orphan_in_a_control_group_of_the_jobs_own_is_of_the_job),
        cmocka_unit_test(what_started_ranks_is_of_the_job_and_no_rank),
        cmocka_unit_test(the_number_of_the_batch_step_is_no_rank),
        cmocka_unit_test(only_what_this_run_started_is_the_profiler),
        cmocka_unit_test(time_in_which_it_was_stopped_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
