/* SPDX-License-Identifier: MIT */
/* One page that a child makes (pages.h): the words that make it, and the state of the database that
 * it shows. */
#ifndef CHOKEPOINT_CLI_SERVE_PAGE_H
#define CHOKEPOINT_CLI_SERVE_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/serve/pages.h"

/* Changes when somebody has written to the file. */
struct stamp {
    struct {
        uint64_t device, inode, size;
        int64_t changed_ns;
    } file[2]; /* of the database and its log */
};

enum page_phase { PAGE_FREE, PAGE_QUEUED, PAGE_BEING_MADE, PAGE_KEPT };

struct page {
    enum page_phase phase;
    char words[PAGES_WORDS_MAX][24];
    size_t n_words;
    struct stamp stamp;
    uint64_t turn;   /* time of the last request */
    int fd, said_fd; /* the child's output and its messages */
    pid_t pid;
    int64_t due_ns;
    size_t size;
};

/* Whether the page was made by these words. */
bool page_has_words(const struct page *page, const char *const *words);
/* Starts the child. Negative errno; close the page in any case. */
int page_make(struct page *page, const char *program, const char *database);
/* Whether nobody has written to the database since. */
bool page_is_current(const struct page *page, const char *database);
/* Duplicates the descriptor, so that the page may be closed while the output is read. */
struct pages_result page_as_made(const struct page *page);
/* Ends the child, and frees the slot. */
void page_close(struct page *page);

#endif
