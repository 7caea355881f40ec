/* SPDX-License-Identifier: MIT */
/*
 * The making of a cut. It is a run without a command: a collector, and on each host an agent that
 * sends a part of a ring and ends. The run lasts from the first frame that any host has to the last
 * one, within the time that was asked for.
 *
 * Rings tell wall times, and what a host's clock was an hour ago cannot be asked any more: hosts
 * are laid side by side by their wall clocks, which the run's notes say.
 */
#include "cli/base/options.h"
#include "cli/base/report.h"
#include "cli/base/verb.h"
#include "cli/cut/cut.h"
#include "cli/launch/run_session.h"
#include "collector/store.h"
#include "collector/store_read.h"
#include "common/clock.h"
#include "common/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_NOT_MADE 1
#define AGENTS_NS (3600 * NS_PER_S) /* agents give up by themselves long before */
#define LINGER_NS (NS_PER_S / 2)    /* for the last words of agents that have ended */

struct making {
    struct run_session session;
    const struct cut *cut;
    struct launch_ring ring;
    int64_t wall_to_mono_ns; /* from wall times to the collector's monotonic clock */
};

static int64_t mono_of(const struct making *m, int64_t wall_ns) {
    return wall_ns + m->wall_to_mono_ns;
}

static int begin(struct making *m) {
    struct run_session *s = &m->session;
    struct store *store;
    char why[300] = "";
    char *line = command_line(s->options);
    int r = line ? store_open_write(s->options->database, &store, why, sizeof why) : -ENOMEM;
    if (r) {
        free(line);
        session_complain(s, "%s", why[0] ? why : strerror(ENOMEM));
        return -EINVAL;
    }
    verb_say_owner("cut", s->options->database);
    const struct run_begin begin = {.name = s->options->name,
                                    .command = line,
                                    .wall_ns = m->cut->from_ns,
                                    .mono_ns = mono_of(m, m->cut->from_ns),
                                    .period_ns =
                                        m->cut->step_ns > NS_PER_S ? m->cut->step_ns : NS_PER_S,
                                    .n_hosts_expected = (int)s->n_launches};
    r = store_run_begin(store, &begin, &s->run);
    if (r < 0)
        session_complain(s, "%s: %s", s->options->database, store_error(store));
    s->collector.run = s->run;
    s->collector.file = store_file_of(store);
    store_close(store);
    free(line);
    return r;
}

static bool is_sending(const struct run_session *s) {
    for (size_t i = 0; i < s->n_launches; i++)
        if (launch_lives(&s->launches[i]) && !s->launches[i].final)
            return true;
    return false;
}

static bool is_silent(const struct run_session *s) {
    for (size_t i = 0; i < s->n_launches; i++)
        if (launch_lives(&s->launches[i]) && !s->launches[i].reported)
            return true;
    return false;
}

/* Whether one of the notes is a line of this host's agent. */
static bool has_spoken(const struct run_session *s, const char *host) {
    size_t n = strlen(host);
    for (size_t i = 0; i < s->n_notes; i++)
        if (strncmp(s->notes[i], host, n) == 0 && s->notes[i][n] == ':')
            return true;
    return false;
}

/* Hosts whose agent has said why it sends nothing need no other line. */
static size_t name_missing(struct run_session *s) {
    size_t n_given = 0;
    for (size_t i = 0; i < s->n_launches; i++) {
        struct launch *launch = &s->launches[i];
        n_given += launch->reported;
        if (!launch->reported && has_spoken(s, launch->host))
            launch->reported = launch->missing = launch->final = true;
    }
    session_name_missing(s);
    return n_given;
}

/* Agents end by themselves; what stops here is only waiting. */
static size_t fetch(struct run_session *s) {
    int64_t begun_ns = clock_monotonic_ns(), silent_ns = begun_ns + s->options->start_timeout_ns;
    s->stopping = true; /* no agent is started twice */
    session_start_agents(s);
    while (is_sending(s) && !s->signals.last && !s->collector_lost && !s->unwritable &&
           clock_monotonic_ns() < begun_ns + AGENTS_NS) {
        bool waits = is_silent(s);
        if (!waits && silent_ns < INT64_MAX)
            silent_ns = INT64_MAX;
        if (clock_monotonic_ns() >= silent_ns)
            break;
        session_poll(s, waits ? silent_ns : begun_ns + AGENTS_NS);
    }
    int64_t linger_ns = clock_monotonic_ns() + LINGER_NS;
    while (clock_monotonic_ns() < linger_ns && !s->signals.last) {
        bool lives = false;
        for (size_t i = 0; i < s->n_launches; i++)
            lives |= s->launches[i].pid && s->launches[i].final;
        if (!lives)
            break;
        session_poll(s, linger_ns);
    }
    if (!s->signals.last)
        return name_missing(s);
    for (size_t i = 0; i < s->n_launches; i++) {
        launch_signal(&s->launches[i], SIGTERM);
        s->launches[i].final = true; /* what it has not sent is still in its ring */
    }
    return 0;
}

/* The time of which there are frames; false: none. */
static bool find_time(struct making *m, struct store *store, int64_t *from_ns, int64_t *to_ns) {
    struct store_host *hosts;
    size_t n;
    bool any = false;
    int64_t first_ns = 0, last_ns = 0;
    if (store_list_hosts(store, m->session.run, &hosts, &n) < 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!hosts[i].frames)
            continue;
        first_ns = any && first_ns < hosts[i].first_ns ? first_ns : hosts[i].first_ns;
        last_ns = any && last_ns > hosts[i].last_ns ? last_ns : hosts[i].last_ns;
        any = true;
    }
    store_hosts_free(hosts, n);
    if (m->cut->from_ns + first_ns > *from_ns)
        *from_ns = m->cut->from_ns + first_ns;
    if (m->cut->from_ns + last_ns < *to_ns)
        *to_ns = m->cut->from_ns + last_ns;
    return any && *from_ns < *to_ns;
}

static void note_limits(struct run_session *s) {
    if (s->n_launches > 1)
        session_note(s, "hosts are laid side by side by their own wall clocks: waits between hosts "
                        "that are shorter than these differ cannot be told");
    session_note(s, "this is a cut: rings have neither MPI calls nor marks, and waits only where "
                    "agents clock them");
}

static int record_end(struct making *m, bool whole) {
    struct run_session *s = &m->session;
    struct store *store;
    char why[300] = "";
    int64_t from_ns = m->cut->from_ns, to_ns = m->cut->to_ns;
    int r = store_open_again(s->options->database, &s->collector.file, &store, why, sizeof why);
    if (r)
        return session_complain(s, "the end of run %" PRId64 " could not be written: %s", s->run,
                                why),
               -EIO;
    if (whole && !find_time(m, store, &from_ns, &to_ns))
        whole = false;
    if (whole)
        note_limits(s);
    else if (!s->signals.last)
        session_refuse(s, "no ring has anything of that time");
    for (size_t i = 0; i < s->n_notes && r == 0; i++)
        r = store_run_note(store, s->run, s->notes[i]);
    if (r == 0 && s->refusal)
        r = store_run_note(store, s->run, s->refusal);
    if (r == 0)
        r = store_run_command_started(store, s->run, from_ns, mono_of(m, from_ns));
    if (r == 0)
        r = store_run_end(store, s->run,
                          s->signals.last ? RUN_INTERRUPTED
                          : whole         ? RUN_DONE
                                          : RUN_NOT_STARTED,
                          whole ? 0 : EXIT_NOT_MADE, to_ns, mono_of(m, to_ns));
    if (r < 0)
        session_complain(s, "%s: %s", s->options->database, store_error(store));
    store_close(store);
    return r < 0 ? r : whole ? 0 : -ENODATA;
}

static int make(struct making *m) {
    struct run_session *s = &m->session;
    char why[256];
    size_t n_given = 0;
    s->plan.ring = &m->ring;
    s->plan.wait_clocks = false;
    if (begin(m) < 0)
        return EXIT_USAGE;
    int r = collect_child_listen(&s->collector, why, sizeof why);
    if (r == 0)
        r = collect_child_start(&s->collector);
    else
        session_note(s, "the collector %s", why);
    if (r == 0)
        n_given = fetch(s);
    if (s->unwritable)
        session_refuse(s, "%s", s->unwritable);
    session_drain(s);
    r = record_end(m, n_given > 0 && !s->signals.last);
    if (r == 0)
        session_tell(s, "%zu of %zu hosts, %.0f s, in %s (run %" PRId64 " '%s')", n_given,
                     s->n_launches, (double)(m->cut->to_ns - m->cut->from_ns) / 1e9,
                     s->options->database, s->run, s->options->name);
    if (r == 0 && s->options->report &&
        report_conclude(s->options->database, s->run, s->options->why, NULL,
                        s->options->quiet ? NULL : stderr) < 0)
        session_complain(s, "no verdict");
    session_reap(s);
    return r == 0 ? 0 : s->signals.last ? 128 + s->signals.last : EXIT_NOT_MADE;
}

int cut_make(const struct cut *cut) {
    struct making m = {.cut = cut, .wall_to_mono_ns = clock_monotonic_ns() - cut->now_ns};
    struct run_session *s = &m.session;
    char why[300];
    int status = EXIT_NOT_MADE;
    m.ring.dir = cut->ring;
    snprintf(m.ring.from, sizeof m.ring.from, "%" PRId64, cut->from_ns);
    snprintf(m.ring.to, sizeof m.ring.to, "%" PRId64, cut->to_ns);
    snprintf(m.ring.step, sizeof m.ring.step, "%.3f", (double)cut->step_ns / 1e9);
    if (session_open(s, &cut->options, why, sizeof why) < 0)
        session_complain(s, "%s", why);
    else if (session_choose_hosts(s) < 0)
        status = EXIT_USAGE;
    else
        status = make(&m);
    session_release(s);
    return status;
}
