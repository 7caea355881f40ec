/* SPDX-License-Identifier: MIT */
/* Agents that one mpirun or srun starts together: each gets its own words and key, and one that is
 * missing or ends concerns no other. A launcher of a few lines of shell runs the processes here. */
#include "cli/launch/launch_group.h"
#include "collector/credentials.h"
#include "common/clock.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/files.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
#define MARKS_KEY "00112233445566778899aabbccddeeff"

/* Runs each context's script, with a tag before its lines, and writes down its own words. */
static const char mpirun[] =
    "#!/bin/sh\n"
    "keys=$(cat); i=0; printf '%s|' \"$@\" >words\n"
    "for word in \"$@\"; do\n"
    "    [ \"$last\" != -c ] || { printf '%s\\n' \"$keys\" | sh -c \"$word\" 2>&1 |\n"
    "        sed -u \"s/^/[62,$i]<stderr>:/\" & i=$((i + 1)); }\n"
    "    last=$word\n"
    "done\n"
    "echo 'a line of its own'\n"
    "wait\n";

/* Runs the script once for each task. */
static const char srun[] =
    "#!/bin/sh\n"
    "keys=$(cat); printf '%s|' \"$@\" >words\n"
    "for word in \"$@\"; do [ \"$last\" != -c ] || script=$word; last=$word; done\n"
    "for i in 0 1 2; do\n"
    "    printf '%s\\n' \"$keys\" | SLURM_PROCID=$i sh -c \"$script\" 2>&1 | sed -u \"s/^/$i: /\" "
    "&\n"
    "done\n"
    "echo 'srun: a line of its own'\n"
    "wait\n";

/* vm3 fails, the others go on until there is a file `go`, or their folder is gone. */
static const char agent[] =
    "#!/bin/sh\n"
    "[ \"$1\" != --version ] || { echo chokepoint-agent " CHOKEPOINT_VERSION "; exit; }\n"
    "read -r key marks\n"
    "while [ \"$1\" != --host ]; do [ \"$1\" != --collector ] || url=$2; shift; done\n"
    "echo \"chokepoint-agent: $2 $key $marks $url $CHOKEPOINT_RUN\"\n"
    "[ $2 != vm3 ] || exit 3\n"
    "while [ -e agent ] && [ ! -e go ]; do sleep .01; done\n";

struct run {
    char directory[40];
    struct command_words words;
    struct launch_plan plan;
    struct launch launches[3];
    struct launch_group group;
    char said[3][300];               /* by the last figure of the host's name */
    int n_ended, n_need_own, n_bare; /* of all members */
    char ended[200], own[200];
};

static int plant(void **state) {
    static struct run run;
    static const char *const names[] = {"vm2", "vm3", "vm4"};
    run = (struct run){.directory = "/tmp/chokepoint-group-XXXXXX", .group.output.fd = -1};
    if (!mkdtemp(run.directory) || chdir(run.directory) < 0)
        return -1;
    file_write_text("mpirun", mpirun, 0700);
    file_write_text("srun", srun, 0700);
    file_write_text("agent", agent, 0700);
    run.words = (struct command_words){
        .kind = COMMAND_MPIRUN, .launcher = "./mpirun", .reach = {"--prefix", "/x"}, .n_reach = 2};
    run.plan = (struct launch_plan){.token = TOKEN,
                                    .pin = "sha256//pin=",
                                    .run_id = "feedc0de",
                                    .marks = "/dev/shm/it's here",
                                    .marks_key = MARKS_KEY,
                                    .rate = "10",
                                    .process_rate = "1",
                                    .hostfile = "hosts",
                                    .words = &run.words};
    snprintf(run.plan.agent, sizeof run.plan.agent, "%s/agent", run.directory);
    for (size_t i = 0; i < 3; i++) {
        run.launches[i] = (struct launch){.host = names[i], .method = LAUNCH_MPIRUN};
        run.group.members[i] = &run.launches[i];
    }
    run.group.n = 3;
    *state = &run;
    return 0;
}

/* The same hosts are nodes of Slurm. The PATH of this program is changed: each test of srun is in a
 * directory of its own. */
static int plant_steps(void **state) {
    char path[80];
    int r = plant(state);
    struct run *run = *state;
    snprintf(path, sizeof path, "%s:/usr/bin:/bin", run->directory);
    for (size_t i = 0; i < 3; i++)
        run->launches[i].method = LAUNCH_SRUN;
    return r < 0 ? r : setenv("PATH", path, 1);
}

static int clear(void **state) {
    struct run *run = *state;
    launch_group_signal(&run->group, SIGKILL);
    if (run->group.pid)
        waitpid(run->group.pid, NULL, 0);
    launch_group_release(&run->group);
    return chdir("/") < 0 || folder_remove(run->directory);
}

static void on_line(void *ctx, const char *line) {
    struct run *run = ctx;
    if (line[0] == 'v' && line[2] >= '2' && line[2] <= '4')
        snprintf(run->said[line[2] - '2'], sizeof run->said[0], "%s", line);
}

static void add_word(char to[200], const char *word) {
    size_t n = strlen(to);
    snprintf(to + n, 200 - n, "%s ", word);
}

static void on_own(void *ctx, struct launch *launch, bool bare) {
    struct run *run = ctx;
    run->n_bare += bare;
    run->n_need_own++;
    assert_null(launch->group);
    add_word(run->own, launch->host);
}

static void on_end(void *ctx, struct launch *launch) {
    struct run *run = ctx;
    run->n_ended++;
    assert_null(launch->group);
    add_word(run->ended, launch->host);
    add_word(run->ended, launch->trouble);
}

static int start(struct run *run) {
    const char *const urls[] = {"https://10.0.0.1:7", "https://10.0.1.1:7", "https://10.0.2.1:7"};
    return launch_group_start(&run->group, &run->plan, urls);
}

static void check(struct run *run, int64_t now_ns) {
    const struct launch_group_listener listener = {on_line, on_own, on_end, run};
    launch_group_check(&run->group, now_ns, &listener);
}

/* Until all that is awaited has happened, for some seconds. */
static void check_until(struct run *run, bool (*done)(const struct run *)) {
    int64_t deadline_ns = clock_monotonic_ns() + 60 * NS_PER_S;
    while (!done(run) && clock_monotonic_ns() < deadline_ns) {
        struct pollfd fd = {.fd = run->group.output.fd, .events = POLLIN};
        poll(&fd, 1, 10);
        check(run, 0);
    }
    assert_true(done(run));
}

static bool all_said_one_ended(const struct run *run) {
    return run->said[0][0] && run->said[1][0] && run->said[2][0] && run->n_ended == 1;
}

static bool three_ended(const struct run *run) {
    return run->n_ended == 3 && !run->group.pid;
}

static bool has_left(const struct run *run) {
    return !run->group.pid;
}

/* vm3's agent has ended, the others go on. */
static void expect_agents(struct run *run) {
    run->group.give_up_ns = 1;
    assert_int_equal(start(run), 0);
    check_until(run, all_said_one_ended);
    assert_int_equal(run->group.give_up_ns, 0);
    for (int i = 0; i < 3; i++) {
        char key[HOST_KEY_SIZE], expected[300];
        assert_int_equal(credentials_host_key(TOKEN, run->launches[i].host, key), 0);
        snprintf(expected, sizeof expected, "vm%d %s " MARKS_KEY " https://10.0.%d.1:7 feedc0de",
                 i + 2, key, i);
        assert_string_equal(run->said[i], expected);
        assert_true(run->launches[i].attempted);
    }
    assert_string_equal(run->ended, "vm3 exit status 3 ");
    assert_false(launch_lives(&run->launches[1]));
    assert_true(launch_lives(&run->launches[0]) && launch_lives(&run->launches[2]));
    file_write_text("go", "", 0600);
    check_until(run, three_ended);
    assert_non_null(strstr(run->ended, "vm2 exit status 0 "));
    assert_int_equal(run->n_need_own, 0);
}

static void one_mpirun_starts_an_agent_on_each_host_with_the_key_of_that_host(void **state) {
    expect_agents(*state);
}

static void one_srun_starts_an_agent_on_each_node_with_the_key_of_that_node(void **state) {
    expect_agents(*state);
}

/* The words of a launcher that has ended; none of them is a key. */
static void read_words(struct run *run, char *words, size_t size) {
    file_write_text("go", "", 0600);
    unsetenv("CHOKEPOINT_SCOPE");
    assert_int_equal(start(run), 0);
    check_until(run, has_left);
    FILE *file = fopen("words", "re");
    assert_non_null(file);
    words[fread(words, 1, size - 1, file)] = '\0';
    fclose(file);
    assert_null(strstr(words, TOKEN));
    assert_null(strstr(words, MARKS_KEY));
    for (int i = 0; i < 3; i++) {
        char key[HOST_KEY_SIZE];
        assert_int_equal(credentials_host_key(TOKEN, run->launches[i].host, key), 0);
        assert_null(strstr(words, key));
    }
}

static void its_words_have_a_context_for_each_host_and_no_key(void **state) {
    char words[40000] = "";
    read_words(*state, words, sizeof words);
    static const char head[] =
        "--prefix|/x|--tag-output|--stdin|all|--mca|odls_base_sigkill_timeout"
        "|1|--hostfile|hosts|--host|vm2|-np|1|--bind-to|none|--wdir|/|-x|"
        "CHOKEPOINT_AGENT|-x|CHOKEPOINT_RUN=feedc0de|-x|",
                      next[] = "|:|--hostfile|hosts|--host|vm3|-np|1|--bind-to|none|--wdir|/|-x|";
    assert_int_equal(strncmp(words, head, sizeof head - 1), 0);
    assert_non_null(strstr(words, next));
}

static void the_words_of_srun_name_its_nodes_in_the_order_of_its_tasks_and_no_key(void **state) {
    struct run *run = *state;
    char words[40000] = "";
    run->group.members[0] = &run->launches[2];
    run->group.members[2] = &run->launches[0];
    read_words(run, words, sizeof words);
    static const char head[] = "--overlap|--nodelist|vm4,vm3,vm2|--distribution=arbitrary|--nodes="
                               "3|--ntasks=3|--label|--wait=0|"
                               "--kill-on-bad-exit=1|--mem=0|";
    assert_int_equal(strncmp(words, head, sizeof head - 1), 0);
    assert_non_null(strstr(words, "|--input=all|"));
    assert_non_null(strstr(words, "\'--host\' \'vm4\'"));
    assert_null(strstr(words, "|--unbuffered|")); /* parts of lines would get labels */
}

static void hosts_without_an_agent_of_this_version_need_launchers_of_their_own(void **state) {
    struct run *run = *state;
    file_write_text("agent", "#!/bin/sh\necho chokepoint-agent 0.0.1\n", 0700);
    assert_int_equal(start(run), 0);
    check_until(run, has_left);
    assert_int_equal(run->n_need_own, 3);
    assert_int_equal(run->n_bare, 3);
    assert_int_equal(run->n_ended, 0);
}

static void the_end_of_mpirun_ends_agents_that_had_answered(void **state) {
    struct run *run = *state;
    file_write_text("mpirun", "#!/bin/sh\nexit 7\n", 0700);
    run->launches[2].reported = true;
    assert_int_equal(start(run), 0);
    check_until(run, has_left);
    assert_string_equal(run->own, "vm2 vm3 ");
    assert_int_equal(run->n_bare, 0);
    assert_string_equal(run->ended, "vm4 exit status 7 ");
}

static void an_mpirun_that_is_silent_is_given_up(void **state) {
    struct run *run = *state;
    file_write_text("mpirun", "#!/bin/sh\necho connecting\nexec sleep 300\n", 0700);
    run->group.give_up_ns = 50;
    assert_int_equal(start(run), 0);
    assert_int_equal(launch_group_deadline(&run->group, 70), 50);
    check(run, 49);
    assert_int_equal(run->n_need_own, 0);
    check(run, 50);
    assert_string_equal(run->own, "vm2 vm3 vm4 ");
    assert_int_equal(launch_group_deadline(&run->group, 70), 70);
    check_until(run, has_left);
    assert_int_equal(run->n_need_own, 3);
}

static void an_mpirun_that_is_not_there_has_no_members(void **state) {
    struct run *run = *state;
    unlink("mpirun");
    assert_int_equal(start(run), -ENOENT);
    for (int i = 0; i < 3; i++)
        assert_false(launch_lives(&run->launches[i]) || run->launches[i].attempted);
    check(run, 0);
    assert_int_equal(run->n_need_own + run->n_ended, 0);
}

/* Both versions of OpenMPI, and lines that anybody on a host may write. */
static void only_lines_with_the_number_of_a_member_are_read(void **state) {
    struct run *run = *state;
    file_write_text(
        "mpirun",
        "#!/bin/sh\n"
        "echo '[prterun-vm1-77@1,1]<stderr>: chokepoint-agent: vm3 of 5'\n"
        "echo '[1,0]<stdout>:chokepoint-agent: vm2 of 4'\n"
        "echo '[1,3]<stdout>:chokepoint-agent: vm4 nobody'\n"
        "echo '[1,99999999999999999999]<stdout>:chokepoint-agent ended 1'\n"
        "echo '[1,x]<stdout>:chokepoint-agent ended 1'\n"
        "echo '[1,2<stdout>:chokepoint-agent ended 1'\n"
        "echo '[]<std'; echo '[,]<std>:'; echo '[1,-1]<stdout>:chokepoint-agent ended 1'\n"
        "echo 'chokepoint-agent ended 1'\n"
        "echo '[1,2]<stdout>:chokepoint-agent ended 137'\n"
        "echo '[1,2]<stdout>:chokepoint-agent ended 1'\n"
        "exec sleep 300\n",
        0700);
    assert_int_equal(start(run), 0);
    int64_t deadline_ns = clock_monotonic_ns() + 60 * NS_PER_S;
    while (!run->n_ended && clock_monotonic_ns() < deadline_ns)
        check(run, 0);
    check(run, 0);
    assert_string_equal(run->ended, "vm4 killed by SIGKILL ");
    assert_string_equal(run->said[0], "vm2 of 4");
    assert_string_equal(run->said[1], "vm3 of 5");
    assert_string_equal(run->said[2], "");
    assert_int_equal(run->n_need_own, 0);
}

/* Labels of srun are as wide as that of the last task. */
static void only_labels_with_the_number_of_a_member_are_read(void **state) {
    struct run *run = *state;
    file_write_text("srun",
                    "#!/bin/sh\n"
                    "echo ' 1: chokepoint-agent: vm3 of 5'\n"
                    "echo '00: chokepoint-agent: vm2 of 4'\n"
                    "echo '3: chokepoint-agent: vm4 nobody'\n"
                    "echo '99999999999999999999: chokepoint-agent ended 1'\n"
                    "echo ': chokepoint-agent ended 1'; echo; echo 2; echo 2:\n"
                    "echo '-1: chokepoint-agent ended 1'\n"
                    "echo 'x2: chokepoint-agent ended 1'\n"
                    "echo '2:chokepoint-agent ended 1'\n"
                    "echo '[1,0]<stdout>:chokepoint-agent ended 1'\n"
                    "echo '2: chokepoint-agent ended 137'\n"
                    "exec sleep 300\n",
                    0700);
    assert_int_equal(start(run), 0);
    int64_t deadline_ns = clock_monotonic_ns() + 60 * NS_PER_S;
    while (!run->n_ended && clock_monotonic_ns() < deadline_ns)
        check(run, 0);
    assert_string_equal(run->ended, "vm4 killed by SIGKILL ");
    assert_string_equal(run->said[0], "vm2 of 4");
    assert_string_equal(run->said[1], "vm3 of 5");
    assert_string_equal(run->said[2], "");
    assert_int_equal(run->n_need_own, 0);
}

/* A step lies in one component, and its nodes are numbered there. */
static void nodes_of_components_and_hosts_of_ssh_are_reached_one_by_one(void **state) {
    struct launch launch = {.host = "vm2", .method = LAUNCH_SSH};
    (void)state;
    assert_false(launch_can_join(&launch));
    launch.method = LAUNCH_SRUN;
    assert_true(launch_can_join(&launch));
    setenv("SLURM_HET_SIZE", "2", 1);
    setenv("SLURM_JOB_NODELIST_HET_GROUP_0", "vm1", 1);
    setenv("SLURM_JOB_NODELIST_HET_GROUP_1", "vm[2-3]", 1);
    bool joins = launch_can_join(&launch);
    unsetenv("SLURM_HET_SIZE");
    assert_false(joins);
}

/* Words that do not fit into an argument: nothing is started, and each node gets its own launcher.
 */
static void nodes_whose_words_are_too_long_have_no_step(void **state) {
    struct run *run = *state;
    static char choice[60 * 1024];
    const char *urls[] = {"u", "u", "u"};
    memset(choice, 'x', sizeof choice - 1);
    const struct job_words jobs = {.items = {{.text = choice, .choice = choice}}, .n = 1};
    run->plan.jobs = &jobs;
    assert_int_equal(launch_group_start(&run->group, &run->plan, urls), -ENAMETOOLONG);
    for (int i = 0; i < 3; i++)
        assert_false(launch_lives(&run->launches[i]) || run->launches[i].attempted);
}

#define STEP_TEST(name) cmocka_unit_test_setup_teardown(name, plant_steps, clear)
#define TEST(name) cmocka_unit_test_setup_teardown(name, plant, clear)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(one_mpirun_starts_an_agent_on_each_host_with_the_key_of_that_host),
        TEST(its_words_have_a_context_for_each_host_and_no_key),
        TEST(hosts_without_an_agent_of_this_version_need_launchers_of_their_own),
        TEST(the_end_of_mpirun_ends_agents_that_had_answered),
        TEST(an_mpirun_that_is_silent_is_given_up),
        TEST(an_mpirun_that_is_not_there_has_no_members),
        TEST(only_lines_with_the_number_of_a_member_are_read),
        STEP_TEST(one_srun_starts_an_agent_on_each_node_with_the_key_of_that_node),
        STEP_TEST(the_words_of_srun_name_its_nodes_in_the_order_of_its_tasks_and_no_key),
        STEP_TEST(only_labels_with_the_number_of_a_member_are_read),
        STEP_TEST(nodes_of_components_and_hosts_of_ssh_are_reached_one_by_one),
        STEP_TEST(nodes_whose_words_are_too_long_have_no_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
