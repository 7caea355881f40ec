/* SPDX-License-Identifier: MIT */
/*
 * Makes a testbed whole or not at all. Signals that end programs wait until the current step is
 * done (they are blocked, not caught): steps take milliseconds, and it is then known what exists.
 * Afterwards the signal has its usual effect.
 */
#include "cli/testbed/testbed.h"
#include "common/error.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/* Not those that the caller ignores (nohup, a shell's background jobs): blocking would keep them
 * pending. */
static void block_signals(sigset_t *ret_before) {
    sigset_t set;
    struct sigaction action;
    sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_SIZE(ending_signals); i++)
        if (sigaction(ending_signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&set, ending_signals[i]);
    sigprocmask(SIG_BLOCK, &set, ret_before);
}

static int waiting_signal(void) {
    sigset_t set;
    sigpending(&set);
    for (size_t i = 0; i < ARRAY_SIZE(ending_signals); i++)
        if (sigismember(&set, ending_signals[i]))
            return ending_signals[i];
    return 0;
}

static int check_signals(struct testbed *t) {
    int signal_number = waiting_signal();
    return signal_number ? testbed_trouble(t, 128 + signal_number, "up: interrupted (%s)",
                                           strsignal(signal_number))
                         : 0;
}

static int refuse_strangers(struct testbed *t) {
    char what[16] = "switch";
    for (unsigned host = 0; host <= t->n_hosts; host++) {
        if (host)
            snprintf(what, sizeof what, "vm%u", host);
        if (testbed_namespace_exists(t, what))
            return testbed_trouble(t, TESTBED_USAGE,
                                   "a network namespace %s-%s exists already and is not known as "
                                   "a testbed's: choose a --name, or `ip netns del %s-%s`",
                                   t->name, what, t->name, what);
    }
    return 0;
}

static int make_all(struct testbed *t) {
    int r = testbed_cgroup_make(t);
    if (r == 0)
        r = testbed_network_make_switch(t);
    for (unsigned host = 1; host <= t->n_hosts && r == 0; host++) {
        r = check_signals(t);
        if (r == 0)
            r = testbed_network_make_host(t, host);
    }
    if (r == 0)
        r = testbed_write_files(t);
    if (r == 0)
        r = check_signals(t);
    t->phase = TESTBED_UP;
    return r ? r : testbed_save(t);
}

static int make_or_remove(struct testbed *t) {
    t->phase = TESTBED_MAKING;
    int r = testbed_make_directory(t);
    if (r == 0)
        r = testbed_save(t);
    if (r == 0)
        r = make_all(t);
    if (r == 0)
        return 0;
    struct testbed copy = *t; /* keeps the first trouble for the message */
    if (testbed_remove(&copy) == 0)
        return r;
    size_t n = strlen(t->trouble);
    snprintf(t->trouble + n, sizeof t->trouble - n, "; and then: %.180s", copy.trouble);
    return r;
}

static int clear_the_place(struct testbed_options *options) {
    struct testbed *t = &options->testbed;
    if (!testbed_exists(t))
        return refuse_strangers(t);
    if (!options->replace)
        return testbed_trouble(t, TESTBED_USAGE,
                               "the testbed '%s' is up already: `chokepoint testbed down` first, "
                               "or up with --replace",
                               t->name);
    struct testbed old;
    int r = testbed_init(&old, t->name);
    if (r == 0)
        r = testbed_load(&old);
    if (r == 0)
        r = testbed_remove(&old);
    return r ? testbed_trouble(t, r, "%s", old.trouble) : 0;
}

static int up_locked(struct testbed_options *options) {
    struct testbed *t = &options->testbed;
    sigset_t before;
    block_signals(&before);
    int r = clear_the_place(options);
    if (r == 0 && !options->subnet_given)
        r = testbed_choose_subnet(t);
    if (r == 0)
        r = make_or_remove(t);
    if (r > 128)
        fprintf(stderr, "chokepoint testbed: %s; removed what was made\n", t->trouble);
    sigprocmask(SIG_SETMASK, &before, NULL); /* a pending signal ends the process here */
    return r;
}

int testbed_up(struct testbed_options *options) {
    struct testbed *t = &options->testbed;
    int r = testbed_network_probe(t);
    if (r)
        return r;
    int lock = testbed_lock();
    if (lock < 0)
        return testbed_trouble(t, TESTBED_UNABLE, "cannot lock %s.lock: %s", TESTBED_ROOT,
                               strerror(-lock));
    r = up_locked(options);
    close(lock);
    return r;
}
