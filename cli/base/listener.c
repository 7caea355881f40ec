/* SPDX-License-Identifier: MIT */
#include "cli/base/listener.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/text.h"

#define STATE_LISTENS 0x0a
#define PATH_SIZE 512

/* "  0: 0100007F:18EB 00000000:0000 0A 00000000:00000000 00:00000000 00000000 999 0 12345 ..." */
static bool is_listener(const char *line, uint16_t port, unsigned long *ret_inode) {
    unsigned own, state;
    return sscanf(line, " %*[^:]: %*[0-9A-Fa-f]:%x %*s %x %*s %*s %*s %*s %*s %lu", &own, &state,
                  ret_inode) == 3 &&
           own == port && state == STATE_LISTENS;
}

/* The inode of the socket that listens; 0: none. */
static unsigned long find_socket(const char *proc, const char *table, uint16_t port) {
    char path[PATH_SIZE], line[512];
    unsigned long inode = 0;
    snprintf(path, sizeof path, "%s/net/%s", proc, table);
    FILE *file = fopen(path, "re");
    while (file && !inode && fgets(line, sizeof line, file))
        if (!is_listener(line, port, &inode))
            inode = 0;
    if (file)
        fclose(file);
    return inode;
}

static bool has_socket(const char *proc, const char *pid, unsigned long inode) {
    char path[PATH_SIZE], wanted[64], target[64];
    bool found = false;
    snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
    snprintf(path, sizeof path, "%s/%s/fd", proc, pid);
    DIR *files = opendir(path);
    for (struct dirent *file; files && !found && (file = readdir(files));) {
        char link[PATH_SIZE];
        snprintf(link, sizeof link, "%s/%s/fd/%.64s", proc, pid, file->d_name);
        ssize_t n = readlink(link, target, sizeof target - 1);
        target[n > 0 ? n : 0] = '\0';
        found = strcmp(target, wanted) == 0;
    }
    if (files)
        closedir(files);
    return found;
}

static void read_name(const char *proc, const char *pid, char name[LISTENER_NAME_SIZE]) {
    char path[PATH_SIZE], text[LISTENER_NAME_SIZE] = "";
    snprintf(path, sizeof path, "%s/%s/comm", proc, pid);
    FILE *file = fopen(path, "re");
    if (file && fgets(text, sizeof text, file))
        text_sanitize(name, LISTENER_NAME_SIZE, text, strcspn(text, "\n"));
    if (file)
        fclose(file);
}

bool listener_find(const char *proc, uint16_t port, char name[LISTENER_NAME_SIZE]) {
    unsigned long inode = find_socket(proc, "tcp", port);
    if (!inode)
        inode = find_socket(proc, "tcp6", port);
    name[0] = '\0';
    DIR *processes = inode ? opendir(proc) : NULL;
    for (struct dirent *entry; processes && !name[0] && (entry = readdir(processes));) {
        const char *pid = entry->d_name;
        bool other = strcmp(pid, "1") == 0; /* init may hold sockets for others */
        if (*pid && !pid[strspn(pid, "0123456789")] && !other && has_socket(proc, pid, inode))
            read_name(proc, pid, name);
    }
    if (processes)
        closedir(processes);
    return inode > 0;
}
