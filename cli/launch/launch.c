/* SPDX-License-Identifier: MIT */
#include "cli/launch/launch_private.h"
#include "cli/launch/slurm_job.h"
#include "collector/credentials.h"
#include "common/error.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *launch_method_name(enum launch_method method) {
    static const char *const names[] = {[LAUNCH_DIRECT] = "directly",
                                        [LAUNCH_MPIRUN] = "by mpirun",
                                        [LAUNCH_SSH] = "by ssh",
                                        [LAUNCH_SRUN] = "by srun"};
    return names[method];
}

int launch_keys_make(const struct launch *launch, const struct launch_plan *plan,
                     char ret_line[LAUNCH_KEYS_SIZE]) {
    char key[HOST_KEY_SIZE];
    int r = credentials_host_key(plan->token, launch->host, key);
    if (r < 0)
        return r;
    const char *marks = plan->marks_key ? plan->marks_key : "";
    int n = snprintf(ret_line, LAUNCH_KEYS_SIZE, "%s%s%s\n", key, *marks ? " " : "", marks);
    explicit_bzero(key, sizeof key);
    return n < LAUNCH_KEYS_SIZE ? 0 : -ENAMETOOLONG;
}

int launch_keys_pipe(const char *lines, int *ret_fd) {
    int fds[2];
    size_t size = strlen(lines);
    if (pipe2(fds, O_CLOEXEC) < 0)
        return negative_errno();
    fcntl(fds[1], F_SETFL, O_NONBLOCK);
    bool written = write(fds[1], lines, size) == (ssize_t)size;
    close(fds[1]);
    if (!written)
        return close(fds[0]), -EIO;
    *ret_fd = fds[0];
    return 0;
}

/* ssh passes its standard input on, and so do mpirun and srun to their only process. */
static int open_stdin(const struct launch *launch, const struct launch_plan *plan, int *ret_fd) {
    char line[LAUNCH_KEYS_SIZE];
    int r = launch_keys_make(launch, plan, line);
    if (r == 0)
        r = launch_keys_pipe(line, ret_fd);
    explicit_bzero(line, sizeof line);
    return r;
}

/* The agents' mpirun, ssh or srun is no part of the job: it has no CHOKEPOINT_RUN, and
 * CHOKEPOINT_AGENT marks it. mpirun refuses to mix its two ways to pass variables; this one is -x.
 * SLURM_OVERLAP: the agents' step must not occupy the CPUs. */
int launch_child_start(enum launch_method method, const struct launch_plan *plan,
                       const char *const *words, const struct launch_fds *fds, pid_t *ret_pid) {
    bool direct = method == LAUNCH_DIRECT;
    const struct child_variable ours[] = {
        {"CHOKEPOINT_TOKEN", NULL},
        {"CHOKEPOINT_RUN", direct ? plan->run_id : NULL},
        {"CHOKEPOINT_FORGET", direct && plan->forgets ? "1" : NULL},
        {"CHOKEPOINT_RUN_NAME", direct ? plan->run_name : NULL},
        {"CHOKEPOINT_RUN_COMMAND", direct ? plan->command : NULL},
        {"CHOKEPOINT_RUN_DATABASE", direct ? plan->database : NULL},
        {"CHOKEPOINT_AGENT", plan->run_id},
        {"LC_CHOKEPOINT_RUN", NULL},
        {"SLURM_CHOKEPOINT_RUN", NULL},
        {"SLURM_CHOKEPOINT_MARKS", NULL},
        {"CHOKEPOINT_MARKS", direct ? plan->marks : NULL},
        {"OMPI_MCA_mca_base_env_list", NULL},
        {"CHOKEPOINT_SCOPE", launch_scope()},
        {"SLURM_OVERLAP", "1"}};
    struct child_variable variables[ARRAY_SIZE(ours) + SLURM_OPTION_VARIABLES_MAX] = {{0}};
    memcpy(variables, ours, sizeof ours);
    struct child_variable *end = variables + ARRAY_SIZE(ours);
    for (const char *const *name = slurm_option_variables; method == LAUNCH_SRUN && *name; name++)
        *end++ = (struct child_variable){*name, NULL};
    const struct child_plan child = {.words = words,
                                     .variables = variables,
                                     .stdin_fd = fds->keys,
                                     .stdout_fd = fds->output,
                                     .stderr_fd = fds->output,
                                     .own_group = true,
                                     .dies_with_parent = true,
                                     .mask = plan->mask};
    return child_start(&child, ret_pid);
}

static int start_words(struct launch *launch, const struct launch_plan *plan,
                       const struct launch_words *words) {
    int output[2];
    if (pipe2(output, O_CLOEXEC) < 0)
        return negative_errno();
    struct launch_fds fds = {.output = output[1]};
    int r = open_stdin(launch, plan, &fds.keys);
    if (r == 0) {
        r = launch_child_start(launch->method, plan, words->words, &fds, &launch->pid);
        close(fds.keys);
    }
    close(output[1]);
    if (r < 0)
        close(output[0]);
    else
        line_reader_init(&launch->output, output[0]);
    return r;
}

int launch_start(struct launch *launch, const struct launch_plan *plan, const char *url) {
    struct launch_words words;
    if (launch->attempted) /* closed first: another process may still have the other end */
        line_reader_close(&launch->output);
    launch->n_said = 0;
    int r = launch_words_make(&words, launch, plan, url);
    if (r == 0)
        r = start_words(launch, plan, &words);
    if (r < 0)
        snprintf(launch->trouble, sizeof launch->trouble, "cannot start %s: %s",
                 words.n ? words.words[0] : "it", strerror(-r));
    launch->attempted = r == 0;
    launch_words_release(&words);
    return r;
}

struct listening {
    struct launch *launch;
    void (*agent_says)(void *ctx, const char *line);
    void *ctx;
};

/* ---- what an agent reports before it samples: agent/introduction.h ---- */

/* A path that is safe in a list of libraries and in a shell's words. */
static bool is_plain_path(const char *path) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./+@%^,=~";
    return path[0] == '/' && path[strspn(path, plain)] == '\0';
}

static bool is_system(const char *name) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_.@";
    return *name && name[strspn(name, plain)] == '\0';
}

/* "DIGEST SYSTEM PATH" */
static void take_library(struct launch_library *library, const char *text) {
    struct launch_library told = {.told = true};
    int at = 0;
    if (sscanf(text, "%16" SCNx64 " %199s %n", &told.digest, told.system, &at) == 2 && at > 0 &&
        is_system(told.system) && is_plain_path(text + at))
        snprintf(told.path, sizeof told.path, "%s", text + at);
    else
        snprintf(told.why, sizeof told.why, "its path cannot be preloaded: %.150s", text + at);
    *library = told;
}

/* True: the line was such a report. */
static bool take_introduction(struct launch *launch, const char *line) {
    static const char library[] = "library ", none[] = "no library ", spool[] = "spool ";
    if (strncmp(line, library, sizeof library - 1) == 0)
        take_library(&launch->library, line + sizeof library - 1);
    else if (strncmp(line, none, sizeof none - 1) == 0) {
        launch->library = (struct launch_library){.told = true};
        snprintf(launch->library.why, sizeof launch->library.why, "%s", line + sizeof none - 1);
    } else if (strncmp(line, spool, sizeof spool - 1) == 0)
        snprintf(launch->spool, sizeof launch->spool, "%s", line + sizeof spool - 1);
    else
        return false;
    return true;
}

/* mpirun frames its advice with rules and blank lines, ssh its warnings. */
static bool is_decoration(const char *line) {
    return line[strspn(line, "-=*@ ")] == '\0';
}

/* The line without the frame that ssh draws around it. */
static void keep_line(char *to, size_t size, const char *line) {
    line += strspn(line, "@ ");
    size_t n = strlen(line);
    while (n && strchr("@ ", line[n - 1]))
        n--;
    snprintf(to, size, "%.*s", (int)(n < size ? n : size - 1), line);
}

static void take_line(void *ctx, const char *line) {
    const struct listening *l = ctx;
    bool agent = strncmp(line, "chokepoint-agent: ", 18) == 0;
    if (agent && take_introduction(l->launch, line + 18))
        return;
    if (agent)
        l->agent_says(l->ctx, line + 18);
    if (strcmp(line, "chokepoint-relay: delivered") == 0) {
        l->launch->delivered = true;
        return;
    }
    if (is_decoration(line))
        return;
    if (l->launch->n_said < LAUNCH_SAID_LINES)
        l->launch->n_said++;
    keep_line(l->launch->said[l->launch->n_said - 1], sizeof l->launch->said[0], line);
}

void launch_take_line(struct launch *launch, const char *line,
                      void (*agent_says)(void *ctx, const char *line), void *ctx) {
    struct listening listening = {launch, agent_says, ctx};
    take_line(&listening, line);
}

void launch_read(struct launch *launch, void (*agent_says)(void *ctx, const char *line),
                 void *ctx) {
    struct listening listening = {launch, agent_says, ctx};
    if (launch->attempted)
        line_reader_read(&launch->output, take_line, &listening);
}

bool launch_check(struct launch *launch) {
    int status = 0;
    if (launch->pid == 0 || child_ended(launch->pid, &status) == -EAGAIN)
        return false;
    launch->pid = 0;
    child_describe_end(status, launch->trouble, sizeof launch->trouble);
    return true;
}

#define AGAIN_MAX 5

bool launch_may_be_tried_again(const struct launch *launch) {
    for (size_t i = 0; i < launch->n_said && launch->n_again < AGAIN_MAX; i++)
        if (strstr(launch->said[i], "unable to create the desired directory"))
            return true;
    return false;
}

void launch_signal(const struct launch *launch, int signal) {
    if (launch->pid)
        kill(launch->pid, signal);
}
