/* SPDX-License-Identifier: MIT */
/*
 * The samples of a run on their way to an engine: a child that follows the database. The run goes
 * on without it, and what it has not sent can be sent later.
 */
#include "cli/launch/run_session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/options.h"
#include "common/buffer.h"
#include "common/clock.h"
#include "common/error.h"
#include "reports/says/commands.h"

#define LAST_NS (5 * NS_PER_S) /* for what the run recorded last, once it has ended */
#define LOOK_NS (NS_PER_S / 5)

void session_start_remote(struct run_session *s) {
    struct remote_call call;
    const char *verb = s->options->attached ? "attach" : "run";
    if (!s->options->remote.url ||
        remote_call_fill(&call, verb, &s->options->remote, s->options->database, s->run, true) < 0)
        return;
    const struct child_variable variables[] = {
        {"CHOKEPOINT_AGENT", s->run_id}, {"CHOKEPOINT_RUN", NULL}, {0}};
    const struct child_plan plan = {.words = call.words,
                                    .variables = variables,
                                    .stdin_fd = -1,
                                    .stdout_fd = -1,
                                    .stderr_fd = -1,
                                    .own_group = true,
                                    .dies_with_parent = true,
                                    .mask = &s->signals.old_mask};
    int r = child_start(&plan, &s->remote);
    if (r < 0)
        session_complain(s, "nothing is sent to the engine: %s", strerror(-r));
}

/* Appends an option, if it was given. */
static void add_option(struct buffer *words, const char *option, const char *value) {
    char *argument = value ? command_argument(value) : NULL;
    if (!argument)
        return;
    buffer_put(words, option, strlen(option));
    buffer_put(words, argument, strlen(argument));
    free(argument);
}

/* The command that sends the rest. */
static void say_rest(const struct run_session *s) {
    const struct remote_words *remote = &s->options->remote;
    struct buffer words = {0};
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, s->run);
    buffer_put(&words, number, strlen(number));
    add_option(&words, " --remote-write ", remote->url);
    add_option(&words, " --remote-write-token ", remote->token_file);
    add_option(&words, " --remote-write-login ", remote->login_file);
    add_option(&words, " --remote-write-ca ", remote->authorities);
    buffer_put_u8(&words, '\0');
    const struct command command = {"export", (const char *)words.data};
    char *text = words.error ? NULL : command_words(verb_caller(), command);
    session_complain(s, "the engine has not got all; `%s` sends the rest", text ? text : "");
    free(text);
    buffer_release(&words);
}

static void await_remote(struct run_session *s, int64_t ns) {
    int64_t deadline_ns = clock_monotonic_ns() + ns;
    while (s->remote && clock_monotonic_ns() < deadline_ns)
        session_poll(s, deadline_ns);
}

/* The signal ends its present pause: what is new is there. */
void session_end_remote(struct run_session *s) {
    for (int64_t left_ns = LAST_NS; s->remote && left_ns > 0; left_ns -= LOOK_NS) {
        kill(s->remote, SIGCONT);
        await_remote(s, LOOK_NS);
    }
    if (s->remote) {
        s->remote_failed = true;
        kill(s->remote, SIGKILL); /* it keeps its place at each step */
        await_remote(s, NS_PER_S);
    }
    if (s->remote_failed)
        say_rest(s);
}
