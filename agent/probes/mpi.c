/* SPDX-License-Identifier: MIT */
/*
 * How much of its time each rank spends inside MPI, from totals that the ranks keep themselves.
 * They are exact even where single calls were dropped.
 *
 * A call that has not returned counts up to now; otherwise a rank that waits in one call for 30 s
 * would seem to work for 30 s. A call that returns is for a moment in neither figure; inside_ns
 * then stands still instead of stepping back.
 */
#include "agent/probes/mpi.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/job.h"
#include "agent/probes/probes.h"
#include "common/error.h"

_Static_assert(MPI_FAILED - MPI_INSIDE + 1 == MPI_SUM_COLUMNS, "as mpi_sum_put puts them");

/* ---- rows ---- */

struct mpi {
    struct call_watch *watch;          /* NULL: closed */
    size_t n_known;                    /* ranks at the last call of mpi_has_news */
    int64_t inside_ns[CALL_MAX_RANKS]; /* as last reported */
    /* A process of a rank without a file, whose reason is looked for. */
    int32_t suspect;
    int64_t suspect_since_ns;
    unsigned n_blamed;
    bool told_unwatched; /* the remedy was told, once for all processes */
    bool told_broken[CALL_MAX_RANKS];
};

static void fill_rank(int64_t *values, const struct call_rank *rank) {
    values[MPI_PID] = rank->pid;
    if (rank->world_size >= 0)
        values[MPI_WORLD_SIZE] = rank->world_size;
    if (rank->thread_level >= 0)
        values[MPI_THREAD_LEVEL] = rank->thread_level;
    if (rank->initialized_ns > 0)
        values[MPI_INITIALIZED_NS] = rank->initialized_ns;
    if (rank->finalized_ns > 0)
        values[MPI_FINALIZED_NS] = rank->finalized_ns;
    values[MPI_GAP_NS] = counter_value(rank->gap_ns, 1);
    values[MPI_GAP_CPU_NS] = counter_value(rank->gap_cpu_ns, 1);
    values[MPI_EVENTS] = counter_value(rank->written, 1);
    values[MPI_LOST] = counter_add(counter_value(rank->lost, 1), counter_value(rank->malformed, 1));
    values[MPI_LOST_REQUESTS] = counter_value(rank->lost_requests, 1);
    values[MPI_LOST_COMMS] = counter_value(rank->lost_comms, 1);
}

static void report_calls(struct mpi *mpi, size_t i, const struct probe_env *env,
                         struct rows *rows) {
    struct call_watch *watch = mpi->watch;
    struct mpi_sum sum = {0};
    for (size_t f = 0; f < CALL_COUNT; f++)
        mpi_sum_total(&sum, &watch->totals.function[f]);
    for (size_t t = 0; t < CALL_FILE_THREADS; t++)
        mpi_sum_now(&sum, &watch->totals.now[t], env->mono_ns);
    if (sum.inside_ns < mpi->inside_ns[i])
        sum.inside_ns = mpi->inside_ns[i];
    struct row *row = rows_append_key(rows, &watch->ranks[i].key);
    if (!row)
        return;
    row->flags = call_watch_first(watch, i) ? ROW_BORN : 0;
    row->values[MPI_RANK] = call_watch_rank(watch, i);
    fill_rank(row->values, &watch->reader.ranks[i]);
    row->values[MPI_THREADS_INSIDE] = sum.threads_inside;
    mpi_sum_put(&sum, &row->values[MPI_INSIDE]);
    mpi->inside_ns[i] = sum.inside_ns;
}

/* ---- ranks that are not seen ---- */

#define SUSPECT_AFTER_NS (5 * NS_PER_S)

static bool has_file(const struct mpi *mpi, int32_t pid) {
    for (size_t i = 0; i < mpi->watch->reader.n_ranks; i++)
        if (mpi->watch->reader.ranks[i].pid == pid)
            return true;
    return false;
}

/* The next process of a rank without a file, in the order of ids; 0: none. */
static int32_t next_suspect(const struct mpi *mpi, const struct job *job, int32_t from) {
    int32_t found = 0;
    for (size_t i = 0; i < job->n; i++) {
        const struct job_process *process = &job->processes[i];
        if (process->rank >= 0 && process->pid >= from && (!found || process->pid < found) &&
            !has_file(mpi, process->pid))
            found = process->pid;
    }
    return found;
}

struct mapped {
    bool mpi, shim;
};

static void look_for(const char *text, size_t size, struct mapped *found) {
    found->mpi |= memmem(text, size, "/libmpi", 7) != NULL;
    found->shim |= memmem(text, size, "/libchokepoint-mpi", 18) != NULL;
}

/* Finds the libraries that a process has mapped, in the first mebibyte of its list. */
static struct mapped look_at_maps(const struct probe_env *env, int32_t pid) {
    enum { KEEP = 32, CHUNK = 4096 };
    char path[PATH_MAX], text[KEEP + CHUNK];
    struct mapped found = {0};
    size_t kept = 0;
    ssize_t n;
    snprintf(path, sizeof path, "%s/%d/maps", env->proc, pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return found;
    for (int i = 0; i < 256 && (n = read(fd, text + kept, CHUNK)) > 0; i++) {
        size_t size = kept + (size_t)n;
        look_for(text, size, &found);
        kept = size < KEEP ? size : KEEP;
        memmove(text, text + size - kept, kept);
    }
    close(fd);
    return found;
}

#define BLAMES_MAX 8 /* in an agent's life: more of them are no news */

static void note(struct mpi *mpi, const struct probe_env *env, enum note_level level,
                 const char *text) {
    mpi->n_blamed++;
    env->note(env->note_ctx, level, "mpi", text);
}

/* A link that the process left gives the reason; without it only its libraries are known. */
static void blame(struct mpi *mpi, const struct probe_env *env) {
    char text[INSTANCE_MAX + 1], why[CALL_FILE_WHY_MAX + 1];
    struct mapped found = {0};
    bool left = call_reader_why(&mpi->watch->reader, mpi->suspect, why);
    if (left)
        snprintf(text, sizeof text, "process %d: MPI time unknown: %s", mpi->suspect, why);
    else
        found = look_at_maps(env, mpi->suspect);
    if (!left && found.mpi && found.shim)
        snprintf(text, sizeof text, "process %d has made no MPI call that could be recorded yet",
                 mpi->suspect);
    else if (!left && found.mpi)
        snprintf(text, sizeof text,
                 "process %d runs MPI unwatched: preload libchokepoint-mpi.so to know its time",
                 mpi->suspect);
    bool again = !left && !found.shim && mpi->told_unwatched;
    mpi->told_unwatched |= !left && found.mpi && !found.shim;
    if (!again && (left || found.mpi))
        note(mpi, env, left || !found.shim ? NOTE_WARNING : NOTE_INFO, text);
}

/* A process of a rank that has not used MPI after some seconds may not need it: it is reported only
 * if it has loaded MPI or says so. One process is checked at a time, and each once. */
static void look_for_unseen(struct mpi *mpi, const struct probe_env *env) {
    if (mpi->n_blamed >= BLAMES_MAX || !env->job || !env->note)
        return;
    int32_t suspect = next_suspect(mpi, env->job, mpi->suspect);
    if (suspect != mpi->suspect) {
        mpi->suspect = suspect ? suspect : mpi->suspect;
        mpi->suspect_since_ns = env->mono_ns;
        return;
    }
    if (!suspect || env->mono_ns - mpi->suspect_since_ns < SUSPECT_AFTER_NS)
        return;
    blame(mpi, env);
    mpi->suspect++;
}

static void tell_broken(struct mpi *mpi, size_t i, const struct probe_env *env) {
    char text[INSTANCE_MAX + 1];
    if (mpi->told_broken[i] || mpi->n_blamed >= BLAMES_MAX || !env->note)
        return;
    mpi->told_broken[i] = true;
    snprintf(text, sizeof text, "process %d: MPI time unknown from here on: its file is damaged",
             mpi->watch->reader.ranks[i].pid);
    note(mpi, env, NOTE_WARNING, text);
}

/* ---- the probe ---- */

static int mpi_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct mpi *mpi = state;
    int r = call_watch_scan(mpi->watch, env);
    for (size_t i = 0; i < mpi->watch->reader.n_ranks; i++)
        if (call_watch_read(mpi->watch, i, env))
            report_calls(mpi, i, env, rows);
        else if (mpi->watch->reader.ranks[i].broken)
            tell_broken(mpi, i, env);
    look_for_unseen(mpi, env);
    return r;
}

static int mpi_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct mpi *mpi = state;
    if (!env->calls) {
        snprintf(why, why_size, "no MPI calls");
        return PROBE_ABSENT;
    }
    int r = call_watch_open(env->calls, env, why, why_size);
    if (r == 0)
        mpi->watch = env->calls;
    return r;
}

/* Whether a rank came. Processes are looked at once a second, and a rank may live for less. */
static bool mpi_has_news(void *state) {
    struct mpi *mpi = state;
    size_t known = mpi->n_known;
    mpi->n_known = mpi->watch->reader.n_ranks;
    return mpi->n_known > known;
}

/* Covers table mpi_function, too: it is in the same frame. */
static void mpi_keeping(void *state, uint64_t seq) {
    call_watch_keep_told(((struct mpi *)state)->watch, seq);
}

static void mpi_close(void *state) {
    struct mpi *mpi = state;
    if (mpi->watch)
        call_watch_close(mpi->watch);
    mpi->watch = NULL;
}

static size_t mpi_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return CALL_MAX_RANKS;
}

const struct probe probe_mpi = {
    .table = &all_tables[TABLE_MPI],
    .pace = PACE_SYSTEM,
    .state_size = sizeof(struct mpi),
    .max_rows = mpi_max_rows,
    .open = mpi_open,
    .sample = mpi_sample,
    .has_news = mpi_has_news,
    .keeping = mpi_keeping,
    .close = mpi_close,
};
