/* SPDX-License-Identifier: MIT */
#include "collector/store_sweep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store_private.h"
#include "common/error.h"
#include "common/text.h"

#define COMMAND_MAX (64 * 1024)

static const char *clean(const char *text, char *to, size_t size) {
    text_sanitize(to, size, text, strlen(text));
    return to;
}

/* ---- writing ---- */

int store_insert_labels(struct store *store, const struct run_begin *begin, int64_t run) {
    char value[SWEEP_TEXT_MAX];
    int r = begin->sweep ? sql_run(store, SQL_SWEEP_RUN_INSERT, "ii", run, begin->sweep) : 0;
    for (size_t i = 0; i < begin->n_labels && r == 0; i++)
        r = sql_run(store, SQL_LABEL_INSERT, "itt", run, begin->labels[i].name,
                    clean(begin->labels[i].value, value, sizeof value));
    return r;
}

static int run_once(struct store *store, const char *sql, const char *format, int64_t sweep,
                    int64_t parameter, int64_t n, const char *name, const char *value) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    int r = sql_prepare(store, sql, &statement);
    if (r == 0)
        r = sql_bind(statement, format, sweep, parameter, n, name, value);
    return r ? r : sql_errno(sqlite3_step(statement));
}

static bool has_value(const struct store_sweep_parameter *parameter, const char *value) {
    for (size_t i = 0; i < parameter->n_values; i++)
        if (strcmp(parameter->values[i], value) == 0)
            return true;
    return false;
}

/* Appends the values that `old` (NULL: none) lacks. */
static int add_values(struct store *store, int64_t id, size_t p,
                      const struct store_sweep_parameter *parameter,
                      const struct store_sweep_parameter *old) {
    size_t n = old ? old->n_values : 0;
    int r = 0;
    for (size_t i = 0; i < parameter->n_values && r == 0; i++) {
        char value[SWEEP_TEXT_MAX];
        clean(parameter->values[i], value, sizeof value);
        if (old && has_value(old, value))
            continue;
        if (n == SWEEP_VALUES_MAX)
            return -E2BIG;
        r = run_once(store, "INSERT INTO sweep_value VALUES(?, ?, ?, ?, ?)", "iiitt", id,
                     (int64_t)p, (int64_t)n++, parameter->name, value);
    }
    return r;
}

static bool is_the_same(const struct store_sweep *a, const struct store_sweep *b) {
    bool same = strcmp(a->command, b->command) == 0 && a->n_parameters == b->n_parameters;
    for (size_t p = 0; same && p < a->n_parameters; p++)
        same = strcmp(a->parameters[p].name, b->parameters[p].name) == 0;
    return same;
}

static int insert_sweep(struct store *store, const struct store_sweep *sweep, int64_t *ret_id) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    int r =
        sql_prepare(store, "INSERT INTO sweep(name, command, repeats) VALUES(?, ?, ?)", &statement);
    if (r == 0)
        r = sql_bind(statement, "tti", sweep->name, sweep->command, (int64_t)sweep->repeats);
    if (r == 0)
        r = sql_errno(sqlite3_step(statement));
    *ret_id = sqlite3_last_insert_rowid(store->db);
    return r;
}

static int set_repeats(struct store *store, int64_t id, int repeats) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    int r = sql_prepare(store, "UPDATE sweep SET repeats = max(repeats, ?) WHERE sweep = ?",
                        &statement);
    if (r == 0)
        r = sql_bind(statement, "ii", (int64_t)repeats, id);
    return r ? r : sql_errno(sqlite3_step(statement));
}

static int extend_sweep(struct store *store, const struct store_sweep *sweep, int64_t *ret_id) {
    struct store_sweep old = {0};
    int r = store_find_sweep(store, sweep->name, &old);
    bool found = r == 0;
    if (r == -ENOENT)
        r = insert_sweep(store, sweep, ret_id);
    else if (found && !is_the_same(sweep, &old))
        r = -EEXIST;
    else if (found)
        r = set_repeats(store, *ret_id = old.id, sweep->repeats);
    for (size_t p = 0; p < sweep->n_parameters && r == 0; p++)
        r = add_values(store, *ret_id, p, &sweep->parameters[p], found ? &old.parameters[p] : NULL);
    store_sweep_release(&old);
    return r;
}

static int check(const struct store_sweep *sweep) {
    if (!sweep->n_parameters || sweep->n_parameters > SWEEP_PARAMETERS_MAX ||
        strlen(sweep->command) >= COMMAND_MAX || strlen(sweep->name) >= SWEEP_TEXT_MAX)
        return -E2BIG;
    for (size_t p = 0; p < sweep->n_parameters; p++)
        if (strlen(sweep->parameters[p].name) >= SWEEP_TEXT_MAX)
            return -E2BIG;
    return 0;
}

int store_sweep_join(struct store *store, const struct store_sweep *sweep, int64_t *ret_id) {
    char name[SWEEP_TEXT_MAX], *command = malloc(COMMAND_MAX);
    struct store_sweep copy = *sweep;
    int r = command ? check(sweep) : -ENOMEM;
    if (r == 0)
        r = sql_exec(store, "BEGIN IMMEDIATE");
    if (r) {
        free(command);
        return r;
    }
    copy.name = (char *)clean(sweep->name, name, sizeof name);
    copy.command = (char *)clean(sweep->command, command, COMMAND_MAX);
    r = extend_sweep(store, &copy, ret_id);
    if (r == 0)
        r = sql_exec(store, "COMMIT");
    if (r)
        sql_undo(store, "ROLLBACK");
    free(command);
    return r;
}

/* ---- reading: contents of a file are checked like anything else from outside ---- */

void store_sweep_release(struct store_sweep *sweep) {
    for (size_t p = 0; p < sweep->n_parameters; p++) {
        struct store_sweep_parameter *parameter = &sweep->parameters[p];
        for (size_t i = 0; i < parameter->n_values; i++)
            free(parameter->values[i]);
        free(parameter->values);
        free(parameter->name);
    }
    free(sweep->name);
    free(sweep->command);
    *sweep = (struct store_sweep){0};
}

static int append_value(sqlite3_stmt *row, struct store_sweep *sweep) {
    int64_t p = sql_column(row, 0);
    if (p < 0 || p >= SWEEP_PARAMETERS_MAX || (size_t)p > sweep->n_parameters)
        return -EBADMSG;
    struct store_sweep_parameter *parameter = &sweep->parameters[p];
    if ((size_t)p == sweep->n_parameters) {
        parameter->name = sql_column_dup(row, 1, SWEEP_TEXT_MAX - 1);
        parameter->values = calloc(SWEEP_VALUES_MAX, sizeof *parameter->values);
        sweep->n_parameters++;
    }
    if (!parameter->name || !parameter->values)
        return -ENOMEM;
    if (parameter->n_values == SWEEP_VALUES_MAX)
        return -EBADMSG;
    char *value = sql_column_dup(row, 2, SWEEP_TEXT_MAX - 1);
    if (!value)
        return -ENOMEM;
    parameter->values[parameter->n_values++] = value;
    return 0;
}

static int load_values(struct store *store, struct store_sweep *sweep) {
    AUTO(sql_finalize) sqlite3_stmt *row = NULL;
    int code = SQLITE_DONE, r = sql_prepare(store,
                                            "SELECT parameter, name, value FROM sweep_value WHERE"
                                            " sweep = ? ORDER BY parameter, n",
                                            &row);
    if (r == 0)
        r = sql_bind(row, "i", sweep->id);
    while (r == 0 && (code = sqlite3_step(row)) == SQLITE_ROW)
        r = append_value(row, sweep);
    return r ? r : sql_errno(code);
}

static int load_sweep(struct store *store, const char *name, struct store_sweep *sweep) {
    AUTO(sql_finalize) sqlite3_stmt *row = NULL;
    int r = sql_prepare(store,
                        name ? "SELECT sweep, name, command, repeats FROM sweep WHERE name = ?"
                             : "SELECT sweep, name, command, repeats FROM sweep"
                               " ORDER BY sweep DESC LIMIT 1",
                        &row);
    if (r == 0 && name)
        r = sql_bind(row, "t", name);
    int code = r ? SQLITE_DONE : sqlite3_step(row);
    if (code != SQLITE_ROW)
        return r ? r : code == SQLITE_DONE ? -ENOENT : sql_errno(code);
    int64_t repeats = sql_column(row, 3);
    sweep->id = sql_column(row, 0);
    sweep->name = sql_column_dup(row, 1, SWEEP_TEXT_MAX - 1);
    sweep->command = sql_column_dup(row, 2, COMMAND_MAX - 1);
    sweep->repeats = repeats < 1 || repeats > 1000000 ? 1 : (int)repeats;
    return sweep->name && sweep->command ? 0 : -ENOMEM;
}

static int check_tables(struct store *store) {
    static const char *const names[] = {"sweep", "sweep_value", "sweep_run", "run_label"};
    bool has = true;
    int r = 0;
    for (size_t i = 0; i < ARRAY_SIZE(names) && r == 0 && has; i++)
        r = sql_has_table(store, names[i], &has);
    return r ? r : has ? 0 : -ENOENT;
}

int store_find_sweep(struct store *store, const char *name, struct store_sweep *ret_sweep) {
    struct store_sweep sweep = {0};
    int r = check_tables(store);
    if (r == 0)
        r = load_sweep(store, name, &sweep);
    if (r == 0)
        r = load_values(store, &sweep);
    if (r)
        store_sweep_release(&sweep);
    else
        *ret_sweep = sweep;
    return r;
}

static bool find_value(const struct store_sweep_parameter *parameter, const char *value,
                       size_t *ret_index) {
    for (size_t i = 0; i < parameter->n_values; i++)
        if (strcmp(parameter->values[i], value) == 0)
            return *ret_index = i, true;
    return false;
}

/* 0, or -ENOENT if the run lacks a value of the sweep for a parameter. */
static int fill_labels(struct store *store, const struct store_sweep *sweep, int64_t run,
                       size_t *value) {
    AUTO(sql_finalize) sqlite3_stmt *row = NULL;
    int r = sql_prepare(store, "SELECT value FROM run_label WHERE run = ? AND name = ?", &row);
    for (size_t p = 0; p < sweep->n_parameters && r == 0; p++) {
        char text[SWEEP_TEXT_MAX];
        sqlite3_reset(row);
        r = sql_bind(row, "it", run, sweep->parameters[p].name);
        int code = r ? SQLITE_DONE : sqlite3_step(row);
        if (r == 0 && code != SQLITE_ROW)
            return code == SQLITE_DONE ? -ENOENT : sql_errno(code);
        sql_column_text(row, 0, text, sizeof text);
        if (!find_value(&sweep->parameters[p], text, &value[p]))
            return -ENOENT;
    }
    return r;
}

static int find_labelled_run(struct store *store, const struct store_sweep *sweep, int64_t id,
                             struct store_sweep_run *run) {
    char which[32];
    *run = (struct store_sweep_run){0};
    int r = fill_labels(store, sweep, id, run->value);
    if (r)
        return r;
    snprintf(which, sizeof which, "%lld", (long long)id);
    return store_find_run(store, which, &run->run);
}

static int take_run(struct store *store, const struct store_sweep *sweep, int64_t id,
                    struct store_sweep_run **runs, size_t *n) {
    struct store_sweep_run run, *grown;
    int r = find_labelled_run(store, sweep, id, &run);
    if (r)
        return r == -ENOENT ? 0 : r;
    grown = realloc(*runs, (*n + 1) * sizeof *grown);
    if (!grown) {
        store_run_release(&run.run);
        return -ENOMEM;
    }
    *runs = grown;
    grown[(*n)++] = run;
    return 0;
}

int store_list_sweep_runs(struct store *store, const struct store_sweep *sweep,
                          struct store_sweep_run **ret_runs, size_t *ret_n) {
    AUTO(sql_finalize) sqlite3_stmt *row = NULL;
    struct store_sweep_run *runs = NULL;
    size_t n = 0;
    int code = SQLITE_DONE,
        r = sql_prepare(store, "SELECT run FROM sweep_run WHERE sweep = ? ORDER BY run", &row);
    if (r == 0)
        r = sql_bind(row, "i", sweep->id);
    while (r == 0 && (code = sqlite3_step(row)) == SQLITE_ROW)
        r = take_run(store, sweep, sql_column(row, 0), &runs, &n);
    r = r ? r : sql_errno(code);
    if (r) {
        store_sweep_runs_free(runs, n);
        return r;
    }
    *ret_runs = runs;
    *ret_n = n;
    return 0;
}

void store_sweep_runs_free(struct store_sweep_run *runs, size_t n) {
    for (size_t i = 0; i < n; i++)
        store_run_release(&runs[i].run);
    free(runs);
}
