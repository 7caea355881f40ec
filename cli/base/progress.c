/* SPDX-License-Identifier: MIT */
#include "cli/base/progress.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

struct progress {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    bool over;
    const char *what;
};

/* Counts characters, not bytes; none is wide here. */
static size_t cut(const char *text, size_t columns) {
    size_t at = 0;
    for (size_t n = 0; text[at] && n < columns; n++)
        do
            at++;
        while ((text[at] & 0xc0) == 0x80);
    return at;
}

void progress_line(const char *text) {
    struct winsize window = {0};
    size_t columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1
                         ? window.ws_col - 1u
                         : 79;
    fprintf(stderr, "\r\033[K%.*s", (int)cut(text, columns), text);
    fflush(stderr);
}

static void *show(void *arg) {
    struct progress *p = arg;
    struct timespec until;
    char text[200];
    int s = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    pthread_mutex_lock(&p->mutex);
    while (!p->over) {
        until.tv_sec++;
        while (!p->over && pthread_cond_timedwait(&p->ended, &p->mutex, &until) == 0)
            ;
        if (p->over)
            break;
        snprintf(text, sizeof text, "chokepoint: %s, %d s", p->what, ++s);
        progress_line(text);
    }
    if (s)
        progress_line("");
    pthread_mutex_unlock(&p->mutex);
    return NULL;
}

struct progress *progress_begin(const char *what) {
    pthread_condattr_t clock;
    sigset_t all, old;
    struct progress *p = isatty(STDERR_FILENO) ? calloc(1, sizeof *p) : NULL;
    if (!p)
        return NULL;
    p->what = what;
    pthread_mutex_init(&p->mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&p->ended, &clock);
    pthread_condattr_destroy(&clock);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* signals belong to the first thread */
    int failed = pthread_create(&p->thread, NULL, show, p);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (failed) {
        free(p);
        return NULL;
    }
    return p;
}

void progress_end(struct progress *p) {
    if (!p)
        return;
    pthread_mutex_lock(&p->mutex);
    p->over = true;
    pthread_cond_signal(&p->ended);
    pthread_mutex_unlock(&p->mutex);
    pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->ended);
    pthread_mutex_destroy(&p->mutex);
    free(p);
}
