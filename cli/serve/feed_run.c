/* SPDX-License-Identifier: MIT */
#include "cli/serve/feed_run.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/verb.h"
#include "common/clock.h"
#include "common/error.h"
#include "reports/live/live.h"

#define EACH_NS NS_PER_S
#define LAST_JUDGEMENT_NS (60 * NS_PER_S) /* of a run that has ended, at most */

/* False as soon as whoever read it is gone. */
static bool wait_until(int64_t until_ns) {
    struct pollfd out = {.fd = STDOUT_FILENO};
    int64_t left_ns = until_ns - clock_monotonic_ns();
    poll(&out, 1, left_ns > 0 ? (int)(left_ns / NS_PER_MS) + 1 : 0);
    return (out.revents & (POLLERR | POLLHUP)) == 0;
}

static int print(const struct live_snapshot *snapshot) {
    int r = live_write_json(snapshot, stdout);
    return r == 0 && fflush(stdout) != 0 ? -EIO : r;
}

/* Until the run has ended and its limit is known, as far as it ever will be. */
static int follow(struct live *live) {
    int64_t due_ns = clock_monotonic_ns(), give_up_ns = 0;
    for (;;) {
        int r = live_poll(live);
        const struct live_snapshot *now = live_look(live);
        if (r > 0)
            r = print(now);
        if (r < 0)
            return r;
        int64_t now_ns = clock_monotonic_ns();
        if (now->state == LIVE_RUNNING || now->trouble)
            give_up_ns = 0;
        else if (!give_up_ns)
            give_up_ns = now_ns + LAST_JUDGEMENT_NS;
        if (give_up_ns && (now->limit.final || now_ns >= give_up_ns))
            return 0;
        due_ns = due_ns + EACH_NS > now_ns ? due_ns + EACH_NS : now_ns;
        if (!wait_until(due_ns))
            return -EPIPE;
    }
}

int feed_run(const char *database, const char *run) {
    struct live *live = NULL;
    char why[300] = "";
    signal(SIGPIPE, SIG_IGN);
    int r = live_open(database, run, &live, why, sizeof why);
    if (r < 0) {
        verb_complain("serve", "%s", why);
        return EXIT_USAGE;
    }
    r = follow(live);
    live_close(live);
    if (r < 0 && r != -EPIPE)
        verb_complain("serve", "cannot follow run %s: %s", run, strerror(-r));
    return r < 0;
}
