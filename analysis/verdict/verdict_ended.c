/* SPDX-License-Identifier: MIT */
/*
 * The end of a command that did not end well, said before anything that limited it. The exit
 * status is read as a shell gives it; a kill for want of memory and a full disk are read from the
 * counters of hosts, since a program reports them by any status.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>

#include "analysis/evidence/ended.h"
#include "analysis/verdict/verdict_private.h"

#define STATUS_NOT_EXECUTABLE 126 /* of shells, likewise the next */
#define STATUS_NOT_FOUND 127
#define SIGNALLED 128
#define SIGNALS 64

int verdict_end_signal(int exit_status) {
    int number = exit_status - SIGNALLED;
    return number > 0 && number <= SIGNALS ? number : 0;
}

bool verdict_is_of_memory_kill(const struct verdict *v) {
    return v->ended.code == REMARK_ENDED_GROUP_MEMORY ||
           v->ended.code == REMARK_ENDED_HOST_MEMORY || v->ended.code == REMARK_ENDED_MEMORY;
}

static double ended_s(const struct run_model *model) {
    return (double)model->recording->duration_ns / 1e9;
}

/* ---- memory ---- */

/* No program takes half of a host's memory between two samples: then the limit was a group's that
 * was not recorded, as of one that the command made itself. */
static bool is_at_unseen_limit(const struct memory_kill *k) {
    return !k->group && k->free_gb > k->total_gb / 2;
}

static void advise_memory(const struct run_model *model, const struct memory_kill *k,
                          struct remarks *next) {
    const char *host = model->hosts[k->host].name;
    if (k->group)
        remarks_add(next, ADVISE_MORE_GROUP_MEMORY, NUMBERS(k->limit_mb),
                    NAMES(host, k->group->name));
    else if (is_at_unseen_limit(k))
        remarks_add(next, ADVISE_FIND_MEMORY_LIMIT, NUMBERS(), NAMES(host));
    else
        remarks_add(next, ADVISE_LESS_AT_A_TIME, NUMBERS(), NAMES(host));
    if (k->process)
        remarks_add(next, ADVISE_LESS_MEMORY, NUMBERS(k->process_mb),
                    NAMES(k->process->name, host));
}

static bool tell_memory(const struct run_model *model, int status, struct verdict *v,
                        struct remarks *next) {
    struct memory_kill k;
    if (!memory_kill_find(model, &k))
        return false;
    double itself = verdict_end_signal(status) == SIGKILL ? 1 : 2;
    const char *host = model->hosts[k.host].name;
    if (k.group)
        remark_set(&v->ended, ENDED_GROUP_MEMORY,
                   NUMBERS(itself, k.used_mb, k.limit_mb, k.hits, ended_s(model)), NAMES(host));
    else if (isnan(k.free_gb))
        remark_set(&v->ended, ENDED_MEMORY, NUMBERS(itself, ended_s(model)), NAMES(host));
    else
        remark_set(
            &v->ended, ENDED_HOST_MEMORY,
            NUMBERS(itself, is_at_unseen_limit(&k) ? 1 : 2, k.free_gb, k.total_gb, ended_s(model)),
            NAMES(host));
    advise_memory(model, &k, next);
    return true;
}

/* ---- disks ---- */

static bool tell_disk(const struct run_model *model, int status, struct verdict *v,
                      struct remarks *next) {
    struct full_disk full;
    if (!full_disk_find(model, &full))
        return false;
    const char *host = model->hosts[full.host].name;
    remark_set(&v->ended, ENDED_DISK_FULL,
               NUMBERS(full.before_mb, full.after_mb, status, ended_s(model)),
               NAMES(full.mount, host));
    remarks_add(next, ADVISE_MAKE_ROOM, NUMBERS(), NAMES(full.mount, host));
    return true;
}

/* ---- signals ---- */

/* A hard limit of CPU time kills as well, when so much was used. */
static void advise_killed(const struct run_model *model, struct remarks *next) {
    const struct series_set *set = &model->recording->tables[RECORDING_PROCESS];
    const struct windows all = phase_windows(&model->groups[0]);
    double most_s = 0;
    for (size_t p = 0; p < model->n_processes; p++) {
        const struct series *process = model->processes[p].series;
        double ns = series_growth(set, process, PROCESS_USER, all, NULL) +
                    series_growth(set, process, PROCESS_SYSTEM, all, NULL);
        most_s = model->processes[p].job ? fmax(most_s, ns / 1e9) : most_s;
    }
    remarks_add(next, ADVISE_WHO_KILLED, NUMBERS(most_s), NAMES());
}

static void tell_signal(const struct run_model *model, int number, struct verdict *v,
                        struct remarks *next) {
    double after_s = ended_s(model);
    switch (number) {
    case SIGKILL:
        remark_set(&v->ended, ENDED_BY_KILL, NUMBERS(after_s, memory_kills_counted(model) ? 1 : 2),
                   NAMES());
        advise_killed(model, next);
        return;
    case SIGXCPU:
        remark_set(&v->ended, ENDED_CPU_LIMIT, NUMBERS(after_s), NAMES());
        remarks_add(next, ADVISE_RAISE_CPU_LIMIT, NUMBERS(), NAMES());
        return;
    case SIGXFSZ:
        remark_set(&v->ended, ENDED_FILE_LIMIT, NUMBERS(after_s), NAMES());
        remarks_add(next, ADVISE_RAISE_FILE_LIMIT, NUMBERS(), NAMES());
        return;
    case SIGPIPE:
        remark_set(&v->ended, ENDED_NO_READER, NUMBERS(after_s), NAMES());
        return;
    default:
        remark_set(&v->ended, ENDED_BY_SIGNAL, NUMBERS(number, after_s), NAMES());
        if (number != SIGINT && number != SIGTERM)
            remarks_add(next, ADVISE_SEE_CORE, NUMBERS(), NAMES());
    }
}

/* ---- all of it ---- */

static void tell_status(const struct run_model *model, int status, struct verdict *v,
                        struct remarks *next) {
    double after_s = ended_s(model);
    if (verdict_end_signal(status)) {
        tell_signal(model, verdict_end_signal(status), v, next);
        return;
    }
    if (status == STATUS_NOT_FOUND)
        remark_set(&v->ended, ENDED_NOT_FOUND, NUMBERS(after_s), NAMES());
    else if (status == STATUS_NOT_EXECUTABLE)
        remark_set(&v->ended, ENDED_NOT_EXECUTABLE, NUMBERS(after_s), NAMES());
    else if (status == STATUS_TIME_OVER)
        remark_set(&v->ended, ENDED_TIME_OVER, NUMBERS(after_s), NAMES());
    else
        remark_set(&v->ended, ENDED_STATUS, NUMBERS(status, after_s), NAMES());
    if (status != STATUS_TIME_OVER)
        remarks_add(next, ADVISE_SEE_OUTPUT, NUMBERS(), NAMES());
}

void verdict_tell_end(const struct run_model *model, struct verdict *v) {
    int status = model->recording->exit_status;
    struct remarks next = {0};
    if (status <= 0)
        return;
    if (!tell_memory(model, status, v, &next) && !tell_disk(model, status, v, &next))
        tell_status(model, status, v, &next);
    if (!v->ended.code)
        next.error = -ENOMEM;
    remarks_move(&next, &v->next);
    remarks_release(&v->next);
    v->next = next;
}
