/* SPDX-License-Identifier: MIT */
/* The hosts of a run: how each is reached, which have answered, and the messages about the
 * others. */
#include "cli/launch/program_file.h"
#include "cli/launch/run_session.h"
#include "cli/launch/slurm_job.h"
#include "common/clock.h"
#include "common/error.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNCAPTURED_NAMES 3 /* in one line */

/* A batch system's hosts accept mpirun, and often nothing else. */
static enum launch_method method_to_reach_others(const struct run_session *s,
                                                 enum hosts_source source) {
    if (s->words.kind == COMMAND_MPIRUN)
        return LAUNCH_MPIRUN;
    if (slurm_in_job() && (source == HOSTS_BATCH || s->words.kind == COMMAND_SRUN) &&
        command_find("srun") == 0)
        return LAUNCH_SRUN;
    if (s->words.kind == COMMAND_HYDRA) /* launchers that use ssh themselves */
        return LAUNCH_SSH;
    bool ours = source == HOSTS_OPTION && s->words.kind == COMMAND_PLAIN;
    return !ours && command_find("mpirun") == 0 ? LAUNCH_MPIRUN : LAUNCH_SSH;
}

static bool names_no_host_in_particular(const char *name) {
    struct in_addr address;
    return strcmp(name, "localhost") == 0 || inet_pton(AF_INET, name, &address) == 1;
}

/* This machine is one host, whatever its names. */
static void add_this_machine(struct run_session *s, const char *name) {
    for (size_t i = 0; i < s->n_launches; i++)
        if (s->launches[i].method == LAUNCH_DIRECT)
            return;
    if (names_no_host_in_particular(name) &&
        gethostname(s->local_name, sizeof s->local_name - 1) == 0)
        name = s->local_name;
    s->launches[s->n_launches++] = (struct launch){.host = name, .method = LAUNCH_DIRECT};
}

static int add_other(struct run_session *s, const char *name, const char **ret_first) {
    struct launch *launch = &s->launches[s->n_launches++];
    const char *why;
    *launch = (struct launch){.host = name, .method = s->plan.method};
    if (address_towards(name, launch->address, &why) < 0) {
        snprintf(launch->trouble, sizeof launch->trouble, "%s", why);
        return 0;
    }
    if (!*ret_first)
        *ret_first = launch->address;
    return collect_child_add_address(&s->collector, launch->address);
}

/* This machine's agent uses an address that is open anyway; loopback without other hosts. */
static int set_own_address(struct run_session *s, const char *first) {
    for (size_t i = 0; i < s->n_launches; i++)
        if (s->launches[i].method == LAUNCH_DIRECT)
            snprintf(s->launches[i].address, ADDRESS_SIZE, "%s", first ? first : "127.0.0.1");
    return collect_child_add_address(&s->collector, first ? first : "127.0.0.1");
}

int session_choose_launches(struct run_session *s, enum hosts_source source, char *why,
                            size_t why_size) {
    const char *first = NULL;
    int r = 0;
    s->plan.method = method_to_reach_others(s, source);
    s->knows_hosts = source != HOSTS_OPTION && !s->words.hides_hosts;
    if (source == HOSTS_COMMAND && s->words.n_hostfiles == 1)
        s->plan.hostfile = s->words.hostfiles[0];
    s->launches = calloc(s->hosts.n, sizeof *s->launches);
    if (!s->launches)
        return snprintf(why, why_size, "out of memory"), -ENOMEM;
    for (size_t i = 0; i < s->hosts.n && r == 0; i++)
        if (address_is_ours(s->hosts.names[i]))
            add_this_machine(s, s->hosts.names[i]);
        else
            r = add_other(s, s->hosts.names[i], &first);
    if (r == 0)
        r = set_own_address(s, first);
    if (r < 0)
        snprintf(why, why_size, "the hosts are in more than %d networks", COLLECT_ADDRESSES_MAX);
    return r;
}

static bool is_host(const struct run_session *s, const struct job_word *word) {
    for (size_t i = 0; i < s->n_launches; i++)
        if (job_word_is_for(word, s->launches[i].host))
            return true;
    return false;
}

int session_check_jobs(const struct run_session *s, char *why, size_t why_size) {
    const struct job_words *jobs = &s->options->jobs;
    for (size_t i = 0; i < jobs->n; i++) {
        const struct job_word *word = &jobs->items[i];
        if (is_host(s, word))
            continue;
        snprintf(why, why_size, "--job %s: %.*s is no host of this run (%s%s)", word->text,
                 (int)word->host_size, word->text, s->launches[0].host,
                 s->n_launches > 1 ? ", ..." : "");
        return -EINVAL;
    }
    return 0;
}

void session_start_agent(struct run_session *s, struct launch *launch) {
    char url[64];
    collect_child_url(&s->collector, launch->address, url, sizeof url);
    backoff_started(&launch->back, clock_monotonic_ns());
    launch_start(launch, &s->plan, url);
}

void session_start_agents(struct run_session *s) {
    session_start_groups(s);
    for (size_t i = 0; i < s->n_launches; i++) /* without an address its trouble is known */
        if (s->launches[i].address[0] && !s->launches[i].group)
            session_start_agent(s, &s->launches[i]);
}

/* Introduction and first sample come on different connections. */
static bool has_answered(const struct run_session *s, const struct launch *launch) {
    return launch->reported && (launch->library.told || !s->plan.asks_library);
}

bool session_awaits_hosts(const struct run_session *s) {
    for (size_t i = 0; i < s->n_launches; i++)
        if (!has_answered(s, &s->launches[i]) && launch_lives(&s->launches[i]))
            return true;
    return false;
}

/* Messages of ssh from any launcher, their meaning, and a remedy. */
struct advice {
    const char *words, *why, *command;
};

static const struct advice *advice_for(const char *said) {
    static const struct advice known[] = {
        {"Permission denied (", "lets nobody in without a password", "ssh-copy-id"},
        {"IDENTIFICATION HAS CHANGED",
         "has another key than the one that is known here; if that is "
         "right",
         "ssh-keygen -R"},
        {"Host key verification failed", "has a key that is not known here", "ssh"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (strstr(said, known[i].words))
            return &known[i];
    return NULL;
}

/* The line with a known remedy, else all kept lines. */
static void describe_said(const struct launch *launch, char *to, size_t size) {
    size_t n = 0;
    for (size_t i = 0; i < launch->n_said; i++) {
        const struct advice *advice = advice_for(launch->said[i]);
        if (advice) {
            snprintf(to, size, "; it said: %s; %s %s: %s %s", launch->said[i], launch->host,
                     advice->why, advice->command, launch->host);
            return;
        }
    }
    for (size_t i = 0; i < launch->n_said && n < size; i++)
        n += (size_t)snprintf(to + n, size - n, "; %s%s", i ? "" : "it said: ", launch->said[i]);
}

/* "vm4 did not answer: tried by mpirun for 20 s; it said: ssh: connect to ...: No route to host" */
static void describe_missing(const struct launch *launch, int64_t timeout_ns, char *to,
                             size_t size) {
    size_t n = 0;
    if (!launch->attempted)
        n = (size_t)snprintf(to, size, "%s cannot be reached: %s", launch->host, launch->trouble);
    else if (launch_lives(launch))
        n = (size_t)snprintf(to, size, "%s did not answer: tried %s for %g s", launch->host,
                             launch_method_name(launch->method), (double)timeout_ns / NS_PER_S);
    else
        n = (size_t)snprintf(to, size, "%s did not answer: tried %s, %s", launch->host,
                             launch_method_name(launch->method), launch->trouble);
    if (n < size)
        describe_said(launch, to + n, size - n);
}

void session_name_uncaptured(struct run_session *s) {
    char names[200] = "";
    size_t n = 0, used = 0;
    for (size_t i = 0; i < s->n_launches && s->options->flows; i++) {
        if (!s->launches[i].delivered)
            continue;
        if (used < sizeof names && n < UNCAPTURED_NAMES)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", n ? ", " : "",
                                     s->launches[i].host);
        n++;
    }
    if (n)
        session_note(s,
                     "packets of %s%s are not captured: the agent that is sent has no libpcap; "
                     "--flows needs the package chokepoint-agent there",
                     names, n > UNCAPTURED_NAMES ? ", ..." : "");
}

size_t session_name_missing(struct run_session *s) {
    size_t n = 0;
    for (size_t i = 0; i < s->n_launches; i++) {
        struct launch *launch = &s->launches[i];
        char text[1000];
        if (launch->reported)
            continue;
        launch->missing = true;
        n++;
        describe_missing(launch, s->options->start_timeout_ns, text, sizeof text);
        session_note(s, "%s", text);
    }
    return n;
}
