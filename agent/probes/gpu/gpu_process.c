/* SPDX-License-Identifier: MIT */
/*
 * Processes on GPUs: those that NVML lists, of the job and others, and the job's on cards of other
 * makers, whose descriptors tell what each has used. The sampler itself reads the latter, since it
 * knows the job.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "agent/base/job.h"
#include "agent/base/source.h"
#include "agent/probes/gpu/gpu_private.h"
#include "agent/probes/probes.h"
#include "tables/keys.h"

struct gpu_processes {
    bool drm;   /* a card of another maker is there */
    bool begun; /* what comes from now on was born */
};

static const struct job_process *find_member(const struct job *job, int32_t pid) {
    for (size_t i = 0; job && i < job->n; i++)
        if (job->processes[i].pid == pid)
            return &job->processes[i];
    return NULL;
}

/* A process outside the job has the kernel's name for it, and "?" where another container has
 * it. */
static struct span name_of(const struct probe_env *env, const struct job_process *member,
                           int32_t pid, char comm[64]) {
    char path[PATH_MAX];
    if (member) {
        struct table_key key = key_read(KEY_PROCESS, member->name);
        return key.form == KEY_PROCESS ? key.process.program : text_span(member->name);
    }
    snprintf(path, sizeof path, "%s/%d/comm", env->proc, pid);
    int n = file_read_small(AT_FDCWD, path, comm, 64);
    return n > 0 ? (struct span){comm, (size_t)n} : text_span("?");
}

static void append(const struct probe_env *env, const char *part, int32_t pid, int64_t memory,
                   int64_t busy_ns, struct rows *rows) {
    char comm[64];
    const struct job_process *member = find_member(env->job, pid);
    struct table_key key = {.form = KEY_GPU_PROCESS,
                            .process = {name_of(env, member, pid, comm), pid},
                            .gpu = text_span(part)};
    struct row *row = rows_append_key(rows, &key);
    if (!row)
        return;
    row->values[GPU_PROCESS_PID] = pid;
    row->values[GPU_PROCESS_JOB] = member != NULL;
    row->values[GPU_PROCESS_MEMORY] = memory;
    row->values[GPU_PROCESS_BUSY] = busy_ns;
}

static const struct gpu_part *part_at(const struct gpus *gpus, const char *address) {
    for (size_t i = 0; i < gpus->n_parts; i++)
        if (!gpus->parts[i].is_nvml && strcmp(gpus->parts[i].address, address) == 0)
            return &gpus->parts[i];
    return NULL;
}

static void append_drm(const struct probe_env *env, struct rows *rows) {
    struct drm_client clients[DRM_CLIENTS_MAX];
    for (size_t i = 0; env->job && i < env->job->n; i++) {
        int32_t pid = env->job->processes[i].pid;
        size_t n = drm_clients_read(env->proc, pid, clients);
        for (size_t j = 0; j < n; j++) {
            const struct gpu_part *part = part_at(env->gpus->gpus, clients[j].address);
            if (part)
                append(env, part->name, pid, clients[j].memory, clients[j].busy_ns, rows);
        }
    }
}

static int process_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct gpu_processes *processes = state;
    struct gpus *gpus = env->gpus->gpus;
    if (!atomic_load(&gpus->is_open))
        return 0;
    const struct gpu_snapshot *snapshot = gpus_taken(gpus);
    for (size_t i = 0; i < snapshot->n_users; i++) {
        const struct gpu_user *user = &snapshot->users[i];
        append(env, gpus->parts[user->part].name, user->pid, user->memory, user->busy_ns, rows);
    }
    for (size_t i = 0; !processes->begun && i < gpus->n_parts; i++)
        processes->drm |= !gpus->parts[i].is_nvml;
    processes->begun = true;
    if (processes->drm)
        append_drm(env, rows);
    return 0;
}

static int process_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    (void)state;
    (void)why;
    (void)why_size;
    return env->gpus && env->gpus->gpus ? 0 : PROBE_ABSENT;
}

static size_t process_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return 2 * GPU_USERS_MAX;
}

const struct probe probe_gpu_process = {
    .table = &all_tables[TABLE_GPU_PROCESS],
    .pace = PACE_PROCESS,
    .state_size = sizeof(struct gpu_processes),
    .max_rows = process_max_rows,
    .open = process_open,
    .sample = process_sample,
};
