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
    size_t size = n > 0 ? (size_t)n / sizeof(struct call_cursor) * sizeof(struct call_cursor) : 0;
    memset((char *)watch->taken_over + size, 0, sizeof watch->taken_over - size);
    watch->cursors_fd = fd;
    watch->takes_over = size > 0;
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
    close(watch->cursors_fd);
    watch->is_open = false;
}

/* ---- who is there ---- */

/* What the launcher told the process, for the time before MPI does. */
static int32_t launched_rank(const struct probe_env *env, int32_t pid) {
    char environ[ENVIRON_BYTES];
    struct process_environ found = {.rank = -1};
    int fd = open(env->proc, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    process_read_environ(fd, pid, env->run_token_id, environ, sizeof environ, &found);
    close(fd);
    return found.rank;
}

static void take_over(struct call_watch *watch, struct call_rank *rank) {
    for (size_t i = 0; i < CALL_MAX_RANKS; i++) {
        const struct call_cursor *before = &watch->taken_over[i];
        if (before->pid == rank->pid && before->opened_ns == rank->opened_ns && before->pid)
            rank->cursor = before->cursor;
    }
}

int call_watch_look(struct call_watch *watch, const struct probe_env *env) {
    size_t known = watch->reader.n_ranks;
    int n = call_reader_scan(&watch->reader);
    for (size_t i = known; i < watch->reader.n_ranks; i++) {
        struct call_rank *rank = &watch->reader.ranks[i];
        watch->ranks[i] = (struct watched_rank){.rank = launched_rank(env, rank->pid),
                                                .is_new = !watch->takes_over};
        take_over(watch, rank);
    }
    watch->takes_over = false;
    return n < 0 ? n : 0;
}

int32_t call_watch_rank(const struct call_watch *watch, size_t i) {
    const struct call_rank *rank = &watch->reader.ranks[i];
    return rank->rank >= 0 ? rank->rank : watch->ranks[i].rank;
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

void call_watch_save(const struct call_watch *watch) {
    struct call_cursor cursors[CALL_MAX_RANKS];
    size_t n = watch->reader.n_ranks;
    for (size_t i = 0; i < n; i++) {
        const struct call_rank *rank = &watch->reader.ranks[i];
        cursors[i] = (struct call_cursor){rank->pid, rank->opened_ns, rank->cursor};
    }
    if (pwrite(watch->cursors_fd, cursors, n * sizeof *cursors, 0) < 0)
        return;
}
