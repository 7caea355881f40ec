/* SPDX-License-Identifier: MIT */
#include "cli/sweep/make.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/options.h"
#include "cli/base/verb.h"
#include "cli/launch/run_session.h"
#include "cli/run/run_repeat.h"
#include "cli/sweep/plan.h"
#include "cli/sweep/shown.h"
#include "collector/store_sweep.h"
#include "common/clock.h"
#include "common/text.h"
#include "reports/model/layout.h"

#define RUN_NAME_MAX 1024
#define PACE_MAX_NS (1000 * 3600 * INT64_C(1000000000)) /* a database may claim any number */

struct making {
    const struct sweep_request *request;
    struct sweep_parameters shown; /* recorded texts of its parameters */
    int64_t sweep;
    size_t n_cells;
    size_t *made;   /* by cell: number of finished runs, */
    int64_t *group; /* and the first of them; 0: none yet */
    struct sweep_pace *pace;
    struct sweep_step *steps;
    size_t n_steps, n_failed;
};

static int out_of_memory(void) {
    return verb_complain("sweep", "out of memory"), 1;
}

static void making_release(struct making *m) {
    free(m->made);
    free(m->group);
    free(m->pace);
    free(m->steps);
    parameters_release(&m->shown);
}

static bool making_init(struct making *m, const struct sweep_request *request) {
    size_t n = parameters_cells(request->parameters);
    *m = (struct making){.request = request, .n_cells = n};
    m->made = calloc(n + 1, sizeof *m->made);
    m->group = calloc(n + 1, sizeof *m->group);
    m->pace = calloc(n + 1, sizeof *m->pace);
    m->steps = calloc(n * (size_t)request->options.repeats + 1, sizeof *m->steps);
    return m->made && m->group && m->pace && m->steps &&
           parameters_shown(request->parameters,
                            request->options.no_mask ? NULL : request->options.command,
                            &m->shown) == 0;
}

/* ---- finished runs ---- */

/* Index of the stored value among the requested ones. */
static bool find_value(const struct sweep_parameter *parameter, const char *stored,
                       size_t *ret_index) {
    for (size_t i = 0; i < parameter->n_values; i++) {
        char text[SWEEP_TEXT_MAX];
        text_sanitize(text, sizeof text, parameter->values[i], strlen(parameter->values[i]));
        if (strcmp(text, stored) == 0)
            return *ret_index = i, true;
    }
    return false;
}

static bool find_cell(const struct sweep_parameters *parameters, const struct store_sweep *sweep,
                      const struct store_sweep_run *run, size_t *ret_cell) {
    size_t cell = 0, index;
    for (size_t i = 0; i < parameters->n; i++) {
        if (!find_value(&parameters->items[i], sweep->parameters[i].values[run->value[i]], &index))
            return false;
        cell = cell * parameters->items[i].n_values + index;
    }
    return *ret_cell = cell, true;
}

static bool need_not_be_made_again(const struct making *m, const struct store_run *run) {
    bool failed = run_state_is_failure(run->state);
    return run->state == RUN_DONE || (failed && !m->request->retry_failed);
}

/* An earlier run also tells how long runs of its cell take, without their start. */
static void take_made(struct making *m, size_t cell, const struct store_run *run) {
    bool done = run->state == RUN_DONE;
    m->made[cell]++;
    m->group[cell] = m->group[cell] ? m->group[cell] : run->id;
    m->n_failed += !done;
    if (!done || run->duration_ns < 0 || run->duration_ns > PACE_MAX_NS)
        return;
    plan_take(&m->pace[cell], run->duration_ns);
}

static int count_made(struct making *m, struct store *store) {
    struct store_sweep sweep;
    struct store_sweep_run *runs;
    size_t n, cell;
    int r = store_find_sweep(store, m->request->name, &sweep);
    if (r < 0)
        return r;
    r = store_list_sweep_runs(store, &sweep, &runs, &n);
    for (size_t i = 0; r == 0 && i < n; i++)
        if (need_not_be_made_again(m, &runs[i].run) &&
            find_cell(&m->shown, &sweep, &runs[i], &cell))
            take_made(m, cell, &runs[i].run);
    if (r == 0)
        store_sweep_runs_free(runs, n);
    store_sweep_release(&sweep);
    return r;
}

static int join(struct making *m, struct store *store) {
    const struct sweep_request *request = m->request;
    char *line = command_line(&request->options);
    struct store_sweep sweep = {.name = (char *)request->name,
                                .command = line,
                                .repeats = request->options.repeats,
                                .n_parameters = m->shown.n};
    for (size_t i = 0; i < sweep.n_parameters; i++)
        sweep.parameters[i] =
            (struct store_sweep_parameter){.name = m->shown.items[i].name,
                                           .values = m->shown.items[i].values,
                                           .n_values = m->shown.items[i].n_values};
    int r = line ? store_sweep_join(store, &sweep, &m->sweep) : -ENOMEM;
    free(line);
    return r;
}

static int begin_sweep(struct making *m) {
    const struct sweep_request *request = m->request;
    struct store *store;
    char why[300] = "";
    int r = store_open_write(request->options.database, &store, why, sizeof why);
    if (r)
        return verb_complain("sweep", "%s", why), EXIT_USAGE;
    r = join(m, store);
    if (r == 0)
        r = count_made(m, store);
    if (r == -EEXIST)
        verb_complain("sweep",
                      "%s has a sweep '%s' of another command or other parameters; give this one "
                      "a name of its own with -n",
                      request->options.database, request->name);
    else if (r == -E2BIG)
        verb_complain("sweep", "the command, a name or the values of '%s' are too long",
                      request->name);
    else if (r)
        verb_complain("sweep", "%s: %s", request->options.database, store_error(store));
    store_close(store);
    return r ? EXIT_USAGE : 0;
}

/* ---- one run ---- */

static void name_run(const struct making *m, const size_t *value, char name[RUN_NAME_MAX]) {
    int n = snprintf(name, RUN_NAME_MAX, "%s/", m->request->name);
    if (n > 0 && n < RUN_NAME_MAX)
        parameters_describe(&m->shown, value, "/", name + n, RUN_NAME_MAX - (size_t)n);
}

static int make_run(struct making *m, const struct sweep_step *step, struct run_turn *turn) {
    const struct sweep_parameters *parameters = m->request->parameters;
    struct run_options options = m->request->options;
    struct run_label labels[SWEEP_PARAMETERS_MAX];
    size_t value[SWEEP_PARAMETERS_MAX];
    char name[RUN_NAME_MAX];
    parameters_cell(parameters, step->cell, value);
    name_run(m, value, name);
    for (size_t i = 0; i < parameters->n; i++)
        labels[i] = (struct run_label){m->shown.items[i].name, m->shown.items[i].values[value[i]]};
    options.command = parameters_expand(parameters, value, m->request->options.command);
    options.name = name;
    options.quiet = true;
    *turn = (struct run_turn){.repeat = step->repeat,
                              .group = m->group[step->cell],
                              .sweep = m->sweep,
                              .labels = labels,
                              .n_labels = parameters->n};
    options.shown_command = parameters_expand(&m->shown, value, m->request->options.command);
    bool made = options.command && options.shown_command;
    if (made)
        run_once(&options, turn);
    parameters_free_words(options.command);
    parameters_free_words(options.shown_command);
    return made ? 0 : out_of_memory();
}

/* ---- progress ---- */

#define TAIL_SIZE 80

/* The remaining time for the steps from `at` on; "" if there are none, or no run has told the time
 * yet. */
static void tell_left(const struct making *m, size_t at, char tail[TAIL_SIZE]) {
    char left[LAYOUT_NUMBER_SIZE];
    int64_t left_ns = plan_left_ns(m->steps + at, m->n_steps - at, m->pace, m->n_cells);
    *tail = '\0';
    if (at < m->n_steps && left_ns >= 0)
        snprintf(tail, TAIL_SIZE, "; about %s left", layout_duration(left, (double)left_ns / 1e9));
}

static void tell_run(const struct making *m, size_t at, const struct run_turn *turn) {
    const struct sweep_step *step = &m->steps[at];
    size_t value[SWEEP_PARAMETERS_MAX];
    char values[600], tail[TAIL_SIZE];
    if (m->request->quiet)
        return;
    tell_left(m, at + 1, tail);
    parameters_cell(m->request->parameters, step->cell, value);
    parameters_describe(&m->shown, value, " ", values, sizeof values);
    if (turn->started)
        verb_complain(
            NULL, "run %zu of %zu: %s, repeat %d of %d: %.2f s, exit status %d (run %" PRId64 ")%s",
            at + 1, m->n_steps, values, step->repeat, m->request->options.repeats,
            (double)turn->duration_ns / 1e9, turn->exit_status, turn->run, tail);
    else
        verb_complain(NULL, "run %zu of %zu: %s: could not be started%s", at + 1, m->n_steps,
                      values, tail);
}

static void tell_beginning(const struct making *m) {
    size_t all = m->n_cells * (size_t)m->request->options.repeats;
    char tail[TAIL_SIZE];
    if (m->request->quiet)
        return;
    tell_left(m, 0, tail);
    if (m->n_steps == all)
        verb_complain(NULL, "sweep '%s': %zu cells, %zu runs, into %s", m->request->name,
                      m->n_cells, all, m->request->options.database);
    else
        verb_complain(NULL, "sweep '%s': %zu of %zu runs are in %s already, %zu to make%s",
                      m->request->name, all - m->n_steps, all, m->request->options.database,
                      m->n_steps, tail);
}

static void tell_early_end(const struct making *m, size_t at, const struct run_turn *turn) {
    if (at + 1 == m->n_steps && !turn->interrupted)
        return;
    verb_complain(NULL, "%s: %zu of %zu runs are not made; the same words again go on with them",
                  turn->interrupted ? "interrupted"
                  : turn->started   ? "a run failed"
                                    : "a run could not be started",
                  m->n_steps - at - (turn->interrupted ? 0 : 1), m->n_steps);
}

/* ---- all runs ---- */

/* A missing command may be the fault of one cell; hosts that do not answer concern all cells. */
static bool goes_on(const struct making *m, const struct run_turn *turn) {
    if (turn->interrupted || (!turn->started && turn->run && turn->exit_status < 126))
        return false;
    return turn->exit_status == 0 || !m->request->stop_on_failure;
}

static void take_run(struct making *m, const struct sweep_step *step, const struct run_turn *turn,
                     int64_t took_ns) {
    if (turn->interrupted)
        return;
    m->n_failed += turn->exit_status != 0;
    m->made[step->cell]++;
    m->group[step->cell] = m->group[step->cell] ? m->group[step->cell] : turn->run;
    plan_take(&m->pace[step->cell], took_ns);
}

static int make_steps(struct making *m) {
    for (size_t i = 0; i < m->n_steps; i++) {
        struct run_turn turn;
        int64_t begun_ns = clock_monotonic_ns();
        if (make_run(m, &m->steps[i], &turn) != 0)
            return 1;
        take_run(m, &m->steps[i], &turn, clock_monotonic_ns() - begun_ns);
        tell_run(m, i, &turn);
        if (goes_on(m, &turn))
            continue;
        tell_early_end(m, i, &turn);
        return turn.interrupted && turn.exit_status > 128 ? turn.exit_status
               : turn.interrupted                         ? 130
                                                          : 1;
    }
    return m->n_failed ? 1 : 0;
}

int sweep_make(const struct sweep_request *request) {
    struct making making;
    int status = making_init(&making, request) ? begin_sweep(&making) : out_of_memory();
    if (status == 0) {
        making.n_steps =
            plan_steps(making.made, making.n_cells, request->options.repeats, making.steps);
        tell_beginning(&making);
        status = make_steps(&making);
        if (making.n_failed && !request->quiet)
            verb_complain(NULL, "%zu run%s of sweep '%s' failed", making.n_failed,
                          making.n_failed == 1 ? "" : "s", request->name);
    }
    making_release(&making);
    return status;
}
