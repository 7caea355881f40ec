/* SPDX-License-Identifier: MIT */
/*
 * chokepoint-agent: reads its command line, hides its token, and keeps a sampling process alive.
 * What must outlive that process is made here: the stream id and the spool's directory.
 */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/lean.h"
#include "agent/observe.h"
#include "agent/options.h"
#include "agent/push.h"
#include "agent/supervise.h"
#include "agent/tables.h"
#include "common/error.h"
#include "common/text.h"

struct agent {
    struct agent_options options;
    uint64_t stream_id;
    bool made_spool;
};

static int run_child(void *ctx) {
    const struct agent *agent = ctx;
    return observe(&agent->options, agent->stream_id);
}

static void say(void *ctx, const char *text) {
    agent_say(&((const struct agent *)ctx)->options, text);
}

static void settle(void *ctx) {
    lean_drop_file_pages(((const struct agent *)ctx)->options.proc);
}

static void tidy(void *ctx) {
    const struct agent *agent = ctx;
    if (agent->made_spool)
        rmdir(agent->options.spool);
}

static int make_spool(struct agent *agent) {
    agent->made_spool = mkdir(agent->options.spool, 0700) == 0;
    return agent->made_spool || errno == EEXIST ? 0 : negative_errno();
}

/* why may quote an argument: it stays one line. */
static int usage(const char *why) {
    char line[256];
    text_sanitize(line, sizeof line, why, strlen(why));
    fprintf(stderr, "chokepoint-agent: %s\n", line);
    return 2;
}

/* SIGPIPE and SIGXFSZ become errors of the write they belong to. */
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

static int run_alone(struct agent *agent) {
    int status = run_child(agent);
    tidy(agent);
    return status;
}

static int run_agent(struct agent *agent) {
    struct supervisor_config config = {.child = run_child,
                                       .settle = settle,
                                       .tidy = tidy,
                                       .say = say,
                                       .ctx = agent,
                                       .pause_ms = 100};
    set_signals();
    mallopt(M_ARENA_MAX, 1); /* two threads, one of them allocating: no second arena */
    if (getrandom(&agent->stream_id, sizeof agent->stream_id, 0) != sizeof agent->stream_id)
        return usage("the kernel gives no random number");
    int r = make_spool(agent);
    if (r < 0) {
        fprintf(stderr, "chokepoint-agent: %s: %s: %s\n", agent->options.host, agent->options.spool,
                strerror(-r));
        return 1;
    }
    if (agent->options.push)
        push_load(agent->options.collector); /* if it fails, push_start will say so */
    return agent->options.supervise ? supervise(&config) : run_alone(agent);
}

int main(int argc, char **argv) {
    struct agent agent = {0};
    char why[256];
    int r = options_parse(argc, argv, &agent.options, why, sizeof why);
    if (r == OPTIONS_SHOW_HELP)
        return fputs(options_help, stdout) < 0;
    if (r == OPTIONS_SHOW_VERSION)
        return printf("chokepoint-agent %s\n", CHOKEPOINT_VERSION) < 0;
    if (r == OPTIONS_SHOW_TABLES)
        return tables_print(stdout) < 0;
    if (r == 0)
        r = options_take_secrets(&agent.options, why, sizeof why);
    return r < 0 ? usage(why) : run_agent(&agent);
}
