/* SPDX-License-Identifier: MIT */
/* The child writes to unnamed files in memory. */
#include "cli/serve/page.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/launch/child.h"
#include "common/clock.h"
#include "common/error.h"

#define CHILD_NS (300 * NS_PER_S) /* time limit of a child */

/* ---- the state of the database ---- */

static void look_at(const char *path, size_t i, struct stamp *stamp) {
    struct stat st;
    if (stat(path, &st) < 0)
        return;
    stamp->file[i].device = st.st_dev;
    stamp->file[i].inode = st.st_ino;
    stamp->file[i].size = (uint64_t)st.st_size;
    stamp->file[i].changed_ns = st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec;
}

static struct stamp stamp_of(const char *database) {
    struct stamp stamp;
    char log[PATH_MAX + 8];
    memset(&stamp, 0, sizeof stamp);
    snprintf(log, sizeof log, "%s-wal", database);
    look_at(database, 0, &stamp);
    look_at(log, 1, &stamp);
    return stamp;
}

bool page_is_current(const struct page *page, const char *database) {
    struct stamp now = stamp_of(database);
    return now.file[0].inode && memcmp(&now, &page->stamp, sizeof now) == 0;
}

/* ---- its life ---- */

void page_close(struct page *page) {
    if (page->pid) {
        kill(-page->pid, SIGKILL);
        waitpid(page->pid, NULL, 0);
    }
    if (page->phase == PAGE_BEING_MADE || page->phase == PAGE_KEPT)
        close(page->fd);
    if (page->phase == PAGE_BEING_MADE)
        close(page->said_fd);
    *page = (struct page){0};
}

bool page_has_words(const struct page *page, const char *const *words) {
    size_t n = 0;
    while (n < page->n_words && words[n] && strcmp(words[n], page->words[n]) == 0)
        n++;
    return page->phase != PAGE_FREE && !words[n] && n == page->n_words;
}

struct pages_result page_as_made(const struct page *page) {
    int fd = fcntl(page->fd, F_DUPFD_CLOEXEC, 3);
    if (fd < 0)
        return (struct pages_result){.state = PAGES_FAILED, .why = strerror(errno)};
    return (struct pages_result){.state = PAGES_MADE, .fd = fd, .size = page->size};
}

static int start_report(const struct page *page, const char *program, const char *database,
                        int null_fd, pid_t *ret_pid) {
    const char *words[PAGES_WORDS_MAX + 4] = {program};
    sigset_t none;
    size_t n = 1;
    for (size_t i = 0; i < page->n_words; i++)
        words[n++] = page->words[i];
    words[n++] = "--db";
    words[n++] = database;
    sigemptyset(&none);
    const struct child_plan plan = {.words = words,
                                    .stdin_fd = null_fd,
                                    .stdout_fd = page->fd,
                                    .stderr_fd = page->said_fd,
                                    .own_group = true,
                                    .dies_with_parent = true,
                                    .mask = &none};
    return child_start(&plan, ret_pid);
}

int page_make(struct page *page, const char *program, const char *database) {
    int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    page->fd = memfd_create("page", MFD_CLOEXEC);
    page->said_fd = memfd_create("said", MFD_CLOEXEC);
    int r = null_fd < 0 || page->fd < 0 || page->said_fd < 0 ? negative_errno() : 0;
    page->phase = PAGE_BEING_MADE;
    page->stamp = stamp_of(database);
    page->due_ns = clock_monotonic_ns() + CHILD_NS;
    if (r == 0)
        r = start_report(page, program, database, null_fd, &page->pid);
    if (null_fd >= 0)
        close(null_fd);
    return r;
}
