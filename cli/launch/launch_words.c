/* SPDX-License-Identifier: MIT */
/*
 * The command line that starts an agent. It never contains the agent's key, nor does an
 * environment: the key comes on the agent's standard input.
 */
#include "cli/launch/launch_private.h"
#include "cli/launch/slurm_nodes.h"
#include "common/buffer.h"
#include "common/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LAUNCH_RING_SAMPLES "1200" /* of a host: what a report needs */
#define LAUNCH_DRAIN_S "3"         /* `run` waits no longer, either: see run_finish.c */
/* mpirun's pause between SIGTERM and SIGKILL. It makes it twice, even if the process is dead
 * already: so long a host lacks an agent after a kill. */
#define LAUNCH_KILL_S "1"

static void add(struct launch_words *to, const char *word) {
    if (to->n < LAUNCH_WORDS_MAX)
        to->words[to->n] = word;
    to->n++; /* checked once, at the end */
}

static void add_all(struct launch_words *to, ...) {
    va_list words;
    const char *word;
    va_start(words, to);
    while ((word = va_arg(words, const char *)))
        add(to, word);
    va_end(words);
}

/* The words of the agent itself; `pushes`: with those about where it pushes. */
static void add_agent(struct launch_words *to, const struct launch *launch,
                      const struct launch_plan *plan, bool pushes) {
    if (plan->examine_peers) {
        add_all(to, "--doctor", "--host", launch->host, "--peers", plan->examine_peers, NULL);
        return;
    }
    if (pushes)
        add_all(to, "--collector", to->url, "--pin", plan->pin, "--token-stdin", NULL);
    if (launch->spool[0]) /* of the previous agent */
        add_all(to, "--spool", launch->spool, NULL);
    if (plan->ring)
        add_all(to, "--send-ring", plan->ring->dir, "--from", plan->ring->from, "--to",
                plan->ring->to, "--step", plan->ring->step, "--samples", LAUNCH_RING_SAMPLES, NULL);
    if (plan->asks_library)
        add_all(to, "--library", plan->library, NULL);
    add_all(to, "--host", launch->host, "--rate", plan->rate, "--process-rate", plan->process_rate,
            "--drain", LAUNCH_DRAIN_S, plan->flows ? "--flows" : NULL, NULL);
    if (plan->wait_clocks)
        add(to, "--wait-clocks");
    if (plan->call_spool_limit)
        add_all(to, "--call-spool-limit", plan->call_spool_limit, NULL);
    if (plan->no_command_lines)
        add(to, "--no-command-lines");
    for (size_t i = 0; plan->jobs && i < plan->jobs->n; i++)
        if (job_word_is_for(&plan->jobs->items[i], launch->host))
            add_all(to, "--job", plan->jobs->items[i].choice, NULL);
}

static int make_script(struct launch_words *to, const struct launch *launch,
                       const struct launch_plan *plan) {
    struct launch_words agent = {.n = 0};
    memcpy(agent.url, to->url, sizeof agent.url);
    add_agent(&agent, launch, plan, !launch_is_relayed(launch, plan));
    return launch_script_make(to, &agent, launch, plan);
}

/* mpirun, and how the command's own reaches hosts. */
static void add_mpirun(struct launch_words *to, const struct launch_plan *plan) {
    const struct command_words *words = plan->words;
    add(to, words->kind == COMMAND_MPIRUN ? words->launcher : "mpirun");
    for (size_t i = 0; i < words->n_reach; i++)
        add(to, words->reach[i]);
}

/* A single host needs no mapping policy, which could conflict with the user's settings. */
static void add_host(struct launch_words *to, const struct launch *launch,
                     const struct launch_plan *plan) {
    if (plan->hostfile)
        add_all(to, "--hostfile", plan->hostfile, NULL);
    add_all(to, "--host", launch->host, "-np", "1", "--bind-to", "none", "--wdir", "/", NULL);
}

static void add_variables(struct launch_words *to) {
    if (launch_scope())
        add_all(to, "-x", "CHOKEPOINT_SCOPE", NULL);
    add_all(to, "-x", "CHOKEPOINT_AGENT", "-x", to->run, "-x", to->marks, NULL);
}

static int make_mpirun(struct launch_words *to, const struct launch *launch,
                       const struct launch_plan *plan) {
    add_mpirun(to, plan);
    add_host(to, launch, plan);
    add_all(to, "--mca", "odls_base_sigkill_timeout", LAUNCH_KILL_S, NULL);
    add_variables(to);
    int r = make_script(to, launch, plan);
    add_all(to, "/bin/sh", "-c", to->script, NULL);
    return r;
}

/* A step beside the command's, which shares the command's resources and takes none away. All
 * options are given, because srun also takes options from its environment. */
static void add_step(struct launch_words *to) {
    add_all(to, "--mem=0", "--gres=none", "--cpu-bind=none", "--mpi=none", "--chdir=/",
            "--export=ALL", "--input=all", "--output=all", "--error=all", "--quiet",
            "--job-name=chokepoint-agent", NULL);
}

static int make_srun(struct launch_words *to, const struct launch *launch,
                     const struct launch_plan *plan) {
    add_all(to, "srun", "--overlap", "--nodelist", launch->host, "--nodes=1", "--ntasks=1", NULL);
    add_step(to);
    add(to, "--unbuffered");
    int component = slurm_component_of(launch->host);
    if (component >= 0) {
        snprintf(to->component, sizeof to->component, "--het-group=%d", component);
        add(to, to->component);
    }
    add_all(to, "/bin/sh", "-c", NULL);
    int r = make_script(to, launch, plan);
    add(to, to->script);
    return r;
}

/* $CHOKEPOINT_RSH is a command with options, like mpirun's plm_rsh_agent. */
static int make_ssh(struct launch_words *to, const struct launch *launch,
                    const struct launch_plan *plan) {
    const char *rsh = getenv("CHOKEPOINT_RSH");
    char *rest = to->rsh, *word;
    if ((size_t)snprintf(to->rsh, sizeof to->rsh, "%s", rsh && *rsh ? rsh : "ssh") >=
        sizeof to->rsh)
        return -ENAMETOOLONG;
    while ((word = strtok_r(rest, " ", &rest)))
        add(to, word);
    snprintf(to->timeout, sizeof to->timeout, "ConnectTimeout=%d", plan->connect_timeout_s);
    add_all(to, "-T", "-o", "BatchMode=yes", "-o", to->timeout, "-o", "ServerAliveInterval=15",
            "-o", "ControlMaster=no", launch->host, NULL);
    int r = make_script(to, launch, plan);
    if (r == 0)
        r = launch_script_wrap(to);
    add(to, to->script);
    return r;
}

/* Words in front of the launcher; all further words are the launcher's. */
static void add_relay(struct launch_words *to, const struct launch *launch,
                      const struct launch_plan *plan) {
    if (launch_is_relayed(launch, plan))
        add_all(to, plan->relay, "--host", launch->host, "--collector", to->url, "--pin", plan->pin,
                "--agents", plan->agents, NULL);
}

static void begin(struct launch_words *to, const struct launch_plan *plan, const char *url) {
    *to = (struct launch_words){.n = 0};
    snprintf(to->url, sizeof to->url, "%s", url);
    snprintf(to->run, sizeof to->run, "CHOKEPOINT_RUN=%s", plan->run_id);
    snprintf(to->marks, sizeof to->marks, "CHOKEPOINT_MARKS=%s", plan->marks);
}

static int end(struct launch_words *to) {
    if (to->n >= LAUNCH_WORDS_MAX)
        return -E2BIG;
    to->words[to->n] = NULL;
    return 0;
}

int launch_words_make(struct launch_words *to, const struct launch *launch,
                      const struct launch_plan *plan, const char *url) {
    int r = 0;
    begin(to, plan, url);
    add_relay(to, launch, plan);
    if (launch->method == LAUNCH_MPIRUN)
        r = make_mpirun(to, launch, plan);
    else if (launch->method == LAUNCH_SSH)
        r = make_ssh(to, launch, plan);
    else if (launch->method == LAUNCH_SRUN)
        r = make_srun(to, launch, plan);
    else {
        add(to, plan->agent);
        add_agent(to, launch, plan, true);
        snprintf(to->parent, sizeof to->parent, "%d", (int)getpid());
        add_all(to, "--job-parent", to->parent, NULL);
    }
    return r < 0 ? r : end(to);
}

void launch_words_make_head(struct launch_words *to, const struct launch_plan *plan) {
    begin(to, plan, "");
    add_mpirun(to, plan);
    add_all(to, "--tag-output", "--stdin", "all", "--mca", "odls_base_sigkill_timeout",
            LAUNCH_KILL_S, NULL);
    end(to);
}

int launch_words_make_member(struct launch_words *to, const struct launch *launch,
                             const struct launch_plan *plan, const char *url, size_t number) {
    struct launch_words agent = {.n = 0};
    begin(to, plan, url);
    memcpy(agent.url, to->url, sizeof agent.url);
    add_agent(&agent, launch, plan, true);
    int r = launch_script_make_member(to, &agent, plan, number);
    if (number)
        add(to, ":");
    add_host(to, launch, plan);
    add_variables(to);
    add_all(to, "/bin/sh", "-c", to->script, NULL);
    return r < 0 ? r : end(to);
}

/* "vm2,vm3" */
static int list_nodes(struct launch_words *to, const struct launch_group *group) {
    struct buffer list;
    buffer_init(&list);
    for (size_t i = 0; i < group->n; i++) {
        buffer_put(&list, ",", i ? 1 : 0);
        buffer_put(&list, group->members[i]->host, strlen(group->members[i]->host));
    }
    buffer_put_u8(&list, '\0');
    to->nodelist = (char *)list.data; /* freed with the words, also after an error */
    return list.error;
}

static int make_step_script(struct launch_words *to, const struct launch_group *group,
                            const struct launch_plan *plan, const char *const *urls) {
    struct launch_words *agents = calloc(group->n, sizeof *agents);
    int r = agents ? 0 : -ENOMEM;
    for (size_t i = 0; i < group->n && r == 0; i++) {
        snprintf(agents[i].url, sizeof agents[i].url, "%s", urls[i]);
        add_agent(&agents[i], group->members[i], plan, true);
        r = agents[i].n < LAUNCH_WORDS_MAX ? 0 : -E2BIG;
    }
    if (r == 0)
        r = launch_script_make_step(to, agents, group->n, plan);
    free(agents);
    return r;
}

/* The order of the list is that of the tasks. srun writes whole lines with the number of their
 * task. A shell that ends ends no other one, but all end with one that was killed: it could not
 * report the end of its agent. */
int launch_words_make_step(struct launch_words *to, const struct launch_group *group,
                           const struct launch_plan *plan, const char *const *urls) {
    begin(to, plan, "");
    int r = list_nodes(to, group);
    if (r == 0)
        r = make_step_script(to, group, plan, urls);
    if (r < 0)
        return r;
    snprintf(to->counts[0], sizeof to->counts[0], "--nodes=%zu", group->n);
    snprintf(to->counts[1], sizeof to->counts[1], "--ntasks=%zu", group->n);
    add_all(to, "srun", "--overlap", "--nodelist", to->nodelist, "--distribution=arbitrary",
            to->counts[0], to->counts[1], "--label", "--wait=0", "--kill-on-bad-exit=1", NULL);
    add_step(to);
    add_all(to, "/bin/sh", "-c", to->script, NULL);
    return end(to);
}

void launch_words_release(struct launch_words *words) {
    free(words->script);
    free(words->nodelist);
    words->script = words->nodelist = NULL;
}
