/* SPDX-License-Identifier: MIT */
/*
 * Advice that several causes give: it names the setting on that host with its recorded value, and a
 * way to check whether a change helped. If the recording does not know the setting, the advice says
 * where to look, never merely "try more".
 */
#include <string.h>

#include "analysis/causes/causes_private.h"
#include "analysis/evidence/beside_job.h"

const struct series *advised_most(const struct advised *advised, enum recording_table table,
                                  size_t column, const char *not_named) {
    const struct series_set *set = &advised->model->recording->tables[table];
    const struct series *best = NULL;
    double most = 0;
    for (size_t s = 0; s < set->n; s++) {
        const struct series *one = &set->items[s];
        if (one->host != advised->c->host || series_last(set, one, column) == VALUE_ABSENT ||
            strcmp(one->name, not_named) == 0)
            continue;
        double value = series_growth(set, one, column, advised->windows, NULL);
        if (value > most) {
            most = value;
            best = one;
        }
    }
    return best;
}

double advised_level(const struct advised *advised, enum recording_table table,
                     const struct series *series, size_t column) {
    return (double)series_last(&advised->model->recording->tables[table], series, column);
}

void advise_culprit(const struct advised *advised) {
    const char *process = advised->c->culprit.process;
    if (host_may_serve_job(advised->model, advised->c->host))
        remarks_add(advised->next, ADVISE_NAME_SERVER, NUMBERS(),
                    NAMES(process, advised->host, advised->host));
    else
        remarks_add(advised->next, ADVISE_STOP_PROGRAM, NUMBERS(), NAMES(process, advised->host));
}

void advise_less_work(const struct advised *advised) {
    if (advised->c->rank < 0) {
        remarks_add(advised->next, ADVISE_LESS_WORK_HOST, NUMBERS(), NAMES(advised->host));
        return;
    }
    if (advised->c->sharing.gain.replayed &&
        advised->c->sharing.gain.estimate < number_of(advised->model, GAIN_MIN))
        remarks_add(advised->next, ADVISE_SEE_EXCESS, NUMBERS(advised->c->rank), NAMES());
    else
        remarks_add(advised->next, ADVISE_LESS_WORK, NUMBERS(advised->c->rank), NAMES());
}

void advise_divide(const struct advised *advised) {
    if (advised->c->rank >= 0)
        remarks_add(advised->next, ADVISE_DIVIDE_RANK, NUMBERS(advised->c->rank), NAMES());
    else
        remarks_add(advised->next, ADVISE_DIVIDE_PROCESS, NUMBERS(), NAMES(advised->host));
}

void advise_trace(const struct advised *advised) {
    if (advised->c->rank < 0) {
        remarks_add(advised->next, ADVISE_TRACE_PROCESS, NUMBERS(), NAMES(advised->host));
        return;
    }
    remarks_add(advised->next, ADVISE_TRACE_RANK, NUMBERS(advised->c->rank), NAMES(advised->host));
}

void advise_continue(const struct advised *advised) {
    remarks_add(advised->next, ADVISE_CONTINUE, NUMBERS(), NAMES(advised->host));
}

void advise_receiver(const struct advised *advised) {
    remarks_add(advised->next, ADVISE_RECEIVE_BUFFERS, NUMBERS(), NAMES(advised->host));
}

void advise_send_buffer(const struct advised *advised) {
    remarks_add(advised->next, ADVISE_SEND_BUFFERS, NUMBERS(), NAMES(advised->host));
}
