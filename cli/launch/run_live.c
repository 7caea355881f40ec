/* SPDX-License-Identifier: MIT */
/*
 * The live view of a run: `chokepoint serve` as a child, which prints its address on standard
 * error. The run goes on without it, whatever happens to it.
 */
#include "cli/launch/run_session.h"
#include "common/clock.h"
#include "common/error.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define END_NS (6 * NS_PER_S) /* it tells its watchers, and ends */

int live_pick_port(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return 0;
    bool good = bind(fd, (struct sockaddr *)&at, size) == 0 &&
                getsockname(fd, (struct sockaddr *)&at, &size) == 0;
    close(fd);
    return good ? ntohs(at.sin_port) : 0;
}

/* Repeats share an address, which names the newest run; only the first prints it. */
void session_start_live(struct run_session *s) {
    char run[24], port[8];
    bool shared = s->series.repeat && s->series.live_port;
    snprintf(run, sizeof run, "%" PRId64, s->run);
    snprintf(port, sizeof port, "%d", shared ? s->series.live_port : 0);
    const char *const words[] = {
        s->program, "serve", shared ? "last" : run, "--db", s->options->database, "--port",
        port,       NULL};
    const struct child_variable variables[] = {
        {"CHOKEPOINT_AGENT", s->run_id}, {"CHOKEPOINT_RUN", NULL}, {0}};
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    const struct child_plan plan = {.words = words,
                                    .variables = variables,
                                    .stdin_fd = null_fd,
                                    .stdout_fd =
                                        shared && s->series.repeat > 1 ? null_fd : STDERR_FILENO,
                                    .stderr_fd = -1,
                                    .own_group = true,
                                    .dies_with_parent = true,
                                    .mask = &s->signals.old_mask};
    int r = child_start(&plan, &s->live);
    if (null_fd >= 0)
        close(null_fd);
    if (r < 0)
        session_tell(s, "there is no live view: %s", strerror(-r));
}

static void await_live(struct run_session *s) {
    int64_t deadline_ns = clock_monotonic_ns() + END_NS;
    while (s->live && clock_monotonic_ns() < deadline_ns)
        session_poll(s, deadline_ns);
}

void session_end_live(struct run_session *s) {
    for (int signal = SIGTERM; s->live; signal = SIGKILL) {
        kill(s->live, signal);
        await_live(s);
        if (signal == SIGKILL)
            return;
    }
}
