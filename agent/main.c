/* SPDX-License-Identifier: MIT */
/*
 * chokepoint-agent: reads its command line, hides its token, and keeps a sampling process alive. It
 * makes what must outlive that process: the stream and the spool's directory.
 */
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/doctor/doctor.h"
#include "agent/introduction.h"
#include "agent/observe.h"
#include "agent/options.h"
#include "agent/push/push.h"
#include "agent/send_ring.h"
#include "agent/spool/spool_dir.h"
#include "agent/supervise/delivered.h"
#include "agent/supervise/page_drop.h"
#include "agent/supervise/supervise.h"
#include "agent/tables.h"
#include "common/error.h"
#include "common/limits.h"
#include "common/text.h"

#define PREDECESSOR_S 5
/* Larger memory has a mapping of its own, of which only touched pages count, and which is given
 * back as a whole. Unset, the limit grows with the first large memory that is freed. */
#define LARGE_BYTES (64 << 10)

struct agent {
    struct agent_options options;
    struct agent_memory *memory;
    int spool_fd;         /* held while this process or its child lives */
    char spool[PATH_MAX]; /* path of the directory, if it was made */
    bool made_spool;
};

static int run_child(void *ctx) {
    const struct agent *agent = ctx;
    return observe(&agent->options, agent->memory);
}

static void say(void *ctx, const char *text) {
    agent_say(&((const struct agent *)ctx)->options, text);
}

static void settle(void *ctx) {
    page_drop_files(((const struct agent *)ctx)->options.proc);
}

static void tidy(void *ctx) {
    const struct agent *agent = ctx;
    if (agent->made_spool || agent->options.run[0]) /* a run has a directory of its own */
        spool_dir_remove(agent->options.spool);
}

static void interrupt(int signal) {
    (void)signal;
}

/* A run's agent may replace another one that has failed or lost its connection, and that will
 * notice soon. */
static bool lock_spool(const struct agent *agent) {
    const struct sigaction action = {.sa_handler = interrupt};
    if (flock(agent->spool_fd, LOCK_EX | LOCK_NB) == 0)
        return true;
    if (!agent->options.run[0])
        return false;
    sigaction(SIGALRM, &action, NULL);
    alarm(PREDECESSOR_S);
    bool ours = flock(agent->spool_fd, LOCK_EX) == 0;
    alarm(0);
    return ours;
}

/* A directory that another user has made or changed meanwhile is left alone. */
static int choose_spool(struct agent *agent) {
    struct agent_options *options = &agent->options;
    int fd = options->spool ? spool_dir_open(options->spool, &agent->made_spool) : -ENOENT;
    bool refused = fd == -EPERM || fd == -ELOOP;
    if (options->spool && !(refused && options->run[0]))
        return fd;
    fd = spool_dir_make(options->run, agent->spool);
    options->spool = agent->spool;
    agent->made_spool = fd >= 0;
    return fd;
}

/* An agent of the same run that was killed may have left undelivered frames: its stream is
 * continued, unless that agent still holds it. */
static int make_spool(struct agent *agent) {
    agent->spool_fd = choose_spool(agent);
    if (agent->spool_fd < 0)
        return agent->spool_fd;
    if (!agent->options.ring)
        introduce_spool(agent->options.spool);
    bool ours = lock_spool(agent);
    if (!ours && agent->options.ring)
        return -EBUSY;
    if (ours && agent->options.run[0] && !agent->made_spool)
        spool_dir_find_stream(agent->spool_fd, &agent->memory->stream_id);
    return 0;
}

static int make_memory(struct agent *agent) {
    agent->memory = mmap(NULL, sizeof *agent->memory, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return agent->memory == MAP_FAILED ? negative_errno() : agent_memory_begin(agent->memory);
}

/* `why` may quote an argument: this keeps it on one line. */
static int usage(const char *why) {
    char line[256];
    text_sanitize(line, sizeof line, why, strlen(why));
    fprintf(stderr, "chokepoint-agent: %s\n", line);
    return 2;
}

/* A write to a closed pipe or a full file becomes an error instead of SIGPIPE or SIGXFSZ. */
static void set_signals(void) {
    sigset_t set;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Frames of a ring that was cut, on their way: there is nothing to supervise. */
static int run_sender(struct agent *agent) {
    int r = choose_spool(agent);
    if (r < 0)
        return r;
    agent->spool_fd = r;
    int status = send_ring(&agent->options);
    tidy(agent);
    return status;
}

static int run_alone(struct agent *agent) {
    int status = run_child(agent);
    tidy(agent);
    return status;
}

/* The running program no longer needs its file: it is removed now, however this process ends. */
static void leave_directory(const struct agent_options *options) {
    int r = delivered_remove(options->delivered);
    if (r < 0)
        fprintf(stderr, "chokepoint-agent: %s cannot be removed: %s\n", options->delivered,
                strerror(-r));
}

static int refuse_spool(const struct agent *agent, int error) {
    fprintf(stderr, "chokepoint-agent: %s: %s: %s\n", agent->options.host, agent->options.spool,
            error == -EBUSY ? "another agent keeps this ring" : spool_dir_words(error));
    return 1;
}

static int run_agent(struct agent *agent) {
    struct supervisor_config config = {.child = run_child,
                                       .settle = settle,
                                       .tidy = tidy,
                                       .say = say,
                                       .ctx = agent,
                                       .once = agent->options.delivered,
                                       .stays = agent->options.ring,
                                       .pause_ms = 100};
    introduce_library(&agent->options);
    if (agent->options.delivered)
        leave_directory(&agent->options);
    set_signals();
    limits_raise(NULL);
    mallopt(M_ARENA_MAX, 1); /* one arena suffices: only one of the two threads allocates */
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    if (agent->options.send_ring) {
        int status = run_sender(agent);
        return status < 0 ? refuse_spool(agent, status) : status;
    }
    int r = make_memory(agent);
    if (r < 0)
        return usage("the kernel gives no memory or no random number");
    r = make_spool(agent);
    if (r < 0)
        return refuse_spool(agent, r);
    return agent->options.supervise ? supervise(&config) : run_alone(agent);
}

static int examine_host(const struct agent_options *options) {
    const struct doctor_env env = {options->proc, options->sys, options->spool, options->peers,
                                   stdout};
    return doctor_run(&env) < 0;
}

int main(int argc, char **argv) {
    struct agent agent = {0};
    char why[256];
    int r = agent_options_read(argc, argv, &agent.options, why, sizeof why);
    if (r == OPTIONS_HELP)
        return 0;
    if (r == OPTIONS_SHOW_VERSION)
        return printf("chokepoint-agent %s\n", CHOKEPOINT_VERSION) < 0;
    if (r == OPTIONS_SHOW_TABLES)
        return tables_print(stdout) < 0;
    if (r == 0 && agent.options.doctor) {
        if (agent.options.delivered)
            leave_directory(&agent.options);
        return examine_host(&agent.options);
    }
    if (r == 0)
        r = agent_options_place_ring(&agent.options, why, sizeof why);
    if (r == 0)
        r = agent_options_take_secrets(&agent.options, why, sizeof why);
    return r < 0 ? usage(why) : run_agent(&agent);
}
