/* SPDX-License-Identifier: MIT */
/* The files of the live model. */
#ifndef CHOKEPOINT_REPORTS_LIVE_PRIVATE_H
#define CHOKEPOINT_REPORTS_LIVE_PRIVATE_H

#include "analysis/facts/recording/recording.h"
#include "collector/store_tail.h"
#include "reports/facts/gpus.h"
#include "reports/live/live.h"
#include "reports/live/live_history.h"
#include "reports/says/text_list.h"

/* ---- live_window.c: the last moments of every host ---- */

#define LIVE_NOW_NS INT64_C(1000000000) /* the time over which a rate is computed */

#define LIVE_WINDOW_NS (12 * LIVE_NOW_NS)
#define LIVE_TABLES 11
extern const enum recording_table live_window_tables[LIVE_TABLES];

struct live_window {
    struct store_tail_table tables[LIVE_TABLES]; /* that it holds, for store_tail_open */
    struct recording recording;                  /* its hosts in the order in which they came */
    int64_t *last_ns; /* owned, by host: of its newest frame; VALUE_ABSENT */
    size_t guess;
};

void live_window_init(struct live_window *window);
void live_window_release(struct live_window *window);
/* Takes the run's new rows, and forgets old ones. *ret_rows: number of new rows. */
int live_window_take(struct live_window *window, struct store_tail *tail, size_t *ret_rows);

/* Fills an empty window as it was at that time of the run (live_moment.c). */
int live_window_read(struct live_window *window, struct store *store, int64_t run,
                     int64_t moment_ns);

/* The host's last second; an empty window for a host without samples. */
struct window live_window_now(const struct live_window *window, int host);
/* The last second in which a series has rows; false if it has none any more. */
bool live_window_now_of(const struct live_window *window, const struct series *series,
                        struct window *ret_now);
/* Growth per second of the columns (a mask) in that window; NAN if not known. */
double live_window_growth(const struct series_set *set, const struct series *series,
                          uint64_t columns, struct window now);

/* ---- live_command.c ---- */

struct live_picture;
/* The id of this machine's boot; "" if not known. */
void live_own_boot(char boot_id[BOOT_ID_SIZE + 1]);
/* Fills in command lines of processes on hosts that are this machine (by the snapshot's hosts). */
void live_fill_commands(struct live_picture *picture, const bool *is_here);

/* ---- live_past.c ---- */

/* Fills in how full the fullest host was. ceilings: four for each host, as of a judgement; -ENOMEM.
 */
int live_past_of(const struct recording *recording, const double *ceilings,
                 struct live_past *ret_past);

/* ---- live_judge.c: the run so far, judged in a thread ---- */

struct live_judged {
    struct live_limit limit; /* its texts are the members below, owned; host: index of hosts */
    char *what, *summary, *words, *worth, *action;
    char **hosts; /* names, owned */
    size_t n_hosts;
    double *ceilings;          /* owned, four for each host: send, receive, read, write */
    struct series_set devices; /* what GPUs have: told once, perhaps before a view began */
    struct live_history history;
    struct live_past past;
    struct live_budget *budgets;
    char **processes; /* owned, of the budgets */
    size_t n_budgets;
};

struct report_input;
/* Judges what was read; for an ended run, all of it. */
int live_judged_make(const struct report_input *input, const struct caller *caller, bool ended,
                     struct live_judged **ret_judged);
void live_judged_free(struct live_judged *judged); /* takes NULL */

struct live_judge;
int live_judge_new(const char *database, const struct caller *caller,
                   struct live_judge **ret_judge); /* of the caller's run */
void live_judge_free(struct live_judge *judge);    /* does not wait for the thread; takes NULL */
/* Begins to judge, unless it is judging or must rest; `ended`: the run has ended, and after that
 * judgement there is nothing more to do. Returns the latest result, or NULL.
 */
const struct live_judged *live_judge_ask(struct live_judge *judge, bool ended);
/* Judges, and waits for the result. */
int live_judge_wait(struct live_judge *judge, bool ended);
/* The rest after judging used that much CPU time; early: there is no answer yet. */
int64_t live_judge_rest_ns(int64_t cost_ns, bool early);

/* ---- live_picture.c, live_hosts.c, live_gpus.c, live_processes.c, live_pairs.c: the snapshot of
 * all that ----
 */

struct live_picture {
    struct live_snapshot snapshot;
    struct text_list texts; /* texts that the snapshot points to */
    int *place;             /* owned, by the window's hosts: index in the snapshot */
};

/* Copies a text for the life of the picture; NULL without memory, which texts.error also records.
 */
const char *live_keep(struct live_picture *picture, const char *text, size_t size);

/* Sets what the GPU has, by its name, and its model, from rows of table gpu_device. */
void live_gpu_facts(const struct series_set *devices, int host, struct live_gpu *gpu,
                    char model[GPU_MODEL_MAX]);
/* Fills in the GPUs of a host of the window, and their new seconds; -ENOMEM. */
int live_fill_gpus(struct live_picture *picture, struct live_host *to,
                   const struct live_window *window, int host, struct live_history *history);

/* Each fills its own part of an empty picture; -ENOMEM. */
int live_fill_hosts(struct live_picture *picture, const struct live_window *window,
                    struct live_history *history);
/* Points to the history, whose entries stay where they are until the next picture. */
void live_fill_histories(struct live_picture *picture, struct live_history *history);
int live_fill_processes(struct live_picture *picture, const struct live_window *window);
int live_fill_pairs(struct live_picture *picture, const struct live_window *window);
int live_fill_judged(struct live_picture *picture, const struct live_judged *judged);
void live_picture_release(struct live_picture *picture);

#endif
