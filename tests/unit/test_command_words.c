/* SPDX-License-Identifier: MIT */
/* Hosts from command lines: mpirun's own words are read, the program's never. */
#include "cli/launch/command_words.h"
#include "cli/launch/hosts_choose.h"

#include <errno.h>
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

#define READ(...)                                                                                  \
    ({                                                                                             \
        struct command_words found_;                                                               \
        assert_int_equal(                                                                          \
            command_words_read((char **)(const char *[]){__VA_ARGS__, NULL}, &found_), 0);         \
        found_;                                                                                    \
    })

static void hostfile_and_host_list_of_mpirun_are_found(void **state) {
    (void)state;
    struct command_words w = READ("/usr/bin/mpirun", "-np", "4", "--hostfile", "h", "./a");
    assert_int_equal(w.kind, COMMAND_MPIRUN);
    assert_string_equal(w.launcher, "/usr/bin/mpirun");
    assert_int_equal(w.n_hostfiles, 1);
    assert_string_equal(w.hostfiles[0], "h");
    assert_int_equal(w.n_allocation, 0);
    w = READ("mpiexec", "-machinefile", "m", "-H", "a,b", "x");
    assert_string_equal(w.hostfiles[0], "m");
    assert_string_equal(w.lists[0], "a,b");
    w = READ("mpirun", "--host=a", "x");
    assert_string_equal(w.lists[0], "a");
}

static void the_programs_own_options_are_not_mpiruns(void **state) {
    (void)state;
    struct command_words w = READ("mpirun", "-np", "2", "./a", "--hostfile", "h", "-H", "x");
    assert_int_equal(w.n_hostfiles + w.n_lists, 0);
    w = READ("mpirun", "-x", "FOO", "--mca", "btl", "tcp", "-np", "2", "./a", "--host", "b");
    assert_int_equal(w.n_lists, 0);
    w = READ("mpirun", "--oversubscribe", "-tag-output", "-H", "a", "./a", "--host", "b");
    assert_int_equal(w.n_lists, 1);
    w = READ("./a", "--hostfile", "h");
    assert_int_equal(w.kind, COMMAND_PLAIN);
    assert_int_equal(w.n_hostfiles, 0);
}

static void all_programs_of_one_mpirun_are_read(void **state) {
    (void)state;
    struct command_words w = READ("mpirun", "-np", "1", "-H", "a", "./server", "--host", "no", ":",
                                  "-np", "2", "-H", "b,c", "./worker", "-H", "no");
    assert_int_equal(w.n_lists, 2);
    assert_string_equal(w.lists[0], "a");
    assert_string_equal(w.lists[1], "b,c");
}

static void simple_wrappers_are_seen_through(void **state) {
    (void)state;
    struct command_words w = READ("env", "-u", "X", "A=1", "B=2", "nice", "-n", "5",
                                  "/usr/bin/time", "-v", "mpirun", "-H", "a", "x");
    assert_int_equal(w.n_lists, 1);
    w = READ("timeout", "-k", "5", "60", "taskset", "-c", "0-1", "mpirun", "-H", "a", "x");
    assert_int_equal(w.n_lists, 1);
    w = READ("stdbuf", "-oL", "--", "mpirun", "-H", "a", "x");
    assert_int_equal(w.n_lists, 1);
    w = READ("echo", "mpirun", "-H", "a", "x");
    assert_int_equal(w.kind, COMMAND_PLAIN);
}

static void options_that_reach_hosts_are_kept_and_placement_is_not(void **state) {
    (void)state;
    struct command_words w =
        READ("mpirun", "--allow-run-as-root", "--mca", "plm_rsh_agent", "x", "-mca",
             "rmaps_base_oversubscribe", "1", "--mca", "mca_base_env_list", "A", "--prefix", "/opt",
             "--bind-to", "core", "./a", "--mca", "no", "no");
    assert_int_equal(w.n_reach, 6);
    assert_string_equal(w.reach[0], "--allow-run-as-root");
    assert_string_equal(w.reach[2], "plm_rsh_agent");
    assert_string_equal(w.reach[3], "x");
    assert_string_equal(w.reach[5], "/opt");
}

static void the_program_behind_it_all_is_named(void **state) {
    (void)state;
    assert_string_equal(READ("env", "A=1", "mpirun", "-np", "4", "./train", "x").program,
                        "./train");
    assert_string_equal(READ("srun", "-n4", "--", "train").program, "train");
    assert_string_equal(READ("mpirun", "-np", "1", "a", ":", "-np", "1", "b").program, "a");
    assert_string_equal(READ("nice", "make", "-j").program, "make");
    assert_null(READ("mpirun", "-np", "4").program);
    assert_string_equal(READ("mpirun", "-np", "4", "env", "A=1", "nice", "./train", "x").program,
                        "./train");
    assert_null(READ("env").program);
}

static void hosts_of_hydra_are_found(void **state) {
    (void)state;
    struct command_words w =
        READ("mpiexec.hydra", "-f", "h", "-ppn", "2", "-genv", "A", "-f", "./a", "-f", "no");
    assert_int_equal(w.kind, COMMAND_HYDRA);
    assert_int_equal(w.n_hostfiles, 1);
    assert_string_equal(w.hostfiles[0], "h");
    assert_string_equal(w.program, "./a");
    assert_null(w.hides_hosts);
    w = READ("/opt/bin/mpirun.mpich", "-hosts", "a:2,b", "-n", "3", "./a", "-hosts", "no");
    assert_int_equal(w.n_lists, 1);
    assert_string_equal(w.lists[0], "a:2,b");
    w = READ("mpirun.mpich", "-verbose", "-machinefile", "m", "x");
    assert_string_equal(w.hostfiles[0], "m");
    assert_string_equal(READ("mpirun.mpich", "-genvnone", "x").hides_variables, "-genvnone");
    assert_null(READ("mpirun.mpich", "-genvall", "x").hides_variables);
}

static void words_that_may_hide_hosts_are_named(void **state) {
    (void)state;
    assert_string_equal(READ("mpirun.mpich", "-configfile", "c").hides_hosts, "-configfile");
    assert_string_equal(READ("mpirun.mpich", "-nonesuch", "x").hides_hosts, "-nonesuch");
    assert_string_equal(READ("mpirun", "--rankfile", "r", "x").hides_hosts, "--rankfile");
    assert_string_equal(READ("mpirun", "--hostlist", "a", "x").hides_hosts, "--hostlist");
    assert_string_equal(READ("mpirun_rsh", "-np", "2", "a", "b", "x").hides_hosts, "mpirun_rsh");
    assert_null(READ("mpirun", "--oversubscribe", "--tag-output", "x").hides_hosts);
    assert_null(READ("echo", "mpirun_rsh").hides_hosts);
    assert_null(READ("mpirun.mpich", "-n", "2", "x", "-nonesuch").hides_hosts);
}

/* mpirun is a link on systems with more than one. */
static void a_link_has_the_name_behind_it(void **state) {
    (void)state;
    char directory[] = "/tmp/chokepoint-test-XXXXXX", real[64], link[64];
    assert_non_null(mkdtemp(directory));
    snprintf(real, sizeof real, "%s/mpiexec.hydra", directory);
    snprintf(link, sizeof link, "%s/mpirun", directory);
    file_write_text(real, "", 0700);
    assert_int_equal(symlink(real, link), 0);
    assert_int_equal(READ(link, "-n", "2", "x").kind, COMMAND_HYDRA);
    unlink(link);
    unlink(real);
    rmdir(directory);
}

static void node_lists_of_srun_are_found(void **state) {
    (void)state;
    struct command_words w = READ("srun", "-n4", "-w", "n[1-2]", "./a", "-w", "no");
    assert_int_equal(w.kind, COMMAND_SRUN);
    assert_int_equal(w.n_lists, 1);
    assert_string_equal(w.lists[0], "n[1-2]");
    assert_string_equal(READ("srun", "--nodelist=n3", "./a").lists[0], "n3");
    assert_string_equal(READ("srun", "-wn4", "./a").lists[0], "n4");
}

/* salloc takes these options, and none that concern only the step. */
static void the_allocation_that_srun_wants_is_read(void **state) {
    (void)state;
    struct command_words w = READ("srun", "-N2", "-n", "4", "--mpi=pmix", "-l", "-p", "long",
                                  "--exclusive=user", "-K1", "-I60", "--output", "o", "./a", "-N9");
    const char *const wants[] = {"-N2", "-n", "4", "-p", "long", "--exclusive=user", "-I60"};
    assert_int_equal(w.n_allocation, sizeof wants / sizeof *wants);
    for (size_t i = 0; i < w.n_allocation; i++)
        assert_string_equal(w.allocation[i], wants[i]);
    assert_string_equal(w.n_nodes, "2");
    assert_string_equal(w.program, "./a");
    assert_null(w.hides_hosts);
    assert_string_equal(READ("srun", "--jobid", "7", "./a").job_id, "7");
    assert_string_equal(READ("srun", "--nonesuch", "./a").hides_hosts, "--nonesuch");
    assert_string_equal(READ("srun", "-lu", "./a").hides_hosts, "-lu");
    assert_string_equal(READ("srun", "-n1", "./a", ":", "-n2", "./b").hides_hosts, ":");
    assert_string_equal(READ("srun", "--test-only", "-N2", "./a").starts_nothing, "--test-only");
    assert_string_equal(READ("/usr/bin/sbatch", "x").hides_hosts, "/usr/bin/sbatch");
}

static void variables_that_srun_keeps_from_ranks_are_noticed(void **state) {
    (void)state;
    assert_string_equal(READ("srun", "--export=NONE", "a").hides_variables, "--export=NONE");
    assert_string_equal(READ("srun", "--export", "A,B=1", "a").hides_variables, "--export");
    assert_string_equal(READ("srun", "--export=B,INSTALL", "a").hides_variables,
                        "--export=B,INSTALL");
    assert_null(READ("srun", "--export=B=1,ALL", "a").hides_variables);
    assert_null(READ("srun", "--export=LD_PRELOAD", "a").hides_variables);
}

static void words_that_end_early_are_left_to_mpirun(void **state) {
    (void)state;
    assert_int_equal(READ("mpirun", "--hostfile").n_hostfiles, 0);
    assert_int_equal(READ("mpirun", "--mca", "btl").n_reach, 0);
    assert_int_equal(READ("mpirun").kind, COMMAND_MPIRUN);
    assert_int_equal(READ("mpirun", ":", ":").n_lists, 0);
    assert_int_equal(READ("env").kind, COMMAND_PLAIN);
    assert_int_equal(READ("timeout", "5").kind, COMMAND_PLAIN);
    assert_int_equal(READ("nice", "-n").kind, COMMAND_PLAIN);
}

static void too_many_lists_are_an_error_not_an_overflow(void **state) {
    (void)state;
    const char *words[202] = {"mpirun"};
    struct command_words found;
    for (int i = 1; i < 201; i += 2) {
        words[i] = "-H";
        words[i + 1] = "a";
    }
    assert_int_equal(command_words_read((char **)words, &found), -E2BIG);
}

/* --- the order of sources --- */

static const char *chosen(const char *option, struct command_words words,
                          enum hosts_source expected) {
    static char text[400], why[300];
    struct hosts hosts = {0};
    enum hosts_source source;
    int r = hosts_choose(option, &words, &hosts, &source, why, sizeof why);
    text[0] = '\0';
    for (size_t i = 0; i < hosts.n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s ", hosts.names[i]);
    hosts_release(&hosts);
    assert_int_equal(source, expected);
    return r == 0 ? text : why;
}

static int forget_environment(void **state) {
    (void)state;
    static const char *const names[] = {"SLURM_JOB_NODELIST", "PBS_NODEFILE", "PE_HOSTFILE",
                                        "LSB_DJOB_HOSTFILE", "OMPI_MCA_orte_default_hostfile"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    return 0;
}

static void the_most_specific_source_wins(void **state) {
    (void)state;
    char path[] = "/tmp/chokepoint-hostfile-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "f1\nf2\n", 6), 6);
    close(fd);
    setenv("SLURM_JOB_NODELIST", "s[1-2]", 1);
    struct command_words both = READ("mpirun", "--hostfile", path, "-H", "c1,c2:4", "x");
    assert_string_equal(chosen("o1,o2", both, HOSTS_OPTION), "o1 o2 ");
    assert_string_equal(chosen(path, both, HOSTS_OPTION), "f1 f2 ");
    assert_string_equal(chosen(NULL, both, HOSTS_COMMAND), "c1 c2 ");
    assert_string_equal(chosen(NULL, READ("mpirun", "-hostfile", path, "x"), HOSTS_COMMAND),
                        "f1 f2 ");
    assert_string_equal(chosen(NULL, READ("mpirun", "x"), HOSTS_BATCH), "s1 s2 ");
    setenv("OMPI_MCA_orte_default_hostfile", path, 1);
    assert_string_equal(chosen(NULL, READ("mpirun", "x"), HOSTS_COMMAND), "f1 f2 ");
    assert_string_equal(chosen(NULL, READ("x"), HOSTS_BATCH), "s1 s2 ");
    unsetenv("SLURM_JOB_NODELIST");
    setenv("PBS_NODEFILE", path, 1);
    assert_string_equal(chosen(NULL, READ("x"), HOSTS_BATCH), "f1 f2 ");
    unlink(path);
}

/* srun's node list is a part of the nodes that a step may get, unless it has no more nodes than the
 * list.
 */
static void an_allocation_is_not_cut_down_to_a_node_list(void **state) {
    (void)state;
    assert_string_equal(chosen(NULL, READ("srun", "-w", "s1", "x"), HOSTS_COMMAND), "s1 ");
    setenv("SLURM_JOB_NODELIST", "s[1-3]", 1);
    assert_string_equal(chosen(NULL, READ("srun", "x"), HOSTS_BATCH), "s1 s2 s3 ");
    assert_string_equal(chosen(NULL, READ("srun", "-w", "s1", "x"), HOSTS_BATCH), "s1 s2 s3 ");
    assert_string_equal(chosen(NULL, READ("srun", "-N2-3", "-w", "s[1-2]", "x"), HOSTS_BATCH),
                        "s1 s2 s3 ");
    assert_string_equal(chosen(NULL, READ("srun", "-N1", "-w", "s2", "x"), HOSTS_COMMAND), "s2 ");
    unsetenv("SLURM_JOB_NODELIST");
}

static void without_any_source_it_is_this_machine(void **state) {
    (void)state;
    char name[300] = "";
    gethostname(name, sizeof name - 2);
    strcat(name, " ");
    assert_string_equal(chosen(NULL, READ("x"), HOSTS_LOCAL), name);
}

static void what_names_no_host_is_an_error_not_this_machine(void **state) {
    (void)state;
    assert_string_equal(chosen("", READ("x"), HOSTS_OPTION), "--hosts '': it names no host");
    assert_string_equal(chosen("/dev/null", READ("x"), HOSTS_OPTION),
                        "hostfile /dev/null: not a plain file; name the hosts with --hosts a,b,c");
    assert_non_null(strstr(chosen(NULL, READ("mpirun", "-H", "+n0", "x"), HOSTS_COMMAND), "'+n0'"));
    assert_non_null(
        strstr(chosen(NULL, READ("mpirun", "--hostfile", "/none", "x"), HOSTS_COMMAND), "/none"));
    setenv("SLURM_JOB_NODELIST", "n[1", 1);
    assert_non_null(strstr(chosen(NULL, READ("x"), HOSTS_BATCH), "SLURM_JOB_NODELIST"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostfile_and_host_list_of_mpirun_are_found),
        cmocka_unit_test(the_programs_own_options_are_not_mpiruns),
        cmocka_unit_test(all_programs_of_one_mpirun_are_read),
        cmocka_unit_test(simple_wrappers_are_seen_through),
        cmocka_unit_test(options_that_reach_hosts_are_kept_and_placement_is_not),
        cmocka_unit_test(the_program_behind_it_all_is_named),
        cmocka_unit_test(hosts_of_hydra_are_found),
        cmocka_unit_test(words_that_may_hide_hosts_are_named),
        cmocka_unit_test(a_link_has_the_name_behind_it),
        cmocka_unit_test(node_lists_of_srun_are_found),
        cmocka_unit_test(the_allocation_that_srun_wants_is_read),
        cmocka_unit_test(variables_that_srun_keeps_from_ranks_are_noticed),
        cmocka_unit_test(words_that_end_early_are_left_to_mpirun),
        cmocka_unit_test(too_many_lists_are_an_error_not_an_overflow),
        cmocka_unit_test_setup(the_most_specific_source_wins, forget_environment),
        cmocka_unit_test_setup(an_allocation_is_not_cut_down_to_a_node_list, forget_environment),
        cmocka_unit_test_setup(without_any_source_it_is_this_machine, forget_environment),
        cmocka_unit_test_setup(what_names_no_host_is_an_error_not_this_machine, forget_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
