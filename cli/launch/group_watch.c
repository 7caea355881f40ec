/* SPDX-License-Identifier: MIT */
#include "cli/launch/group_watch.h"
#include "common/error.h"

#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void stand_still(pid_t parent) {
    prctl(PR_SET_NAME, "group-watch");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close_range(0, ~0U, 0);
    while (getppid() == parent)
        pause();
    _exit(0);
}

int group_watch_start(struct group_watch *watch) {
    sigset_t all, old;
    pid_t parent = getpid();
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &old); /* before the fork, so that it misses nothing */
    pid_t pid = fork();
    if (pid == 0)
        stand_still(parent);
    sigprocmask(SIG_SETMASK, &old, NULL);
    watch->pid = pid > 0 ? pid : 0;
    return pid < 0 ? negative_errno() : 0;
}

void group_watch_stop(struct group_watch *watch) {
    if (watch->pid == 0)
        return;
    kill(watch->pid, SIGKILL);
    while (waitpid(watch->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    watch->pid = 0;
}

static uint64_t pending_of(pid_t pid) {
    char path[64], line[256];
    uint64_t pending = 0;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "ShdPnd: %" SCNx64, &pending) == 1)
            break;
    if (file)
        fclose(file);
    return pending;
}

/* A pending signal stays pending, so a new child replaces this one. */
bool group_watch_saw(struct group_watch *watch, int signal) {
    if (watch->pid == 0 || !(pending_of(watch->pid) >> (signal - 1) & 1))
        return false;
    group_watch_stop(watch);
    group_watch_start(watch);
    return true;
}
