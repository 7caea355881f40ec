/* SPDX-License-Identifier: MIT */
#include "agent/sampler/idle.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/error.h"

#define STACK_BYTES ((size_t)64 << 10)
#define END (UINT64_C(1) << 32) /* added to the questions: the thread ends */

/* The last question ends the thread: it answers it, too, which nobody reads. */
static void *answer(void *ctx) {
    const struct idle_watch *watch = ctx;
    uint64_t asked = 0;
    while (asked < END) {
        if (read(watch->ask_fd, &asked, sizeof asked) < 0) {
            if (errno == EINTR)
                continue;
            break;
        }
        (void)!eventfd_write(watch->tell_fd, 1);
    }
    return NULL;
}

static int start_thread(struct idle_watch *watch) {
    const struct sched_param none = {.sched_priority = 0};
    pthread_attr_t attr;
    int r = pthread_attr_init(&attr);
    if (r)
        return -r;
    if (!(r = pthread_attr_setstacksize(&attr, STACK_BYTES)))
        r = pthread_create(&watch->thread, &attr, answer, watch);
    pthread_attr_destroy(&attr);
    if (r)
        return -r;
    r = pthread_setschedparam(watch->thread, SCHED_IDLE, &none);
    if (r) {
        eventfd_write(watch->ask_fd, END);
        pthread_join(watch->thread, NULL);
    }
    return -r;
}

static void close_both(struct idle_watch *watch) {
    if (watch->ask_fd >= 0)
        close(watch->ask_fd);
    if (watch->tell_fd >= 0)
        close(watch->tell_fd);
}

int idle_watch_open(struct idle_watch *watch) {
    watch->ask_fd = eventfd(0, EFD_CLOEXEC);
    watch->tell_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int r = watch->ask_fd < 0 || watch->tell_fd < 0 ? negative_errno() : start_thread(watch);
    if (r < 0)
        close_both(watch);
    watch->is_open = r == 0;
    return r;
}

void idle_watch_ask(struct idle_watch *watch) {
    (void)!eventfd_write(watch->ask_fd, 1);
}

/* The thread gets its policy back, or it would end only when a core is idle. Where that is not
 * permitted, the kernel's share of some thousandths lets it end. */
void idle_watch_close(struct idle_watch *watch) {
    const struct sched_param none = {.sched_priority = 0};
    if (!watch->is_open)
        return;
    pthread_setschedparam(watch->thread, SCHED_OTHER, &none);
    eventfd_write(watch->ask_fd, END);
    pthread_join(watch->thread, NULL);
    close_both(watch);
    watch->is_open = false;
}
