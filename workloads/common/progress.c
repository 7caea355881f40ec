/* SPDX-License-Identifier: MIT */
#include "workloads/common/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void progress_start(struct progress *p, bool quiet, double limit_s) {
    double now = now_s();
    *p = (struct progress){.quiet = quiet,
                           .terminal = isatty(STDERR_FILENO),
                           .started_s = now,
                           .shown_s = now,
                           .limit_s = limit_s};
}

/* Time left at the present pace, at most up to the limit. */
static double left_s(const struct progress *p, double now, double done, double total) {
    double spent = now - p->started_s, left = done > 0 ? spent / done * (total - done) : 0;
    if (p->limit_s > 0 && (done <= 0 || left > p->limit_s - spent))
        left = p->limit_s - spent;
    return left > 0 ? left : 0;
}

void progress_show(struct progress *p, const char *label, double done, double total,
                   const char *text, bool worth_a_line) {
    double now = now_s(), since = now - p->shown_s;
    if (p->quiet || since < (p->terminal ? .2 : worth_a_line ? 1 : 5))
        return;
    p->shown_s = now;
    int left = (int)(left_s(p, now, done, total) + .5);
    fprintf(stderr, "%s%s  %.0f/%.0f  %d:%02d left  %s%s", p->terminal ? "\r" : "", label, done,
            total, left / 60, left % 60, text, p->terminal ? "\033[K" : "\n");
    fflush(stderr);
}

void progress_end(struct progress *p) {
    if (!p->quiet && p->terminal)
        fputc('\n', stderr);
}
