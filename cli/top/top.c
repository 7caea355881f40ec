/* SPDX-License-Identifier: MIT */
/*
 * `chokepoint top`: the present state of a run that is recorded, or of hosts without one. In a
 * terminal it draws until a key ends it; in a pipe it prints one picture after the other.
 */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/options.h"
#include "cli/base/report.h"
#include "cli/base/verb.h"
#include "cli/top/draw.h"
#include "cli/top/screen.h"
#include "cli/top/top.h"
#include "common/clock.h"
#include "common/error.h"

#define KEY_MS_MAX 1000 /* interval of reading the agents' output */

static void on_signal(int number) {
    top_ended_by = number;
}

static int show(struct top *top) {
    size_t rows, columns;
    screen_size(&rows, &columns);
    if (rows != top->canvas.rows || columns != top->canvas.columns) {
        canvas_release(&top->canvas);
        if (canvas_init(&top->canvas, rows, columns, top->utf8) < 0)
            return -ENOMEM;
    }
    int result = top_draw(&top->canvas, top_picture(top), &top->view);
    if (result == 0)
        screen_show(&top->canvas);
    return result;
}

static int wait_ms(const struct top *top, int64_t next_ns) {
    int64_t left = next_ns - clock_monotonic_ns();
    int ms = left <= 0                       ? 0
             : left > KEY_MS_MAX * NS_PER_MS ? KEY_MS_MAX
                                             : (int)(left / NS_PER_MS) + 1;
    return top->sampled_ns || ms < TOP_FIRST_MS ? ms : TOP_FIRST_MS;
}

static int draw_pictures(struct top *top) {
    uint64_t number = 0;
    int64_t next_ns = 0;
    int result = 0;
    while (!top->view.quit && !top_ended_by && result == 0) {
        bool due = clock_monotonic_ns() >= next_ns || !top->sampled_ns;
        if (due && !top->view.paused) {
            if (!top_look(top))
                return screen_close(), top_cannot_start(top);
            if ((top_has_sample(top) || top_is_worth_showing(top)) && !top->sampled_ns)
                top->sampled_ns = clock_monotonic_ns();
            next_ns = clock_monotonic_ns() + (int64_t)(top->view.delay_s * 1e9);
        }
        result = show(top);
        if (due && top->sampled_ns && top->words.n && ++number >= top->words.n)
            break;
        int key = screen_key(wait_ms(top, next_ns));
        if (key != TOP_KEY_NONE)
            top_view_key(&top->view, top_picture(top), key);
    }
    screen_close();
    return result < 0 ? report_cannot_write("top", NULL, result) : 0;
}

static void catch_signals(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    const struct sigaction action = {.sa_handler = on_signal};
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        sigaction(numbers[i], &action, NULL);
}

static bool is_batch(const struct top_words *o) {
    const char *type = getenv("TERM");
    return o->batch || o->json || !isatty(STDOUT_FILENO) || !type || strcmp(type, "dumb") == 0;
}

static int watch(struct top *top) {
    const char *no_colour = getenv("NO_COLOR");
    char why[200];
    int status = top_open(top);
    if (status)
        return status;
    catch_signals();
    if (is_batch(&top->words))
        return top_print_pictures(top);
    if (screen_open(!(no_colour && *no_colour), why, sizeof why) == 0)
        return draw_pictures(top);
    verb_complain("top", "%s", why);
    return EXIT_USAGE;
}

static int top_main(int argc, char **argv) {
    struct top top = {.agents = {.hold_fd = -1, .held_fd = -1, .say_fd = -1, .directory_fd = -1}};
    int status = top_words_read(argc, argv, &top.words);
    if (status)
        return verb_words_status(status);
    if (!is_batch(&top.words) && !isatty(STDIN_FILENO)) {
        verb_complain("top", "standard input is no terminal; -b prints text");
        return EXIT_USAGE;
    }
    setlocale(LC_CTYPE, "");
    top.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    top_view_init(&top.view, top.words.delay_s);
    status = watch(&top);
    canvas_release(&top.canvas);
    top_close(&top);
    return top_ended_by == SIGTERM || top_ended_by == SIGHUP ? 128 + top_ended_by : status;
}

const struct verb verb_top = {.name = "top",
                              .help = "show hosts, processes and the limit so far, live",
                              .main = top_main,
                              .formats = "text json"};
