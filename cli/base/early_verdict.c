/* SPDX-License-Identifier: MIT */
/* One token lies in a pipe. The process that takes it out shows a verdict first: the child, before
 * it writes, or the parent, which then ends the child.
 */
#include "cli/base/early_verdict.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/options.h"
#include "cli/base/progress.h"
#include "cli/base/report.h"
#include "collector/store_read.h"

struct early_verdict {
    pid_t child;
    int token;
};

static bool take_token(int fd) {
    char byte;
    return read(fd, &byte, 1) == 1;
}

static void show_early(const struct report *report, FILE *out) {
    if (isatty(fileno(out)))
        progress_line("");
    fputs("chokepoint: provisional, from the samples alone; the exact verdict follows\n", out);
    report_write_limit(report, report_may_colour(out), out);
    fflush(out);
}

static void judge_early(const char *db_path, int64_t run_id, int token, FILE *out) {
    const struct timespec patience = {.tv_sec = EARLY_VERDICT_S};
    struct report *report;
    struct store *store;
    char which[32];
    nanosleep(&patience, NULL);
    snprintf(which, sizeof which, "%" PRId64, run_id);
    if (store_open_read(db_path, &store, NULL, 0) != 0)
        return;
    if (report_build_early(store, which, verb_caller(), &report) == 0 &&
        !report->verdict.too_short && take_token(token))
        show_early(report, out);
}

static int make_token(int ret_ends[2]) {
    if (pipe2(ret_ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return -errno;
    if (write(ret_ends[1], "", 1) == 1)
        return 0;
    close(ret_ends[0]);
    close(ret_ends[1]);
    return -EIO;
}

struct early_verdict *early_verdict_begin(const char *db_path, int64_t run_id, FILE *out) {
    struct early_verdict *early = calloc(1, sizeof *early);
    int ends[2];
    if (!early || make_token(ends) < 0) {
        free(early);
        return NULL;
    }
    fflush(out);
    early->token = ends[0];
    early->child = fork();
    if (early->child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        judge_early(db_path, run_id, ends[0], out);
        _exit(0);
    }
    close(ends[1]);
    if (early->child < 0) {
        close(ends[0]);
        free(early);
        return NULL;
    }
    return early;
}

bool early_verdict_end(struct early_verdict *early) {
    if (!early)
        return false;
    bool shown = !take_token(early->token);
    if (!shown)
        kill(early->child, SIGKILL);
    while (waitpid(early->child, NULL, 0) < 0 && errno == EINTR)
        ;
    close(early->token);
    free(early);
    return shown;
}
