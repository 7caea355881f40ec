/* SPDX-License-Identifier: MIT */
/*
 * A disk that forgets what was not synced. This file replaces the system calls by which SQLite
 * writes. For each file of one directory it keeps what a power cut could leave: the bytes at the
 * last fdatasync, and any of the writes since then. A name surely exists once the directory was
 * synced after its creation, and is surely gone once it was synced after its removal. The index of
 * a log (-shm) lives only in memory.
 */
#ifndef CHOKEPOINT_TESTS_CUT_DISK_H
#define CHOKEPOINT_TESTS_CUT_DISK_H

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CUT_FILES 8
#define CUT_PENDING 4096
#define CUT_SECTOR 512

struct cut_write {
    uint8_t *data; /* owned; NULL: the file was cut to `at` */
    size_t size;
    off_t at;
};

struct cut_file {
    char name[64];
    bool named; /* the name is on the disk */
    bool gone;  /* unlinked, perhaps not on the disk yet */
    uint8_t *data;
    size_t size;
    struct cut_write pending[CUT_PENDING];
    size_t n_pending;
};

struct cut_disk {
    char directory[PATH_MAX]; /* "": no directory is tracked */
    struct cut_file files[CUT_FILES];
    uint64_t random;
    void (*moment)(void *ctx); /* called after each change */
    void *ctx;
    bool busy; /* inside `moment`, whose own writes are not tracked */
};

static struct cut_disk cut_disk;

static bool cut_chance(void) {
    cut_disk.random = cut_disk.random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return cut_disk.random >> 63;
}

/* The file's name in the directory; "" for the directory itself; NULL if it is not tracked. */
static const char *cut_name(const char *path) {
    size_t n = strlen(cut_disk.directory), size = strlen(path);
    if (!n || cut_disk.busy || strncmp(path, cut_disk.directory, n) != 0)
        return NULL;
    if (size > 4 && strcmp(path + size - 4, "-shm") == 0)
        return NULL;
    return path[n] == '/' ? path + n + 1 : path[n] ? NULL : "";
}

static const char *cut_name_of(int fd, char path[PATH_MAX]) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, PATH_MAX - 1);
    path[n < 0 ? 0 : n] = '\0';
    return cut_name(path);
}

static struct cut_file *cut_file(const char *name) {
    struct cut_file *free_one = NULL;
    for (size_t i = 0; i < CUT_FILES; i++) {
        struct cut_file *file = &cut_disk.files[i];
        if (strcmp(file->name, name) == 0 && !file->gone)
            return file;
        if (!file->name[0])
            free_one = file;
    }
    if (!free_one)
        abort();
    snprintf(free_one->name, sizeof free_one->name, "%s", name);
    return free_one;
}

static void cut_forget_pending(struct cut_file *file) {
    while (file->n_pending)
        free(file->pending[--file->n_pending].data);
}

static void cut_add(const char *name, const void *data, size_t size, off_t at) {
    struct cut_file *file = cut_file(name);
    if (file->n_pending == CUT_PENDING)
        abort();
    struct cut_write *write = &file->pending[file->n_pending++];
    *write = (struct cut_write){.data = data ? malloc(size + 1) : NULL, .size = size, .at = at};
    if (data)
        memcpy(write->data, data, size);
}

static void cut_resize(struct cut_file *file, size_t size) {
    file->data = realloc(file->data, size + 1);
    if (size > file->size)
        memset(file->data + file->size, 0, size - file->size);
    file->size = size;
}

/* Applies whole sectors of a write, each or at random. */
static void cut_apply(struct cut_file *file, const struct cut_write *write, bool all) {
    size_t at = (size_t)write->at;
    if (!write->data && (all || cut_chance()))
        cut_resize(file, at);
    for (size_t done = 0; write->data && done < write->size; done += CUT_SECTOR) {
        size_t part = write->size - done < CUT_SECTOR ? write->size - done : CUT_SECTOR;
        if (!all && !cut_chance())
            continue;
        if (at + done + part > file->size)
            cut_resize(file, at + done + part);
        memcpy(file->data + at + done, write->data + done, part);
    }
}

static void cut_synced(const char *name) {
    if (*name) {
        struct cut_file *file = cut_file(name);
        for (size_t i = 0; i < file->n_pending; i++)
            cut_apply(file, &file->pending[i], true);
        return cut_forget_pending(file);
    }
    for (size_t i = 0; i < CUT_FILES; i++) {
        struct cut_file *file = &cut_disk.files[i];
        file->named = file->name[0] && !file->gone;
        if (file->gone) {
            cut_forget_pending(file);
            free(file->data);
            *file = (struct cut_file){0};
        }
    }
}

static void cut_moment(void) {
    if (cut_disk.busy || !cut_disk.moment)
        return;
    cut_disk.busy = true;
    cut_disk.moment(cut_disk.ctx);
    cut_disk.busy = false;
}

/* ---- the calls ---- */

#define CUT_NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

ssize_t pwrite64(int fd, const void *data, size_t size, off_t at) {
    char path[PATH_MAX];
    ssize_t n = CUT_NEXT(pwrite64)(fd, data, size, at);
    const char *name = n > 0 ? cut_name_of(fd, path) : NULL;
    if (name) {
        cut_add(name, data, (size_t)n, at);
        cut_moment();
    }
    return n;
}

int ftruncate64(int fd, off_t size) {
    char path[PATH_MAX];
    int r = CUT_NEXT(ftruncate64)(fd, size);
    const char *name = r == 0 ? cut_name_of(fd, path) : NULL;
    if (name) {
        cut_add(name, NULL, 0, size);
        cut_moment();
    }
    return r;
}

int fdatasync(int fd) {
    char path[PATH_MAX];
    int r = CUT_NEXT(fdatasync)(fd);
    const char *name = r == 0 ? cut_name_of(fd, path) : NULL;
    if (name) {
        cut_synced(name);
        cut_moment();
    }
    return r;
}

int unlink(const char *path) {
    int r = CUT_NEXT(unlink)(path);
    const char *name = r == 0 ? cut_name(path) : NULL;
    if (name && *name) {
        cut_file(name)->gone = true;
        cut_moment();
    }
    return r;
}

/* ---- the cut ---- */

/* Writes the files as the power cut leaves them into another directory: all unsynced data are lost
 * or, with any_arrived, any part of them has arrived.
 */
static void cut_leave(const char *directory, bool any_arrived) {
    for (size_t i = 0; i < CUT_FILES; i++) {
        const struct cut_file *file = &cut_disk.files[i];
        bool there = file->named && !(file->gone && any_arrived && cut_chance());
        there |= any_arrived && !file->named && !file->gone && cut_chance();
        char path[PATH_MAX + 80];
        snprintf(path, sizeof path, "%s/%s", directory, file->name);
        if (!file->name[0] || !there)
            continue;
        struct cut_file left = {.data = malloc(file->size + 1), .size = file->size};
        memcpy(left.data, file->data ? file->data : (uint8_t *)"", file->size);
        for (size_t w = 0; any_arrived && w < file->n_pending; w++)
            cut_apply(&left, &file->pending[w], false);
        FILE *out = fopen(path, "w");
        if (!out || fwrite(left.data, 1, left.size, out) != left.size || fclose(out))
            abort();
        free(left.data);
    }
}

static void cut_begin(const char *directory, uint64_t seed, void (*moment)(void *), void *ctx) {
    snprintf(cut_disk.directory, sizeof cut_disk.directory, "%s", directory);
    cut_disk.random = seed;
    cut_disk.moment = moment;
    cut_disk.ctx = ctx;
}

static void cut_end(void) {
    for (size_t i = 0; i < CUT_FILES; i++) {
        cut_forget_pending(&cut_disk.files[i]);
        free(cut_disk.files[i].data);
    }
    memset(&cut_disk, 0, sizeof cut_disk);
}

#endif
