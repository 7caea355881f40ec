/* SPDX-License-Identifier: MIT */
/* Time that the clocks miss because they were paused. */
#include "agent/probes/wait/wait_private.h"

static void take_growth(struct wait_shares *shares, const uint64_t *now_ns) {
    for (size_t i = 0; i < WAIT_STATES; i++) {
        uint64_t now = now_ns[i], before = shares->before_ns[i];
        uint64_t grown = now > before ? now - before : 0;
        shares->before_ns[i] = now > before ? now : before;
        if (i == WAIT_UNCLOCKED) {
            shares->unshared_ns += grown;
            continue;
        }
        shares->share[i] += (double)grown;
        shares->clocked_ns += (double)grown;
    }
}

static double sum_of(const struct wait_shares *shares) {
    double sum = 0;
    for (size_t i = 0; i < WAIT_UNCLOCKED; i++)
        sum += shares->share[i];
    return sum;
}

/* A process that begins in a pause has no proportions yet: its time waits until some is clocked. */
static void share(struct wait_shares *shares) {
    double sum = sum_of(shares), unclocked = (double)shares->unshared_ns;
    if (!shares->unshared_ns || sum <= 0)
        return;
    shares->unshared_ns = 0;
    if (shares->clocked_ns > 0)
        shares->scale = unclocked / shares->clocked_ns;
    shares->clocked_ns = 0;
    for (size_t i = 0; i < WAIT_UNCLOCKED; i++) {
        shares->shared_ns[i] += (uint64_t)(shares->share[i] / sum * unclocked);
        shares->share[i] /= 2;
    }
}

void wait_share_out(struct wait_shares *shares, uint64_t *now_ns, double pause_ns) {
    take_growth(shares, now_ns);
    shares->scale = 0;
    share(shares);
    double sum = sum_of(shares);
    for (size_t i = 0; i < WAIT_UNCLOCKED; i++)
        now_ns[i] +=
            shares->shared_ns[i] + (sum > 0 ? (uint64_t)(shares->share[i] / sum * pause_ns) : 0);
}
