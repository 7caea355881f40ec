/* SPDX-License-Identifier: MIT */
#include "agent/probes/call_watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/process_files.h"
#include "agent/mark/ring.h"
#include "common/error.h"

#define ENVIRON_BYTES ((size_t)64 << 10)
#define CURSORS_FILE "calls.cursors"
#define TOLD_FILE "calls.told"

/* ---- how far ---- */

static size_t note_cursors(const struct call_watch *watch, struct call_cursor *to) {
    for (size_t i = 0; i < watch->reader.n_ranks; i++) {
        const struct call_rank *rank = &watch->reader.ranks[i];
        to[i] = (struct call_cursor){rank->pid, rank->opened_ns, rank->cursor, rank->lost,
                                     rank->malformed};
    }
    return watch->reader.n_ranks * sizeof *to;
}

static size_t told_size(const struct call_watch *watch) {
    return watch->reader.n_ranks * sizeof *watch->told;
}

static uint64_t stream_of(const struct call_watch *watch) {
    return watch->env->stream ? *watch->env->stream : 0;
}

void call_watch_keep_cursors(struct call_watch *watch, uint64_t seq) {
    struct call_cursor all[CALL_MAX_RANKS];
    size_t size = note_cursors(watch, all);
    uint64_t stream = stream_of(watch);
    ring_owner_save(&watch->cursors_owner, stream ? stream + 1 : 0, seq, all, size);
}

void call_watch_keep_told(struct call_watch *watch, uint64_t seq) {
    if (!watch->told_more)
        return;
    watch->told_more = false;
    ring_owner_save(&watch->told_owner, stream_of(watch), seq, watch->told, told_size(watch));
}

static void continue_rank(struct call_watch *watch, size_t i) {
    struct call_rank *rank = &watch->reader.ranks[i];
    watch->told[i] = (struct call_told){.pid = rank->pid, .opened_ns = rank->opened_ns};
    for (size_t k = 0; k < CALL_MAX_RANKS; k++) {
        const struct call_cursor *cursor = &watch->cursors_before[k];
        const struct call_told *told = &watch->told_before[k];
        if (told->pid == rank->pid && told->opened_ns == rank->opened_ns)
            watch->told[i] = *told;
        if (cursor->pid != rank->pid || cursor->opened_ns != rank->opened_ns)
            continue;
        rank->cursor = cursor->cursor;
        rank->lost = cursor->lost;
        rank->malformed = cursor->malformed;
    }
}

/* ---- open and close ---- */

static int open_owners(struct call_watch *watch) {
    int dir = dirfd(watch->reader.files.dir);
    int r = ring_owner_open(&watch->cursors_owner, dir, CURSORS_FILE,
                            CALL_MAX_RANKS * sizeof(struct call_cursor));
    if (r == 0)
        r = ring_owner_open(&watch->told_owner, dir, TOLD_FILE,
                            CALL_MAX_RANKS * sizeof(struct call_told));
    if (r < 0)
        ring_owner_close(&watch->cursors_owner);
    return r;
}

static int open_calls(struct call_watch *watch) {
    int r = call_reader_open(&watch->reader, watch->path);
    if (r < 0)
        return r;
    r = open_owners(watch);
    if (r < 0)
        call_reader_release(&watch->reader);
    watch->is_open = r == 0;
    return r;
}

int call_watch_open(struct call_watch *watch, const struct probe_env *env, char *why,
                    size_t why_size) {
    if (!env->marks || !*env->marks) {
        snprintf(why, why_size, "no MPI calls: CHOKEPOINT_MARKS is not set");
        return PROBE_ABSENT;
    }
    watch->env = env;
    int r = mark_directory_path(env->marks, watch->path, sizeof watch->path);
    if (r == 0)
        r = open_calls(watch);
    if (r == 0)
        watch->called_fd = ring_files_listen(&watch->reader.files);
    else
        snprintf(why, why_size, "cannot read MPI calls from %s: %s", watch->path, strerror(-r));
    return r;
}

/* All calls that were read are kept by now: a sample's rows are kept before the next sample. */
static void let_go(struct call_watch *watch) {
    struct call_cursor all[CALL_MAX_RANKS];
    size_t size = note_cursors(watch, all);
    ring_owner_release(&watch->told_owner, watch->told, told_size(watch));
    ring_owner_release(&watch->cursors_owner, all, size);
    call_reader_forget(&watch->reader);
}

static void close_calls(struct call_watch *watch) {
    let_go(watch);
    ring_owner_close(&watch->told_owner);
    ring_owner_close(&watch->cursors_owner);
    call_reader_release(&watch->reader);
    watch->is_open = false;
}

/* The agent that takes the cursors takes the other file, too, as soon as it is released. */
static int take_both(struct call_watch *watch) {
    int r = ring_owner_take(&watch->cursors_owner);
    return r <= 0 ? r : ring_owner_take(&watch->told_owner);
}

void call_watch_close(struct call_watch *watch) {
    if (!watch->is_open)
        return;
    int dir = dirfd(watch->reader.files.dir);
    if (take_both(watch) > 0 && probe_may_remove_rings(watch->env, watch->path)) {
        unlinkat(dir, CURSORS_FILE, 0);
        unlinkat(dir, TOLD_FILE, 0);
    }
    close_calls(watch);
    if (watch->called_fd >= 0)
        close(watch->called_fd);
}

/* ---- whose they are ---- */

/* The descriptor that the sampler waits for keeps its number and listens to the new file. */
static void listen_again(struct call_watch *watch) {
    int fd = ring_files_listen(&watch->reader.files);
    if (fd < 0 || watch->called_fd < 0)
        return;
    dup3(fd, watch->called_fd, O_CLOEXEC);
    close(fd);
}

static int take_over_calls(struct call_watch *watch) {
    int r = take_both(watch);
    if (r == -ESTALE) {
        close_calls(watch);
        r = open_calls(watch);
        if (r == 0)
            listen_again(watch);
        if (r == 0)
            r = take_both(watch);
    }
    if (r <= 0)
        return r;
    const struct probe_env *env = watch->env;
    ring_owner_load(&watch->cursors_owner, env->kept, env->kept_ctx, watch->cursors_before);
    ring_owner_load(&watch->told_owner, env->kept, env->kept_ctx, watch->told_before);
    ring_owner_save(&watch->cursors_owner, 0, 0, watch->cursors_before,
                    sizeof watch->cursors_before);
    ring_owner_save(&watch->told_owner, 0, 0, watch->told_before, sizeof watch->told_before);
    return 1;
}

/* Returns 1 if this agent may read, 0 if another agent reads. */
static int own_calls(struct call_watch *watch) {
    if (!watch->is_open || watch->cursors_owner.superseded)
        return 0;
    if (!watch->cursors_owner.owns || !watch->told_owner.owns)
        return take_over_calls(watch);
    if (!ring_owner_is_asked(&watch->cursors_owner))
        return 1;
    let_go(watch);
    return 0;
}

/* ---- who is there ---- */

/* The rank that the launcher told the process: known before MPI_Init. */
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

int call_watch_scan(struct call_watch *watch, const struct probe_env *env) {
    int owned = own_calls(watch);
    if (owned <= 0)
        return owned;
    size_t known = watch->reader.n_ranks;
    int n = call_reader_scan(&watch->reader);
    for (size_t i = known; i < watch->reader.n_ranks; i++) {
        int32_t pid = watch->reader.ranks[i].pid;
        watch->ranks[i] = (struct watched_rank){.rank = launched_rank(env, pid)};
        continue_rank(watch, i);
    }
    return n < 0 ? n : 0;
}

bool call_watch_first(struct call_watch *watch, size_t i) {
    bool first = !watch->told[i].rank;
    watch->told[i].rank = 1;
    watch->told_more |= first;
    return first;
}

bool call_watch_first_of(struct call_watch *watch, size_t i, enum call_function function) {
    uint64_t *word = &watch->told[i].functions[function / 64];
    uint64_t bit = UINT64_C(1) << function % 64;
    bool first = !(*word & bit);
    *word |= bit;
    watch->told_more |= first;
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

/* A rank may run several programs one after another: the process id tells the later ones apart. */
static void name_rank(struct call_watch *watch, size_t i) {
    struct table_key key = {.form = KEY_RANK, .rank = call_watch_rank(watch, i), .pid = KEY_NO_ID};
    if (watch->ranks[i].key.form || key.rank < 0)
        return;
    for (size_t k = 0; k < watch->reader.n_ranks; k++)
        if (watch->ranks[k].key.form && watch->ranks[k].key.rank == key.rank)
            key.pid = watch->reader.ranks[i].pid;
    watch->ranks[i].key = key;
}

bool call_watch_read(struct call_watch *watch, size_t i, const struct probe_env *env) {
    struct call_rank *rank = &watch->reader.ranks[i];
    if (rank->broken || call_rank_totals(rank, env->mono_ns, &watch->totals) < 0)
        return false;
    name_rank(watch, i);
    return watch->ranks[i].key.form;
}
