/* SPDX-License-Identifier: MIT */
#include "cli/doctor/gather.h"
#include "common/clock.h"
#include "common/error.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK_MS 50 /* poll interval for the ends of launchers, which no descriptor reports */

struct listener {
    struct examined *host;
    int64_t begun_ns;
};

static void on_line(void *ctx, const char *line) {
    struct listener *l = ctx;
    if (isnan(l->host->start_s))
        l->host->start_s = (double)(clock_monotonic_ns() - l->begun_ns) / NS_PER_S;
    examined_hear(l->host, line, clock_wall_ns());
}

/* The collector's machine is examined, too, if it is not a host of the job. */
static void add_this_machine(struct gathered *g) {
    if (gethostname(g->local_name, sizeof g->local_name - 1) < 0 || !g->local_name[0])
        strcpy(g->local_name, "localhost");
    g->launches[g->n] = (struct launch){.host = g->local_name, .method = LAUNCH_DIRECT};
    g->hosts[g->n++] =
        (struct examined){.host = g->local_name, .start_s = NAN, .only_collects = true};
}

static int make_hosts(struct gathered *g, const struct hosts *hosts, enum launch_method method) {
    size_t size = 1;
    bool own = false;
    for (size_t i = 0; i < hosts->n; i++)
        size += strlen(hosts->names[i]) + 1;
    g->launches = calloc(hosts->n + 1, sizeof *g->launches);
    g->hosts = calloc(hosts->n + 1, sizeof *g->hosts);
    g->peers = calloc(1, size);
    if (!g->launches || !g->hosts || !g->peers)
        return -ENOMEM;
    for (size_t i = 0; i < hosts->n; i++) {
        bool ours = address_is_ours(hosts->names[i]);
        if (ours && own) /* another name of this machine */
            continue;
        own |= ours;
        g->launches[g->n] =
            (struct launch){.host = hosts->names[i], .method = ours ? LAUNCH_DIRECT : method};
        g->hosts[g->n++] = (struct examined){.host = hosts->names[i], .start_s = NAN};
        sprintf(g->peers + strlen(g->peers), "%s%s", *g->peers ? "," : "", hosts->names[i]);
    }
    if (!own)
        add_this_machine(g);
    return 0;
}

/* Waits until all have ended; one that ended may have been read already. */
static void hear(struct gathered *g, struct listener *listeners, int64_t deadline_ns) {
    size_t running = g->n;
    while (running && clock_monotonic_ns() < deadline_ns) {
        running = 0;
        for (size_t i = 0; i < g->n; i++) {
            struct launch *launch = &g->launches[i];
            if (!launch->pid)
                continue;
            launch_read(launch, on_line, &listeners[i]);
            if (launch_check(launch))
                launch_read(launch, on_line, &listeners[i]);
            else
                running++;
        }
        if (running)
            poll(NULL, 0, CHECK_MS);
    }
}

/* ---- hosts that did not answer ---- */

static bool says_not_found(const struct launch *launch) {
    for (size_t i = 0; i < launch->n_said; i++)
        if (strstr(launch->said[i], "chokepoint-agent") && strstr(launch->said[i], "not found"))
            return true;
    return strcmp(launch->trouble, "exit status 127") == 0;
}

static void tell_silent(struct examined *host, const struct launch *launch, const char *agent,
                        int64_t timeout_ns) {
    char mend[PATH_MAX + 300];
    if (launch->attempted && says_not_found(launch)) {
        snprintf(mend, sizeof mend, "scp %s %.255s:/usr/local/bin/", agent, host->host);
        examined_add(host, "hinders", "agent", mend,
                     "there is no chokepoint-agent, neither at %s nor in the PATH", agent);
        return;
    }
    if (launch->n_said && strstr(launch->said[0], "install the package chokepoint-agent")) {
        examined_add(host, "hinders", "agent", "apt-get install chokepoint-agent", "%s",
                     launch->said[0]);
        return;
    }
    snprintf(mend, sizeof mend, "%s %.255s true",
             getenv("CHOKEPOINT_RSH") && *getenv("CHOKEPOINT_RSH") ? getenv("CHOKEPOINT_RSH")
                                                                   : "ssh -o BatchMode=yes",
             host->host);
    if (launch->pid)
        examined_add(host, "hinders", "agent", mend, "no answer: tried %s for %g s%s%s",
                     launch_method_name(launch->method), (double)timeout_ns / NS_PER_S,
                     launch->n_said ? "; it said: " : "", launch->n_said ? launch->said[0] : "");
    else
        examined_add(host, "hinders", "agent", mend, "no answer: tried %s, %s%s%s",
                     launch_method_name(launch->method), launch->trouble,
                     launch->n_said ? "; it said: " : "", launch->n_said ? launch->said[0] : "");
}

static void end_all(struct gathered *g) {
    for (size_t i = 0; i < g->n; i++) {
        struct launch *launch = &g->launches[i];
        int status;
        launch_signal(launch, SIGKILL);
        while (launch->pid && child_ended(launch->pid, &status) == -EAGAIN)
            poll(NULL, 0, 1);
        launch->pid = 0;
        if (launch->attempted)
            line_reader_close(&launch->output);
    }
}

int gather(const struct hosts *hosts, enum launch_method method, int64_t timeout_ns,
           struct gathered *ret_gathered, char *why, size_t why_size) {
    struct command_words words = {0};
    char run_id[40], program[PATH_MAX];
    sigset_t mask;
    struct gathered *g = ret_gathered;
    snprintf(run_id, sizeof run_id, "doctor-%d", (int)getpid());
    sigprocmask(SIG_BLOCK, NULL, &mask);
    *g = (struct gathered){0};
    int r = make_hosts(g, hosts, method);
    struct listener *listeners = calloc(hosts->n + 1, sizeof *listeners);
    if (r < 0 || !listeners)
        return free(listeners), snprintf(why, why_size, "out of memory"), -ENOMEM;
    struct launch_plan plan = {.token = "nothing is sent, so nothing is secret",
                               .pin = "",
                               .run_id = run_id,
                               .marks = "",
                               .rate = "1",
                               .process_rate = "1",
                               .examine_peers = g->peers,
                               .words = &words,
                               .method = method,
                               .connect_timeout_s = (int)(timeout_ns / NS_PER_S) + 1,
                               .mask = &mask};
    r = launch_find_programs(&plan, program, why, why_size);
    for (size_t i = 0; i < g->n && r == 0; i++) {
        listeners[i] = (struct listener){&g->hosts[i], clock_monotonic_ns()};
        g->hosts[i].asked_wall_ns = clock_wall_ns();
        launch_start(&g->launches[i], &plan, "");
    }
    if (r == 0)
        hear(g, listeners, clock_monotonic_ns() + timeout_ns);
    for (size_t i = 0; i < g->n && r == 0; i++)
        if (!g->hosts[i].complete)
            tell_silent(&g->hosts[i], &g->launches[i], plan.agent, timeout_ns);
        else if (g->launches[i].delivered)
            examined_add(&g->hosts[i], "note", "agent", "apt-get install chokepoint-agent",
                         "no agent of this version is installed: a run sends one each time, "
                         "which captures no --flows");
    end_all(g);
    free(listeners);
    return r;
}

void gathered_release(struct gathered *gathered) {
    for (size_t i = 0; i < gathered->n; i++)
        examined_release(&gathered->hosts[i]);
    free(gathered->launches);
    free(gathered->hosts);
    free(gathered->peers);
    *gathered = (struct gathered){0};
}
