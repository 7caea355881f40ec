/* SPDX-License-Identifier: MIT */
/*
 * Kernels of the job's programs, as agent/kernels wrote them in those programs: one file a process,
 * with its last burst. A file is read with pread() and nothing in it is trusted. One probe tells of
 * GPUs, the other one of kernels; each reads the files for itself.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/kernels/kernel_file.h"
#include "agent/mark/ring.h"
#include "agent/mark/ring_files.h"
#include "agent/probes/probes.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/text.h"
#include "tables/keys.h"

#define PROCESSES_MAX 64

/* Stamps are of one clock of this host: one that lies ahead is wrong. */
#define FUTURE_NS (10 * NS_PER_S)

struct burst_process {
    int fd;
    long pid;
    uint64_t told; /* sequence of the burst that rows tell of */
    bool refused;  /* its reason was said */
};

struct bursts {
    struct ring_files files;
    bool is_open;
    char path[PATH_MAX];
    struct burst_process processes[PROCESSES_MAX];
    size_t n;
    struct kernel_file file; /* the copy that is checked */
    char room[sizeof(struct kernel_file)];
};

static int take_file(void *ctx, long pid, int fd) {
    struct bursts *bursts = ctx;
    uint64_t magic;
    if (ring_read(fd, &magic, sizeof magic, 0) < 0 || magic != KERNEL_FILE_MAGIC)
        return -EINVAL;
    bursts->processes[bursts->n++] = (struct burst_process){.fd = fd, .pid = pid};
    return 0;
}

/* Whether there is a burst that was not told: most samples need no more than the head of the file.
 */
static bool has_news(const struct burst_process *process) {
    uint64_t head[2]; /* magic, sequence */
    return ring_read(process->fd, head, sizeof head, 0) == 0 && head[1] != process->told;
}

/* Reads the file twice: both copies are alike unless it is being written. False: it is, or the file
 * is broken. */
static bool read_file(struct bursts *bursts, const struct burst_process *process) {
    struct kernel_file *file = &bursts->file;
    if (ring_read(process->fd, file, sizeof *file, 0) < 0 || file->sequence % 2 ||
        file->magic != KERNEL_FILE_MAGIC)
        return false;
    return ring_read(process->fd, bursts->room, sizeof *file, 0) == 0 &&
           memcmp(bursts->room, file, sizeof *file) == 0;
}

static bool is_amount(int64_t value, int64_t most) {
    return value >= 0 && value <= most;
}

static bool device_is_sound(const struct kernel_device *of) {
    return of->index >= 0 && of->index < KERNEL_DEVICES_MAX &&
           is_amount(of->watched_ns, NS_PER_S * 3600) && is_amount(of->kernel_ns, INT64_MAX / 4) &&
           is_amount(of->copy_ns, INT64_MAX / 4) && is_amount(of->kernels, INT64_MAX / 4) &&
           is_amount(of->both_ns, of->kernel_ns) && is_amount(of->both_ns, of->copy_ns) &&
           is_amount(of->copies, INT64_MAX / 4) && is_amount(of->copied_bytes, INT64_MAX / 4) &&
           is_amount(of->streams, 64);
}

static bool kernel_is_sound(const struct kernel_sum *of) {
    return memchr(of->name, '\0', sizeof of->name) && of->name[0] &&
           is_amount(of->launches, INT64_MAX / 4) && is_amount(of->busy_ns, INT64_MAX / 4) &&
           is_amount(of->device, KERNEL_DEVICES_MAX - 1);
}

static void tell_devices(const struct kernel_file *file, long pid, struct rows *rows) {
    for (size_t i = 0; i < KERNEL_DEVICES_MAX && file->devices[i].index >= 0; i++) {
        const struct kernel_device *of = &file->devices[i];
        char name[32];
        if (!device_is_sound(of))
            continue;
        int size = snprintf(name, sizeof name, "%d", (int)of->index);
        struct row *row = rows_append_key(rows, &KEY_OF_PROCESS(name, (size_t)size, pid));
        if (!row)
            return;
        row->values[GPU_BURST_END] = file->ended_ns;
        row->values[GPU_BURST_WATCHED] = of->watched_ns;
        row->values[GPU_BURST_KERNEL] = of->kernel_ns;
        row->values[GPU_BURST_COPY] = of->copy_ns;
        row->values[GPU_BURST_BOTH] = of->both_ns;
        row->values[GPU_BURST_KERNELS] = of->kernels;
        row->values[GPU_BURST_COPIES] = of->copies;
        row->values[GPU_BURST_COPIED] = of->copied_bytes;
        row->values[GPU_BURST_STREAMS] = of->streams;
        if (is_amount(file->dropped, INT64_MAX / 4))
            row->values[GPU_BURST_DROPPED] = file->dropped;
    }
}

static void tell_kernels(const struct kernel_file *file, long pid, struct rows *rows) {
    for (int64_t i = 0; i < file->n_kernels && i < KERNEL_NAMES_MAX; i++) {
        const struct kernel_sum *of = &file->kernels[i];
        char name[KERNEL_NAME_SIZE];
        if (!kernel_is_sound(of))
            continue;
        size_t size = text_sanitize(name, sizeof name, of->name, strlen(of->name));
        struct row *row = rows_append_key(rows, &KEY_OF_PROCESS(name, size, pid));
        if (!row)
            return;
        row->values[GPU_KERNEL_GPU] = of->device;
        row->values[GPU_KERNEL_END] = file->ended_ns;
        row->values[GPU_KERNEL_LAUNCHES] = of->launches;
        row->values[GPU_KERNEL_BUSY] = of->busy_ns;
    }
}

static void tell_why(struct burst_process *process, const char *why, const struct probe_env *env) {
    char text[KERNEL_WHY_SIZE + 80], clean[KERNEL_WHY_SIZE];
    if (process->refused || !env->note)
        return;
    process->refused = true;
    text_sanitize(clean, sizeof clean, why, strnlen(why, KERNEL_WHY_SIZE - 1));
    snprintf(text, sizeof text, "no kernels of process %ld are recorded: %s", process->pid, clean);
    env->note(env->note_ctx, NOTE_WARNING, "gpu_kernel", text);
}

typedef void tell_fn(const struct kernel_file *file, long pid, struct rows *rows);

/* The directory is made by the probe of marks, when it opens or takes over. */
static int scan(struct bursts *bursts) {
    int r = 0;
    if (!bursts->is_open)
        r = ring_files_open(&bursts->files, bursts->path, KERNEL_FILE_SUFFIX,
                            sizeof(struct kernel_file), PROCESSES_MAX);
    bursts->is_open |= r == 0;
    return bursts->is_open ? ring_files_scan(&bursts->files, take_file, bursts) : 0;
}

static int sample(struct bursts *bursts, const struct probe_env *env, tell_fn *tell, bool why,
                  struct rows *rows) {
    int r = scan(bursts);
    for (size_t i = 0; i < bursts->n; i++) {
        struct burst_process *process = &bursts->processes[i];
        const struct kernel_file *file = &bursts->file;
        if (!has_news(process) || !read_file(bursts, process))
            continue;
        process->told = file->sequence;
        if (file->why[0] && why)
            tell_why(process, file->why, env);
        if (!file->why[0] && file->ended_ns > 0 && file->ended_ns < env->mono_ns + FUTURE_NS)
            tell(file, process->pid, rows);
    }
    return r < 0 ? r : 0;
}

static int burst_sample(void *state, const struct probe_env *env, struct rows *rows) {
    return sample(state, env, tell_devices, true, rows);
}

static int kernel_sample(void *state, const struct probe_env *env, struct rows *rows) {
    return sample(state, env, tell_kernels, false, rows);
}

static int bursts_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct bursts *bursts = state;
    if (!env->marks || !*env->marks)
        return PROBE_ABSENT;
    int r = mark_directory_path(env->marks, bursts->path, sizeof bursts->path);
    if (r < 0)
        snprintf(why, why_size, "no directory of marks: %s", strerror(-r));
    return r;
}

static size_t burst_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return (size_t)PROCESSES_MAX * 4;
}

static size_t kernel_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return (size_t)16 * KERNEL_NAMES_MAX;
}

static void bursts_close(void *state) {
    struct bursts *bursts = state;
    for (size_t i = 0; i < bursts->n; i++)
        close(bursts->processes[i].fd);
    if (bursts->is_open)
        ring_files_release(&bursts->files);
    bursts->n = 0;
    bursts->is_open = false;
}

const struct probe probe_gpu_burst = {
    .table = &all_tables[TABLE_GPU_BURST],
    .pace = PACE_PROCESS,
    .state_size = sizeof(struct bursts),
    .max_rows = burst_max_rows,
    .open = bursts_open,
    .sample = burst_sample,
    .close = bursts_close,
};

const struct probe probe_gpu_kernel = {
    .table = &all_tables[TABLE_GPU_KERNEL],
    .pace = PACE_PROCESS,
    .state_size = sizeof(struct bursts),
    .max_rows = kernel_max_rows,
    .open = bursts_open,
    .sample = kernel_sample,
    .close = bursts_close,
};
