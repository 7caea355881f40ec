/* SPDX-License-Identifier: MIT */
/* The allocation of an srun: how salloc requests it, how an existing one is entered, and how the
 * run's variables pass an export list.
 */
#include "cli/launch/hosts.h"
#include "cli/launch/slurm_job.h"
#include "cli/launch/slurm_nodes.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/files.h"

static int forget_environment(void **state) {
    (void)state;
    static const char *const names[] = {"SLURM_JOB_ID",
                                        "SLURM_JOB_NODELIST",
                                        "SLURM_JOB_PARTITION",
                                        "SLURM_EXPORT_ENV",
                                        "SLURM_PARTITION",
                                        "SLURM_NNODES",
                                        "SLURM_HET_SIZE",
                                        "SLURM_JOB_NODELIST_HET_GROUP_0",
                                        "SLURM_JOB_NODELIST_HET_GROUP_1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    return 0;
}

static struct command_words read_words(const char *const *command) {
    struct command_words words;
    assert_int_equal(command_words_read((char *const *)command, &words), 0);
    return words;
}

/* Options come after the environment's values, so that they win. */
static void salloc_is_told_what_srun_was(void **state) {
    (void)state;
    const char *const command[] = {"srun", "-N", "2", "--mpi=pmi2", "-pshort", "./a", NULL};
    const struct command_words words = read_words(command);
    const char *to[8];
    char text[SLURM_TEXT_SIZE];
    size_t n;
    setenv("SLURM_PARTITION", "long", 1);
    assert_int_equal(slurm_salloc_words(&words, to, 8, text, &n), 0);
    assert_int_equal(n, 5);
    assert_string_equal(to[0], "salloc");
    assert_string_equal(to[1], "--partition=long");
    assert_string_equal(to[2], "-N");
    assert_string_equal(to[3], "2");
    assert_string_equal(to[4], "-pshort");
    assert_int_equal(slurm_salloc_words(&words, to, 4, text, &n), -E2BIG);
}

static void an_export_list_lets_our_variables_through(void **state) {
    (void)state;
    char to[200], small[20];
    assert_null(slurm_export_list(to, sizeof to));
    setenv("SLURM_EXPORT_ENV", "ALL,A=1", 1);
    assert_null(slurm_export_list(to, sizeof to));
    setenv("SLURM_EXPORT_ENV", "NONE", 1);
    assert_string_equal(slurm_export_list(to, sizeof to),
                        "CHOKEPOINT_RUN,CHOKEPOINT_MARKS,LD_PRELOAD");
    setenv("SLURM_EXPORT_ENV", "A=1", 1);
    assert_string_equal(slurm_export_list(to, sizeof to),
                        "A=1,CHOKEPOINT_RUN,CHOKEPOINT_MARKS,LD_PRELOAD");
    assert_null(slurm_export_list(small, sizeof small));
}

static void a_job_is_described_by_what_is_known_of_it(void **state) {
    (void)state;
    char text[100];
    assert_false(slurm_describe_job(text, sizeof text));
    setenv("SLURM_JOB_ID", "7", 1);
    assert_true(slurm_describe_job(text, sizeof text));
    assert_string_equal(text, "Slurm job 7");
    setenv("SLURM_JOB_NODELIST", "n[1-2]", 1);
    setenv("SLURM_JOB_PARTITION", "all", 1);
    assert_true(slurm_describe_job(text, sizeof text));
    assert_string_equal(text, "Slurm job 7 of partition all: n[1-2]");
}

static int enter(const char *const *command, char *why, size_t why_size) {
    const struct command_words words = read_words(command);
    static char verb[] = "run";
    char *const argv[] = {verb, NULL};
    return slurm_enter_job(&words, "chokepoint", argv, why, why_size);
}

static void what_needs_no_allocation_gets_none(void **state) {
    (void)state;
    char why[300];
    assert_int_equal(enter((const char *[]){"./a", NULL}, why, sizeof why), 0);
    assert_int_equal(enter((const char *[]){"srun", "--version", NULL}, why, sizeof why), 0);
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SLURM_JOB_NODELIST", "n1", 1);
    assert_int_equal(enter((const char *[]){"srun", "--nonesuch", "./a", NULL}, why, sizeof why),
                     0);
    assert_int_equal(enter((const char *[]){"srun", "--jobid=7", "./a", NULL}, why, sizeof why), 0);
}

static void what_is_not_understood_is_refused(void **state) {
    (void)state;
    char why[300];
    assert_int_equal(enter((const char *[]){"srun", "--nonesuch", "./a", NULL}, why, sizeof why),
                     -EINVAL);
    assert_non_null(strstr(why, "--nonesuch"));
    assert_int_equal(enter((const char *[]){"srun", "--jobid=7;x", "./a", NULL}, why, sizeof why),
                     -EINVAL);
    assert_non_null(strstr(why, "'7;x' is no id"));
}

/* squeue tells the nodes of another allocation. */
static void an_allocation_is_entered_by_its_id(void **state) {
    (void)state;
    char directory[] = "/tmp/chokepoint-slurm-XXXXXX", path[100], why[300];
    char *old = strdup(getenv("PATH"));
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/squeue", directory);
    file_write_text(path, "#!/bin/sh\n[ \"$3\" = 8 ] && echo 'm[3-4]'\n", 0700);
    setenv("PATH", directory, 1);
    assert_int_equal(enter((const char *[]){"srun", "--jobid=9", "./a", NULL}, why, sizeof why),
                     -ENOENT);
    assert_non_null(strstr(why, "job 9"));
    assert_int_equal(enter((const char *[]){"srun", "--jobid=8", "./a", NULL}, why, sizeof why), 0);
    assert_string_equal(getenv("SLURM_JOB_NODELIST"), "m[3-4]");
    assert_string_equal(getenv("SLURM_JOB_ID"), "8");
    assert_true(slurm_in_job());
    unsetenv("SLURM_JOB_ID");
    assert_int_equal(enter((const char *[]){"srun", "./a", NULL}, why, sizeof why), -ENOENT);
    assert_non_null(strstr(why, "salloc"));
    setenv("PATH", old, 1);
    free(old);
    unlink(path);
    rmdir(directory);
}

/* SLURM_JOB_NODELIST names only the first component's nodes. */
static void nodes_of_all_components_are_the_jobs(void **state) {
    (void)state;
    struct hosts hosts = {0};
    char why[200], text[100];
    assert_false(slurm_has_components());
    assert_int_equal(slurm_component_of("n1"), -1);
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SLURM_JOB_NODELIST", "n[1-2]", 1);
    setenv("SLURM_HET_SIZE", "2", 1);
    setenv("SLURM_JOB_NODELIST_HET_GROUP_0", "n[1-2]", 1);
    assert_int_equal(slurm_add_nodes(&hosts, why, sizeof why), -EINVAL);
    assert_non_null(strstr(why, "SLURM_JOB_NODELIST_HET_GROUP_1 is not set"));
    setenv("SLURM_JOB_NODELIST_HET_GROUP_1", "m[07-08]", 1);
    assert_true(slurm_has_components());
    assert_int_equal(slurm_add_nodes(&hosts, why, sizeof why), 0);
    assert_int_equal(hosts.n, 4);
    assert_true(hosts_contain(&hosts, "m08"));
    assert_int_equal(slurm_component_of("n2"), 0);
    assert_int_equal(slurm_component_of("m07"), 1);
    assert_int_equal(slurm_component_of("m09"), -1);
    assert_true(slurm_describe_job(text, sizeof text));
    assert_string_equal(text, "Slurm job 7: n[1-2]; m[07-08]");
    hosts_release(&hosts);
}

/* The number comes from the environment, and bounds nothing of ours. */
static void a_number_of_components_that_is_none_is_passed_over(void **state) {
    (void)state;
    static const char *const wrong[] = {"", "x", "-1", "129", "99999999999999999999"};
    struct hosts hosts = {0};
    char why[200];
    setenv("SLURM_JOB_NODELIST", "n1", 1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv("SLURM_HET_SIZE", wrong[i], 1);
        assert_false(slurm_has_components());
        assert_int_equal(slurm_add_nodes(&hosts, why, sizeof why), 0);
    }
    assert_int_equal(hosts.n, 1);
    hosts_release(&hosts);
}

static void components_must_have_their_allocation_before(void **state) {
    (void)state;
    char why[300];
    static char words[5][8] = {"run", "srun", "./a", ":", "./b"};
    char *const argv[] = {words[0], words[1], words[2], words[3], words[4], NULL};
    const struct command_words read = read_words((const char *const *)argv + 1);
    assert_int_equal(slurm_enter_job(&read, "chokepoint", argv, why, sizeof why), -EINVAL);
    assert_non_null(strstr(why, "srun: : is not understood"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(salloc_is_told_what_srun_was, forget_environment),
        cmocka_unit_test_setup(an_export_list_lets_our_variables_through, forget_environment),
        cmocka_unit_test_setup(a_job_is_described_by_what_is_known_of_it, forget_environment),
        cmocka_unit_test_setup(what_needs_no_allocation_gets_none, forget_environment),
        cmocka_unit_test_setup(what_is_not_understood_is_refused, forget_environment),
        cmocka_unit_test_setup(an_allocation_is_entered_by_its_id, forget_environment),
        cmocka_unit_test_setup(nodes_of_all_components_are_the_jobs, forget_environment),
        cmocka_unit_test_setup(a_number_of_components_that_is_none_is_passed_over,
                               forget_environment),
        cmocka_unit_test_setup(components_must_have_their_allocation_before, forget_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
