/* SPDX-License-Identifier: MIT */
#include "cli/launch/bare_hosts.h"
#include "common/private_path.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define KEPT_S (7 * 86400)
#define SIZE_MAX_BYTES (64 << 10)
#define LINE_SIZE 300

/* "/home/u/.cache/chokepoint" and what follows. False: there is no home. */
static bool make_path(const char *after, char ret_path[PATH_MAX]) {
    const char *home = getenv("HOME");
    if (!home || home[0] != '/')
        return false;
    int n = snprintf(ret_path, PATH_MAX, "%s/.cache%s", home[1] ? home : "", after);
    return n < PATH_MAX;
}

/* The file, if it is ours and so is its directory; -1. */
static int open_list(int flags) {
    char directory[PATH_MAX], path[PATH_MAX];
    struct stat st;
    if (!make_path("/chokepoint", directory) ||
        !make_path("/chokepoint/hosts-without-agent-" CHOKEPOINT_VERSION, path) ||
        private_path_check(directory) < 0)
        return -1;
    int fd = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())) {
        close(fd);
        return -1;
    }
    return fd;
}

static bool is_over(int fd) {
    struct stat st;
    return fstat(fd, &st) < 0 || st.st_mtime + KEPT_S < time(NULL) || st.st_size > SIZE_MAX_BYTES;
}

bool bare_hosts_has(const char *host) {
    char line[LINE_SIZE];
    bool found = false;
    int fd = open_list(O_RDONLY);
    FILE *file = fd >= 0 && !is_over(fd) ? fdopen(fd, "re") : NULL;
    while (file && !found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        found = strcmp(line, host) == 0;
    }
    if (file)
        fclose(file);
    else if (fd >= 0)
        close(fd);
    return found;
}

/* One write: lines of runs that end at the same time do not mix. */
void bare_hosts_add(const char *host) {
    char path[PATH_MAX], line[LINE_SIZE];
    int size = snprintf(line, sizeof line, "%s\n", host);
    if (size >= LINE_SIZE || !make_path("", path) || bare_hosts_has(host))
        return;
    mkdir(path, 0700);
    if (make_path("/chokepoint", path))
        mkdir(path, 0700);
    int fd = open_list(O_WRONLY | O_APPEND | O_CREAT);
    if (fd < 0)
        return;
    if (is_over(fd))
        (void)!ftruncate(fd, 0);
    (void)!write(fd, line, (size_t)size);
    close(fd);
}
