/* SPDX-License-Identifier: MIT */
#include "cli/run/run_prepare.h"
#include "cli/base/options.h"
#include "cli/launch/child.h"
#include "cli/launch/run_options.h"
#include "common/error.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs a command to its end; its output goes to stdout_fd. Exit status as in a shell, or negative
 * errno. */
static int run_to_end(const char *const *words, int stdout_fd) {
    pid_t pid;
    int status, nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    const struct child_plan plan = {.words = words,
                                    .stdin_fd = nothing,
                                    .stdout_fd = stdout_fd < 0 ? nothing : stdout_fd,
                                    .stderr_fd = -1,
                                    .dies_with_parent = true};
    if (nothing < 0)
        return negative_errno();
    int r = child_start(&plan, &pid);
    close(nothing);
    while (r == 0 && waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            r = negative_errno();
    return r ? r : child_exit_status(status);
}

static int judge(const char *what, const char *which, int result) {
    if (result < 0)
        verb_complain("run", "%s cannot be started: %s (%s)", what, which, strerror(-result));
    else if (result)
        verb_complain("run", "%s ended with exit status %d: %s", what, result, which);
    return result < 0 ? result == -ENOENT ? 127 : 126 : result;
}

int run_prepare(const struct run_options *options) {
    const char *const words[] = {"sh", "-c", options->prepare, NULL};
    return options->prepare ? judge("the command of --prepare", options->prepare,
                                    run_to_end(words, STDERR_FILENO))
                            : 0;
}

int run_warm_up(const struct run_options *options) {
    int status = 0;
    for (int i = 1; i <= options->warmups && status == 0; i++) {
        if (!options->quiet)
            verb_complain(NULL, "warm-up %d of %d, which is not recorded", i, options->warmups);
        status = run_prepare(options);
        if (status)
            return status;
        status = judge("a warm-up", options->command[0],
                       run_to_end((const char *const *)options->command, -1));
        if (options->ignore_failure && status < 126)
            status = 0;
    }
    return status;
}
