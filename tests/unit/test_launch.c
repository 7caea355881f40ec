/* SPDX-License-Identifier: MIT */
/* Starting agents: their command lines, that shells pass these on whole, and the kept output of
 * agents that fail.
 */
#include "cli/launch/launch.h"
#include "collector/credentials.h"
#include "common/clock.h"

#include <errno.h>
#include <poll.h>
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

#define TOKEN "0123456789abcdef0123456789abcdef"
#define MARKS_KEY "00112233445566778899aabbccddeeff"

static struct launch_plan plan_with(const struct command_words *words) {
    struct launch_plan plan = {.token = TOKEN,
                               .pin = "sha256//pin=",
                               .run_id = "feedc0de",
                               .marks = "/dev/shm/it's here",
                               .marks_key = MARKS_KEY,
                               .rate = "10",
                               .process_rate = "1",
                               .words = words,
                               .connect_timeout_s = 7};
    strcpy(plan.agent, "/opt/a b/chokepoint-agent");
    return plan;
}

/* The words, joined by '|'. */
static const char *words_of(enum launch_method method, const struct launch_plan *plan) {
    static char text[20000];
    struct launch launch = {.host = "vm2", .method = method};
    struct launch_words words;
    assert_int_equal(launch_words_make(&words, &launch, plan, "https://10.0.0.1:7"), 0);
    text[0] = '\0';
    for (size_t i = 0; words.words[i]; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? "|" : "",
                 words.words[i]);
    assert_null(strstr(text, TOKEN));
    assert_null(strstr(text, MARKS_KEY));
    launch_words_release(&words);
    return text;
}

static void mpirun_gets_the_users_way_to_the_host_and_one_process(void **state) {
    (void)state;
    struct command_words words;
    const char *command[] = {"/opt/mpirun", "--mca", "plm_rsh_agent", "x y",
                             "-np",         "9",     "./a",           NULL};
    assert_int_equal(command_words_read((char **)command, &words), 0);
    struct launch_plan plan = plan_with(&words);
    plan.hostfile = "hosts";
    unsetenv("CHOKEPOINT_SCOPE");
    static const char begin[] =
        "/opt/mpirun|--mca|plm_rsh_agent|x y|--hostfile|hosts|--host|vm2|-np|1|--bind-to|none|"
        "--wdir|/"
        "|--mca|odls_base_sigkill_timeout|1|-x|CHOKEPOINT_AGENT|-x|"
        "CHOKEPOINT_RUN=feedc0de|-x|CHOKEPOINT_MARKS=/dev/shm/it's here|/bin/sh|-c|";
    static const char end[] =
        " '--collector' 'https://10.0.0.1:7' '--pin' 'sha256//pin=' '--token-stdin' '--host' 'vm2' "
        "'--rate' '10' '--process-rate' '1' '--drain' '3'";
    const char *text = words_of(LAUNCH_MPIRUN, &plan);
    assert_int_equal(strncmp(text, begin, sizeof begin - 1), 0);
    assert_non_null(strstr(text, "; a='/opt/a b/chokepoint-agent'\n"));
    assert_string_equal(text + strlen(text) - (sizeof end - 1), end);
    setenv("CHOKEPOINT_SCOPE", "cgroup", 1);
    assert_non_null(strstr(words_of(LAUNCH_MPIRUN, &plan), "|-x|CHOKEPOINT_SCOPE|"));
    unsetenv("CHOKEPOINT_SCOPE");
}

static void srun_gets_one_step_beside_the_commands_own(void **state) {
    (void)state;
    struct command_words words = {.kind = COMMAND_SRUN};
    struct launch_plan plan = plan_with(&words);
    const char *text = words_of(LAUNCH_SRUN, &plan);
    assert_int_equal(
        strncmp(text, "srun|--overlap|--nodelist|vm2|--nodes=1|--ntasks=1|--mem=0|", 58), 0);
    assert_non_null(strstr(text, "|--export=ALL|"));
    assert_non_null(strstr(text, "|/bin/sh|-c|unset CHOKEPOINT_TOKEN; export "
                                 "'CHOKEPOINT_RUN=feedc0de' 'CHOKEPOINT_MARKS="));
    assert_non_null(strstr(text, " '--host' 'vm2'"));
}

/* Each host gets its own part of the choice, and a shell changes nothing of it. */
static void who_is_the_job_goes_to_the_hosts_meant(void **state) {
    (void)state;
    struct command_words words = {.kind = COMMAND_PLAIN};
    struct launch_plan plan = plan_with(&words);
    struct job_words jobs = {.n = 0};
    char why[120];
    assert_int_equal(job_words_add(&jobs, "vm1:port=5", why, sizeof why), 0);
    assert_int_equal(job_words_add(&jobs, "vm2:unit=it's\\x2dhere", why, sizeof why), 0);
    assert_int_equal(job_words_add(&jobs, "user=ann", why, sizeof why), 0);
    assert_int_equal(job_words_add(&jobs, "fe80::1:pid=7", why, sizeof why), 0);
    assert_true(job_word_is_for(&jobs.items[3], "fe80::1"));
    assert_true(job_words_add(&jobs, "vm2:", why, sizeof why) < 0);
    assert_true(job_words_add(&jobs, ":pid=7", why, sizeof why) < 0);
    assert_int_equal(jobs.n, 4);
    plan.jobs = &jobs;
    assert_non_null(strstr(words_of(LAUNCH_MPIRUN, &plan),
                           " '--drain' '3' '--job' 'unit=it'\\''s\\x2dhere' '--job' 'user=ann'"));
    assert_null(strstr(words_of(LAUNCH_MPIRUN, &plan), "port=5"));
    assert_null(strstr(words_of(LAUNCH_MPIRUN, &plan), "--no-command-lines"));
    plan.no_command_lines = true;
    assert_non_null(strstr(words_of(LAUNCH_MPIRUN, &plan), " '--no-command-lines'"));
    while (jobs.n < JOB_CHOICES_MAX)
        assert_int_equal(job_words_add(&jobs, "pid=8", why, sizeof why), 0);
    assert_true(job_words_add(&jobs, "pid=8", why, sizeof why) < 0);
}

static void shells_give_back_what_was_quoted(void **state) {
    (void)state;
    static const char *const texts[] = {"plain",           "",    "a b", "it's", "''",
                                        "$HOME `x` \\ \"", "a\nb"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char command[200] = "printf '%s|' ", out[100] = "", expected[100];
        assert_true(launch_shell_quote(command, sizeof command, texts[i]));
        FILE *pipe = popen(command, "r");
        assert_non_null(pipe);
        out[fread(out, 1, sizeof out - 1, pipe)] = '\0';
        pclose(pipe);
        snprintf(expected, sizeof expected, "%s|", texts[i]);
        assert_string_equal(out, expected);
    }
    for (size_t size = 1; size < 12; size++) {
        char small[16];
        memset(small, 'x', sizeof small);
        small[0] = '\0';
        assert_int_equal(launch_shell_quote(small, size, "it's"), size >= 10);
        assert_int_equal(small[size], 'x');
    }
}

/* --- with real processes --- */

static void ignore_line(void *ctx, const char *line) {
    snprintf(ctx, 200, "%s", line);
}

static void await_end(struct launch *launch, char *agent_said) {
    int64_t deadline_ns = clock_monotonic_ns() + 20 * NS_PER_S;
    while (!launch_check(launch) && clock_monotonic_ns() < deadline_ns) {
        struct pollfd fd = {.fd = launch->output.fd, .events = POLLIN};
        poll(&fd, 1, 10);
        launch_read(launch, ignore_line, agent_said);
    }
    launch_read(launch, ignore_line, agent_said);
    assert_int_equal(launch->pid, 0);
}

/* An ssh that runs the script here, with an agent that reports its arguments. */
static void over_ssh_the_agent_gets_its_hosts_key_id_and_arguments_whole(void **state) {
    (void)state;
    char directory[] = "/tmp/chokepoint launch's XXXXXX", path[210], rsh[200], said[200] = "";
    assert_non_null(mkdtemp(directory));
    struct command_words words = {0};
    struct launch_plan plan = plan_with(&words);
    snprintf(plan.agent, sizeof plan.agent, "%s/agent", directory);
    file_write_text(
        plan.agent,
        "#!/bin/sh\nread key || exit 9\nread x && exit 9\n"
        "echo \"chokepoint-agent: $key$CHOKEPOINT_TOKEN $CHOKEPOINT_RUN $CHOKEPOINT_MARKS "
        "$CHOKEPOINT_AGENT $2\"\n"
        "echo ----\necho one; echo '@  two  @'; echo three; echo four; echo @@@@\nexit 3\n",
        0700);
    snprintf(rsh, sizeof rsh, "/tmp/chokepoint-rsh-%ld", (long)getpid());
    file_write_text(
        rsh, "#!/bin/sh\nwhile [ \"$1\" != vm2 ]; do shift; done\nshift\nexec /bin/sh -c \"$*\"\n",
        0700);
    snprintf(path, sizeof path, "%s -q", rsh);
    setenv("CHOKEPOINT_RSH", path, 1);
    setenv("CHOKEPOINT_TOKEN", "not this one", 1);

    struct launch launch = {.host = "vm2", .method = LAUNCH_SSH};
    assert_int_equal(launch_start(&launch, &plan, "https://10.0.0.1:7"), 0);
    await_end(&launch, said);
    assert_string_equal(launch.trouble, "exit status 3");
    char key[HOST_KEY_SIZE], expected[200];
    assert_int_equal(credentials_host_key(TOKEN, "vm2", key), 0);
    snprintf(expected, sizeof expected,
             "%s " MARKS_KEY " feedc0de /dev/shm/it's here feedc0de https://10.0.0.1:7", key);
    assert_string_equal(said, expected);
    assert_int_equal(launch.n_said, 4);
    assert_string_equal(launch.said[2], "two");
    assert_string_equal(launch.said[3], "four");
    line_reader_close(&launch.output);
    unsetenv("CHOKEPOINT_RSH");
    unsetenv("CHOKEPOINT_TOKEN");
    unlink(rsh);
    unlink(plan.agent);
    rmdir(directory);
}

static void a_launcher_that_is_not_there_is_that_hosts_trouble(void **state) {
    (void)state;
    struct command_words words = {0};
    struct launch_plan plan = plan_with(&words);
    struct launch launch = {.host = "vm2", .method = LAUNCH_SSH};
    setenv("CHOKEPOINT_RSH", "/no/such/ssh -x", 1);
    assert_int_equal(launch_start(&launch, &plan, "https://10.0.0.1:7"), -ENOENT);
    assert_string_equal(launch.trouble, "cannot start /no/such/ssh: No such file or directory");
    assert_false(launch.attempted);
    assert_false(launch_check(&launch));
    unsetenv("CHOKEPOINT_RSH");
}

/* --- an end that may pass --- */

static void a_lost_race_of_mpirun_is_run_again_and_not_for_ever(void **state) {
    (void)state;
    struct launch launch = {.host = "vm2", .n_said = 2};
    strcpy(launch.said[0], "ssh: connect to host vm2 port 22: Connection refused");
    strcpy(launch.said[1], "one");
    assert_false(launch_may_be_tried_again(&launch));
    strcpy(launch.said[1], "A call to mkdir was unable to create the desired directory:");
    assert_true(launch_may_be_tried_again(&launch));
    launch.n_again = 5;
    assert_false(launch_may_be_tried_again(&launch));
}

/* --- what agents tell of their hosts --- */

static struct launch told(const char *line) {
    int fds[2];
    struct launch launch = {.host = "vm2", .attempted = true};
    char said[200] = "", text[600];
    assert_int_equal(pipe(fds), 0);
    line_reader_init(&launch.output, fds[0]);
    int n = snprintf(text, sizeof text, "chokepoint-agent: %s\n", line);
    assert_int_equal(write(fds[1], text, (size_t)n), n);
    close(fds[1]);
    launch_read(&launch, ignore_line, said);
    assert_string_equal(said, "");
    assert_int_equal(launch.n_said, 0);
    return launch;
}

static void what_a_host_has_is_kept_and_said_to_nobody(void **state) {
    (void)state;
    struct launch launch = told("library 00000000000000ff vm2@ab-cd /usr/lib/libchokepoint-mpi.so");
    assert_true(launch.library.told);
    assert_string_equal(launch.library.path, "/usr/lib/libchokepoint-mpi.so");
    assert_string_equal(launch.library.system, "vm2@ab-cd");
    assert_int_equal(launch.library.digest, 255);
    launch = told("no library /home/u: others than you and root may write there");
    assert_true(launch.library.told);
    assert_string_equal(launch.library.path, "");
    assert_string_equal(launch.library.why, "/home/u: others than you and root may write there");
    launch = told("spool /var/tmp/chokepoint-spool-abcdef");
    assert_string_equal(launch.spool, "/var/tmp/chokepoint-spool-abcdef");
}

/* A path is put into a shell's words and into a list separated by colons. */
static void a_library_with_a_strange_name_is_none(void **state) {
    (void)state;
    static const char *const lines[] = {"library 1 vm2@b /tmp/a b", "library 1 vm2@b /tmp/$(id)",
                                        "library 1 vm2@b /tmp/a:b", "library 1 vm2@b /tmp/a;id",
                                        "library 1 vm2@b x.so",     "library 1 vm2@b",
                                        "library 1 vm;2 /tmp/a",    "library x y /z"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct launch launch = told(lines[i]);
        assert_true(launch.library.told);
        assert_string_equal(launch.library.path, "");
        assert_true(launch.library.why[0]);
    }
}

/* --- lines --- */

struct lines {
    int n;
    char last[1100];
};

static void count_line(void *ctx, const char *line) {
    struct lines *lines = ctx;
    lines->n++;
    snprintf(lines->last, sizeof lines->last, "%s", line);
}

static void lines_are_whole_bounded_and_printable(void **state) {
    (void)state;
    int fds[2];
    struct line_reader reader;
    struct lines lines = {0};
    char big[5000];
    assert_int_equal(pipe(fds), 0);
    line_reader_init(&reader, fds[0]);
    line_reader_read(&reader, count_line, &lines);
    assert_int_equal(lines.n, 0);
    assert_int_equal(write(fds[1], "on", 2), 2);
    line_reader_read(&reader, count_line, &lines);
    assert_int_equal(lines.n, 0);
    assert_int_equal(write(fds[1], "e\r\nt\x1b[wo\nthree", 14), 14);
    line_reader_read(&reader, count_line, &lines);
    assert_int_equal(lines.n, 2);
    assert_string_equal(lines.last, "t?[wo");
    memset(big, 'x', sizeof big);
    big[sizeof big - 1] = '\n';
    assert_int_equal(write(fds[1], big, sizeof big), sizeof big);
    line_reader_read(&reader, count_line, &lines);
    assert_int_equal(lines.n, 3);
    assert_memory_equal(lines.last, "threexxx", 8);
    assert_int_equal(write(fds[1], "end", 3), 3);
    close(fds[1]);
    line_reader_read(&reader, count_line, &lines);
    assert_int_equal(lines.n, 4);
    assert_string_equal(lines.last, "end");
    assert_int_equal(reader.fd, -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mpirun_gets_the_users_way_to_the_host_and_one_process),
        cmocka_unit_test(srun_gets_one_step_beside_the_commands_own),
        cmocka_unit_test(who_is_the_job_goes_to_the_hosts_meant),
        cmocka_unit_test(shells_give_back_what_was_quoted),
        cmocka_unit_test(over_ssh_the_agent_gets_its_hosts_key_id_and_arguments_whole),
        cmocka_unit_test(a_launcher_that_is_not_there_is_that_hosts_trouble),
        cmocka_unit_test(a_lost_race_of_mpirun_is_run_again_and_not_for_ever),
        cmocka_unit_test(what_a_host_has_is_kept_and_said_to_nobody),
        cmocka_unit_test(a_library_with_a_strange_name_is_none),
        cmocka_unit_test(lines_are_whole_bounded_and_printable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
