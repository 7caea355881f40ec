/* SPDX-License-Identifier: MIT */
/* Follows a run: new rows of its database, and the picture made of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/error.h"
#include "common/push_interval.h"
#include "reports/live/live_private.h"

#define WHY_SIZE 256
#define WAY_NS (2 * NS_PER_S) /* usual delay from a host to us: agents push once a second */

struct live {
    char *database; /* owned */
    struct stat file;
    struct store *store;
    struct store_run run;
    struct store_tail *tail;
    struct live_window window;
    struct live_judge *judge;
    const struct live_judged *judged; /* the judge's latest */
    int64_t heard_ns;      /* by the monotonic clock: when frames came last, or when we began to
                              look */
    bool heard;            /* some came since we look */
    int64_t at_ns;         /* the moment that is shown; VALUE_ABSENT: now */
    int64_t frames_end_ns; /* end of the run's newest frame; VALUE_ABSENT */
    char trouble[WHY_SIZE];
    char own_boot[BOOT_ID_SIZE + 1];
    struct live_picture picture;
    struct live_history history;
    uint64_t number;
};

const char *live_state_name(enum live_state state) {
    static const char *const names[] = {"running", "ended", "cut-off"};
    return names[state];
}

const char *live_task_name(enum live_task task) {
    static const char *const names[] = {"running", "sleeping", "waiting",
                                        "stopped", "zombie",   "other"};
    return names[task];
}

/* ---- life ---- */

static int find_run(struct live *live, const char *which, char *why, size_t why_size) {
    int result = store_find_run(live->store, which, &live->run);
    if (result == -ENOENT)
        snprintf(why, why_size, "%s: no run '%s'", live->database, which);
    else if (result < 0)
        snprintf(why, why_size, "%s: %s", live->database, store_error(live->store));
    else if (live->run.state == RUN_NOT_STARTED) {
        snprintf(why, why_size, "run %lld: its command never started", (long long)live->run.id);
        result = -ECANCELED;
    }
    return result;
}

static int open_all(struct live *live, const char *which, struct caller caller, char *why,
                    size_t why_size) {
    int result = store_open_read(live->database, &live->store, why, why_size);
    if (result != 0)
        return result < 0 ? result : -EINVAL;
    if (stat(live->database, &live->file) < 0)
        live->file = (struct stat){0};
    result = find_run(live, which, why, why_size);
    if (result < 0)
        return result;
    result =
        store_tail_open(live->store, live->run.id, live->window.tables, LIVE_TABLES, &live->tail);
    caller.run = live->run.id;
    if (result == 0)
        result = live_judge_new(live->database, &caller, &live->judge);
    if (result < 0)
        snprintf(why, why_size, "%s: %s", live->database,
                 result == -ENOMEM ? strerror(ENOMEM) : store_error(live->store));
    return result;
}

static int open_run(const char *database, const char *run, int64_t at_ns,
                    const struct caller *caller, struct live **ret_live, char *why,
                    size_t why_size) {
    struct live *live = calloc(1, sizeof *live);
    if (!live)
        return -ENOMEM;
    live_window_init(&live->window);
    live->frames_end_ns = VALUE_ABSENT;
    live->at_ns = at_ns;
    live->heard_ns = clock_monotonic_ns();
    live_own_boot(live->own_boot);
    live->database = strdup(database);
    int result = live->database ? open_all(live, run, *caller, why, why_size) : -ENOMEM;
    if (result < 0)
        live_close(live);
    else
        *ret_live = live;
    return result;
}

int live_open(const char *database, const char *run, const struct caller *caller,
              struct live **ret_live, char *why, size_t why_size) {
    return open_run(database, run, VALUE_ABSENT, caller, ret_live, why, why_size);
}

int live_open_at(const char *database, const char *run, double at_s, const struct caller *caller,
                 struct live **ret_live, char *why, size_t why_size) {
    return open_run(database, run, (int64_t)(at_s * 1e9), caller, ret_live, why, why_size);
}

void live_close(struct live *live) {
    if (!live)
        return;
    live_picture_release(&live->picture);
    live_history_release(&live->history);
    live_judge_free(live->judge);
    live_window_release(&live->window);
    store_tail_close(live->tail);
    store_run_release(&live->run);
    store_close(live->store);
    free(live->database);
    free(live);
}

/* ---- what is new ---- */

/* The file stays open here if it is removed or replaced. */
static bool is_gone(const struct live *live) {
    struct stat now;
    return stat(live->database, &now) < 0 || now.st_dev != live->file.st_dev ||
           now.st_ino != live->file.st_ino;
}

/* Its name and command stay, since the picture points to them. */
static int read_run(struct live *live) {
    struct store_run run, *own = &live->run;
    char which[32];
    snprintf(which, sizeof which, "%lld", (long long)live->run.id);
    int result = store_find_run(live->store, which, &run);
    if (result < 0)
        return result;
    own->state = run.state;
    own->exit_status = run.exit_status;
    own->started_wall_ns = run.started_wall_ns;
    own->duration_ns = time_is_sane(run.duration_ns) ? run.duration_ns : 0;
    store_run_release(&run);
    return 0;
}

static void note_frames(struct live *live) {
    int64_t end = VALUE_ABSENT;
    for (size_t h = 0; h < live->window.recording.n_hosts; h++)
        if (live->window.last_ns[h] > end)
            end = live->window.last_ns[h];
    if (end == live->frames_end_ns)
        return;
    live->heard = live->number > 0;
    live->frames_end_ns = end;
    live->heard_ns = clock_monotonic_ns();
}

/* Reads new rows; *ret_new: whether there are any. A failure is reported in the picture. */
static void take(struct live *live, bool *ret_new) {
    char was[WHY_SIZE];
    size_t rows = 0;
    enum run_state state = live->run.state;
    memcpy(was, live->trouble, sizeof was);
    int result = read_run(live);
    if (result == 0 && live->at_ns == VALUE_ABSENT)
        result = live_window_take(&live->window, live->tail, &rows);
    else if (result == 0 && !live->number)
        result = live_window_read(&live->window, live->store, live->run.id, live->at_ns);
    note_frames(live);
    live->trouble[0] = '\0';
    if (is_gone(live))
        snprintf(live->trouble, sizeof live->trouble, "%s is gone: moved or removed",
                 live->database);
    else if (result == -ENOENT)
        snprintf(live->trouble, sizeof live->trouble, "run %lld is gone from %s",
                 (long long)live->run.id, live->database);
    else if (result < 0 && result != -EBUSY)
        snprintf(live->trouble, sizeof live->trouble, "%s: %s", live->database,
                 result == -ENOMEM ? strerror(ENOMEM) : store_error(live->store));
    *ret_new = rows || state != live->run.state || strcmp(was, live->trouble) != 0;
}

/* ---- the picture ---- */

/* The age of the newest frame when it was first seen, by the wall clock. A frame that came while we
 * followed is at most as old as the usual delay, whatever happens to that clock.
 */
static int64_t age_ns(const struct live *live, int64_t end_ns) {
    int64_t age = clock_wall_ns() - (clock_monotonic_ns() - live->heard_ns);
    if (live->run.started_wall_ns <= 0) /* a file may contain anything */
        return 0;
    age -= live->run.started_wall_ns + end_ns;
    if (live->heard && age > WAY_NS)
        return WAY_NS;
    return age > 0 ? age : 0;
}

/* The present time of the run. */
static int64_t elapsed_ns(const struct live *live, int64_t end_ns) {
    if (live->at_ns != VALUE_ABSENT)
        return live->at_ns;
    if (live->run.state != RUN_RUNNING)
        return live->run.duration_ns;
    return end_ns + age_ns(live, end_ns) + (clock_monotonic_ns() - live->heard_ns);
}

static enum live_state state_of(const struct live *live, int64_t silent_ns) {
    if (live->run.state != RUN_RUNNING)
        return LIVE_ENDED;
    return silent_ns > (int64_t)(LIVE_CUT_OFF_S * 1e9) ? LIVE_CUT_OFF : LIVE_RUNNING;
}

static void fill_silence(struct live_snapshot *snapshot) {
    double limit_s = LIVE_SILENT_S + (double)push_interval_s(snapshot->n_hosts);
    for (size_t h = 0; h < snapshot->n_hosts; h++) {
        struct live_host *host = &snapshot->hosts[h];
        double since = snapshot->elapsed_s - (isnan(host->seen_s) ? 0 : host->seen_s);
        bool over = snapshot->state == LIVE_ENDED && isnan(snapshot->at_s);
        host->silent_s = !over && since > limit_s ? since : 0;
        snapshot->n_silent += host->silent_s > 0;
    }
}

static void fill_head(struct live *live) {
    static const char *const ends[] = {"", "done", "failed", "killed", "interrupted", ""};
    struct live_snapshot *snapshot = &live->picture.snapshot;
    int64_t end = live->frames_end_ns == VALUE_ABSENT ? 0 : live->frames_end_ns;
    int64_t elapsed = elapsed_ns(live, end);
    snapshot->run_id = live->run.id;
    snapshot->run_name = live->run.name;
    snapshot->command = live->run.command;
    snapshot->state = state_of(live, live->at_ns == VALUE_ABSENT ? elapsed - end : 0);
    snapshot->at_s = live->at_ns == VALUE_ABSENT ? NAN : (double)live->at_ns / 1e9;
    snapshot->end = ends[live->run.state];
    snapshot->exit_status = live->run.exit_status;
    snapshot->elapsed_s = (double)(snapshot->state == LIVE_CUT_OFF ? end : elapsed) / 1e9;
    snapshot->period_s = (double)live->run.period_ns / 1e9;
    snapshot->started_wall_ns = live->run.started_wall_ns;
    snapshot->n_hosts_expected = live->run.n_hosts_expected;
    snapshot->trouble = live->trouble[0] ? live->trouble : NULL;
}

/* A recording of another boot or machine contains other processes. */
static int fill_commands(struct live *live) {
    const struct store_tail_host *hosts;
    size_t n = store_tail_hosts(live->tail, &hosts);
    bool *is_here = calloc(n + 1, sizeof *is_here);
    if (!is_here)
        return -ENOMEM;
    for (size_t h = 0; h < n && h < live->picture.snapshot.n_hosts; h++)
        is_here[live->picture.place[h]] =
            live->own_boot[0] && strcmp(hosts[h].boot_id, live->own_boot) == 0;
    live_fill_commands(&live->picture, is_here);
    free(is_here);
    return 0;
}

/* The judge has read the seconds before this view began. */
static int complete_history(struct live *live) {
    const struct live_history *past = live->judged ? &live->judged->history : NULL;
    for (size_t i = 0; past && i < past->n; i++) {
        int at = live_history_find(&live->history, past->items[i].host, past->items[i].gpu);
        if (at < 0)
            return -ENOMEM;
        live_history_complete(&live->history.items[at], &past->items[i]);
    }
    return 0;
}

static int draw(struct live *live) {
    struct live_picture *picture = &live->picture;
    live_picture_release(picture);
    fill_head(live);
    int result = live_fill_hosts(picture, &live->window, &live->history);
    if (result == 0)
        result = complete_history(live);
    if (result == 0)
        result = live_fill_processes(picture, &live->window);
    if (result == 0)
        result = live_fill_pairs(picture, &live->window);
    if (result == 0 && picture->snapshot.state == LIVE_RUNNING && live->at_ns == VALUE_ABSENT)
        result = fill_commands(live);
    if (result == 0)
        result = live_fill_judged(picture, live->judged);
    if (result == 0)
        result = picture->texts.error;
    if (result == 0) {
        fill_silence(&picture->snapshot);
        live_fill_histories(picture, &live->history);
        picture->snapshot.number = ++live->number;
        return 1;
    }
    live_picture_release(picture);
    fill_head(live);
    picture->snapshot.limit = live_limit_unknown();
    return result;
}

int live_poll(struct live *live) {
    bool is_new;
    const struct live_judged *was = live->judged;
    take(live, &is_new);
    if (!live->trouble[0] && live->at_ns == VALUE_ABSENT)
        live->judged = live_judge_ask(live->judge, live->run.state != RUN_RUNNING);
    bool still = live->run.state != RUN_RUNNING || live->at_ns != VALUE_ABSENT;
    if (live->number && !is_new && live->judged == was && still)
        return 0;
    return draw(live);
}

const struct live_snapshot *live_look(const struct live *live) {
    return &live->picture.snapshot;
}

int live_judge_now(struct live *live) {
    int result = live_judge_wait(live->judge, live->run.state != RUN_RUNNING);
    live->judged = live_judge_ask(live->judge, live->run.state != RUN_RUNNING);
    return result < 0 ? result : draw(live);
}
