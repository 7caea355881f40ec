/* SPDX-License-Identifier: MIT */
/*
 * Ids of events count lines of one child. A restarted server counts anew, so an id only tells
 * whether a watcher has the newest line.
 */
#include "cli/serve/feeds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/serve/feed.h"
#include "common/clock.h"
#include "common/error.h"

#define WATCHERS_MAX 64
#define BEAT_NS (15 * NS_PER_S) /* a byte now and then detects who has gone */
#define ALONE_NS (5 * NS_PER_S) /* a page that is reloaded finds its feed */
#define PART_SIZE 400           /* size of an event besides its line */

struct watcher {
    void *who; /* NULL: unused */
    struct feed *feed;
    uint64_t seen_id;
    int64_t spoken_ns;
    /* the event being sent: head, line, tail */
    char head[PART_SIZE];
    struct feed_line *line;
    size_t sent; /* size of all three */
    bool sending, beat, over;
    char told_why[200]; /* the trouble that was sent */
};

struct feeds {
    struct feeds_options options;
    struct feed feed[FEEDS_MAX];
    struct watcher watcher[WATCHERS_MAX];
    bool closing;
};

int feeds_new(const struct feeds_options *options, struct feeds **ret_feeds) {
    struct feeds *feeds = calloc(1, sizeof *feeds);
    if (!feeds)
        return -ENOMEM;
    feeds->options = *options;
    *ret_feeds = feeds;
    return 0;
}

void feeds_free(struct feeds *feeds) {
    if (!feeds)
        return;
    for (size_t i = 0; i < FEEDS_MAX; i++)
        feed_stop(&feeds->feed[i]);
    free(feeds);
}

/* ---- watchers ---- */

static bool is_watched(const struct feeds *feeds, const struct feed *feed) {
    for (size_t i = 0; i < WATCHERS_MAX; i++)
        if (feeds->watcher[i].who && feeds->watcher[i].feed == feed)
            return true;
    return false;
}

static struct watcher *find_watcher(struct feeds *feeds, const void *who) {
    for (size_t i = 0; i < WATCHERS_MAX; i++)
        if (feeds->watcher[i].who == who)
            return &feeds->watcher[i];
    return NULL;
}

/* The feed of that run, or an unused one. */
static struct feed *find_feed(struct feeds *feeds, const char *run) {
    struct feed *place = NULL;
    for (size_t i = 0; i < FEEDS_MAX; i++) {
        struct feed *feed = &feeds->feed[i];
        if (strcmp(feed->run, run) == 0)
            return feed;
        if (!place && !feed->run[0])
            place = feed;
    }
    for (size_t i = 0; i < FEEDS_MAX && !place; i++)
        if (!is_watched(feeds, &feeds->feed[i])) {
            place = &feeds->feed[i];
            feed_stop(place);
        }
    return place;
}

int feeds_watch(struct feeds *feeds, const char *run, uint64_t last_id, void *who) {
    struct watcher *watcher = find_watcher(feeds, NULL);
    struct feed *feed = watcher && !feeds->closing ? find_feed(feeds, run) : NULL;
    if (!feed)
        return -EBUSY;
    if (!feed->run[0]) {
        snprintf(feed->run, sizeof feed->run, "%s", run);
        int r = feed_start(feed, feeds->options.program, feeds->options.database);
        if (r < 0)
            return feed_stop(feed), r;
    }
    feed->alone_ns = 0;
    *watcher = (struct watcher){.who = who, .feed = feed, .spoken_ns = clock_monotonic_ns()};
    watcher->seen_id = last_id <= feed->last_id ? last_id : 0;
    return 0;
}

void feeds_forget(struct feeds *feeds, void *who) {
    struct watcher *watcher = find_watcher(feeds, who);
    if (!watcher)
        return;
    struct feed *feed = watcher->feed;
    feed_line_drop(watcher->line);
    *watcher = (struct watcher){0};
    if (!is_watched(feeds, feed))
        feed->alone_ns = clock_monotonic_ns();
}

/* ---- events ---- */

static bool is_due(const struct feeds *feeds, const struct watcher *w) {
    const struct feed *feed = w->feed;
    return w->sending || (feed->line && feed->line->id != w->seen_id) ||
           (feed->why[0] && strcmp(feed->why, w->told_why) != 0) || feed->ended || feeds->closing ||
           w->beat;
}

/* Own words and those of verbs; said_last_line made them printable, so no line ends in them. */
static void begin_text(struct watcher *w, const char *event, const char *text) {
    snprintf(w->head, sizeof w->head, "event: %s\ndata: %s\n\n", event, text);
}

/* The newest line first, then how the run ended. False: there is nothing to send. */
static bool begin_event(const struct feeds *feeds, struct watcher *w) {
    struct feed *feed = w->feed;
    if (w->over)
        return false;
    if (feed->line && feed->line->id != w->seen_id) {
        w->line = feed_line_keep(feed->line);
        w->seen_id = feed->line->id;
        snprintf(w->head, sizeof w->head, "id: %" PRIu64 "\nevent: snapshot\ndata: ", w->seen_id);
    } else if (feed->ended || feeds->closing) {
        begin_text(w, feed->ended ? "ended" : "closing", feed->run);
        w->over = true;
    } else if (feed->why[0] && strcmp(feed->why, w->told_why) != 0) {
        snprintf(w->told_why, sizeof w->told_why, "%s", feed->why);
        begin_text(w, "trouble", feed->why);
    } else if (w->beat) {
        snprintf(w->head, sizeof w->head, ":\n\n");
    } else {
        return false;
    }
    if (!feed->why[0])
        w->told_why[0] = '\0';
    w->beat = false;
    w->spoken_ns = clock_monotonic_ns();
    w->sent = 0;
    return w->sending = true;
}

/* Copies the rest of the parts from w->sent on. */
static size_t copy_parts(struct watcher *w, char *to, size_t size) {
    const struct {
        const char *text;
        size_t size;
    } parts[] = {{w->head, strlen(w->head)},
                 {w->line ? w->line->text : "", w->line ? w->line->size : 0},
                 {"\n\n", w->line ? 2 : 0}};
    size_t copied = 0, at = 0;
    for (size_t i = 0; i < ARRAY_SIZE(parts); at += parts[i++].size) {
        if (w->sent + copied >= at + parts[i].size || copied == size)
            continue;
        size_t from = w->sent + copied - at, n = parts[i].size - from;
        n = n > size - copied ? size - copied : n;
        memcpy(to + copied, parts[i].text + from, n);
        copied += n;
    }
    w->sent += copied;
    if (w->sent == at) {
        feed_line_drop(w->line);
        w->line = NULL;
        w->sending = false;
    }
    return copied;
}

int feeds_next(struct feeds *feeds, void *who, char *to, size_t size) {
    struct watcher *w = find_watcher(feeds, who);
    if (!w)
        return -1;
    if (w->sending || begin_event(feeds, w))
        return (int)copy_parts(w, to, size);
    return w->over ? -1 : 0;
}

/* ---- the loop ---- */

size_t feeds_fds(const struct feeds *feeds, struct pollfd *fds) {
    size_t n = 0;
    for (size_t i = 0; i < FEEDS_MAX; i++)
        if (feeds->feed[i].pid)
            fds[n++] = (struct pollfd){.fd = feeds->feed[i].fd, .events = POLLIN};
    return n;
}

static void check_feed(struct feeds *feeds, struct feed *feed, int64_t now_ns) {
    feed_read(feed);
    if (feed->alone_ns && now_ns >= feed->alone_ns + ALONE_NS)
        return feed_stop(feed);
    if (!feed->again_ns || now_ns < feed->again_ns || feeds->closing)
        return;
    int r = feed_start(feed, feeds->options.program, feeds->options.database);
    if (r < 0) {
        snprintf(feed->why, sizeof feed->why, "%s", strerror(-r));
        feed->again_ns = now_ns + NS_PER_S;
    }
}

/* A watcher that is still busy with the last event gets it there. */
static void look_for_silence(struct watcher *w, int64_t now_ns) {
    if (now_ns < w->spoken_ns + BEAT_NS)
        return;
    w->beat = true;
    w->spoken_ns = now_ns;
}

void feeds_check(struct feeds *feeds) {
    int64_t now_ns = clock_monotonic_ns();
    for (size_t i = 0; i < FEEDS_MAX; i++)
        if (feeds->feed[i].run[0])
            check_feed(feeds, &feeds->feed[i], now_ns);
    for (size_t i = 0; i < WATCHERS_MAX; i++) {
        struct watcher *w = &feeds->watcher[i];
        if (!w->who)
            continue;
        look_for_silence(w, now_ns);
        if (is_due(feeds, w))
            feeds->options.news(feeds->options.ctx, w->who);
    }
}

static int64_t earlier(int64_t a_ns, int64_t b_ns) {
    return a_ns < b_ns ? a_ns : b_ns;
}

int64_t feeds_deadline_ns(const struct feeds *feeds) {
    int64_t due_ns = INT64_MAX;
    for (size_t i = 0; i < FEEDS_MAX; i++) {
        const struct feed *feed = &feeds->feed[i];
        if (feed->again_ns)
            due_ns = earlier(due_ns, feed->again_ns);
        if (feed->alone_ns)
            due_ns = earlier(due_ns, feed->alone_ns + ALONE_NS);
    }
    for (size_t i = 0; i < WATCHERS_MAX; i++)
        if (feeds->watcher[i].who)
            due_ns = earlier(due_ns, feeds->watcher[i].spoken_ns + BEAT_NS);
    return due_ns;
}

void feeds_close(struct feeds *feeds) {
    feeds->closing = true;
    feeds_check(feeds);
}
