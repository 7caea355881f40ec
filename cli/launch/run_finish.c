/* SPDX-License-Identifier: MIT */
/*
 * The end of a run: every agent makes its last push, the collector commits it, and all started
 * processes are ended by their ids. All waits have limits, and another Ctrl-C shortens them.
 */
#include "cli/launch/run_session.h"
#include "common/clock.h"

#include <string.h>

#define START_NS (2 * NS_PER_S)
#define DRAIN_NS (10 * NS_PER_S)  /* a host with busy cores is slow, not gone */
#define EVENTS_NS (64 * NS_PER_S) /* agents try so long while single events keep coming */
#define TELL_NS (2 * NS_PER_S)    /* a longer wait is explained to the user */
#define CLOSE_NS (3 * NS_PER_S)
#define REAP_NS (2 * NS_PER_S)
#define TERMINATE_NS (6 * NS_PER_S) /* an agent tries for 3 s to deliver what it has */

static bool awaits(const struct run_session *s, const struct launch *launch, bool reported) {
    return launch->reported == reported && !launch->final && !launch->missing &&
           launch_lives(launch) && !s->collector_lost;
}

static bool awaits_agents(const struct run_session *s, bool reported) {
    for (size_t i = 0; i < s->n_launches; i++)
        if (awaits(s, &s->launches[i], reported))
            return true;
    return false;
}

/* Number of hosts that answered, live, and have not sent everything. */
static bool awaits_last_words(const struct run_session *s) {
    return awaits_agents(s, true);
}

/* Number of hosts that are still starting, and not given up. */
static bool awaits_first_words(const struct run_session *s) {
    return awaits_agents(s, false);
}

static bool awaits_launchers(const struct run_session *s) {
    for (size_t i = 0; i < s->n_launches; i++)
        if (s->launches[i].pid)
            return true;
    return session_has_groups(s);
}

static void poll_until(struct run_session *s, int64_t for_ns,
                       bool (*awaited)(const struct run_session *)) {
    int64_t deadline_ns = clock_monotonic_ns() + for_ns;
    int n_interrupts = s->signals.n;
    while (awaited(s) && clock_monotonic_ns() < deadline_ns && s->signals.n == n_interrupts)
        session_poll(s, deadline_ns);
}

static const char *awaited_host(const struct run_session *s) {
    for (size_t i = 0; i < s->n_launches; i++)
        if (awaits(s, &s->launches[i], true))
            return s->launches[i].host;
    return "a host";
}

/* Prints a line now and then during a long wait. */
static void tell_wait(const struct run_session *s, int64_t *next_ns) {
    if (clock_monotonic_ns() < *next_ns)
        return;
    if (s->n_events)
        session_tell(s,
                     "taking single MPI calls from the hosts, %llu so far; Ctrl-C leaves the rest",
                     (unsigned long long)s->n_events);
    else
        session_tell(s, "waiting for the last samples of %s; Ctrl-C leaves them", awaited_host(s));
    *next_ns += 5 * TELL_NS;
}

/* The last words of an agent follow its single events, which may take long. */
static void await_last_words(struct run_session *s) {
    int64_t begun_ns = clock_monotonic_ns(), tell_ns = begun_ns + TELL_NS, now_ns = begun_ns;
    int n_interrupts = s->signals.n;
    s->events_ns = begun_ns;
    while (awaits_last_words(s) && now_ns < s->events_ns + DRAIN_NS &&
           now_ns < begun_ns + EVENTS_NS && s->signals.n == n_interrupts) {
        session_poll(s, now_ns + TELL_NS / 4);
        tell_wait(s, &tell_ns);
        now_ns = clock_monotonic_ns();
    }
}

static bool collector_runs(const struct run_session *s) {
    return s->collector.pid != 0;
}

static void note_incomplete(struct run_session *s) {
    for (size_t i = 0; i < s->n_launches; i++) {
        const struct launch *launch = &s->launches[i];
        if (!launch->reported || launch->final)
            continue;
        if (launch->ended_early && !launch_lives(launch))
            session_note(s,
                         "the agent on %s ended before the command; the samples since are missing",
                         launch->host);
        else
            session_note(s,
                         "the last samples of %s are missing; `chokepoint import --db %s` brings "
                         "in what its agent kept on this host",
                         launch->host, s->options->database);
    }
}

static void close_collector(struct run_session *s) {
    s->closing = true;
    collect_child_close(&s->collector);
    poll_until(s, CLOSE_NS, collector_runs);
    if (s->collector.pid) {
        kill(s->collector.pid, SIGTERM);
        poll_until(s, CLOSE_NS, collector_runs);
    }
    if (s->collector.pid) {
        kill(s->collector.pid, SIGKILL);
        poll_until(s, CLOSE_NS, collector_runs);
        session_complain(s, "the collector did not end in time; the last seconds may be missing");
    }
}

/* Agents that are still starting get the time to find the collector and hear that they shall stop;
 * if they were ended before, they would leave their spools behind. Hosts that are silent then have
 * nothing to deliver. A host of a group is left alone, since its launcher keeps other hosts'
 * agents. */
void session_drain(struct run_session *s) {
    s->stopping = true;
    backoff_hurry(&s->collector_back, clock_monotonic_ns());
    collect_child_stop(&s->collector);
    poll_until(s, START_NS, awaits_first_words);
    for (size_t i = 0; i < s->n_launches; i++)
        if (!s->launches[i].reported)
            launch_signal(&s->launches[i], SIGTERM);
    await_last_words(s);
    note_incomplete(s);
    close_collector(s);
}

static void signal_all(const struct run_session *s, int signal) {
    for (size_t i = 0; i < s->n_launches; i++)
        launch_signal(&s->launches[i], signal);
    session_signal_groups(s, signal);
}

/* An agent that has sent everything ends by itself, and its launcher with it. */
void session_reap(struct run_session *s) {
    s->stopping = true;
    poll_until(s, REAP_NS, awaits_launchers);
    signal_all(s, SIGTERM);
    poll_until(s, TERMINATE_NS, awaits_launchers);
    signal_all(s, SIGKILL);
    poll_until(s, REAP_NS, awaits_launchers);
}
