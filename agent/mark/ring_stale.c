/* SPDX-License-Identifier: MIT */
#include "agent/mark/ring_stale.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/mark/ring.h"

#define PREFIX "chokepoint-"
#define CODE_DIGITS 16
#define RUN_MAX 129 /* characters of a run's id */
#define HEX "0123456789abcdef"
#define DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define ENVIRONMENT_MAX ((size_t)1 << 20) /* processes that are examined */
#define UNLOCKED_AGE_S 60                 /* a younger one without a lock may be in use soon */

/* "chokepoint-CODE", the name from a stem with a key. */
static bool is_of_a_run(const char *name) {
    const char *code = name + sizeof PREFIX - 1;
    return strncmp(name, PREFIX, sizeof PREFIX - 1) == 0 && strspn(code, HEX) == CODE_DIGITS &&
           !code[CODE_DIGITS];
}

/* ---- signs of life ---- */

static bool lives(long pid) {
    return kill((pid_t)pid, 0) == 0 || errno != ESRCH;
}

static long pid_of(const char *name) {
    static const char *const suffixes[] = {".ring", ".calls", ".why", ".kernels"};
    long pid = -1;
    for (size_t i = 0; pid < 0 && i < sizeof suffixes / sizeof *suffixes; i++)
        pid = ring_file_pid(name, suffixes[i]);
    return pid;
}

static bool any_writer_lives(int dir_fd) {
    int fd = openat(dir_fd, ".", DIRECTORY);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    bool any = !dir;
    for (struct dirent *e; dir && !any && (e = readdir(dir));) {
        long pid = pid_of(e->d_name);
        any = pid > 0 && lives(pid);
    }
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
    return any;
}

bool mark_directory_is_used(const char *path) {
    int fd = open(path, DIRECTORY);
    bool used = fd >= 0 && any_writer_lives(fd);
    if (fd >= 0)
        close(fd);
    return used;
}

static bool has_in_environment(int proc_fd, const char *pid, const char *id, char *room) {
    char path[300];
    size_t n = 0;
    ssize_t got = 1;
    snprintf(path, sizeof path, "%s/environ", pid);
    int fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && n < ENVIRONMENT_MAX && (got = read(fd, room + n, ENVIRONMENT_MAX - n)) > 0)
        n += (size_t)got;
    if (fd >= 0)
        close(fd);
    return memmem(room, n, id, strlen(id)) != NULL;
}

/* The run's id stored in the directory; "": none. */
static const char *run_of(int dir_fd, char run[RUN_MAX]) {
    ssize_t n = readlinkat(dir_fd, MARK_RUN_LINK, run, RUN_MAX - 1);
    run[n > 0 ? n : 0] = '\0';
    return run;
}

/* True also if it cannot be known. */
static bool any_process_has(const char *proc, const char *id) {
    if (!*id)
        return false;
    DIR *dir = opendir(proc);
    char *room = malloc(ENVIRONMENT_MAX);
    bool any = !dir || !room;
    for (struct dirent *e; !any && (e = readdir(dir));)
        any = e->d_name[0] >= '1' && e->d_name[0] <= '9' &&
              has_in_environment(dirfd(dir), e->d_name, id, room);
    free(room);
    if (dir)
        closedir(dir);
    return any;
}

/* ---- one directory ---- */

/* Locks that agents of a run hold while they live: agent/probes/mark.c,
 * agent/probes/call_watch.c. */
static const char *const lock_names[] = {"cursors", "calls.cursors", "calls.told"};

#define N_LOCKS (sizeof lock_names / sizeof *lock_names)

/* Takes all locks that are there. False: an agent holds one, or may be about to. */
static bool lock(int dir_fd, const struct stat *st, int fds[N_LOCKS]) {
    bool any = false;
    for (size_t i = 0; i < N_LOCKS; i++) {
        fds[i] = openat(dir_fd, lock_names[i], O_RDWR | O_NOFOLLOW | O_CLOEXEC);
        if (fds[i] < 0 && errno != ENOENT)
            return false;
        if (fds[i] >= 0 && flock(fds[i], LOCK_EX | LOCK_NB) < 0)
            return false;
        any |= fds[i] >= 0;
    }
    return any || time(NULL) - st->st_mtim.tv_sec >= UNLOCKED_AGE_S;
}

static bool is_ours(const struct stat *st) {
    return st->st_uid == geteuid() && (st->st_mode & 07777) == 0700;
}

static bool collect(int place_fd, const char *place, const char *name, const char *proc) {
    char path[PATH_MAX + NAME_MAX + 2];
    char run[RUN_MAX];
    struct stat st;
    bool removed = false;
    int locks[N_LOCKS] = {-1, -1, -1}, fd = openat(place_fd, name, DIRECTORY);
    if (fd < 0)
        return false;
    snprintf(path, sizeof path, "%s/%s", place, name);
    if (fstat(fd, &st) == 0 && is_ours(&st) && lock(fd, &st, locks) && !any_writer_lives(fd) &&
        !any_process_has(proc, run_of(fd, run))) {
        for (size_t i = 0; i < N_LOCKS; i++)
            unlinkat(fd, lock_names[i], 0);
        removed = mark_directory_remove(path) == 0;
    }
    for (size_t i = 0; i < N_LOCKS; i++)
        if (locks[i] >= 0)
            close(locks[i]);
    close(fd);
    return removed;
}

size_t mark_directories_collect(const char *stem, const char *proc) {
    char own[PATH_MAX];
    size_t n = 0;
    if (mark_directory_path(stem, own, sizeof own) < 0 || own[0] != '/')
        return 0;
    char *own_name = strrchr(own, '/') + 1;
    if (!is_of_a_run(own_name))
        return 0;
    own_name[-1] = '\0'; /* room is left for `own` */
    const char *place = *own ? own : "/";
    DIR *dir = opendir(place);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (is_of_a_run(e->d_name) && strcmp(e->d_name, own_name) != 0)
            n += collect(dirfd(dir), place, e->d_name, proc);
    if (dir)
        closedir(dir);
    return n;
}
