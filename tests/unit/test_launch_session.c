/* SPDX-License-Identifier: MIT */
/* The state of `run`: its begin, its reactions to collector, agents and signals, how hosts are
 * reached, and its messages about hosts that do not answer. The program is a copy of this one,
 * beside a file called chokepoint-agent.
 */
#include "cli/launch/run_session.h"
#include "common/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/files.h"

static struct run_options options;
static struct run_session session;

static int open_session(void **state) {
    char why[300];
    options = (struct run_options){.quiet = true,
                                   .database = "runs.db",
                                   .rate = "10",
                                   .process_rate = "1",
                                   .call_spool_limit = "1m",
                                   .start_timeout_ns = 20 * NS_PER_S + 1};
    if (session_open(&session, &options, why, sizeof why) < 0)
        return fprintf(stderr, "%s\n", why), -1;
    *state = &session;
    return 0;
}

static int release_session(void **state) {
    session_release(*state);
    return 0;
}

/* Hosts vm1 to vm3, over ssh. */
static void plant_hosts(struct run_session *s) {
    static const char *const names[] = {"vm1", "vm2", "vm3"};
    s->launches = calloc(3, sizeof *s->launches);
    s->n_launches = 3;
    for (size_t i = 0; i < 3; i++)
        s->launches[i] = (struct launch){.host = names[i], .method = LAUNCH_SSH};
}

static void expect_note(const struct run_session *s, size_t n, const char *text) {
    assert_int_equal(s->n_notes, n);
    assert_string_equal(s->notes[n - 1], text);
}

/* ---- what it begins with ---- */

static void assert_hex(const char *text, size_t size) {
    assert_int_equal(strlen(text), size);
    assert_int_equal(strspn(text, "0123456789abcdef"), size);
    assert_int_not_equal(strspn(text, "0"), size);
}

static void each_run_has_secrets_of_its_own(void **state) {
    struct run_session *s = *state;
    assert_hex(s->token, 32);
    assert_hex(s->run_id, 16);
    assert_hex(s->marks.key, 32);
    assert_string_not_equal(s->token, s->marks.key);
    assert_int_not_equal(strncmp(s->token, s->run_id, 16), 0);
    assert_null(strstr(s->marks.stem, s->marks.key));
    assert_int_equal(strncmp(s->marks.path, s->marks.stem, strlen(s->marks.stem)), 0);
    assert_string_equal(s->marks.path + strlen(s->marks.stem) + 1, s->marks.key);
    assert_ptr_equal(s->plan.token, s->token);
    assert_ptr_equal(s->collector.token, s->token);
    assert_ptr_equal(s->collector.key, s->credentials.key);
    assert_ptr_equal(s->plan.pin, s->credentials.pin);
    assert_ptr_equal(s->plan.marks, s->marks.stem);
    assert_ptr_equal(s->plan.marks_key, s->marks.key);
    assert_ptr_equal(s->plan.run_id, s->run_id);
    assert_ptr_equal(s->collector.run_id, s->run_id);
    assert_string_equal(s->collector.database, "runs.db");
    assert_string_equal(s->plan.rate, "10");
    assert_string_equal(s->plan.process_rate, "1");
    assert_string_equal(s->plan.call_spool_limit, "1m");
    assert_int_equal(s->plan.connect_timeout_s, 21); /* whole seconds, rounded up */
}

static void nothing_secret_is_left_behind(void **state) {
    char why[300];
    (void)state;
    struct run_session s;
    assert_int_equal(session_open(&s, &options, why, sizeof why), 0);
    session_release(&s);
    for (size_t i = 0; i < sizeof s.token; i++)
        assert_int_equal(s.token[i], 0);
    for (size_t i = 0; i < sizeof s.marks.key; i++)
        assert_int_equal(s.marks.key[i], 0);
}

static void a_closed_standard_stream_becomes_no_pipe_of_ours(void **state) {
    char why[300];
    struct run_session s;
    int kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 20);
    (void)state;
    close(STDIN_FILENO);
    assert_int_equal(session_open(&s, &options, why, sizeof why), 0);
    int signals = s.signals.fd;
    session_release(&s);
    dup2(kept, STDIN_FILENO);
    close(kept);
    assert_true(signals > STDERR_FILENO);
}

/* ---- signals ---- */

static bool is_blocked(int number) {
    sigset_t set;
    sigprocmask(SIG_SETMASK, NULL, &set);
    return sigismember(&set, number);
}

static void signals_are_heard_but_those_that_were_ignored(void **state) {
    static const int heard[] = {SIGCHLD, SIGINT, SIGQUIT, SIGTERM};
    char why[300];
    struct run_session s;
    (void)state;
    signal(SIGHUP, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);
    assert_int_equal(session_open(&s, &options, why, sizeof why), 0);
    for (size_t i = 0; i < sizeof heard / sizeof *heard; i++)
        assert_true(is_blocked(heard[i]));
    assert_true(is_blocked(SIGPIPE));
    assert_false(is_blocked(SIGHUP)); /* as under nohup */
    struct sigaction action;
    sigaction(SIGCHLD, NULL, &action);
    assert_ptr_equal(action.sa_handler, SIG_DFL); /* otherwise no child could be waited for */
    raise(SIGPIPE);
    session_release(&s); /* and this process survives */
    for (size_t i = 0; i < sizeof heard / sizeof *heard; i++)
        assert_false(is_blocked(heard[i]));
    assert_false(is_blocked(SIGPIPE));
    signal(SIGHUP, SIG_DFL);
}

static pid_t start_sleeper(void) {
    pid_t pid = fork();
    if (pid == 0) {
        sigset_t none;
        sigemptyset(&none);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sigprocmask(SIG_SETMASK, &none, NULL);
        for (;;)
            pause();
    }
    return pid;
}

static void a_signal_to_this_process_alone_is_passed_on(void **state) {
    struct run_session *s = *state;
    s->command.pid = start_sleeper();
    pid_t command = s->command.pid;
    kill(getpid(), SIGTERM);
    while (s->command.pid)
        session_poll(s, clock_monotonic_ns() + NS_PER_S);
    assert_int_equal(s->signals.last, SIGTERM);
    assert_int_equal(s->signals.n, 1);
    assert_true(WIFSIGNALED(s->command.status) && WTERMSIG(s->command.status) == SIGTERM);
    assert_true(s->command.ended_mono_ns > 0 &&
                s->command.ended_wall_ns > s->command.ended_mono_ns);
    assert_int_equal(waitpid(command, NULL, WNOHANG), -1); /* it was waited for */
}

static void a_signal_to_the_whole_group_is_not_sent_twice(void **state) {
    struct run_session *s = *state;
    s->command.pid = start_sleeper();
    pid_t command = s->command.pid;
    assert_int_equal(setpgid(command, 0),
                     0); /* so that a direct signal is told from one passed on */
    kill(0, SIGTERM);
    while (!s->signals.n)
        session_poll(s, clock_monotonic_ns() + NS_PER_S);
    assert_int_equal(s->signals.last, SIGTERM);
    assert_int_equal(s->command.pid, command);
    assert_int_equal(waitpid(command, NULL, WNOHANG), 0); /* it lives */
    kill(command, SIGKILL);
    while (s->command.pid)
        session_poll(s, clock_monotonic_ns() + NS_PER_S);
}

static void children_of_children_are_waited_for(void **state) {
    struct run_session *s = *state;
    siginfo_t info = {.si_pid = 0};
    pid_t adopted = fork();
    if (adopted == 0)
        _exit(0);
    assert_int_equal(waitid(P_PID, (id_t)adopted, &info, WEXITED | WNOWAIT), 0);
    session_poll(s, clock_monotonic_ns());
    assert_int_equal(waitpid(adopted, NULL, WNOHANG), -1);
    pid_t own = fork();
    if (own == 0)
        _exit(7);
    s->live = own; /* the starter of this program asks for its end */
    assert_int_equal(waitid(P_PID, (id_t)own, &info, WEXITED | WNOWAIT), 0);
    session_poll(s, clock_monotonic_ns());
    assert_int_equal(s->live, 0);
}

/* ---- words ---- */

static void only_the_first_refusal_counts(void **state) {
    struct run_session *s = *state;
    session_refuse(s, "no %s", "hosts");
    session_refuse(s, "no disk");
    assert_string_equal(s->refusal, "no hosts");
}

static void notes_are_kept_up_to_a_bound(void **state) {
    struct run_session *s = *state;
    for (int i = 0; i < RUN_NOTES_MAX + 3; i++)
        session_note(s, "note %d", i);
    expect_note(s, RUN_NOTES_MAX, "note 199");
}

static const char *said(void (*say)(const struct run_session *, const char *, ...), bool quiet) {
    static char text[300];
    FILE *to = tmpfile();
    int kept = dup(STDERR_FILENO);
    options.quiet = quiet;
    dup2(fileno(to), STDERR_FILENO);
    say(&session, "host %s", "vm\n1");
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(to);
    text[fread(text, 1, sizeof text - 1, to)] = '\0';
    fclose(to);
    return text;
}

static void words_are_one_line_and_quiet_leaves_out_what_is_no_complaint(void **state) {
    (void)state;
    assert_string_equal(said(session_tell, false), "chokepoint: host vm?1\n");
    assert_string_equal(said(session_tell, true), "");
    assert_string_equal(said(session_complain, true), "chokepoint: host vm?1\n");
}

/* ---- what the collector says ---- */

static void a_host_that_answers_late_is_no_longer_missing(void **state) {
    struct run_session *s = *state;
    plant_hosts(s);
    s->listener.host(s, "vm2");
    assert_true(s->launches[1].reported);
    assert_false(s->launches[0].reported);
    assert_int_equal(s->n_notes, 0);
    s->launches[2].missing = true;
    s->listener.host(s, "vm3");
    assert_false(s->launches[2].missing);
    expect_note(s, 1, "vm3 answers now; what it did before is missing");
    s->listener.host(s, "vm9");
    s->listener.final(s, "vm9");
    assert_int_equal(s->n_notes, 1);
}

static void a_last_frame_that_nobody_asked_for_is_not_the_end(void **state) {
    struct run_session *s = *state;
    plant_hosts(s);
    s->listener.final(s, "vm1");
    assert_true(s->launches[0].reported && s->launches[0].ended_early && !s->launches[0].final);
    s->stopping = true;
    s->listener.final(s, "vm2");
    assert_true(s->launches[1].reported && s->launches[1].final && !s->launches[1].ended_early);
}

static void events_are_counted_and_when_they_came(void **state) {
    struct run_session *s = *state;
    s->listener.events(s, "vm1", 5);
    s->listener.events(s, "vm2", 3);
    assert_int_equal(s->n_events, 8);
    assert_true(s->events_ns > 0 && s->events_ns <= clock_monotonic_ns());
}

static void troubles_of_the_collector_are_notes(void **state) {
    struct run_session *s = *state;
    s->listener.trouble(s, "chokepoint collector: no space");
    expect_note(s, 1, "collector: no space");
    s->listener.trouble(s, "AddressSanitizer: x");
    expect_note(s, 2, "collector: AddressSanitizer: x");
    s->listener.unwritable(s, "disk full"); /* the reason why the command does not start */
    assert_string_equal(s->unwritable, "disk full");
    assert_int_equal(s->n_notes, 2);
    s->command.started_mono_ns = 1;
    s->listener.unwritable(s, "quota");
    assert_string_equal(s->unwritable, "quota");
    expect_note(s, 3, "collector: quota; agents keep their frames until that is over");
}

/* ---- hosts ---- */

static void a_host_has_answered_when_it_has_told_its_library_too(void **state) {
    struct run_session *s = *state;
    plant_hosts(s);
    s->n_launches = 1;
    assert_false(session_awaits_hosts(s)); /* no agent runs that could answer */
    s->launches[0].pid = 1;
    assert_true(session_awaits_hosts(s));
    s->launches[0].reported = true;
    assert_false(session_awaits_hosts(s));
    s->plan.asks_library = true;
    assert_true(session_awaits_hosts(s));
    s->launches[0].library.told = true;
    assert_false(session_awaits_hosts(s));
    s->launches[0].reported = false;
    assert_true(session_awaits_hosts(s));
    s->launches[0].pid = 0;
}

static void a_missing_host_is_named_with_what_was_tried(void **state) {
    struct run_session *s = *state;
    plant_hosts(s);
    strcpy(s->launches[0].trouble, "Name or service not known");
    s->launches[1].reported = true;
    strcpy(s->launches[2].trouble, "exit status 255");
    assert_int_equal(session_name_missing(s), 2);
    s->launches[2].attempted = true;
    assert_string_equal(s->notes[0], "vm1 cannot be reached: Name or service not known");
    assert_true(s->launches[0].missing && !s->launches[1].missing && s->launches[2].missing);
    s->launches[0].reported = true;
    options.start_timeout_ns = 20 * NS_PER_S;
    s->launches[2].pid = 1;
    assert_int_equal(session_name_missing(s), 1);
    expect_note(s, 3, "vm3 did not answer: tried by ssh for 20 s");
    s->launches[2].pid = 0;
    strcpy(s->launches[2].said[0], "first");
    strcpy(s->launches[2].said[1], "second");
    s->launches[2].n_said = 2;
    session_name_missing(s);
    expect_note(s, 4, "vm3 did not answer: tried by ssh, exit status 255; it said: first; second");
    strcpy(s->launches[2].said[1], "u@vm3: Permission denied (publickey).");
    session_name_missing(s);
    expect_note(s, 5,
                "vm3 did not answer: tried by ssh, exit status 255; it said: u@vm3: Permission "
                "denied (publickey).; vm3 lets nobody in without a password: ssh-copy-id vm3");
    s->launches[2].attempted = false;
}

static void hosts_that_capture_nothing_are_named_few(void **state) {
    struct run_session *s = *state;
    plant_hosts(s);
    s->launches[0].delivered = s->launches[2].delivered = true;
    session_name_uncaptured(s);
    assert_int_equal(s->n_notes, 0);
    options.flows = true;
    session_name_uncaptured(s);
    assert_int_equal(s->n_notes, 1);
    assert_int_equal(strncmp(s->notes[0], "packets of vm1, vm3 are not captured", 36), 0);
    s->launches[1].delivered = true;
    session_name_uncaptured(s);
    assert_int_equal(strncmp(s->notes[1], "packets of vm1, vm2, vm3 are not", 32), 0);
    s->launches = realloc(s->launches, 4 * sizeof *s->launches);
    s->launches[s->n_launches++] = (struct launch){.host = "vm4", .delivered = true};
    session_name_uncaptured(s);
    assert_int_equal(strncmp(s->notes[2], "packets of vm1, vm2, vm3, ... are", 33), 0);
}

static void a_job_of_no_host_is_refused(void **state) {
    struct run_session *s = *state;
    char why[300] = "";
    plant_hosts(s);
    assert_int_equal(job_words_add(&options.jobs, "vm2:pid=7", why, sizeof why), 0);
    assert_int_equal(job_words_add(&options.jobs, "pid=8", why, sizeof why), 0);
    assert_int_equal(session_check_jobs(s, why, sizeof why), 0);
    assert_int_equal(job_words_add(&options.jobs, "vm7:pid=7", why, sizeof why), 0);
    assert_int_equal(session_check_jobs(s, why, sizeof why), -EINVAL);
    assert_string_equal(why, "--job vm7:pid=7: vm7 is no host of this run (vm1, ...)");
    s->n_launches = 1;
    assert_int_equal(session_check_jobs(s, why, sizeof why), -EINVAL);
    assert_string_equal(why, "--job vm2:pid=7: vm2 is no host of this run (vm1)");
}

/* ---- how hosts are reached ---- */

static enum launch_method method_of(enum command_kind kind, enum hosts_source source,
                                    const char *hides) {
    struct run_session *s = &session;
    char why[300];
    free(s->launches);
    hosts_release(&s->hosts);
    s->hosts = (struct hosts){0};
    s->n_launches = 0;
    s->words.kind = kind;
    s->words.hides_hosts = hides;
    assert_int_equal(
        hosts_add_list(&s->hosts, "localhost,127.0.0.1,no.such.host.invalid", why, sizeof why), 0);
    assert_int_equal(session_choose_launches(s, source, why, sizeof why), 0);
    assert_int_equal(s->n_launches, 2); /* one of them is this machine */
    assert_int_equal(s->launches[0].method, LAUNCH_DIRECT);
    assert_string_equal(s->launches[0].address, "127.0.0.1");
    assert_string_equal(s->launches[1].host, "no.such.host.invalid");
    assert_string_equal(s->launches[1].address, "");
    assert_true(s->launches[1].trouble[0]);
    return s->launches[1].method;
}

static void plant_program(const char *directory, const char *name) {
    char path[300];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    assert_true(fd >= 0);
    close(fd);
}

static void others_are_reached_as_the_command_reaches_them(void **state) {
    char directory[] = "/tmp/chokepoint-session-path-XXXXXX", *path = getenv("PATH");
    struct run_session *s = *state;
    char *kept = strdup(path ? path : "");
    assert_non_null(mkdtemp(directory));
    setenv("PATH", directory, 1);
    unsetenv("SLURM_JOB_ID");
    unsetenv("SLURM_JOBID");
    assert_int_equal(method_of(COMMAND_MPIRUN, HOSTS_COMMAND, NULL), LAUNCH_MPIRUN);
    assert_true(s->knows_hosts);
    assert_int_equal(method_of(COMMAND_MPIRUN, HOSTS_COMMAND, "--app"), LAUNCH_MPIRUN);
    assert_false(s->knows_hosts);
    assert_int_equal(method_of(COMMAND_HYDRA, HOSTS_COMMAND, NULL), LAUNCH_SSH);
    assert_int_equal(method_of(COMMAND_PLAIN, HOSTS_BATCH, NULL), LAUNCH_SSH); /* no mpirun */
    plant_program(directory, "mpirun");
    plant_program(directory, "srun");
    assert_int_equal(method_of(COMMAND_PLAIN, HOSTS_BATCH, NULL), LAUNCH_MPIRUN);
    assert_int_equal(method_of(COMMAND_PLAIN, HOSTS_OPTION, NULL), LAUNCH_SSH);
    assert_false(s->knows_hosts);
    assert_int_equal(method_of(COMMAND_HYDRA, HOSTS_COMMAND, NULL), LAUNCH_SSH);
    setenv("PATH", kept, 1);
    free(kept);
    assert_int_equal(folder_remove(directory), 0);
}

static void the_hostfile_of_the_command_is_kept_if_it_is_the_only_one(void **state) {
    struct run_session *s = *state;
    s->words.hostfiles[0] = "hosts";
    s->words.n_hostfiles = 1;
    method_of(COMMAND_MPIRUN, HOSTS_OPTION, NULL);
    assert_null(s->plan.hostfile);
    s->words.hostfiles[0] = "hosts";
    method_of(COMMAND_MPIRUN, HOSTS_COMMAND, NULL);
    assert_string_equal(s->plan.hostfile, "hosts");
}

/* ---- hosts that one mpirun reaches ---- */

/* vm2 and vm3 are reached by an mpirun that starts nothing. */
static void plant_group(struct run_session *s) {
    plant_hosts(s);
    s->words = (struct command_words){.kind = COMMAND_MPIRUN, .launcher = "/bin/false"};
    s->launches[0].method = LAUNCH_DIRECT;
    for (size_t i = 1; i < 3; i++) {
        s->launches[i].method = LAUNCH_MPIRUN;
        snprintf(s->launches[i].address, ADDRESS_SIZE, "10.9.8.7");
    }
}

static void await_groups(struct run_session *s) {
    while (session_has_groups(s))
        session_poll(s, clock_monotonic_ns() + NS_PER_S);
}

static void hosts_of_mpirun_are_reached_together(void **state) {
    struct run_session *s = *state;
    plant_group(s);
    session_start_groups(s);
    assert_int_equal(s->n_groups, 1);
    assert_int_equal(s->groups[0].n, 2);
    assert_null(s->launches[0].group);
    assert_ptr_equal(s->launches[1].group, &s->groups[0]);
    assert_true(session_awaits_hosts(s)); /* they may still answer */
    s->launches[1].reported = true;
    s->stopping = true; /* starts no other agents */
    await_groups(s);
    assert_false(launch_lives(&s->launches[1]) || launch_lives(&s->launches[2]));
    assert_int_equal(s->n_notes, 0);
}

static void agents_that_end_with_their_mpirun_are_started_apart(void **state) {
    struct run_session *s = *state;
    plant_group(s);
    session_start_groups(s);
    s->launches[1].reported = true;
    await_groups(s);
    expect_note(s, 1, "the agent on vm2 has ended (exit status 1) and is started again");
    assert_true(s->launches[1].back.due_ns > 0 || s->launches[1].pid);
    for (int i = 0; i < 200 && !s->launches[2].n_said && !s->launches[2].trouble[0]; i++)
        session_poll(s, clock_monotonic_ns() + NS_PER_S / 10);
    assert_string_equal(s->launches[2].trouble, "exit status 1"); /* of its own */
    s->stopping = true;
    session_reap(s);
}

static void one_host_or_launchers_apart_make_no_group(void **state) {
    struct run_session *s = *state;
    plant_group(s);
    options.separate_launchers = true;
    session_start_groups(s);
    assert_int_equal(s->n_groups, 0);
    session_release_groups(s);
    options.separate_launchers = false;
    s->launches[2].address[0] = '\0'; /* without a way to it */
    session_start_groups(s);
    assert_false(session_has_groups(s));
    assert_null(s->launches[1].group);
}

/* ---- addresses ---- */

/* An address other than loopback; false: this machine has none. */
static bool find_own_address(char to[ADDRESS_SIZE]) {
    struct ifaddrs *all;
    bool found = false;
    assert_int_equal(getifaddrs(&all), 0);
    for (struct ifaddrs *i = all; i && !found; i = i->ifa_next) {
        if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET)
            continue;
        const struct sockaddr_in *own = (const struct sockaddr_in *)(const void *)i->ifa_addr;
        inet_ntop(AF_INET, &own->sin_addr, to, ADDRESS_SIZE);
        found = strncmp(to, "127.", 4) != 0;
    }
    freeifaddrs(all);
    return found;
}

static void this_machine_is_known_by_all_its_names(void **state) {
    char name[300] = "", own[ADDRESS_SIZE];
    (void)state;
    assert_int_equal(gethostname(name, sizeof name - 1), 0);
    assert_true(address_is_ours(name));
    assert_true(address_is_ours("LocalHost"));
    assert_true(address_is_ours("127.8.9.10"));
    assert_false(address_is_ours("203.0.113.77"));
    assert_false(address_is_ours("no.such.host.invalid"));
    if (find_own_address(own))
        assert_true(address_is_ours(own));
}

static void an_address_towards_a_host_is_one_of_this_machine(void **state) {
    char address[ADDRESS_SIZE] = "";
    const char *why = NULL;
    (void)state;
    assert_int_equal(address_towards("127.0.0.1", address, &why), 0);
    assert_string_equal(address, "127.0.0.1");
    assert_int_equal(address_towards("no.such.host.invalid", address, &why), -ENOENT);
    assert_non_null(why);
}

/* ---- the end ---- */

static void what_did_not_come_is_noted_with_who_has_it(void **state) {
    struct run_session *s = *state;
    plant_hosts(s);
    for (size_t i = 0; i < 3; i++)
        s->launches[i].reported = true;
    s->launches[0].final = true;
    s->launches[1].ended_early = true;
    session_drain(s);
    assert_true(s->stopping && s->closing && s->collector.told_to_stop);
    assert_int_equal(s->n_notes, 2);
    assert_string_equal(s->notes[0], "the agent on vm2 ended before the command; the samples since "
                                     "are missing");
    assert_string_equal(s->notes[1], "the last samples of vm3 are missing; `chokepoint import --db "
                                     "runs.db` brings in what its agent kept on this host");
}

static void launchers_that_do_not_end_are_ended(void **state) {
    struct run_session *s = *state;
    plant_hosts(s);
    s->launches[1].pid = start_sleeper();
    pid_t pid = s->launches[1].pid;
    session_reap(s);
    assert_int_equal(s->launches[1].pid, 0);
    assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
    assert_non_null(strstr(s->launches[1].trouble, "SIGTERM"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_session, release_session)

static int test_session(void) {
    const struct CMUnitTest tests[] = {
        TEST(each_run_has_secrets_of_its_own),
        cmocka_unit_test(nothing_secret_is_left_behind),
        cmocka_unit_test(a_closed_standard_stream_becomes_no_pipe_of_ours),
        cmocka_unit_test(signals_are_heard_but_those_that_were_ignored),
        TEST(a_signal_to_this_process_alone_is_passed_on),
        TEST(a_signal_to_the_whole_group_is_not_sent_twice),
        TEST(children_of_children_are_waited_for),
        TEST(only_the_first_refusal_counts),
        TEST(notes_are_kept_up_to_a_bound),
        TEST(words_are_one_line_and_quiet_leaves_out_what_is_no_complaint),
        TEST(a_host_that_answers_late_is_no_longer_missing),
        TEST(a_last_frame_that_nobody_asked_for_is_not_the_end),
        TEST(events_are_counted_and_when_they_came),
        TEST(troubles_of_the_collector_are_notes),
        TEST(a_host_has_answered_when_it_has_told_its_library_too),
        TEST(a_missing_host_is_named_with_what_was_tried),
        TEST(hosts_that_capture_nothing_are_named_few),
        TEST(a_job_of_no_host_is_refused),
        TEST(others_are_reached_as_the_command_reaches_them),
        TEST(the_hostfile_of_the_command_is_kept_if_it_is_the_only_one),
        TEST(hosts_of_mpirun_are_reached_together),
        TEST(agents_that_end_with_their_mpirun_are_started_apart),
        TEST(one_host_or_launchers_apart_make_no_group),
        cmocka_unit_test(this_machine_is_known_by_all_its_names),
        cmocka_unit_test(an_address_towards_a_host_is_one_of_this_machine),
        TEST(what_did_not_come_is_noted_with_who_has_it),
        TEST(launchers_that_do_not_end_are_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- the copy ---- */

static void copy_self(const char *directory) {
    char path[200];
    struct stat st;
    snprintf(path, sizeof path, "%s/chokepoint", directory);
    int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
        to = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    if (from < 0 || to < 0 || fstat(from, &st) < 0)
        abort();
    for (off_t left = st.st_size; left > 0;) {
        ssize_t n = sendfile(to, from, NULL, (size_t)left);
        if (n <= 0)
            abort();
        left -= n;
    }
    close(from);
    close(to);
}

/* Runs in a process group of its own, since a test signals all of it, and ignores no signals, as a
 * shell in the background would make it.
 */
static int run_copy(const char *directory) {
    char path[200];
    int status = 0;
    snprintf(path, sizeof path, "%s/chokepoint", directory);
    pid_t pid = fork();
    if (pid == 0) {
        static const int heard[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD};
        for (size_t i = 0; i < sizeof heard / sizeof *heard; i++)
            signal(heard[i], SIG_DFL);
        setpgid(0, 0);
        execl(path, "chokepoint", "tests", NULL);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    return status;
}

int main(int argc, char **argv) {
    char directory[] = "/tmp/chokepoint-session-test-XXXXXX";
    (void)argv;
    if (argc > 1)
        return test_session();
    if (!mkdtemp(directory))
        return 1;
    copy_self(directory);
    plant_program(directory, "chokepoint-agent");
    int status = run_copy(directory);
    return folder_remove(directory) || status;
}
