/* SPDX-License-Identifier: MIT */
/*
 * `chokepoint run COMMAND...`: records the hosts of a command while it runs. The command and its
 * caller should not notice it: streams, signals and exit status are the command's own, and the
 * command goes on whatever happens to the recording.
 *
 * One process writes to the database at a time, with one exception: the start of the command, which
 * must be stored even if all of them are killed. Everything else waits until the collector has
 * ended.
 */
#include "cli/base/options.h"
#include "cli/base/report.h"
#include "cli/base/verb.h"
#include "cli/launch/program_file.h"
#include "cli/launch/run_session.h"
#include "cli/launch/slurm_job.h"
#include "cli/run/run_await.h"
#include "cli/run/run_prepare.h"
#include "cli/run/run_repeat.h"
#include "collector/store.h"
#include "collector/store_edit.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_NOT_STARTED 1

/* --- the database --- */

/* The run must be in this very file once it has begun. `what` is not done if that fails. */
static int open_database(const struct run_session *s, const char *what, struct store **ret_store) {
    char why[300] = "";
    const char *path = s->options->database;
    int r = s->run ? store_open_again(path, &s->collector.file, ret_store, why, sizeof why)
                   : store_open_write(path, ret_store, why, sizeof why);
    if (r && *what)
        session_complain(s, "%s of run %" PRId64 " could not be written: %s", what, s->run, why);
    else if (r)
        session_complain(s, "%s", why);
    return r ? -EINVAL : 0;
}

static const char *run_name(const struct run_session *s) {
    const char *program = s->words.program ? s->words.program : s->options->command[0];
    const char *slash = strrchr(program, '/');
    return s->options->name ? s->options->name : slash && slash[1] ? slash + 1 : program;
}

/* The agent beside `run` keeps this, so that the run can be rebuilt without the database. */
static void tell_agents(struct run_session *s, const char *line) {
    char here[PATH_MAX] = "";
    const char *path = s->options->database;
    if (path[0] != '/' && !getcwd(here, sizeof here))
        return;
    int n = snprintf(s->database, sizeof s->database, "%s%s%s", here, here[0] ? "/" : "", path);
    if (n > 0 && (size_t)n < sizeof s->database)
        s->plan.database = s->database;
    text_sanitize(s->run_name, sizeof s->run_name, run_name(s), strlen(run_name(s)));
    text_sanitize(s->command_line, sizeof s->command_line, line, strlen(line));
    s->plan.run_name = s->run_name;
    s->plan.command = s->command_line;
}

static int begin(struct run_session *s) {
    struct store *store;
    char job[1024];
    char *line = command_line(s->options);
    int r = line ? open_database(s, "", &store) : -ENOMEM;
    if (r < 0)
        return free(line), r;
    verb_say_owner("run", s->options->database);
    const struct run_begin begin = {.name = run_name(s),
                                    .command = line,
                                    .wall_ns = clock_wall_ns(),
                                    .mono_ns = clock_monotonic_ns(),
                                    .period_ns = (int64_t)(1e9 / s->options->rate_hz + 0.5),
                                    .n_hosts_expected = (int)s->n_launches,
                                    .repeat = s->series.repeat,
                                    .repeats = s->series.repeat ? s->options->repeats : 0,
                                    .group = s->series.first_repeat,
                                    .sweep = s->series.sweep,
                                    .labels = s->series.labels,
                                    .n_labels = s->series.n_labels};
    r = store_run_begin(store, &begin, &s->run);
    if (r < 0)
        session_complain(s, "%s: %s", s->options->database, store_error(store));
    if (r == 0 && slurm_describe_job(job, sizeof job))
        store_run_comment(store, s->run, job);
    tell_agents(s, line);
    s->collector.run = s->run;
    s->collector.file = store_file_of(store);
    store_close(store);
    free(line);
    return r;
}

static int record_start(const struct run_session *s) {
    struct store *store;
    int r = open_database(s, "", &store);
    if (r < 0)
        return r;
    r = store_run_command_started(store, s->run, s->command.started_wall_ns,
                                  s->command.started_mono_ns);
    store_close(store);
    return r;
}

static enum run_state end_state(const struct run_session *s, int exit_status) {
    if (s->signals.last)
        return RUN_INTERRUPTED;
    if (s->refusal)
        return RUN_NOT_STARTED;
    if (exit_status > 128 && WIFSIGNALED(s->command.status))
        return RUN_KILLED;
    return exit_status ? RUN_FAILED : RUN_DONE;
}

#define SCANS_MIN 3 /* with fewer scans a rank may come and go unseen */

/* A launcher that failed without ever starting a rank: the program is missing, or a host is
 * unreachable. Only if processes were scanned on all hosts. */
static void judge_launcher(struct run_session *s, struct store *store) {
    bool has_ranks = true, missing = false;
    double scans = (double)(s->command.ended_mono_ns - s->command.started_mono_ns) / 1e9 *
                   s->options->process_rate_hz;
    int found = s->words.program ? command_find(s->words.program) : 0;
    for (size_t i = 0; i < s->n_launches; i++)
        missing |= !s->launches[i].final;
    if (s->words.kind == COMMAND_PLAIN || missing || (found == 0 && scans < SCANS_MIN) ||
        store_run_has_ranks(store, s->run, &has_ranks) < 0 || has_ranks)
        return;
    if (found == 0)
        session_refuse(s, "%s ended without having started a rank", s->words.launcher);
    else
        session_refuse(s, "%s found no program %s", s->words.launcher, s->words.program);
}

/* For `attach`: a unit, port or process that nobody has is a mistake, not an idle job. */
static void judge_job(struct run_session *s, struct store *store) {
    bool has = true;
    int r = store_run_has_job(store, s->run, &has);
    if ((r == 0 && !has) || r == -ENOENT)
        session_refuse(s, "no process matched --job %s%s", s->options->jobs.items[0].text,
                       s->options->jobs.n > 1 ? " or another of them" : "");
}

static int64_t ns_of(struct timeval time) {
    return time.tv_sec * NS_PER_S + time.tv_usec * NS_PER_US;
}

/* This machine among the hosts; NULL: it is not one of them. */
static const char *own_name(const struct run_session *s) {
    for (size_t i = 0; i < s->n_launches; i++)
        if (s->launches[i].method == LAUNCH_DIRECT)
            return s->launches[i].host;
    return NULL;
}

/* ru_inblock and ru_oublock count 512 bytes each, ru_maxrss KiB. */
static int record_usage(const struct run_session *s, struct store *store) {
    const char *host = own_name(s);
    const struct run_usage usage = {.user_ns = ns_of(s->command.usage.ru_utime),
                                    .system_ns = ns_of(s->command.usage.ru_stime),
                                    .read_bytes = s->command.usage.ru_inblock * 512,
                                    .write_bytes = s->command.usage.ru_oublock * 512,
                                    .peak_rss_bytes = s->command.usage.ru_maxrss * 1024};
    return host ? store_run_usage(store, s->run, host, &usage) : 0;
}

static int record_end(struct run_session *s, int exit_status) {
    struct store *store;
    int r = open_database(s, "the end", &store);
    if (r < 0)
        return r;
    if (s->command.started_mono_ns)
        r = store_run_command_started(store, s->run, s->command.started_wall_ns,
                                      s->command.started_mono_ns);
    if (r == 0 && s->command.started_mono_ns && !s->command.pid && !s->options->attached)
        r = record_usage(s, store);
    if (exit_status && s->command.started_mono_ns && !s->signals.last)
        judge_launcher(s, store);
    if (s->options->attached && s->command.started_mono_ns)
        judge_job(s, store);
    for (size_t i = 0; i < s->n_notes && r == 0; i++)
        r = store_run_note(store, s->run, s->notes[i]);
    if (s->refusal && r == 0)
        r = store_run_note(store, s->run, s->refusal);
    int ended = store_run_end(store, s->run, end_state(s, exit_status), exit_status,
                              s->command.ended_wall_ns, s->command.ended_mono_ns);
    if (r < 0 || ended < 0)
        session_complain(s, "%s: the end of run %" PRId64 " could not be written: %s",
                         s->options->database, s->run, store_error(store));
    store_close(store);
    return r < 0 ? r : ended;
}

/* --- the parts of a run, in order --- */

/* Agents need the collector's ports, not the collector itself: it starts while they do. */
static int start_collector(struct run_session *s) {
    char why[256];
    int r = collect_child_listen(&s->collector, why, sizeof why);
    if (r < 0)
        return session_note(s, "the collector %s", why), r;
    r = collect_child_start(&s->collector);
    if (r < 0)
        session_note(s, "the collector cannot be started: %s", strerror(-r));
    return r;
}

static bool is_waiting(const struct run_session *s) {
    return session_awaits_hosts(s) || !collect_child_listens(&s->collector);
}

/* 0 if the command may start. */
static int gather_hosts(struct run_session *s) {
    int64_t deadline_ns = clock_monotonic_ns() + s->options->start_timeout_ns;
    session_find_preload(s);
    session_start_agents(s);
    while (is_waiting(s) && !s->signals.last && !s->collector_lost && !s->unwritable &&
           clock_monotonic_ns() < deadline_ns)
        session_poll(s, deadline_ns);
    if (s->signals.last || s->collector_lost)
        return -ECANCELED;
    if (s->unwritable)
        return session_refuse(s, "%s", s->unwritable), -EIO;
    size_t n_missing = session_name_missing(s);
    if (n_missing == 0)
        return 0;
    if (s->options->allow_missing && n_missing < s->n_launches)
        return session_tell(s, "going on without %zu of %zu hosts", n_missing, s->n_launches), 0;
    session_refuse(s, "%zu of %zu hosts did not answer%s", n_missing, s->n_launches,
                   n_missing < s->n_launches ? " (--allow-missing goes on without them)" : "");
    return -EHOSTUNREACH;
}

/* One word with spaces was probably meant for a shell. */
static const char *refusal_words(char *const *command, int error) {
    if (error != -ENOENT)
        return strerror(-error);
    if (!strchr(command[0], '/') && access(command[0], F_OK) == 0)
        return "command not found in PATH; a file of this directory begins with ./";
    return command[1] || !strpbrk(command[0], " \t|&;<>")
               ? "command not found"
               : "command not found; leave the quotes away, or run it by a shell: sh -c '...'";
}

static int refusal_status(int error) {
    return error == -ENOENT ? 127 : 126;
}

static int run_command(struct run_session *s) {
    int r = s->options->attached ? run_attach(s) : session_start_command(s);
    if (r < 0) {
        s->command.started_mono_ns = 0;
        session_refuse(s, "%s: %s", s->options->command[0], refusal_words(s->options->command, r));
        return refusal_status(r);
    }
    if (record_start(s) < 0)
        session_tell(s, "its start could not be written yet");
    run_await(s);
    int exit_status = child_exit_status(s->command.status);
    if (WIFSIGNALED(s->command.status)) {
        char end[64];
        child_describe_end(s->command.status, end, sizeof end);
        session_complain(s, "the command was %s", end);
    }
    return exit_status;
}

static void tell_beginning(const struct run_session *s) {
    size_t n = 0;
    for (size_t i = 0; i < s->n_launches; i++)
        n += s->launches[i].reported;
    session_tell(s, "recording %zu host%s at %s Hz into %s (run %" PRId64 " '%s')", n,
                 n == 1 ? "" : "s", s->options->rate, s->options->database, s->run, run_name(s));
}

static int interrupted_status(const struct run_session *s) {
    return s->signals.last ? 128 + s->signals.last : EXIT_NOT_STARTED;
}

/* The command's words, to record it again. Secrets in them are not printed; without a command NULL.
 */
static char *words_again(const struct run_session *s) {
    struct run_options whole = *s->options;
    whole.no_command_lines = whole.no_mask = false;
    whole.shown_command = NULL;
    char *masked = s->options->attached ? NULL : command_line(&whole);
    whole.no_mask = true;
    char *plain = masked ? command_line(&whole) : NULL;
    if (plain && strcmp(plain, masked) != 0) {
        free(plain);
        plain = strdup("COMMAND");
    }
    free(masked);
    return plain;
}

/* Repeats show nothing here: the median run is shown at the end. */
static void conclude(const struct run_session *s) {
    bool shown = !s->options->quiet && !s->series.repeat;
    char *again = words_again(s);
    int r = report_conclude(s->options->database, s->run, s->options->why, again,
                            shown ? stderr : NULL);
    free(again);
    if (r < 0)
        session_complain(s, "no %s: %s", shown ? "verdict" : "budget in the database",
                         strerror(-r));
}

/* The collector runs from here on, whatever happens to the rest. */
static int record(struct run_session *s) {
    int exit_status;
    if (start_collector(s) == 0 && gather_hosts(s) == 0) {
        tell_beginning(s);
        session_name_uncaptured(s);
        if (s->options->live)
            session_start_live(s);
        session_start_remote(s);
        exit_status = run_command(s);
    } else {
        exit_status = interrupted_status(s);
        if (!s->signals.last)
            session_refuse(s, "the collector does not run");
    }
    if (!s->command.ended_mono_ns) {
        s->command.ended_wall_ns = clock_wall_ns();
        s->command.ended_mono_ns = clock_monotonic_ns();
    }
    session_drain(s);
    int ended = record_end(s, exit_status);
    if (s->options->attached && s->refusal && s->command.started_mono_ns)
        exit_status = EXIT_USAGE;
    if (ended == 0 && s->command.started_mono_ns && !s->refusal && s->options->report)
        conclude(s);
    session_end_live(s);
    session_end_remote(s);
    session_reap(s);
    return exit_status;
}

static int run(struct run_session *s) {
    int r = s->options->attached ? 0 : command_find(s->options->command[0]);
    if (r < 0) {
        session_complain(s, "%s: %s", s->options->command[0],
                         refusal_words(s->options->command, r));
        return refusal_status(r);
    }
    if (session_choose_hosts(s) < 0 || begin(s) < 0)
        return EXIT_USAGE;
    return record(s);
}

void run_once(const struct run_options *options, struct run_turn *turn) {
    struct run_session session;
    char why[300];
    turn->exit_status = EXIT_NOT_STARTED;
    if (session_open(&session, options, why, sizeof why) < 0)
        session_complain(&session, "%s", why);
    else {
        session.series.repeat = turn->repeat;
        session.series.first_repeat = turn->group;
        session.series.live_port = turn->live_port;
        session.series.sweep = turn->sweep;
        session.series.labels = turn->labels;
        session.series.n_labels = turn->n_labels;
        turn->exit_status = run(&session);
    }
    turn->run = session.run;
    turn->started = session.command.started_mono_ns != 0;
    turn->interrupted = session.signals.last != 0;
    turn->duration_ns =
        turn->started ? session.command.ended_mono_ns - session.command.started_mono_ns : 0;
    session_release(&session);
}

static int run_main(int argc, char **argv) {
    struct run_options options;
    struct run_turn turn = {0};
    int r = run_options_read(argc, argv, &options);
    if (r == 0)
        r = run_enter_job(&options, argv);
    if (r)
        return verb_words_status(r);
    if ((r = run_warm_up(&options)) != 0)
        return r;
    if (options.repeats > 1)
        return run_repeatedly(&options, run_once);
    if ((r = run_prepare(&options)) != 0)
        return r;
    run_once(&options, &turn);
    return turn.exit_status;
}

const struct verb verb_run = {
    .name = "run", .help = "run a command and record its hosts", .main = run_main};
