/* SPDX-License-Identifier: MIT */
/*
 * A write of the cursors that fails costs events told twice after a crash, nothing now. They are
 * written before the events reach the spool: a crash between the two loses a tick of events, which
 * the gap in their sequence shows, and doubles none.
 */
#include "agent/probes/call_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "agent/mark/ring.h"
#include "agent/probes/process_files.h"
#include "common/error.h"

#define ENVIRON_BYTES ((size_t)64 << 10)
#define CURSORS_FILE "calls.cursors"

/* ---- open and close ---- */

static int lock_cursors(struct call_watch *watch) {
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/" CURSORS_FILE, watch->path);
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return negative_errno();
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        close(fd);
        return -EBUSY;
    }
    ssize_t n = pread(fd, watch->taken_over, sizeof watch->taken_over, 0);
    size_t size = n > 0 ? (size_t)n / sizeof(struct call_told) * sizeof(struct call_told) : 0;
    memset((char *)watch->taken_over + size, 0, sizeof watch->taken_over - size);
    watch->cursors_fd = fd;
    return 0;
}

static int open_directory(struct call_watch *watch, const char *stem) {
    int r = mark_directory_path(stem, watch->path, sizeof watch->path);
    if (r == 0)
        r = call_reader_open(&watch->reader, watch->path);
    if (r < 0)
        return r;
    r = lock_cursors(watch);
    if (r < 0)
        call_reader_release(&watch->reader);
    return r;
}

int call_watch_open(struct call_watch *watch, const struct probe_env *env, char *why,
                    size_t why_size) {
    if (!env->marks || !*env->marks) {
        snprintf(why, why_size, "no MPI calls: CHOKEPOINT_MARKS is not set");
        return PROBE_ABSENT;
    }
    int r = open_directory(watch, env->marks);
    watch->is_open = r == 0;
    if (r == 0)
        watch->called_fd = ring_files_listen(&watch->reader.files);
    if (r == -EBUSY)
        snprintf(why, why_size, "another agent on this host reads the MPI calls in %s",
                 watch->path);
    else if (r < 0)
        snprintf(why, why_size, "cannot read MPI calls from %s: %s", watch->path, strerror(-r));
    return r;
}

void call_watch_close(struct call_watch *watch) {
    char path[PATH_MAX + 16];
    if (!watch->is_open)
        return;
    call_reader_release(&watch->reader);
    snprintf(path, sizeof path, "%s/" CURSORS_FILE, watch->path);
    unlink(path);
    if (watch->called_fd >= 0)
        close(watch->called_fd);
    close(watch->cursors_fd);
    watch->is_open = false;
}

/* ---- who is there ---- */

/* The rank that the launcher told the process, for the time before MPI does. */
static int32_t launched_rank(const struct probe_env *env, int32_t pid) {
    char environment[ENVIRON_BYTES];
    struct process_environ found = {.rank = -1};
    int fd = open(env->proc, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    process_read_environ(fd, pid, env->run_token_id, environment, sizeof environment, &found);
    close(fd);
    return found.rank;
}

static void take_over(struct call_watch *watch, size_t i) {
    struct call_rank *rank = &watch->reader.ranks[i];
    struct call_told *told = &watch->ranks[i].told;
    *told = (struct call_told){.pid = rank->pid, .opened_ns = rank->opened_ns};
    for (size_t k = 0; k < CALL_MAX_RANKS; k++)
        if (watch->taken_over[k].pid == told->pid &&
            watch->taken_over[k].opened_ns == told->opened_ns)
            *told = watch->taken_over[k];
    rank->cursor = told->cursor;
}

int call_watch_scan(struct call_watch *watch, const struct probe_env *env) {
    size_t known = watch->reader.n_ranks;
    int n = call_reader_scan(&watch->reader);
    for (size_t i = known; i < watch->reader.n_ranks; i++) {
        int32_t pid = watch->reader.ranks[i].pid;
        watch->ranks[i] = (struct watched_rank){.rank = launched_rank(env, pid)};
        take_over(watch, i);
    }
    return n < 0 ? n : 0;
}

bool call_watch_first(struct call_watch *watch, size_t i) {
    bool first = !watch->ranks[i].told.rank;
    watch->ranks[i].told.rank = 1;
    return first;
}

bool call_watch_first_of(struct call_watch *watch, size_t i, enum call_function function) {
    uint64_t *word = &watch->ranks[i].told.functions[function / 64];
    uint64_t bit = UINT64_C(1) << function % 64;
    bool first = !(*word & bit);
    *word |= bit;
    return first;
}

int32_t call_watch_rank(const struct call_watch *watch, size_t i) {
    const struct call_rank *rank = &watch->reader.ranks[i];
    return rank->rank >= 0 ? rank->rank : watch->ranks[i].rank;
}

int32_t call_watch_rank_of(const struct call_watch *watch, int32_t pid, int64_t start_ns) {
    for (size_t i = 0; watch->is_open && i < watch->reader.n_ranks; i++) {
        const struct call_rank *rank = &watch->reader.ranks[i];
        if (rank->pid == pid && rank->opened_ns >= start_ns)
            return rank->rank;
    }
    return -1;
}

/* A rank may run one program after the other: then the second is told apart by its process. */
static void name_rank(struct call_watch *watch, size_t i) {
    char *name = watch->ranks[i].name;
    int32_t rank = call_watch_rank(watch, i);
    if (name[0] || rank < 0)
        return;
    char plain[WATCH_NAME_SIZE];
    snprintf(plain, sizeof plain, "rank %d", rank);
    bool taken = false;
    for (size_t k = 0; k < watch->reader.n_ranks; k++)
        taken |= strcmp(watch->ranks[k].name, plain) == 0;
    if (taken)
        snprintf(name, WATCH_NAME_SIZE, "rank %d [%d]", rank, watch->reader.ranks[i].pid);
    else
        memcpy(name, plain, sizeof plain);
}

bool call_watch_read(struct call_watch *watch, size_t i, const struct probe_env *env) {
    struct call_rank *rank = &watch->reader.ranks[i];
    if (rank->broken || call_rank_totals(rank, env->mono_ns, &watch->totals) < 0)
        return false;
    name_rank(watch, i);
    return watch->ranks[i].name[0];
}

void call_watch_save(struct call_watch *watch) {
    struct call_told all[CALL_MAX_RANKS];
    size_t n = watch->reader.n_ranks;
    for (size_t i = 0; i < n; i++) {
        watch->ranks[i].told.cursor = watch->reader.ranks[i].cursor;
        all[i] = watch->ranks[i].told;
    }
    if (pwrite(watch->cursors_fd, all, n * sizeof *all, 0) < 0)
        return;
}
