/* SPDX-License-Identifier: MIT */
/*
 * /proc/PID/environ: the run, rank and role of a process. A process may have any text there, so a
 * number counts only if all numbers that belong to it fit, and a name only if it is short and
 * plain.
 */
#include <stdio.h>
#include <string.h>

#include "agent/base/process_files.h"
#include "agent/base/source.h"
#include "common/error.h"
#include "common/text.h"

/* PyTorch's variables, as far as they are set. */
struct torch {
    int64_t rank, world, local, group; /* NONE: not set; BAD: not a number */
};

enum { BAD = -2, NONE = -1 };

/* The value of "NAME=value", or NULL. */
static const char *value_of(const char *entry, const char *name) {
    size_t n = strlen(name);
    return strncmp(entry, name, n) == 0 && entry[n] == '=' ? entry + n + 1 : NULL;
}

static int64_t number_of(const char *text) {
    uint64_t number;
    return text_parse_u64(text, &number) < 0 || number > INT32_MAX ? BAD : (int64_t)number;
}

static void judge_rank(const char *entry, struct process_environ *environ) {
    static const struct {
        const char *name;
        enum rank_quality quality;
    } sources[] = {{"SLURM_PROCID", RANK_OF_STEP},
                   {"PMI_RANK", RANK_OF_PMI},
                   {"PMIX_RANK", RANK_OF_PMIX},
                   {"OMPI_COMM_WORLD_RANK", RANK_OF_OPENMPI}};
    for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
        const char *value = value_of(entry, sources[i].name);
        int64_t rank = value ? number_of(value) : NONE;
        if (rank < 0 || sources[i].quality <= environ->rank_quality)
            continue;
        environ->rank_quality = sources[i].quality;
        environ->rank = (int32_t)rank;
    }
}

static void judge_torch(const char *entry, struct torch *torch) {
    const struct {
        const char *name;
        int64_t *to;
    } variables[] = {{"RANK", &torch->rank},
                     {"WORLD_SIZE", &torch->world},
                     {"LOCAL_RANK", &torch->local},
                     {"GROUP_RANK", &torch->group}};
    for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
        const char *value = value_of(entry, variables[i].name);
        if (value)
            *variables[i].to = number_of(value);
    }
}

/* A rank counts through all nodes: it is at least its number on its node, and its node's number. */
static void settle_torch(const struct torch *torch, struct process_environ *environ) {
    enum rank_quality quality = torch->local == NONE ? RANK_OF_TORCH : RANK_OF_TORCH_LAUNCHER;
    if (torch->rank < 0 || torch->rank >= torch->world || torch->local == BAD ||
        torch->group == BAD || torch->local > torch->rank || torch->group > torch->rank ||
        environ->rank_quality > quality)
        return;
    environ->rank = (int32_t)torch->rank;
    environ->rank_quality = quality;
}

/* ---- roles ---- */

static bool is_plain(const char *text) {
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");
    return n > 0 && !text[n];
}

/* A worker of Dask has a name, an executor of Spark has a number. */
static void judge_role(const char *entry, struct process_environ *environ) {
    static const struct {
        const char *name, *kind;
    } roles[] = {{"DASK_WORKER_NAME", "worker "}, {"SPARK_EXECUTOR_ID", "executor "}};
    for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
        const char *value = value_of(entry, roles[i].name);
        size_t kind = strlen(roles[i].kind), size = value ? strlen(value) : 0;
        if (!value || !is_plain(value) || kind + size > ROLE_MAX)
            continue;
        memcpy(environ->role, roles[i].kind, kind);
        memcpy(environ->role + kind, value, size + 1);
    }
}

/* ---- the run ---- */

/* The run's variable as `run` passes it to the command, as mpirun and srun pass it to ranks, and as
 * ssh passes it on. */
static bool names_run(const char *entry, const char *run_id) {
    static const char *const names[] = {"CHOKEPOINT_RUN", "OMPI_CHOKEPOINT_RUN",
                                        "SLURM_CHOKEPOINT_RUN", "LC_CHOKEPOINT_RUN"};
    for (size_t i = 0; run_id && i < ARRAY_SIZE(names); i++) {
        const char *run = value_of(entry, names[i]);
        if (run)
            return strcmp(run, run_id) == 0;
    }
    return false;
}

void process_parse_environ(const char *text, size_t size, const char *run_id,
                           struct process_environ *ret_environ) {
    struct torch torch = {NONE, NONE, NONE, NONE};
    *ret_environ = (struct process_environ){.rank = -1};
    for (const char *p = text, *end = text + size; p < end;) {
        const char *nul = memchr(p, '\0', (size_t)(end - p));
        if (!nul)
            break; /* cut text is not trusted */
        const char *agent = value_of(p, "CHOKEPOINT_AGENT");
        ret_environ->of_job |= names_run(p, run_id);
        ret_environ->of_agent |= agent && run_id && strcmp(agent, run_id) == 0;
        judge_rank(p, ret_environ);
        judge_torch(p, &torch);
        judge_role(p, ret_environ);
        p = nul + 1;
    }
    settle_torch(&torch, ret_environ);
}

int process_read_environ(int proc_fd, int32_t pid, const char *run_id, char *buffer, size_t size,
                         struct process_environ *ret_environ) {
    char path[32];
    snprintf(path, sizeof path, "%d/environ", pid);
    int n = file_read_head(proc_fd, path, buffer, size);
    if (n < 0)
        return n;
    process_parse_environ(buffer, (size_t)n, run_id, ret_environ);
    return 0;
}
