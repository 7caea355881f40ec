/* SPDX-License-Identifier: MIT */
#include "cli/launch/slurm_job.h"
#include "cli/launch/child.h"
#include "cli/launch/slurm_nodes.h"
#include "common/error.h"
#include "common/text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SALLOC_WORDS_MAX 256
#define NODELIST_SIZE 16384

const char *const slurm_option_variables[] = {
    "SLURM_CORE_SPEC",
    "SLURM_CPUS_PER_GPU",
    "SLURM_CPUS_PER_TASK",
    "SLURM_CPU_BIND",
    "SLURM_CPU_BIND_LIST",
    "SLURM_CPU_BIND_TYPE",
    "SLURM_DISTRIBUTION",
    "SLURM_EXACT",
    "SLURM_EXCLUSIVE",
    "SLURM_EXPORT_ENV",
    "SLURM_GPUS",
    "SLURM_GPUS_PER_NODE",
    "SLURM_GPUS_PER_TASK",
    "SLURM_GPU_BIND",
    "SLURM_HINT",
    "SLURM_HOSTFILE",
    "SLURM_KILL_BAD_EXIT",
    "SLURM_LABELIO",
    "SLURM_MEM_BIND",
    "SLURM_MEM_PER_CPU",
    "SLURM_MEM_PER_GPU",
    "SLURM_MEM_PER_NODE",
    "SLURM_MULTI_PROG",
    "SLURM_NNODES",
    "SLURM_NPROCS",
    "SLURM_NTASKS",
    "SLURM_NTASKS_PER_CORE",
    "SLURM_NTASKS_PER_GPU",
    "SLURM_NTASKS_PER_NODE",
    "SLURM_NTASKS_PER_SOCKET",
    "SLURM_RELATIVE",
    "SLURM_STDERRMODE",
    "SLURM_STDINMODE",
    "SLURM_STDOUTMODE",
    "SLURM_TASK_EPILOG",
    "SLURM_TASK_PROLOG",
    "SLURM_THREADS_PER_CORE",
    "SLURM_THREADS",
    "SLURM_TIMELIMIT",
    "SLURM_TRES_PER_TASK",
    NULL,
};
_Static_assert(ARRAY_SIZE(slurm_option_variables) <= SLURM_OPTION_VARIABLES_MAX, "their room");

static const char *set_variable(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

bool slurm_in_job(void) {
    return set_variable("SLURM_JOB_ID") != NULL;
}

/* --- the words of salloc --- */

static int add_word(const char **to, size_t capacity, size_t *n, const char *word) {
    if (*n == capacity)
        return -E2BIG;
    to[(*n)++] = word;
    return 0;
}

/* srun takes these from its environment; salloc has other variables. An option wins. */
static int push_environment(const char **to, size_t capacity, size_t *n,
                            char text[SLURM_TEXT_SIZE]) {
    static const struct {
        const char *variable, *option;
    } taken[] = {{"SLURM_ACCOUNT", "account"},
                 {"SLURM_CLUSTERS", "clusters"},
                 {"SLURM_CONSTRAINT", "constraint"},
                 {"SLURM_CPUS_PER_TASK", "cpus-per-task"},
                 {"SLURM_GPUS", "gpus"},
                 {"SLURM_GRES", "gres"},
                 {"SLURM_NNODES", "nodes"},
                 {"SLURM_NTASKS", "ntasks"},
                 {"SLURM_PARTITION", "partition"},
                 {"SLURM_QOS", "qos"},
                 {"SLURM_RESERVATION", "reservation"},
                 {"SLURM_TIMELIMIT", "time"}};
    size_t used = 0;
    int r = 0;
    for (size_t i = 0; i < ARRAY_SIZE(taken) && r == 0; i++) {
        const char *value = set_variable(taken[i].variable);
        if (!value)
            continue;
        int size = snprintf(text + used, SLURM_TEXT_SIZE - used, "--%s=%s", taken[i].option, value);
        if (size < 0 || (size_t)size >= SLURM_TEXT_SIZE - used)
            return -E2BIG;
        r = add_word(to, capacity, n, text + used);
        used += (size_t)size + 1;
    }
    return r;
}

int slurm_salloc_words(const struct command_words *words, const char **to, size_t capacity,
                       char text[SLURM_TEXT_SIZE], size_t *ret_n) {
    size_t n = 0;
    int r = add_word(to, capacity, &n, "salloc");
    if (r == 0)
        r = push_environment(to, capacity, &n, text);
    for (size_t i = 0; i < words->n_allocation && r == 0; i++)
        r = add_word(to, capacity, &n, words->allocation[i]);
    *ret_n = n;
    return r;
}

/* Returns only on failure. */
static int become_salloc(const struct command_words *words, const char *program, char *const *argv,
                         char *why, size_t why_size) {
    const char *all[SALLOC_WORDS_MAX];
    char text[SLURM_TEXT_SIZE];
    size_t n;
    int r = slurm_salloc_words(words, all, SALLOC_WORDS_MAX - 1, text, &n);
    if (r == 0)
        r = add_word(all, SALLOC_WORDS_MAX - 1, &n, program);
    for (size_t i = 0; argv[i] && r == 0; i++)
        r = add_word(all, SALLOC_WORDS_MAX - 1, &n, argv[i]);
    if (r < 0)
        return snprintf(why, why_size, "srun: more than %d words", SALLOC_WORDS_MAX), r;
    all[n] = NULL;
    execvp(all[0], (char *const *)all);
    r = negative_errno();
    snprintf(why, why_size,
             "srun is in no allocation, and salloc, which would get one, cannot be started: %s",
             strerror(-r));
    return r;
}

/* --- an existing allocation --- */

/* The first line that a program writes. */
static int first_line(const char *const *words, char *to, size_t size) {
    int fds[2], status = 0;
    pid_t pid;
    size_t n = 0;
    ssize_t got;
    if (pipe2(fds, O_CLOEXEC) < 0)
        return negative_errno();
    const struct child_plan plan = {.words = words,
                                    .stdin_fd = -1,
                                    .stdout_fd = fds[1],
                                    .stderr_fd = -1,
                                    .dies_with_parent = true};
    int r = child_start(&plan, &pid);
    close(fds[1]);
    while (r == 0 && n + 1 < size &&
           ((got = read(fds[0], to + n, size - 1 - n)) > 0 || (got < 0 && errno == EINTR)))
        n += got > 0 ? (size_t)got : 0;
    close(fds[0]);
    while (r == 0 && waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            r = negative_errno();
    to[n] = '\0';
    to[strcspn(to, "\n")] = '\0';
    return r ? r : child_exit_status(status) == 0 && to[0] && n + 1 < size ? 0 : -ENOENT;
}

static bool is_job_id(const char *text) {
    return text[0] && text[strspn(text, "0123456789")] == '\0' && strlen(text) < 16;
}

static int enter_by_id(const char *id, char *why, size_t why_size) {
    const char *const words[] = {"squeue", "--noheader", "--jobs", id, "--format", "%N", NULL};
    char nodes[NODELIST_SIZE];
    if (!is_job_id(id))
        return snprintf(why, why_size, "srun: '%.40s' is no id of a job", id), -EINVAL;
    int r = first_line(words, nodes, sizeof nodes);
    if (r < 0)
        return snprintf(why, why_size, "squeue knows no hosts of job %s: %s", id,
                        r == -ENOENT ? "is it running?" : strerror(-r)),
               r;
    unsetenv("SLURM_JOB_PARTITION"); /* of the job around this process, if any */
    return setenv("SLURM_JOB_ID", id, 1) < 0 || setenv("SLURM_JOB_NODELIST", nodes, 1) < 0
               ? negative_errno()
               : 0;
}

/* Separates the components of a heterogeneous job, each of which has options of its own. */
static const char *separator_in(char *const *argv) {
    static const char separator[] = ":";
    while (*argv && strcmp(*argv, separator) != 0)
        argv++;
    return *argv ? separator : NULL;
}

int slurm_enter_job(const struct command_words *words, const char *program, char *const *argv,
                    char *why, size_t why_size) {
    const char *own = set_variable("SLURM_JOB_ID");
    const char *id = words->job_id ? words->job_id : own;
    if (words->kind != COMMAND_SRUN || words->starts_nothing)
        return 0;
    if (id && own && strcmp(id, own) == 0 && set_variable("SLURM_JOB_NODELIST"))
        return 0;
    if (id)
        return enter_by_id(id, why, why_size);
    const char *unknown = words->hides_hosts ? words->hides_hosts : separator_in(argv);
    if (unknown) {
        snprintf(why, why_size,
                 "srun: %s is not understood here; get the allocation first: salloc OPTIONS "
                 "chokepoint run srun ...",
                 unknown);
        return -EINVAL;
    }
    return become_salloc(words, program, argv, why, why_size);
}

bool slurm_describe_job(char *to, size_t size) {
    const char *id = set_variable("SLURM_JOB_ID"), *partition = set_variable("SLURM_JOB_PARTITION");
    char nodes[600];
    if (!id)
        return false;
    slurm_describe_nodes(nodes, sizeof nodes);
    snprintf(to, size, "Slurm job %s%s%s%s%s", id, partition ? " of partition " : "",
             partition ? partition : "", *nodes ? ": " : "", nodes);
    return true;
}

const char *slurm_export_list(char *to, size_t size) {
    static const char ours[] = "CHOKEPOINT_RUN,CHOKEPOINT_MARKS,LD_PRELOAD";
    const char *list = set_variable("SLURM_EXPORT_ENV");
    if (!list || command_list_has(list, "ALL"))
        return NULL;
    bool none = strcmp(list, "NONE") == 0;
    int n = snprintf(to, size, "%s%s%s", none ? "" : list, none ? "" : ",", ours);
    return n > 0 && (size_t)n < size ? to : NULL;
}
