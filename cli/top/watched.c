/* SPDX-License-Identifier: MIT */
/* The source of figures: a run in a database, or hosts with agents of the view. */
#include <math.h>
#include <stdlib.h>

#include "cli/base/options.h"
#include "cli/base/report.h"
#include "cli/base/verb.h"
#include "cli/top/top.h"
#include "common/clock.h"
#include "common/text.h"

#define OWN_BYTES "256m" /* 4 hours of one host */
#define RATES_S 3.0      /* after the first sample; later, pictures may lack figures */

/* Without any word: whether a run is being recorded here. */
static bool follows_newest(struct top *top) {
    char why[256];
    if (live_open(REPORT_DATABASE, "last", verb_caller(), &top->live, why, sizeof why) < 0)
        return false;
    live_poll(top->live);
    if (live_look(top->live)->state == LIVE_RUNNING)
        return true;
    live_close(top->live);
    top->live = NULL;
    return false;
}

static int open_run(struct top *top) {
    char why[300];
    const struct top_words *o = &top->words;
    const char *database = o->database ? o->database : REPORT_DATABASE;
    const char *run = o->run ? o->run : "last";
    int result = o->at_s < 0 ? live_open(database, run, verb_caller(), &top->live, why, sizeof why)
                             : live_open_at(database, run, o->at_s, verb_caller(), &top->live, why,
                                            sizeof why);
    if (result == 0)
        return 0;
    verb_complain("top", "%s", why);
    return EXIT_USAGE;
}

int top_open(struct top *top) {
    const struct top_words *o = &top->words;
    const char *bytes = getenv("CHOKEPOINT_TOP_BYTES");
    char why[300];
    if (text_parse_bytes(bytes ? bytes : OWN_BYTES, &top->bytes) != 0)
        return verb_refuse("top", "CHOKEPOINT_TOP_BYTES", bytes, "give bytes such as 64m or 1g"),
               EXIT_USAGE;
    if (o->run || (o->database && !o->hosts))
        return open_run(top);
    if (top_agents_start(&top->agents, o->hosts, o->flows, o->write, why, sizeof why) < 0)
        return verb_complain("top", "%s", why), 1;
    if (!o->hosts && !o->write && !o->flows && follows_newest(top)) {
        top_agents_stop(&top->agents);
        return 0;
    }
    top->view.own = true;
    top_agents_go(&top->agents);
    return 0;
}

const struct live_snapshot *top_picture(const struct top *top) {
    static const struct live_snapshot nothing = {
        .run_name = "",
        .at_s = NAN,
        .limit = {.host = -1, .rank = -1, .summary = "", .words = "", .worth = "", .action = ""}};
    return top->live ? live_look(top->live) : &nothing;
}

/* Whether some host has the figures that need two samples. */
static bool has_figures(const struct live_snapshot *s) {
    for (size_t h = 0; h < s->n_hosts; h++)
        if (!isnan(s->hosts[h].cpu_pct))
            return true;
    return false;
}

bool top_has_sample(const struct top *top) {
    const struct live_snapshot *s = top_picture(top);
    for (size_t h = 0; h < s->n_hosts; h++)
        if (!isnan(s->hosts[h].seen_s))
            return true;
    return false;
}

/* The database of own agents appears some moments later. */
static void open_own(struct top *top) {
    struct live *live;
    if (top->live && !top->stale)
        return;
    if (live_open(top->agents.database, "last", verb_caller(), &live, NULL, 0) < 0)
        return;
    if (!top->stale) {
        top->live = live;
        return;
    }
    live_poll(live);
    if (!has_figures(live_look(live))) { /* the former picture stays until then */
        live_close(live);
        return;
    }
    live_close(top->live);
    top->live = live;
    top->stale = false;
}

bool top_look(struct top *top) {
    bool run = !top->view.own || top_agents_run(&top->agents);
    top->view.message = top->view.own ? top_agents_said(&top->agents, !run) : NULL;
    if (top->view.own)
        open_own(top);
    if (top->live && !top->stale) {
        live_poll(top->live);
        top->stale = top->view.own && top_agents_turn(&top->agents, top->bytes);
    }
    return run || top_has_sample(top);
}

bool top_is_worth_showing(struct top *top) {
    const struct live_snapshot *s = top_picture(top);
    if (!top->live || (top->view.own && !top_has_sample(top)))
        return false;
    if (has_figures(s))
        return true;
    if (top_has_sample(top) && !top->sampled_ns)
        top->sampled_ns = clock_monotonic_ns();
    return s->state != LIVE_RUNNING || s->trouble ||
           (top->sampled_ns && (double)(clock_monotonic_ns() - top->sampled_ns) / 1e9 > RATES_S);
}

int top_cannot_start(const struct top *top) {
    const char *said = top_agents_said(&top->agents, true);
    if (said)
        verb_complain("top", "%s", said);
    else if (top->agents.pid)
        verb_complain("top", "no sample came in %d s", TOP_FIRST_S);
    else
        verb_complain("top", "its agents ended");
    return 1;
}

void top_close(struct top *top) {
    live_close(top->live);
    top_agents_stop(&top->agents);
}
