/* SPDX-License-Identifier: MIT */
/*
 * Command lines. Recordings do not have them, since they may contain secrets; but a user on the
 * same machine may read here what ps shows as well.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/live/live_private.h"

#define COMMAND_BYTES 512

/* Reads the begin of a file; returns its length, or a negative errno. */
static ssize_t read_file(const char *path, char *to, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, to, size - 1);
    if (fd >= 0)
        close(fd);
    to[n > 0 ? n : 0] = '\0';
    return n;
}

void live_own_boot(char boot_id[BOOT_ID_SIZE + 1]) {
    if (read_file("/proc/sys/kernel/random/boot_id", boot_id, BOOT_ID_SIZE + 1) != BOOT_ID_SIZE)
        boot_id[0] = '\0';
}

/* By now the id may belong to another process, or to another namespace: the name decides. */
static bool is_process(int64_t pid, const char *name) {
    char path[64], now[64];
    snprintf(path, sizeof path, "/proc/%lld/comm", (long long)pid);
    ssize_t n = read_file(path, now, sizeof now);
    if (n > 0 && now[n - 1] == '\n')
        now[n - 1] = '\0';
    return n > 0 && strcmp(now, name) == 0;
}

static const char *command_of(struct live_picture *picture, int64_t pid) {
    char path[64], words[COMMAND_BYTES];
    snprintf(path, sizeof path, "/proc/%lld/cmdline", (long long)pid);
    ssize_t n = read_file(path, words, sizeof words);
    while (n > 0 && words[n - 1] == '\0')
        n--;
    for (ssize_t i = 0; i < n; i++)
        if (words[i] == '\0')
            words[i] = ' ';
    return n > 0 ? live_keep(picture, words, (size_t)n) : NULL; /* kernel threads have none */
}

void live_fill_commands(struct live_picture *picture, const bool *is_here) {
    struct live_snapshot *snapshot = &picture->snapshot;
    for (size_t i = 0; i < snapshot->n_processes; i++) {
        struct live_process *process = &snapshot->processes[i];
        if (is_here[process->host] && process->pid > 0 && is_process(process->pid, process->name))
            process->command = command_of(picture, process->pid);
    }
}
