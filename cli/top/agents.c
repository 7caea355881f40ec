/* SPDX-License-Identifier: MIT */
#include "cli/top/agents.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/launch/run_options.h"
#include "cli/run/run_repeat.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/text.h"

#define RATE "2" /* a second: rates are shown for one */
#define RATE_HZ 2
#define STOP_NS (10 * NS_PER_S)
#define TERMINATE_NS (3 * NS_PER_S)
#define KILL_NS NS_PER_S
#define REMOVE_NS (2 * NS_PER_S) /* a collector that has just lost its parent still writes */
#define PAUSE_MS 50
#define LATELY_NS (20 * NS_PER_S)
#define ABANDONED_S 10 /* a younger directory may not have its lock yet */
#define STEM "chokepoint-top-"

/* ---- the child ---- */

static void name_database(struct top_agents *agents) {
    snprintf(agents->database, sizeof agents->database, "%.*s/top%u.db", PATH_MAX - 32,
             agents->directory, agents->turn);
}

/* The database first: a process that still writes to it then makes no new log. */
static void remove_files(const struct top_agents *agents) {
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    char path[PATH_MAX + 16];
    if (!agents->directory[0])
        return;
    for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
        snprintf(path, sizeof path, "%s%s", agents->database, endings[i]);
        unlink(path);
    }
}

static void close_fd(int *fd) {
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void remove_directory(struct top_agents *agents) {
    int64_t deadline_ns = clock_monotonic_ns() + REMOVE_NS;
    if (!agents->directory[0])
        return;
    remove_files(agents);
    while (rmdir(agents->directory) < 0 && errno == ENOTEMPTY &&
           clock_monotonic_ns() < deadline_ns) {
        poll(NULL, 0, PAUSE_MS);
        remove_files(agents);
    }
    close_fd(&agents->directory_fd);
    agents->directory[0] = '\0';
}

/* Waits until the parent writes a byte, or ends. */
static int record(const struct top_agents *agents, const char *hosts, bool flows) {
    static char head[] = "head", c[] = "-c", one[] = "1", *command[] = {head, c, one, NULL};
    struct run_words words;
    struct run_options options;
    struct run_turn turn = {0};
    run_words_init(&words);
    words.options.name = "top";
    words.options.hosts = hosts;
    words.options.database = agents->database;
    words.options.rate = RATE;
    words.options.rate_hz = RATE_HZ;
    words.options.allow_missing = true;
    words.options.flows = flows;
    words.options.command = command;
    words.options.forgets = agents->directory[0];
    words.options.shim = words.options.report = false;
    if (run_words_judge("top", &words, &options) < 0)
        return 2;
    run_once(&options, &turn);
    return turn.exit_status;
}

/* Whether the process at the other end of the pipe is gone. */
static bool has_ended(int fd) {
    struct pollfd pipe = {.fd = fd, .events = POLLIN};
    return poll(&pipe, 1, 0) != 0 && !(pipe.revents & POLLIN);
}

static bool is_told_to_go(void) {
    char byte;
    ssize_t n;
    while ((n = read(STDIN_FILENO, &byte, 1)) < 0 && errno == EINTR)
        ;
    return n == 1;
}

/* It gets a session of its own, so that neither the terminal nor its signals reach it. */
static void be_child(struct top_agents *agents, const char *hosts, bool flows, int input,
                     int errors) {
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    setsid();
    dup2(input, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    close(agents->hold_fd);
    close(agents->say_fd);
    close(input);
    close(errors);
    close(null);
    int status = is_told_to_go() ? record(agents, hosts, flows) : 0;
    remove_files(agents);
    while (agents->directory[0] && status == 0 && !has_ended(STDIN_FILENO)) {
        agents->turn++;
        name_database(agents);
        status = record(agents, hosts, flows);
        remove_files(agents);
    }
    remove_directory(agents);
    _exit(status);
}

/* ---- the parent ---- */

/* A directory is abandoned if its view was killed with its child: it belongs to this user, and no
 * process holds it. */
static void remove_if_abandoned(int place_fd, const char *name) {
    struct stat st;
    int fd = openat(place_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool abandoned = fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
                     st.st_mtim.tv_sec < time(NULL) - ABANDONED_S &&
                     flock(fd, LOCK_EX | LOCK_NB) == 0;
    DIR *directory = abandoned ? fdopendir(fd) : NULL;
    if (!directory && fd >= 0)
        close(fd);
    if (!directory)
        return;
    for (struct dirent *entry; (entry = readdir(directory));)
        if (strncmp(entry->d_name, "top", 3) == 0)
            unlinkat(fd, entry->d_name, 0);
    unlinkat(place_fd, name, AT_REMOVEDIR);
    closedir(directory);
}

static void remove_abandoned(const char *place) {
    DIR *directory = opendir(place);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (strncmp(entry->d_name, STEM, sizeof STEM - 1) == 0)
            remove_if_abandoned(dirfd(directory), entry->d_name);
    if (directory)
        closedir(directory);
}

/* This process and the child both hold it. */
static int hold_directory(struct top_agents *agents) {
    agents->directory_fd = open(agents->directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (agents->directory_fd >= 0 && flock(agents->directory_fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    int r = negative_errno();
    rmdir(agents->directory);
    return r;
}

/* In memory, if possible; private to this user. */
static int make_directory(struct top_agents *agents) {
    const char *tmp = getenv("TMPDIR");
    const char *places[] = {"/dev/shm", tmp && tmp[0] == '/' ? tmp : "/tmp", "/tmp"};
    for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
        remove_abandoned(places[i]);
        snprintf(agents->directory, sizeof agents->directory - 16, "%s/" STEM "XXXXXX", places[i]);
        if (mkdtemp(agents->directory)) {
            name_database(agents);
            return hold_directory(agents);
        }
    }
    agents->directory[0] = '\0';
    return negative_errno();
}

static int fork_child(struct top_agents *agents, const char *hosts, bool flows) {
    int hold[2], say[2];
    if (pipe2(hold, O_CLOEXEC) < 0)
        return negative_errno();
    if (pipe2(say, O_CLOEXEC) < 0) {
        int r = negative_errno();
        close(hold[0]);
        close(hold[1]);
        return r;
    }
    agents->hold_fd = hold[1];
    agents->held_fd = hold[0];
    agents->say_fd = say[0];
    fflush(NULL);
    agents->pid = fork();
    if (agents->pid == 0)
        be_child(agents, hosts, flows, hold[0], say[1]);
    int r = agents->pid < 0 ? negative_errno() : 0;
    close(say[1]);
    fcntl(agents->say_fd, F_SETFL, O_NONBLOCK);
    if (r < 0)
        agents->pid = 0;
    return r;
}

int top_agents_start(struct top_agents *agents, const char *hosts, bool flows, const char *database,
                     char *why, size_t why_size) {
    *agents = (struct top_agents){.hold_fd = -1, .held_fd = -1, .say_fd = -1, .directory_fd = -1};
    int r = 0;
    if (database && strlen(database) >= sizeof agents->database)
        r = -ENAMETOOLONG;
    else if (database)
        strcpy(agents->database, database);
    else
        r = make_directory(agents);
    if (r == 0)
        r = fork_child(agents, hosts, flows);
    if (r < 0)
        remove_directory(agents);
    if (r < 0)
        snprintf(why, why_size, "cannot start agents: %s", strerror(-r));
    return r;
}

void top_agents_go(struct top_agents *agents) {
    (void)!write(agents->hold_fd, "", 1); /* top_agents_run detects the end of the child */
}

/* A report of success is not shown. */
static void take_line(struct top_agents *agents) {
    static const char prefix[] = "chokepoint: ";
    const char *text = agents->line;
    agents->line[agents->n_line] = '\0';
    agents->n_line = 0;
    if (strncmp(text, prefix, sizeof prefix - 1) == 0)
        text += sizeof prefix - 1;
    if (strncmp(text, "recording ", 10) == 0 ||
        (agents->said[0] && strncmp(text, "the command ", 12) == 0))
        return; /* the reason was reported before */
    text_sanitize(agents->said, sizeof agents->said, text, strlen(text));
    agents->said_ns = clock_monotonic_ns();
}

static void hear(struct top_agents *agents) {
    char bytes[512];
    ssize_t n;
    while ((n = read(agents->say_fd, bytes, sizeof bytes)) > 0)
        for (ssize_t i = 0; i < n; i++)
            if (bytes[i] == '\n')
                take_line(agents);
            else if (agents->n_line + 1 < sizeof agents->line)
                agents->line[agents->n_line++] = bytes[i];
}

bool top_agents_run(struct top_agents *agents) {
    int status;
    if (!agents->pid)
        return false;
    hear(agents);
    if (waitpid(agents->pid, &status, WNOHANG) != agents->pid)
        return true;
    hear(agents);
    agents->pid = 0;
    return false;
}

bool top_agents_turn(struct top_agents *agents, uint64_t bytes) {
    struct stat file, log;
    char path[PATH_MAX + 8];
    snprintf(path, sizeof path, "%s-wal", agents->database);
    if (stat(path, &log) < 0)
        log.st_size = 0; /* most of the size is in the log at first */
    if (!agents->directory[0] || !agents->pid || stat(agents->database, &file) < 0 ||
        (uint64_t)(file.st_size + log.st_size) < bytes || write(agents->hold_fd, "", 1) != 1)
        return false;
    agents->turn++;
    name_database(agents);
    return true;
}

const char *top_agents_said(const struct top_agents *agents, bool ever) {
    bool lately = clock_monotonic_ns() - agents->said_ns < LATELY_NS;
    return agents->said[0] && (ever || lately) ? agents->said : NULL;
}

static bool runs_until(struct top_agents *agents, int64_t deadline_ns) {
    bool runs;
    while ((runs = top_agents_run(agents)) && clock_monotonic_ns() < deadline_ns) {
        struct pollfd end = {.fd = agents->say_fd, .events = POLLIN};
        poll(&end, 1, PAUSE_MS); /* wakes when it prints something, or ends */
    }
    return runs;
}

/* Its session is its own: the group has all that it started, except those with groups of their own,
 * which end with their parent. */
static bool runs_after_signal(struct top_agents *agents, int number, int64_t wait_ns) {
    kill(-agents->pid, number);
    kill(agents->pid, number); /* in case it has no session yet */
    return runs_until(agents, clock_monotonic_ns() + wait_ns);
}

void top_agents_stop(struct top_agents *agents) {
    close_fd(&agents->hold_fd);
    if (runs_until(agents, clock_monotonic_ns() + STOP_NS) &&
        runs_after_signal(agents, SIGTERM, TERMINATE_NS))
        runs_after_signal(agents, SIGKILL, KILL_NS);
    close_fd(&agents->say_fd);
    close_fd(&agents->held_fd);
    remove_directory(agents); /* in case the child was killed */
}
