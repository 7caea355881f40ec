/* SPDX-License-Identifier: MIT */
/*
 * `chokepoint top`: a run that is being recorded, or hosts that nobody records, as they are now. In
 * a terminal it draws until a key ends it; piped it prints one picture after the other.
 */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/report.h"
#include "cli/top/agents.h"
#include "cli/top/draw.h"
#include "cli/top/screen.h"
#include "cli/top/view.h"
#include "cli/verb.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/text.h"

static const char help[] =
    "usage: chokepoint top [RUN] [--db FILE]\n"
    "       chokepoint top --hosts FILE|A,B | --hostfile FILE [-w FILE]\n"
    "\n"
    "Shows hosts, processes and traffic as they are now, and what limits a run so far. RUN is a\n"
    "number, a name, last or last~1; default: the newest. Without any of these it follows the run\n"
    "that is being recorded into ./chokepoint.db, or else watches this machine.\n"
    "\n"
    "      --db FILE        the database of the run; with hosts as -w\n"
    "      --hosts FILE|A,B watch these hosts; nothing that is recorded stays\n"
    "      --hostfile FILE  the same\n"
    "  -w, --write FILE     record into that database\n"
    "  -d, --delay SECONDS  between pictures; default: 1\n"
    "  -n, --count N        end after N pictures\n"
    "  -b, --batch          print pictures as text, as when standard output is no terminal\n"
    "      --format FORMAT  of -b: text, json\n"
    "\n"
    "Keys: h lists them.\n";

#define BATCH_COLUMNS 120
#define BATCH_ROWS_MAX 2000
#define BATCH_PROCESSES 20
#define FIRST_MS 50     /* between looks until there is something to see */
#define RATES_S 3.0     /* after the first sample: then a picture may lack them */
#define KEY_MS_MAX 1000 /* agents of ours are heard so often */

struct options {
    const char *run, *database, *hosts, *write, *delay, *count, *format;
    bool batch, json;
    double delay_s;
    uint64_t n;
};

struct top {
    struct options options;
    struct top_agents agents;
    struct top_view view;
    struct canvas canvas;
    struct live *live; /* NULL: not open yet */
    bool utf8;
    int64_t sampled_ns; /* when the first sample was seen; 0 */
};

static volatile sig_atomic_t ended_by;

static void on_signal(int number) {
    ended_by = number;
}

/* ---- the words ---- */

static int judge(struct options *o) {
    o->delay_s = 1;
    if (o->delay && (text_parse_double(o->delay, &o->delay_s) != 0 ||
                     !(o->delay_s >= TOP_DELAY_MIN_S && o->delay_s <= TOP_DELAY_MAX_S)))
        return verb_refuse("top", "-d", o->delay, "give seconds from 0.1 to 3600");
    if (o->count && (text_parse_u64(o->count, &o->n) != 0 || o->n < 1))
        return verb_refuse("top", "-n", o->count, "give a whole number from 1 on");
    if (o->format && strcmp(o->format, "text") != 0 && strcmp(o->format, "json") != 0)
        return verb_refuse("top", "unknown format", o->format, "there are text and json");
    if (o->run && (o->hosts || o->write))
        return verb_refuse("top", "a run and hosts", NULL,
                           "either a run is followed, or hosts are watched");
    if (o->write && o->database)
        return verb_refuse("top", "--write and --db", NULL, "one database at a time");
    o->json = o->format && strcmp(o->format, "json") == 0;
    if (o->hosts && !o->write)
        o->write = o->database;
    return 0;
}

static int parse(int argc, char **argv, struct options *o) {
    const struct verb_option takes[] = {
        {"db", 0, &o->database, NULL},    {"hosts", 0, &o->hosts, NULL},
        {"hostfile", 0, &o->hosts, NULL}, {"write", 'w', &o->write, NULL},
        {"delay", 'd', &o->delay, NULL},  {"count", 'n', &o->count, NULL},
        {"batch", 'b', NULL, &o->batch},  {"format", 0, &o->format, NULL}};
    const struct verb_words words = {"top", help, takes, ARRAY_SIZE(takes), false};
    char **rest;
    *o = (struct options){0};
    int result = verb_words_read(&words, argc, argv, &rest);
    if (result)
        return result;
    if (rest[0] && rest[1])
        return verb_refuse("top", "one run at a time", NULL, "give one, or none");
    o->run = rest[0];
    return judge(o);
}

/* ---- what is watched ---- */

/* Without any word: whether a run is being recorded here. */
static bool follows_newest(struct top *top) {
    char why[256];
    if (live_open(REPORT_DATABASE, "last", &top->live, why, sizeof why) < 0)
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
    const struct options *o = &top->options;
    const char *database = o->database ? o->database : REPORT_DATABASE;
    if (live_open(database, o->run ? o->run : "last", &top->live, why, sizeof why) == 0)
        return 0;
    verb_complain("top", "%s", why);
    return EXIT_USAGE;
}

static int open_source(struct top *top) {
    const struct options *o = &top->options;
    char why[300];
    if (o->run || (o->database && !o->hosts))
        return open_run(top);
    if (!o->hosts && !o->write && follows_newest(top))
        return 0;
    top->view.own = true;
    if (top_agents_start(&top->agents, o->hosts, o->write, why, sizeof why) == 0)
        return 0;
    verb_complain("top", "%s", why);
    return 1;
}

/* Of agents that are ours the database comes some moments later. False: it never will. */
static bool look(struct top *top) {
    char why[300];
    bool run = !top->view.own || top_agents_run(&top->agents);
    top->view.message = top->view.own ? top_agents_said(&top->agents, !run) : NULL;
    if (!top->live)
        live_open(top->agents.database, "last", &top->live, why, sizeof why);
    if (top->live)
        live_poll(top->live);
    return run || top->live;
}

static const struct live_snapshot *picture_of(const struct top *top) {
    static const struct live_snapshot nothing = {.run_name = "", .limit = {.summary = ""}};
    return top->live ? live_look(top->live) : &nothing;
}

/* Figures, and those that take two samples; or there is no use in waiting. */
static bool is_worth_showing(struct top *top) {
    const struct live_snapshot *s = picture_of(top);
    if (!top->live)
        return false;
    for (size_t h = 0; h < s->n_hosts; h++) {
        if (!isnan(s->hosts[h].cpu_pct))
            return true;
        if (!isnan(s->hosts[h].seen_s) && !top->sampled_ns)
            top->sampled_ns = clock_monotonic_ns();
    }
    return s->state != LIVE_RUNNING || s->trouble ||
           (top->sampled_ns && (double)(clock_monotonic_ns() - top->sampled_ns) / 1e9 > RATES_S);
}

/* ---- text ---- */

static size_t batch_columns(void) {
    const char *text = getenv("COLUMNS");
    uint64_t columns;
    return text && text_parse_u64(text, &columns) == 0 && columns >= TOP_COLUMNS_MIN &&
                   columns <= 1000
               ? (size_t)columns
               : BATCH_COLUMNS;
}

static int print_text(struct top *top) {
    struct live_snapshot s = *picture_of(top);
    if (s.n_processes > BATCH_PROCESSES)
        s.n_processes = BATCH_PROCESSES;
    size_t rows = top_rows_wanted(&s, &top->view, BATCH_ROWS_MAX);
    int result = canvas_init(&top->canvas, rows, batch_columns(), top->utf8);
    if (result == 0)
        result = top_draw(&top->canvas, &s, &top->view);
    if (result == 0)
        result = canvas_write(&top->canvas, rows - 1, stdout); /* without the line of keys */
    canvas_release(&top->canvas);
    return result;
}

static int print_picture(struct top *top, uint64_t number) {
    const struct live_snapshot *s = picture_of(top);
    if (s->trouble)
        verb_complain("top", "%s", s->trouble);
    if (top->options.json) {
        int result = live_write_json(s, stdout);
        return result == 0 && fflush(stdout) != 0 ? -EIO : result;
    }
    if (number)
        fputc('\n', stdout);
    return print_text(top);
}

static int cannot_start(const struct top *top) {
    const char *said = top_agents_said(&top->agents, true);
    verb_complain("top", "%s", said ? said : "its agents ended");
    return 1;
}

/* Looks until there is something to see. */
static int wait_for_picture(struct top *top) {
    bool runs;
    while ((runs = look(top)) && !is_worth_showing(top) && !ended_by)
        poll(NULL, 0, FIRST_MS);
    return runs || top->live ? 0 : cannot_start(top);
}

/* A run that has ended does not change any more, nor does one whose database is gone. */
static bool is_last(const struct top *top, uint64_t number) {
    const struct live_snapshot *s = picture_of(top);
    return ended_by || (top->options.n && number >= top->options.n) ||
           (!top->options.n && (s->state != LIVE_RUNNING || s->trouble));
}

static int print_pictures(struct top *top) {
    int status = wait_for_picture(top), result = 0;
    if (status || !top->live)
        return status;
    if (!top->view.own)
        live_judge_now(top->live);
    for (uint64_t number = 0; result == 0;) {
        result = print_picture(top, number++);
        if (result < 0 || is_last(top, number))
            break;
        poll(NULL, 0, (int)(1000 * top->view.delay_s));
        if (!ended_by)
            look(top);
        if (picture_of(top)->state == LIVE_ENDED && !picture_of(top)->limit.final && !top->view.own)
            live_judge_now(top->live);
    }
    return result < 0 ? report_cannot_write("top", NULL, result) : 0;
}

/* ---- the screen ---- */

static int show(struct top *top) {
    size_t rows, columns;
    screen_size(&rows, &columns);
    if (rows != top->canvas.rows || columns != top->canvas.columns) {
        canvas_release(&top->canvas);
        if (canvas_init(&top->canvas, rows, columns, top->utf8) < 0)
            return -ENOMEM;
    }
    int result = top_draw(&top->canvas, picture_of(top), &top->view);
    if (result == 0)
        screen_show(&top->canvas);
    return result;
}

static int wait_ms(const struct top *top, int64_t next_ns) {
    int64_t left = next_ns - clock_monotonic_ns();
    int ms = left <= 0                       ? 0
             : left > KEY_MS_MAX * NS_PER_MS ? KEY_MS_MAX
                                             : (int)(left / NS_PER_MS) + 1;
    return top->sampled_ns || ms < FIRST_MS ? ms : FIRST_MS;
}

static int draw_pictures(struct top *top) {
    uint64_t number = 0;
    int64_t next_ns = 0;
    int result = 0;
    while (!top->view.quit && !ended_by && result == 0) {
        bool due = clock_monotonic_ns() >= next_ns || !top->sampled_ns;
        if (due && !top->view.paused) {
            if (!look(top))
                return screen_close(), cannot_start(top);
            if (is_worth_showing(top) && !top->sampled_ns)
                top->sampled_ns = clock_monotonic_ns();
            next_ns = clock_monotonic_ns() + (int64_t)(top->view.delay_s * 1e9);
        }
        result = show(top);
        if (due && top->sampled_ns && top->options.n && ++number >= top->options.n)
            break;
        int key = screen_key(wait_ms(top, next_ns));
        if (key != TOP_KEY_NONE)
            top_view_key(&top->view, picture_of(top), key);
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

static bool is_batch(const struct options *o) {
    const char *type = getenv("TERM");
    return o->batch || o->json || !isatty(STDOUT_FILENO) || !type || strcmp(type, "dumb") == 0;
}

static int watch(struct top *top) {
    const char *no_colour = getenv("NO_COLOR");
    char why[200];
    int status = open_source(top);
    if (status)
        return status;
    catch_signals();
    if (is_batch(&top->options))
        return print_pictures(top);
    if (screen_open(!(no_colour && *no_colour), why, sizeof why) == 0)
        return draw_pictures(top);
    verb_complain("top", "%s", why);
    return EXIT_USAGE;
}

static int top_main(int argc, char **argv) {
    struct top top = {.agents = {.hold_fd = -1, .say_fd = -1}};
    int status = parse(argc, argv, &top.options);
    if (status)
        return verb_words_status(status);
    if (!is_batch(&top.options) && !isatty(STDIN_FILENO)) {
        verb_complain("top", "standard input is no terminal; -b prints text");
        return EXIT_USAGE;
    }
    setlocale(LC_CTYPE, "");
    top.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    top_view_init(&top.view, top.options.delay_s);
    status = watch(&top);
    canvas_release(&top.canvas);
    live_close(top.live);
    top_agents_stop(&top.agents);
    return ended_by == SIGTERM || ended_by == SIGHUP ? 128 + ended_by : status;
}

const struct verb verb_top = {
    .name = "top", .help = "show hosts, processes and the limit so far, live", .main = top_main};
