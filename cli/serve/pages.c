/* SPDX-License-Identifier: MIT */
/*
 * A page is found by its words. It shows the database at the start of its child: a later write
 * makes it outdated.
 */
#include "cli/serve/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/launch/child.h"
#include "cli/serve/said.h"
#include "common/clock.h"
#include "common/error.h"

#define PAGES_MAX 24            /* pages that are kept, made, or waiting */
#define CHILDREN_MAX 2          /* children at a time */
#define WAITERS_MAX 256         /* as many as connections */
#define KEPT_BYTES (128u << 20) /* of all pages together */

struct pages {
    struct pages_options options;
    struct page page[PAGES_MAX];
    struct {
        void *who; /* NULL: unused */
        struct page *page;
    } waiter[WAITERS_MAX];
    uint64_t turn;
};

int pages_new(const struct pages_options *options, struct pages **ret_pages) {
    struct pages *pages = calloc(1, sizeof *pages);
    if (!pages)
        return -ENOMEM;
    pages->options = *options;
    *ret_pages = pages;
    return 0;
}

void pages_free(struct pages *pages) {
    if (!pages)
        return;
    for (size_t i = 0; i < PAGES_MAX; i++)
        page_close(&pages->page[i]);
    free(pages);
}

/* ---- children ---- */

static void tell(struct pages *pages, struct page *page, const struct pages_result *result) {
    for (size_t i = 0; i < WAITERS_MAX; i++) {
        void *who = pages->waiter[i].who;
        if (!who || pages->waiter[i].page != page)
            continue;
        struct pages_result own = result->state == PAGES_MADE ? page_as_made(page) : *result;
        pages->waiter[i].who = NULL;
        pages->options.done(pages->options.ctx, who, &own);
    }
}

static void fail_page(struct pages *pages, struct page *page, enum pages_state state,
                      const char *why) {
    const struct pages_result result = {.state = state, .why = why};
    tell(pages, page, &result);
    page_close(page);
}

static size_t count(const struct pages *pages, enum page_phase phase) {
    size_t n = 0;
    for (size_t i = 0; i < PAGES_MAX; i++)
        n += pages->page[i].phase == phase;
    return n;
}

/* The page that was requested first. */
static struct page *next_in_turn(struct pages *pages, enum page_phase phase) {
    struct page *first = NULL;
    for (size_t i = 0; i < PAGES_MAX; i++) {
        struct page *page = &pages->page[i];
        if (page->phase == phase && (!first || page->turn < first->turn))
            first = page;
    }
    return first;
}

static void make_what_waits(struct pages *pages) {
    struct page *page;
    while (count(pages, PAGE_BEING_MADE) < CHILDREN_MAX &&
           (page = next_in_turn(pages, PAGE_QUEUED))) {
        int r = page_make(page, pages->options.program, pages->options.database);
        if (r < 0)
            fail_page(pages, page, PAGES_FAILED, strerror(-r));
    }
}

/* ---- requests ---- */

static bool wait_for(struct pages *pages, struct page *page, void *waiter) {
    for (size_t i = 0; i < WAITERS_MAX; i++)
        if (!pages->waiter[i].who) {
            pages->waiter[i].who = waiter;
            pages->waiter[i].page = page;
            return true;
        }
    return false;
}

static struct page *find(struct pages *pages, const char *const *words) {
    for (size_t i = 0; i < PAGES_MAX; i++) {
        struct page *page = &pages->page[i];
        if (!page_has_words(page, words))
            continue;
        if (page->phase == PAGE_KEPT && !page_is_current(page, pages->options.database))
            page_close(page);
        else
            return page;
    }
    return NULL;
}

/* A free slot, or the slot of the least recently requested page. */
static struct page *take_slot(struct pages *pages) {
    struct page *page = next_in_turn(pages, PAGE_FREE);
    if (!page && (page = next_in_turn(pages, PAGE_KEPT)))
        page_close(page);
    return page;
}

static struct page *begin(struct pages *pages, const char *const *words) {
    struct page *page = take_slot(pages);
    if (!page)
        return NULL;
    for (; words[page->n_words] && page->n_words < PAGES_WORDS_MAX; page->n_words++)
        snprintf(page->words[page->n_words], sizeof page->words[0], "%s", words[page->n_words]);
    page->phase = PAGE_QUEUED;
    return page;
}

struct pages_result pages_get(struct pages *pages, const char *const *words, void *waiter) {
    static const struct pages_result crowded = {
        .state = PAGES_CROWDED, .why = "too many pages are being made; try again in a moment"};
    struct page *page = find(pages, words);
    if (!page)
        page = begin(pages, words);
    if (!page)
        return crowded;
    page->turn = ++pages->turn;
    if (page->phase == PAGE_KEPT)
        return page_as_made(page);
    if (!wait_for(pages, page, waiter))
        return crowded;
    make_what_waits(pages);
    return (struct pages_result){.state = PAGES_WAIT};
}

void pages_forget(struct pages *pages, void *waiter) {
    for (size_t i = 0; i < WAITERS_MAX; i++)
        if (pages->waiter[i].who == waiter)
            pages->waiter[i].who = NULL;
}

/* ---- results ---- */

static void keep_within_bounds(struct pages *pages, const struct page *newest) {
    size_t bytes = 0;
    struct page *oldest;
    for (size_t i = 0; i < PAGES_MAX; i++)
        bytes += pages->page[i].phase == PAGE_KEPT ? pages->page[i].size : 0;
    while (bytes > KEPT_BYTES && (oldest = next_in_turn(pages, PAGE_KEPT)) && oldest != newest) {
        bytes -= oldest->size;
        page_close(oldest);
    }
}

static void keep(struct pages *pages, struct page *page) {
    struct stat st;
    const struct pages_result made = {.state = PAGES_MADE};
    page->size = fstat(page->fd, &st) == 0 ? (size_t)st.st_size : 0;
    close(page->said_fd);
    page->phase = PAGE_KEPT;
    tell(pages, page, &made);
    keep_within_bounds(pages, page);
}

static void conclude(struct pages *pages, struct page *page, int wait_status) {
    char end[64], why[300];
    int status = child_exit_status(wait_status);
    page->pid = 0;
    if (status == 0)
        return keep(pages, page);
    child_describe_end(wait_status, end, sizeof end);
    said_last_line(page->said_fd, end, why, sizeof why);
    if (access(pages->options.database, R_OK) < 0)
        fail_page(pages, page, PAGES_GONE, why);
    else
        fail_page(pages, page, WIFEXITED(wait_status) ? PAGES_REFUSED : PAGES_FAILED, why);
}

void pages_check(struct pages *pages) {
    int64_t now_ns = clock_monotonic_ns();
    for (size_t i = 0; i < PAGES_MAX; i++) {
        struct page *page = &pages->page[i];
        int status;
        if (page->phase != PAGE_BEING_MADE)
            continue;
        if (child_ended(page->pid, &status) == 0)
            conclude(pages, page, status);
        else if (now_ns >= page->due_ns)
            fail_page(pages, page, PAGES_FAILED, "it took too long and was given up");
    }
    make_what_waits(pages);
}

int64_t pages_deadline_ns(const struct pages *pages) {
    int64_t due_ns = INT64_MAX;
    for (size_t i = 0; i < PAGES_MAX; i++)
        if (pages->page[i].phase == PAGE_BEING_MADE && pages->page[i].due_ns < due_ns)
            due_ns = pages->page[i].due_ns;
    return due_ns;
}

void pages_close(struct pages *pages) {
    for (size_t i = 0; i < PAGES_MAX; i++)
        if (pages->page[i].phase == PAGE_QUEUED || pages->page[i].phase == PAGE_BEING_MADE)
            fail_page(pages, &pages->page[i], PAGES_GONE, "the server is ending");
}
