/* SPDX-License-Identifier: MIT */
/* State of `chokepoint top`, and its parts: words, the watched run, text. The screen's loop is
 * cli/top/top.c. */
#ifndef CHOKEPOINT_CLI_TOP_TOP_H
#define CHOKEPOINT_CLI_TOP_TOP_H

#include <signal.h>

#include "cli/top/agents.h"
#include "cli/top/canvas.h"
#include "cli/top/view.h"

struct top_words {
    const char *run, *database, *hosts, *hostfile, *write;
    bool batch, json, flows;
    double delay_s, at_s; /* at_s: a moment of the run; negative: now */
    uint64_t n;
};

struct top {
    struct top_words words;
    struct top_agents agents;
    struct top_view view;
    struct canvas canvas;
    struct live *live; /* NULL: not open yet */
    bool stale;        /* the agents have begun another database since */
    uint64_t bytes;    /* size limit of a temporary database */
    bool utf8;
    int64_t sampled_ns; /* time of the first sample; 0 */
};

extern volatile sig_atomic_t top_ended_by; /* a signal; 0 */

/* 0, or as verb_words_read. */
int top_words_read(int argc, char **argv, struct top_words *ret_words);

/* ---- watched.c ---- */

/* 0, or an exit status after one line on standard error. */
int top_open(struct top *top);
void top_close(struct top *top);
/* Reads what is new. False: own agents have ended, so no sample will ever come. */
bool top_look(struct top *top);
const struct live_snapshot *top_picture(const struct top *top);
bool top_has_sample(const struct top *top);
/* All figures are there, including those that need two samples; or waiting is useless. */
bool top_is_worth_showing(struct top *top);
/* Prints why no sample will ever come; the exit status. */
int top_cannot_start(const struct top *top);

/* ---- print.c ---- */

#define TOP_FIRST_MS 50 /* pause between polls until there is something to show */
#define TOP_FIRST_S 60  /* limit of this wait; hosts have 20 s to answer */
/* The exit status. */
int top_print_pictures(struct top *top);

#endif
