/* SPDX-License-Identifier: MIT */
/* This socket is separate from that of exit records: the kernel numbers both, so an answer could be
 * taken for the record of an exit. */
#include "agent/probes/process/thread_ask.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <unistd.h>

#define TOGETHER 64

struct question {
    struct genlmsghdr head;
    struct nlattr attribute;
    uint32_t tid;
};

struct asker {
    const struct thread_ask *ask;
    exit_record_take *take;
    void *ctx;
    const int32_t *tids;
};

static void answer(void *ctx, size_t at, unsigned type, struct bytes payload) {
    const struct asker *asker = ctx;
    struct exit_record record;
    if (type == asker->ask->family && exit_record_read(payload, &record) &&
        record.tid == asker->tids[at])
        asker->take(asker->ctx, &record);
}

static int ask_some(struct thread_ask *ask, size_t n, struct asker *asker) {
    struct question questions[TOGETHER];
    for (size_t i = 0; i < n; i++)
        questions[i] =
            (struct question){.head = {.cmd = TASKSTATS_CMD_GET, .version = TASKSTATS_GENL_VERSION},
                              .attribute = {NLA_HDRLEN + sizeof(uint32_t), TASKSTATS_CMD_ATTR_PID},
                              .tid = (uint32_t)asker->tids[i]};
    return netlink_ask_many(&ask->netlink, ask->family, questions, sizeof *questions, n, answer,
                            asker);
}

void thread_ask(struct thread_ask *ask, const int32_t *tids, size_t n, exit_record_take *take,
                void *ctx) {
    int r = ask->netlink.buffer ? 0 : -1;
    for (size_t at = 0; r == 0 && at < n; at += TOGETHER) {
        struct asker asker = {ask, take, ctx, tids + at};
        r = ask_some(ask, n - at < TOGETHER ? n - at : TOGETHER, &asker);
    }
}

int thread_ask_open(struct thread_ask *ret_ask, unsigned family) {
    struct thread_ask ask = {.family = family};
    int r = netlink_open(&ask.netlink, NETLINK_GENERIC);
    if (r == 0)
        *ret_ask = ask;
    return r;
}

void thread_ask_close(struct thread_ask *ask) {
    netlink_close(&ask->netlink);
    ask->family = 0;
}
