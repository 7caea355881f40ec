/* SPDX-License-Identifier: MIT */
/* Pictures as text or JSON, one after the other. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/options.h"
#include "cli/base/report.h"
#include "cli/top/draw.h"
#include "cli/top/top.h"
#include "common/clock.h"
#include "common/text.h"

#define BATCH_COLUMNS 120
#define BATCH_ROWS_MAX 2000
#define BATCH_PROCESSES 20

volatile sig_atomic_t top_ended_by;

static size_t batch_columns(void) {
    const char *text = getenv("COLUMNS");
    uint64_t columns;
    return text && text_parse_u64(text, &columns) == 0 && columns >= TOP_COLUMNS_MIN &&
                   columns <= 1000
               ? (size_t)columns
               : BATCH_COLUMNS;
}

/* Up to the last line with content: lines before the line of keys may be empty. */
static size_t rows_drawn(const struct canvas *canvas, size_t rows) {
    for (; rows; rows--)
        for (size_t c = 0; c < canvas->columns; c++) {
            const char *text = canvas->cells[(rows - 1) * canvas->columns + c].text;
            if (text[0] && strcmp(text, " ") != 0)
                return rows;
        }
    return 0;
}

static int print_text(struct top *top) {
    struct live_snapshot s = *top_picture(top);
    if (s.n_processes > BATCH_PROCESSES)
        s.n_processes = BATCH_PROCESSES;
    size_t rows = top_rows_wanted(&s, &top->view, batch_columns(), BATCH_ROWS_MAX);
    int result = canvas_init(&top->canvas, rows, batch_columns(), top->utf8);
    if (result == 0)
        result = top_draw(&top->canvas, &s, &top->view);
    if (result == 0)
        result = canvas_write(&top->canvas, rows_drawn(&top->canvas, rows - 1), stdout);
    canvas_release(&top->canvas);
    return result;
}

static int print_picture(struct top *top, uint64_t number) {
    const struct live_snapshot *s = top_picture(top);
    if (s->trouble)
        verb_complain("top", "%s", s->trouble);
    if (top->words.json) {
        int result = live_write_json(s, stdout);
        return result == 0 && fflush(stdout) != 0 ? -EIO : result;
    }
    if (number)
        fputc('\n', stdout);
    return print_text(top);
}

/* Polls until there is something to show. A run without samples is shown after some time. */
static int wait_for_picture(struct top *top) {
    int64_t deadline_ns = clock_monotonic_ns() + TOP_FIRST_S * NS_PER_S;
    bool runs, late = false;
    while ((runs = top_look(top)) && !top_is_worth_showing(top) && !top_ended_by && !late) {
        poll(NULL, 0, TOP_FIRST_MS);
        late = clock_monotonic_ns() >= deadline_ns;
    }
    return !runs || (late && top->view.own) ? top_cannot_start(top) : 0;
}

/* A run that has ended does not change any more, nor does one whose database is gone. */
static bool is_last(const struct top *top, uint64_t number) {
    const struct live_snapshot *s = top_picture(top);
    return top_ended_by || (top->words.n && number >= top->words.n) ||
           (!top->words.n && (s->state != LIVE_RUNNING || s->trouble));
}

int top_print_pictures(struct top *top) {
    bool moment = top->words.at_s >= 0;
    int status = 0, result = 0;
    if (moment)
        top_look(top);
    else
        status = wait_for_picture(top);
    if (status || !top->live)
        return status;
    if (!top->view.own && !(moment && top->words.json)) /* moments are asked for often */
        live_judge_now(top->live);
    for (uint64_t number = 0; result == 0;) {
        result = print_picture(top, number++);
        if (result < 0 || is_last(top, number))
            break;
        poll(NULL, 0, (int)(1000 * top->view.delay_s));
        if (!top_ended_by)
            top_look(top);
        if (top_picture(top)->state == LIVE_ENDED && !top_picture(top)->limit.final &&
            !top->view.own)
            live_judge_now(top->live);
    }
    return result < 0 ? report_cannot_write("top", NULL, result) : 0;
}
