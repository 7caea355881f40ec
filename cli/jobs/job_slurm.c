/* SPDX-License-Identifier: MIT */
/* The AdminComment of a job of Slurm: `scontrol` tells it while the controller knows the job,
 * `sacct` afterwards. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/jobs/job.h"
#include "common/error.h"

#define OUTPUT_MAX 65536

extern char **environ;

/* The program's standard output, owned and at most OUTPUT_MAX bytes; its standard error is nobody's
 * business, since the other program is asked next. NULL: it failed. */
static char *output_of(const char *const argv[]) {
    posix_spawn_file_actions_t actions;
    int ends[2], status = 1;
    size_t n = 0;
    ssize_t got = 1;
    pid_t pid;
    char *text = malloc(OUTPUT_MAX + 1);
    if (!text || pipe2(ends, O_CLOEXEC) < 0) {
        free(text);
        return NULL;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    int failed = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    while (!failed && n < OUTPUT_MAX && (got = read(ends[0], text + n, OUTPUT_MAX - n)) != 0)
        if (got > 0)
            n += (size_t)got;
        else if (errno != EINTR)
            break;
    close(ends[0]);
    if (!failed)
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    text[n] = '\0';
    if (!failed && status == 0)
        return text;
    free(text);
    return NULL;
}

/* The rest of the line behind `key`; owned. NULL: it is not there. */
static char *rest_of_line(const char *text, const char *key) {
    const char *at = strstr(text, key);
    if (!at)
        return NULL;
    at += strlen(key);
    return strndup(at, strcspn(at, "\n"));
}

/* sacctmgr stores each quotation mark as a grave accent, which a summary has nowhere else. */
static char *with_quotes(char *comment) {
    if (comment && strncmp(comment, "{`", 2) == 0)
        for (char *p = comment; *p; p++)
            if (*p == '`')
                *p = '"';
    return comment;
}

char *job_comment(const char *id) {
    const char *const scontrol[] = {"scontrol", "show", "job", id, NULL};
    const char *const sacct[] = {"sacct", "-X", "-n", "-P", "-o", "AdminComment", "-j", id, NULL};
    char *said = output_of(scontrol), *comment = NULL;
    if (said)
        comment = rest_of_line(said, "\n   AdminComment=");
    free(said);
    if (comment)
        return with_quotes(comment);
    said = output_of(sacct);
    if (said)
        comment = rest_of_line(said, "");
    free(said);
    return with_quotes(comment);
}
