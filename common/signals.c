/* SPDX-License-Identifier: MIT */
#include "common/signals.h"

#include <signal.h>
#include <sys/signalfd.h>

#include "common/error.h"

int signals_open(void) {
    static const int heard[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_SIZE(heard); i++)
        sigaddset(&set, heard[i]);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return negative_errno();
    int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    return fd < 0 ? negative_errno() : fd;
}
