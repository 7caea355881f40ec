/* SPDX-License-Identifier: MIT */
#include "cli/launch/run_session.h"
#include "common/clock.h"
#include "common/error.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- beginning and end --- */

static int random_hex(char *to, size_t n_bytes) {
    unsigned char bytes[16];
    if (getrandom(bytes, n_bytes, 0) != (ssize_t)n_bytes)
        return negative_errno();
    for (size_t i = 0; i < n_bytes; i++)
        snprintf(to + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

/* The stem of the directories for marks: in memory, if possible. Its key is in no command line: a
 * user who sees the directory on one host cannot predict it on another. */
static int choose_marks(struct run_session *s) {
    const char *tmp = getenv("TMPDIR");
    const char *place = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm"
                        : tmp && tmp[0] == '/'               ? tmp
                                                             : "/tmp";
    int n = snprintf(s->marks.stem, sizeof s->marks.stem, "%s/chokepoint", place);
    if (n < 0 || (size_t)n >= sizeof s->marks.stem)
        return -ENAMETOOLONG;
    int r = random_hex(s->marks.key, 16);
    snprintf(s->marks.path, sizeof s->marks.path, "%s-%s", s->marks.stem, s->marks.key);
    return r;
}

/* SIGPIPE is only blocked: a closed pipe shows as EPIPE. */
static int open_signals(struct run_session *s) {
    static const int heard[] = {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    sigset_t set, blocked;
    sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_SIZE(heard); i++) {
        struct sigaction action;
        sigaction(heard[i], NULL, &action);
        if (action.sa_handler != SIG_IGN || heard[i] == SIGCHLD) /* as under nohup */
            sigaddset(&set, heard[i]);
    }
    signal(SIGCHLD, SIG_DFL); /* if it were ignored, no child could be waited for */
    blocked = set;
    sigaddset(&blocked, SIGPIPE);
    if (sigprocmask(SIG_BLOCK, &blocked, &s->signals.old_mask) < 0)
        return negative_errno();
    s->signals.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return s->signals.fd < 0 ? negative_errno() : group_watch_start(&s->group);
}

/* A closed standard stream stays closed for the command, but no pipe of `run` may get its
 * number. */
static int occupy_standard_streams(void) {
    int fd;
    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd < 0)
        return negative_errno();
    close(fd);
    return 0;
}

static void on_host(void *ctx, const char *name);
static void on_final(void *ctx, const char *name);
static void on_events(void *ctx, const char *name, uint64_t n);
static void on_trouble(void *ctx, const char *text);
static void on_unwritable(void *ctx, const char *why);

int session_open(struct run_session *s, const struct run_options *options, char *why,
                 size_t why_size) {
    *s = (struct run_session){.options = options, .signals.fd = -1};
    limits_raise(&s->old_limits);
    int r = launch_find_programs(&s->plan, s->program, why, why_size);
    if (r < 0)
        return r;
    r = occupy_standard_streams();
    if (r == 0)
        r = random_hex(s->token, 16);
    if (r == 0)
        r = random_hex(s->run_id, 8);
    if (r == 0)
        r = credentials_make(NULL, &s->credentials);
    if (r == 0)
        r = choose_marks(s);
    if (r == 0)
        r = open_signals(s);
    if (r < 0)
        return snprintf(why, why_size, "cannot begin: %s", strerror(-r)), r;
    s->listener = (struct collect_listener){.host = on_host,
                                            .final = on_final,
                                            .events = on_events,
                                            .trouble = on_trouble,
                                            .unwritable = on_unwritable,
                                            .ctx = s};
    s->collector.program = s->program;
    s->collector.database = options->database;
    s->collector.pack_after = options->pack_after;
    s->collector.token = s->plan.token = s->token;
    s->collector.key = s->credentials.key;
    s->plan.pin = s->credentials.pin;
    s->collector.mask = s->plan.mask = &s->signals.old_mask;
    s->collector.run_id = s->plan.run_id = s->run_id;
    s->plan.marks = s->marks.stem;
    s->plan.marks_key = s->marks.key;
    s->plan.rate = options->rate;
    s->plan.process_rate = options->process_rate;
    s->plan.flows = options->flows;
    s->plan.forgets = options->forgets;
    s->plan.no_command_lines = options->no_command_lines;
    s->plan.jobs = &options->jobs;
    s->plan.call_spool_limit = options->call_spool_limit;
    s->plan.words = &s->words;
    s->plan.connect_timeout_s = (int)((options->start_timeout_ns + NS_PER_S - 1) / NS_PER_S);
    return 0;
}

/* A reader that closed its pipe has left a SIGPIPE pending, which must not end `run` when the mask
 * is restored. */
static void discard_sigpipe(void) {
    const struct timespec now = {0};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    while (sigtimedwait(&set, NULL, &now) > 0)
        ;
}

void session_release(struct run_session *s) {
    for (size_t i = 0; i < s->n_launches; i++)
        if (s->launches[i].attempted)
            line_reader_close(&s->launches[i].output);
    session_release_groups(s);
    free(s->launches);
    session_release_library(s);
    for (size_t i = 0; i < s->n_notes; i++)
        free(s->notes[i]);
    free(s->unwritable);
    free(s->refusal);
    hosts_release(&s->hosts);
    collect_child_release(&s->collector);
    collect_child_leave(&s->collector);
    group_watch_stop(&s->group);
    if (s->signals.fd >= 0) {
        close(s->signals.fd);
        discard_sigpipe();
        sigprocmask(SIG_SETMASK, &s->signals.old_mask, NULL);
    }
    limits_restore(&s->old_limits);
    explicit_bzero(s->token, sizeof s->token);
    explicit_bzero(s->marks.key, sizeof s->marks.key);
    credentials_release(&s->credentials);
}

/* --- reports of the collector --- */

static struct launch *find_launch(struct run_session *s, const char *host) {
    for (size_t i = 0; i < s->n_launches; i++)
        if (strcmp(s->launches[i].host, host) == 0)
            return &s->launches[i];
    return NULL;
}

static void on_host(void *ctx, const char *name) {
    struct run_session *s = ctx;
    struct launch *launch = find_launch(s, name);
    if (!launch)
        return;
    launch->reported = true;
    if (launch->missing)
        session_note(s, "%s answers now; what it did before is missing", name);
    launch->missing = false;
}

static void on_final(void *ctx, const char *name) {
    struct run_session *s = ctx;
    struct launch *launch = find_launch(s, name);
    if (launch)
        launch->reported = true;
    if (launch && s->stopping) /* earlier ends had other reasons, and it comes back */
        launch->final = true;
    else if (launch)
        launch->ended_early = true;
}

static void on_events(void *ctx, const char *name, uint64_t n) {
    struct run_session *s = ctx;
    (void)name;
    s->n_events += n;
    s->events_ns = clock_monotonic_ns();
}

/* A line of the collector; errors that end it name its verb already. */
static void on_trouble(void *ctx, const char *text) {
    static const char verb[] = "chokepoint collector: ";
    bool is_told = strncmp(text, verb, sizeof verb - 1) == 0;
    session_note(ctx, "collector: %s", is_told ? text + sizeof verb - 1 : text);
}

/* During the command agents keep what they have; before it, this is why it does not start. */
static void on_unwritable(void *ctx, const char *why) {
    struct run_session *s = ctx;
    free(s->unwritable);
    s->unwritable = strdup(why);
    if (s->command.started_mono_ns)
        session_note(s, "collector: %s; agents keep their frames until that is over", why);
}

/* --- ended processes --- */

static void start_collector_again(struct run_session *s) {
    int64_t now_ns = clock_monotonic_ns();
    int r = collect_child_start(&s->collector);
    if (r == 0)
        backoff_started(&s->collector_back, now_ns);
    else if (backoff_ended(&s->collector_back, now_ns))
        session_note(s, "the collector cannot be started again yet: %s", strerror(-r));
}

/* Agents keep what they have until it is back. The next one may end by the same cause, hence a
 * pause. */
static void check_collector(struct run_session *s) {
    char end[64];
    int status = 0;
    if (collect_child_check(&s->collector, &s->listener, &status) < 0 || s->closing)
        return;
    child_describe_end(status, end, sizeof end);
    if (!s->collector.endpoints[0].listens) { /* it has never listened */
        s->collector_lost = true;
        session_note(s, "the collector ended (%s); nothing is recorded", end);
    } else if (backoff_ended(&s->collector_back, clock_monotonic_ns()))
        session_note(s, "the collector ended (%s) and is started again", end);
}

/* It may have ended. */
static void check_live(struct run_session *s) {
    int status;
    if (s->live == 0 || child_ended(s->live, &status) == -EAGAIN)
        return;
    s->live = 0;
    if (!s->stopping)
        session_tell(s, "the live view has ended");
}

/* It has said why. */
static void check_remote(struct run_session *s) {
    int status;
    if (s->remote == 0 || child_ended(s->remote, &status) == -EAGAIN)
        return;
    s->remote = 0;
    s->remote_failed = status != 0;
}

static void check_command(struct run_session *s) {
    if (s->command.pid == 0 ||
        child_ended_with(s->command.pid, &s->command.status, &s->command.usage) == -EAGAIN)
        return;
    s->command.ended_wall_ns = clock_wall_ns();
    s->command.ended_mono_ns = clock_monotonic_ns();
    s->command.pid = 0;
}

static bool is_known(const struct run_session *s, pid_t pid) {
    bool known = pid == s->command.pid || pid == s->collector.pid || pid == s->live ||
                 pid == s->remote || pid == s->group.pid;
    for (size_t i = 0; i < s->n_launches && !known; i++)
        known = pid == s->launches[i].pid;
    for (size_t i = 0; i < s->n_groups && !known; i++)
        known = pid == s->groups[i].pid;
    return known;
}

/* `run` adopted the command's orphans (run_command.c), and must wait for them. Ended children of
 * `run` itself are handled first, by their owners. */
static void reap_adopted(const struct run_session *s) {
    siginfo_t info = {.si_pid = 0};
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid &&
           !is_known(s, info.si_pid)) {
        waitpid(info.si_pid, NULL, WNOHANG);
        info.si_pid = 0;
    }
}

/* An agent's notes arrive with its frames, except those about its end. */
void session_take_agent_line(void *ctx, const char *line) {
    struct run_session *s = ctx;
    if (s->stopping)
        session_note(s, "%s", line);
    else
        session_tell(s, "%s", line);
}

void session_take_end(struct run_session *s, struct launch *launch) {
    if (launch->reported && !launch->missing && !s->stopping &&
        backoff_ended(&launch->back, clock_monotonic_ns()))
        session_note(s, "the agent on %s has ended (%s) and is started again", launch->host,
                     launch->trouble);
}

static void check_launches(struct run_session *s) {
    for (size_t i = 0; i < s->n_launches; i++) {
        struct launch *launch = &s->launches[i];
        launch_read(launch, session_take_agent_line, s);
        if (!launch_check(launch))
            continue;
        launch_read(launch, session_take_agent_line, s);
        if (!launch->reported && !s->stopping && launch_may_be_tried_again(launch)) {
            launch->n_again++;
            session_start_agent(s, launch);
            continue;
        }
        session_take_end(s, launch);
    }
}

/* The new agent finds in the spool what the old one could not deliver. */
static void start_agents_again(struct run_session *s) {
    for (size_t i = 0; i < s->n_launches; i++) {
        struct launch *launch = &s->launches[i];
        int64_t now_ns = clock_monotonic_ns();
        if (!backoff_is_due(&launch->back, now_ns) || s->stopping)
            continue;
        session_start_agent(s, launch);
        if (!launch->pid && backoff_ended(&launch->back, now_ns))
            session_note(s, "%s: %s", launch->host, launch->trouble);
    }
}

static int64_t next_start_ns(const struct run_session *s, int64_t deadline_ns) {
    deadline_ns = backoff_deadline(&s->collector_back, deadline_ns);
    for (size_t i = 0; i < s->n_launches && !s->stopping; i++)
        deadline_ns = backoff_deadline(&s->launches[i].back, deadline_ns);
    for (size_t i = 0; i < s->n_groups; i++)
        deadline_ns = launch_group_deadline(&s->groups[i], deadline_ns);
    return deadline_ns;
}

/* --- signals --- */

/* timeout(1) signals its child and then the whole group: signals in such quick succession are
 * one. */
#define SAME_SIGNAL_MS 20

static uint64_t read_signals(const struct run_session *s) {
    struct signalfd_siginfo info;
    uint64_t numbers = 0;
    while (read(s->signals.fd, &info, sizeof info) == sizeof info)
        if (info.ssi_signo != SIGCHLD)
            numbers |= UINT64_C(1) << info.ssi_signo;
    return numbers;
}

/* Without a watch signals of the terminal count as the group's, all others as sent to `run`
 * alone. */
static bool reached_the_command(struct run_session *s, int number) {
    if (s->group.pid == 0)
        return number == SIGINT || number == SIGQUIT;
    return group_watch_saw(&s->group, number);
}

static void take_signal(struct run_session *s, int number) {
    bool reached = reached_the_command(s, number);
    s->signals.last = number;
    s->signals.n++;
    if (!reached && s->command.pid)
        kill(s->command.pid, number);
}

static void take_signals(struct run_session *s) {
    uint64_t numbers = read_signals(s);
    if (numbers) {
        poll(NULL, 0, SAME_SIGNAL_MS);
        numbers |= read_signals(s);
    }
    for (int number = 1; number < 64; number++)
        if (numbers >> number & 1)
            take_signal(s, number);
    check_command(s);
}

/* --- the loop --- */

static size_t add_fd(struct pollfd *fds, size_t n, int fd) {
    fds[n] = (struct pollfd){.fd = fd, .events = POLLIN};
    return n + 1;
}

/* A closed reader has fd -1, which poll skips. */
static size_t list_fds(struct run_session *s, struct pollfd *fds) {
    size_t n = add_fd(fds, 0, s->signals.fd);
    if (s->collector.pid) {
        n = add_fd(fds, n, s->collector.events.fd);
        n = add_fd(fds, n, s->collector.errors.fd);
    }
    for (size_t i = 0; i < s->n_launches; i++)
        if (s->launches[i].attempted)
            n = add_fd(fds, n, s->launches[i].output.fd);
    for (size_t i = 0; i < s->n_groups; i++)
        n = add_fd(fds, n, s->groups[i].output.fd);
    return n;
}

static int poll_timeout_ms(int64_t until_ns) {
    int64_t left = until_ns - clock_monotonic_ns();
    return left <= 0 ? 0 : left > 3600 * NS_PER_S ? 3600 * 1000 : (int)(left / NS_PER_MS) + 1;
}

void session_poll(struct run_session *s, int64_t deadline_ns) {
    struct pollfd *fds = calloc(s->n_launches + s->n_groups + 3, sizeof *fds);
    deadline_ns = next_start_ns(s, deadline_ns);
    if (fds)
        poll(fds, list_fds(s, fds), poll_timeout_ms(deadline_ns));
    free(fds);
    take_signals(s);
    collect_child_read(&s->collector, &s->listener);
    check_collector(s);
    check_live(s);
    check_remote(s);
    session_check_groups(s);
    check_launches(s);
    reap_adopted(s);
    if (backoff_is_due(&s->collector_back, clock_monotonic_ns()) && !s->closing)
        start_collector_again(s);
    start_agents_again(s);
}
