/* SPDX-License-Identifier: MIT */
#include "cli/import/leftover.h"
#include "cli/base/file.h"
#include "cli/base/options.h"
#include "cli/base/verb.h"
#include "common/buffer.h"
#include "common/error.h"
#include "common/segment_name.h"
#include "common/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RANDOM_SIZE 6 /* random characters from mkdtemp */
#define DAY_S 86400

static bool is_segment(const char *name) {
    uint64_t stream;
    uint32_t number;
    return segment_name_get(name, &stream, &number);
}

static bool is_spool(const char *name) {
    const size_t size = sizeof SPOOL_DIR_PREFIX - 1;
    return strncmp(name, SPOOL_DIR_PREFIX, size) == 0 && strlen(name) == size + RANDOM_SIZE;
}

/* ---- one directory ---- */

/* A descriptor, or negative errno: also if it is a link or another user's. */
static int open_own(const char *path) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return negative_errno();
    int r = fstat(fd, &st) < 0 ? negative_errno() : st.st_uid == geteuid() ? 0 : -EPERM;
    if (r < 0)
        close(fd);
    return r < 0 ? r : fd;
}

/* Calls fn for each segment; the caller keeps the directory's descriptor. */
static int each_segment(int dir_fd, void (*fn)(int dir_fd, const char *name, void *ctx),
                        void *ctx) {
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir)
        return negative_errno();
    for (struct dirent *entry; (entry = readdir(dir));)
        if (is_segment(entry->d_name))
            fn(dir_fd, entry->d_name, ctx);
    closedir(dir);
    return 0;
}

static void count_segment(int dir_fd, const char *name, void *ctx) {
    struct leftover *to = ctx;
    struct stat st;
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
        return;
    to->files++;
    to->bytes += (uint64_t)st.st_size;
    if (st.st_mtim.tv_sec > to->newest_s)
        to->newest_s = st.st_mtim.tv_sec;
}

static bool is_number(const char *name) {
    return name[0] && !name[strspn(name, "0123456789")];
}

/* Whether the path is a word of this process's command line. */
static bool has_word(const char *pid, const char *path) {
    char file[64], words[4096];
    if (path_format(file, sizeof file, "/proc/%s/cmdline", pid) < 0)
        return false;
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, words, sizeof words);
    if (fd >= 0)
        close(fd);
    return n > 0 && memmem(words, (size_t)n, path, strlen(path) + 1);
}

static bool any_process_has(const char *path) {
    DIR *proc = opendir("/proc");
    bool has = false;
    for (struct dirent *entry; proc && !has && (entry = readdir(proc));)
        has = is_number(entry->d_name) && has_word(entry->d_name, path);
    if (proc)
        closedir(proc);
    return has;
}

static int look_at_directory(const char *path, struct leftover *ret_leftover) {
    struct stat st;
    struct leftover found = {0};
    int fd = open_own(path);
    if (fd < 0)
        return fd;
    if (path_format(found.path, sizeof found.path, "%s", path) == 0 && fstat(fd, &st) == 0) {
        found.newest_s = st.st_mtim.tv_sec;
        each_segment(fd, count_segment, &found);
        found.held = flock(fd, LOCK_EX | LOCK_NB) < 0 || any_process_has(path);
        *ret_leftover = found;
    }
    close(fd);
    return found.path[0] ? 0 : -ENAMETOOLONG;
}

static void remove_segment(int dir_fd, const char *name, void *ctx) {
    (void)ctx;
    unlinkat(dir_fd, name, 0);
}

/* -EBUSY: an agent holds it, or wrote to it since it was found; -ENOTEMPTY: it has other files,
 * which stay. */
static int leftover_remove(const struct leftover *leftover) {
    struct leftover now;
    int r = look_at_directory(leftover->path, &now);
    if (r < 0)
        return r;
    if (now.held || now.newest_s != leftover->newest_s)
        return -EBUSY;
    int fd = open_own(leftover->path);
    if (fd < 0)
        return fd;
    r = flock(fd, LOCK_EX | LOCK_NB) < 0 ? -EBUSY : each_segment(fd, remove_segment, NULL);
    if (r == 0)
        unlinkat(fd, SPOOL_RUN_LINK, 0);
    if (r == 0 && rmdir(leftover->path) < 0)
        r = negative_errno();
    close(fd);
    return r;
}

/* ---- all leftovers ---- */

/* Whether it is another user's leftover: 0, or -errno. */
static int look_at_foreign(const char *path, struct leftover *ret_leftover) {
    struct stat st;
    if (lstat(path, &st) < 0)
        return negative_errno();
    if (!S_ISDIR(st.st_mode) || st.st_uid == geteuid())
        return -EPERM;
    *ret_leftover =
        (struct leftover){.foreign = true, .owner = st.st_uid, .newest_s = st.st_mtim.tv_sec};
    return path_format(ret_leftover->path, sizeof ret_leftover->path, "%s", path);
}

static void find_in(const char *place, struct buffer *list) {
    DIR *dir = opendir(place);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[PATH_MAX];
        struct leftover found;
        if (is_spool(entry->d_name) &&
            path_format(path, sizeof path, "%s/%s", place, entry->d_name) == 0 &&
            (look_at_directory(path, &found) == 0 || look_at_foreign(path, &found) == 0))
            buffer_put(list, &found, sizeof found);
    }
    if (dir)
        closedir(dir);
}

static int compare_age(const void *a, const void *b) {
    const struct leftover *x = a, *y = b;
    return x->newest_s != y->newest_s ? (x->newest_s < y->newest_s ? -1 : 1)
                                      : strcmp(x->path, y->path);
}

int leftovers_find(char *const *places, struct leftover **ret_list, size_t *ret_n) {
    const char *tmp = getenv("TMPDIR");
    struct buffer list = {0};
    bool named = *places != NULL;
    for (; *places; places++)
        find_in(*places, &list);
    if (!named)
        find_in("/tmp", &list);
    if (!named && tmp && tmp[0] == '/' && strcmp(tmp, "/tmp") != 0)
        find_in(tmp, &list);
    if (list.error) {
        buffer_release(&list);
        return -ENOMEM;
    }
    *ret_list = (struct leftover *)(void *)list.data;
    *ret_n = list.size / sizeof **ret_list;
    if (*ret_n)
        qsort(*ret_list, *ret_n, sizeof **ret_list, compare_age);
    return 0;
}

/* ---- messages ---- */

static const char *name_of(uid_t owner, char name[40]) {
    const struct passwd *user = getpwuid(owner);
    if (user)
        text_sanitize(name, 40, user->pw_name, strlen(user->pw_name));
    else
        snprintf(name, 40, "%u", owner);
    return name;
}

int leftover_check_owner(const char *path) {
    struct stat st;
    char name[40];
    if (stat(path, &st) < 0 || st.st_uid == geteuid() || st.st_uid == 0)
        return 0;
    verb_complain("import",
                  "%s is of user %s, who may have put anything there; import a copy of it", path,
                  name_of(st.st_uid, name));
    return -EPERM;
}

/* Any user may choose names of directories in /tmp. */
static void tell_leftover(const struct leftover *leftover) {
    char when[32] = "?", path[PATH_MAX], name[40];
    struct tm local;
    time_t newest = (time_t)leftover->newest_s;
    text_sanitize(path, sizeof path, leftover->path, strlen(leftover->path));
    if (localtime_r(&newest, &local))
        strftime(when, sizeof when, "%Y-%m-%d %H:%M", &local);
    if (leftover->foreign)
        printf("%s  of user %s, for whom it is left\n", path, name_of(leftover->owner, name));
    else
        printf("%s  %zu files, %" PRIu64 " bytes, last written %s%s\n", path, leftover->files,
               leftover->bytes, when, leftover->held ? ", in use" : "");
}

int leftovers_list(const struct leftover *list, size_t n) {
    for (size_t i = 0; i < n; i++)
        tell_leftover(&list[i]);
    if (!n)
        printf("nothing was left behind\n");
    return 0;
}

int leftovers_remove(const struct leftover *list, size_t n, uint64_t days) {
    int status = 0;
    size_t removed = 0;
    for (size_t i = 0; i < n; i++) {
        if (list[i].held || list[i].foreign ||
            time(NULL) - list[i].newest_s < (int64_t)(days * DAY_S))
            continue;
        int r = leftover_remove(&list[i]);
        if (r < 0) {
            verb_complain("import", "%s: %s", list[i].path, strerror(-r));
            status = EXIT_USAGE;
            continue;
        }
        removed++;
        printf("removed ");
        tell_leftover(&list[i]);
    }
    if (!removed && status == 0)
        printf("nothing older than %" PRIu64 " days that no agent holds was left behind\n", days);
    return status;
}
