/* SPDX-License-Identifier: MIT */
/*
 * `chokepoint calibrate`: lets chokepoint-calibrate measure the hosts, one rank a host under the
 * user's own mpirun, and stores the figures. Each rank is told its host's name, so that figures
 * have the same names as recordings. Figures measured before a failure are kept; the exit status
 * then says that some are missing.
 */
#include "cli/base/options.h"
#include "cli/base/output.h"
#include "cli/base/verb.h"
#include "cli/calibrate/options.h"
#include "cli/calibrate/result.h"
#include "cli/launch/address.h"
#include "cli/launch/child.h"
#include "cli/launch/hosts_choose.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/own_program.h"
#include "reports/model/ceilings.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SILENCE_NS (90 * NS_PER_S) /* silence of the program after which it is given up */
#define LINE_EVERY_NS (5 * NS_PER_S)
#define SAID_LINES 6
#define BAR_WIDTH 30
#define WORDS_OF_HOST 14

struct calibrator {
    const struct calibrate_options *options;
    struct hosts hosts; /* host names in the figures */
    const char **reach; /* owned: names for mpirun, by host */
    bool others;        /* hosts other than this machine */
    bool from_hostfile;
    char program[PATH_MAX];
    struct calibration result;
    struct line_reader output, errors;
    pid_t pid;
    bool terminal;
    int64_t shown_ns;
    char said[SAID_LINES][200]; /* first lines on its standard error, which name causes */
    size_t n_said;
    int error;
};

static int complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int complain(const char *format, ...) {
    char line[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    fprintf(stderr, "chokepoint calibrate: %s\n", line);
    return -EINVAL;
}

/* --- which hosts --- */

static bool names_no_host_in_particular(const char *name) {
    struct in_addr address;
    return strcmp(name, "localhost") == 0 || inet_pton(AF_INET, name, &address) == 1;
}

static int add_host(struct calibrator *c, const char *name, bool own, bool *own_is_there) {
    char local[HOST_NAME_LENGTH_MAX + 1] = "", why[160];
    const char *known = name;
    if (own && *own_is_there)
        return 0;
    if (own && names_no_host_in_particular(name) && gethostname(local, sizeof local - 1) == 0)
        known = local;
    size_t before = c->hosts.n;
    int r = hosts_add(&c->hosts, known, strlen(known), why, sizeof why);
    if (r < 0)
        return complain("%s", why);
    if (c->hosts.n > before)
        c->reach[before] = name;
    *own_is_there |= own;
    c->others |= !own;
    return 0;
}

/* This machine is one host, whatever its names. */
static int choose_hosts(struct calibrator *c, struct hosts *named) {
    struct command_words words = {.kind = COMMAND_PLAIN};
    enum hosts_source source;
    char why[600];
    bool own_is_there = false;
    if (c->options->hostfile) {
        words.kind = COMMAND_MPIRUN;
        words.hostfiles[words.n_hostfiles++] = c->options->hostfile;
    }
    int r = hosts_choose(c->options->hosts, &words, named, &source, why, sizeof why);
    if (r < 0)
        return complain("%s", why);
    c->from_hostfile = source == HOSTS_COMMAND && c->options->hostfile;
    c->reach = calloc(named->n, sizeof *c->reach);
    if (!c->reach)
        return complain("out of memory");
    for (size_t i = 0; i < named->n && r == 0; i++)
        r = add_host(c, named->names[i], address_is_ours(named->names[i]), &own_is_there);
    return r;
}

/* --- the program --- */

/* The program lies beside this one. One machine needs no MPI. */
static int find_program(struct calibrator *c) {
    const char *name = c->others ? "chokepoint-calibrate" : "chokepoint-calibrate-alone";
    char own[PATH_MAX];
    int r = own_program_path(own);
    if (r < 0)
        return complain("/proc/self/exe: %s", strerror(-r));
    *strrchr(own, '/') = '\0';
    if ((size_t)snprintf(c->program, sizeof c->program, "%s/%s", own, name) >= sizeof c->program)
        return complain("a path is too long");
    if (access(c->program, X_OK) < 0)
        return complain("%s: %s; %s", c->program, strerror(errno),
                        c->others ? "build Chokepoint with MPI, or leave out the other hosts"
                                  : "it belongs beside chokepoint");
    return 0;
}

static void add_words(const struct calibrator *c, size_t host, const char **words, size_t *n) {
    const struct calibrate_options *o = c->options;
    words[(*n)++] = c->program;
    words[(*n)++] = "--name";
    words[(*n)++] = c->hosts.names[host];
    if (o->quick)
        words[(*n)++] = "--quick";
    if (o->disk) {
        words[(*n)++] = "--disk";
        words[(*n)++] = o->disk;
    }
    if (o->only) {
        words[(*n)++] = "--only";
        words[(*n)++] = o->only;
    }
}

/* Appends one part of mpirun's command line for each host, so that each rank runs on its named
 * host. */
static const char **make_words(const struct calibrator *c) {
    const char **words = calloc(WORDS_OF_HOST * c->hosts.n + 8, sizeof *words);
    size_t n = 0;
    if (!words)
        return NULL;
    if (!c->others) {
        add_words(c, 0, words, &n);
        return words;
    }
    words[n++] = "mpirun";
    if (c->from_hostfile) {
        words[n++] = "--hostfile";
        words[n++] = c->options->hostfile;
    }
    words[n++] = "--bind-to";
    words[n++] = "none";
    for (size_t i = 0; i < c->hosts.n; i++) {
        if (i)
            words[n++] = ":";
        words[n++] = "--host";
        words[n++] = c->reach[i];
        words[n++] = "-np";
        words[n++] = "1";
        add_words(c, i, words, &n);
    }
    return words;
}

/* The calibration is no part of a recorded job. */
static int start_words(struct calibrator *c, const char *const *words, int output, int errors) {
    static const struct child_variable variables[] = {{"CHOKEPOINT_RUN", NULL},
                                                      {"OMPI_CHOKEPOINT_RUN", NULL},
                                                      {"LC_CHOKEPOINT_RUN", NULL},
                                                      {"SLURM_CHOKEPOINT_RUN", NULL},
                                                      {0}};
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const struct child_plan plan = {.words = words,
                                    .variables = variables,
                                    .stdin_fd = null,
                                    .stdout_fd = output,
                                    .stderr_fd = errors,
                                    .dies_with_parent = true};
    int r = null < 0 ? negative_errno() : child_start(&plan, &c->pid);
    if (null >= 0)
        close(null);
    return r;
}

static int start(struct calibrator *c) {
    int output[2], errors[2];
    const char **words = make_words(c);
    int r = words ? 0 : -ENOMEM;
    if (r == 0 && pipe2(output, O_CLOEXEC) < 0)
        r = negative_errno();
    if (r == 0 && pipe2(errors, O_CLOEXEC) < 0) {
        r = negative_errno();
        close(output[0]);
        close(output[1]);
    }
    if (r == 0) {
        r = start_words(c, words, output[1], errors[1]);
        close(output[1]);
        close(errors[1]);
        line_reader_init(&c->output, output[0]);
        line_reader_init(&c->errors, errors[0]);
    }
    if (r < 0)
        complain("%s: %s", words ? words[0] : "words",
                 r == -ENOENT && c->others ? "command not found; more hosts than this one need MPI"
                                           : strerror(-r));
    free(words);
    return r;
}

/* --- while it measures --- */

static void show_bar(struct calibrator *c) {
    const struct calibration *r = &c->result;
    int left = (int)(r->left_s + .5), full = (int)(r->done * BAR_WIDTH + .5);
    char bar[BAR_WIDTH + 1];
    memset(bar, '.', BAR_WIDTH);
    memset(bar, '#', (size_t)full);
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r[%s] %3.0f %%  %d:%02d left  %.40s\033[K", bar, 100 * r->done, left / 60,
            left % 60, r->what);
}

static void show_progress(struct calibrator *c) {
    int64_t now = clock_monotonic_ns();
    if (c->options->quiet || !c->result.what[0])
        return;
    if (c->terminal) {
        show_bar(c);
    } else if (c->shown_ns == 0 || now - c->shown_ns >= LINE_EVERY_NS) {
        fprintf(stderr, "chokepoint calibrate: %.0f %%, %.0f s left: %s\n", 100 * c->result.done,
                c->result.left_s, c->result.what);
        c->shown_ns = now;
    }
}

static void hide_bar(const struct calibrator *c) {
    if (c->terminal && !c->options->quiet)
        fputs("\r\033[K", stderr);
}

static void on_output(void *ctx, const char *line) {
    struct calibrator *c = ctx;
    int r = line[0] ? calibration_take_line(&c->result, line) : 0;
    c->error = c->error ? c->error : r;
}

/* mpirun frames its advice with rules and blank lines. */
static void on_error(void *ctx, const char *line) {
    struct calibrator *c = ctx;
    if (line[strspn(line, "-=* ")] && c->n_said < SAID_LINES)
        snprintf(c->said[c->n_said++], sizeof c->said[0], "%.*s", (int)sizeof c->said[0] - 1, line);
}

static bool listen_to_it(struct calibrator *c) {
    int64_t heard_ns = clock_monotonic_ns();
    while (c->output.fd >= 0 || c->errors.fd >= 0) {
        struct pollfd polled[] = {{.fd = c->output.fd, .events = POLLIN},
                                  {.fd = c->errors.fd, .events = POLLIN}};
        int n = poll(polled, 2, 1000);
        if (n > 0) {
            heard_ns = clock_monotonic_ns();
            line_reader_read(&c->output, on_output, c);
            line_reader_read(&c->errors, on_error, c);
            show_progress(c);
        } else if (clock_monotonic_ns() - heard_ns > SILENCE_NS) {
            return false;
        }
    }
    return true;
}

/* The program's exit status. Ends it if it is silent too long. */
static int await_end(struct calibrator *c) {
    int status = 0;
    bool ended = listen_to_it(c);
    hide_bar(c);
    if (!ended) {
        complain("nothing was heard for %d s; given up", (int)(SILENCE_NS / NS_PER_S));
        kill(c->pid, SIGTERM);
        for (int i = 0; i < 50 && child_ended(c->pid, &status) == -EAGAIN; i++)
            poll(NULL, 0, 100);
        kill(c->pid, SIGKILL);
    }
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        ;
    return ended ? child_exit_status(status) : EXIT_FAILURE;
}

/* --- afterwards --- */

static void say_troubles(const struct calibrator *c, int status) {
    const struct calibration *r = &c->result;
    for (size_t i = 0; i < r->n_troubles; i++)
        complain("%s", r->troubles[i]);
    if (r->n_refused)
        complain("%zu line%s of output not used: %s", r->n_refused, r->n_refused == 1 ? "" : "s",
                 r->refused);
    if (status == 0)
        return;
    complain("%s ended with exit status %d%s", c->others ? "mpirun" : c->program, status,
             c->n_said ? "; it said:" : "");
    for (size_t i = 0; i < c->n_said; i++)
        complain("  %s", c->said[i]);
}

static int open_store(const struct calibrator *c, struct store **ret_store) {
    char why[300] = "";
    int r = store_open_write(c->options->database, ret_store, why, sizeof why);
    return r ? complain("%s", why) : 0;
}

static int keep(const struct calibrator *c) {
    struct store *store;
    int r = open_store(c, &store);
    if (r < 0)
        return r;
    r = store_ceilings_add(store, c->result.figures, c->result.n);
    if (r < 0)
        complain("%s: %s", c->options->database, store_error(store));
    store_close(store);
    return r;
}

static int print(const struct calibrator *c) {
    struct output output;
    int r = output_open(&output);
    if (r < 0)
        return r;
    const struct calibration *result = &c->result;
    r = c->options->json ? ceilings_print_json(output.file, result->figures, result->n,
                                               result->troubles, result->n_troubles)
                         : ceilings_print(output.file, result->figures, result->n);
    return output_close(&output, NULL, r);
}

static int finish(struct calibrator *c, int status) {
    say_troubles(c, status);
    if (c->error < 0)
        return complain("%s", strerror(-c->error)), EXIT_FAILURE;
    if (c->result.n == 0)
        return complain("nothing was measured"), EXIT_FAILURE;
    int kept = keep(c);
    int r = print(c);
    if (r < 0)
        complain("standard output: %s", strerror(-r));
    if (kept == 0 && !c->options->quiet)
        fprintf(stderr, "chokepoint calibrate: kept in %s, for reports of runs on these hosts\n",
                c->options->database);
    return status == 0 && kept == 0 && r == 0 ? 0 : EXIT_FAILURE;
}

/* Opens the database before a minute of measuring. */
static int calibrate(struct calibrator *c, struct hosts *named) {
    struct store *store;
    if (choose_hosts(c, named) < 0 || find_program(c) < 0 || open_store(c, &store) < 0)
        return EXIT_USAGE;
    store_close(store);
    c->result.hosts = &c->hosts;
    return start(c) < 0 ? EXIT_FAILURE : finish(c, await_end(c));
}

static int calibrate_main(int argc, char **argv) {
    struct calibrate_options options;
    struct calibrator c = {.options = &options,
                           .output = {.fd = -1},
                           .errors = {.fd = -1},
                           .terminal = isatty(STDERR_FILENO)};
    struct hosts named = {0};
    int r = calibrate_options_read(argc, argv, &options);
    if (r)
        return verb_words_status(r);
    int exit_status = calibrate(&c, &named);
    line_reader_close(&c.output);
    line_reader_close(&c.errors);
    calibration_release(&c.result);
    free(c.reach);
    hosts_release(&c.hosts);
    hosts_release(&named);
    return exit_status;
}

const struct verb verb_calibrate = {.name = "calibrate",
                                    .help = "measure what hosts and their links can carry",
                                    .main = calibrate_main};
