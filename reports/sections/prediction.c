/* SPDX-License-Identifier: MIT */
/* The predicted time of a run under changes; docs/whatif-json.md describes chokepoint.whatif/1. */
#include <math.h>
#include <string.h>

#include "reports/model/layout.h"
#include "reports/model/prediction.h"
#include "reports/sections/sections.h"

enum {
    SCENARIO,
    PREDICTED,
    INTERVAL,
    CHANGE,
    OF_RUN,
    BOUND,
    REFUSED,
    GAIN,
    GAIN_LOW,
    GAIN_HIGH,
    GAIN_MAX,
    RUN_GAIN,
    RUN_LOW,
    RUN_HIGH
};

static const struct report_column columns[] = {
    [SCENARIO] = {KIND_TEXT, "scenario", "if", FIELD(prediction_answer, text)},
    [PREDICTED] = {KIND_NUMBER, "predicted_s", "it would take", "s",
                   FIELD(prediction_answer, answer.predicted_s)},
    [INTERVAL] = {KIND_NUMBER, NULL, "95 %", "s", FIELD(prediction_answer, answer.low_s)},
    [CHANGE] = {KIND_NUMBER, NULL, "change", FIELD(prediction_answer, answer.gain), .scale = -100,
                .digits = 1},
    [OF_RUN] = {KIND_NUMBER, NULL, "of the run", FIELD(prediction_answer, answer.run_gain),
                .scale = -100, .digits = 1},
    [BOUND] = {KIND_NUMBER, "bound_s", "at least", "s", FIELD(prediction_answer, answer.bound_s)},
    [REFUSED] = {KIND_TEXT, "refused", FIELD(prediction_answer, refused)},
    [GAIN] = {KIND_NUMBER, "gain_pct" INTO "estimate", COMPUTED},
    [GAIN_LOW] = {KIND_NUMBER, "gain_pct" INTO "low", COMPUTED},
    [GAIN_HIGH] = {KIND_NUMBER, "gain_pct" INTO "high", COMPUTED},
    [GAIN_MAX] = {KIND_NUMBER, "gain_max_pct", COMPUTED},
    [RUN_GAIN] = {KIND_NUMBER, "run_gain_pct" INTO "estimate", COMPUTED},
    [RUN_LOW] = {KIND_NUMBER, "run_gain_pct" INTO "low", COMPUTED},
    [RUN_HIGH] = {KIND_NUMBER, "run_gain_pct" INTO "high", COMPUTED},
    {KIND_FLAG, "replayed", FIELD(prediction_answer, answer.replayed)},
    {KIND_FLAG, "counted", FIELD(prediction_answer, answer.counted)},
    {KIND_NUMBER, "replay_s", FIELD(prediction_answer, answer.replay_s)},
    {KIND_NUMBER, "interval_s" INTO "low", FIELD(prediction_answer, answer.low_s)},
    {KIND_NUMBER, "interval_s" INTO "high", FIELD(prediction_answer, answer.high_s)},
};

static void put_answers(const struct prediction *p, struct page *page) {
    struct report_table table;
    TABLE_INIT(&table, "answers", NULL, columns);
    TABLE_ADD_ALL(&table, p->answers, p->n_answers);
    for (size_t i = 0; i < p->n_answers; i++) {
        const struct whatif_answer *w = &p->answers[i].answer;
        struct report_cell *change = table_cell(&table, i, CHANGE);
        struct report_cell *of_run = table_cell(&table, i, OF_RUN);
        char high[LAYOUT_NUMBER_SIZE];
        if (!isnan(w->low_s))
            table_cell(&table, i, INTERVAL)->after =
                table_keep(&table, " to %s", layout_number(high, w->high_s));
        change->before = w->gain < 0 || w->gain == 0 ? "+" : NULL;
        change->after = " %";
        of_run->before = w->run_gain < 0 || w->run_gain == 0 ? "+" : NULL;
        of_run->after = " %";
        table_number(&table, i, GAIN, 100 * w->gain);
        table_number(&table, i, GAIN_LOW, 100 * w->gain_low);
        table_number(&table, i, GAIN_HIGH, 100 * w->gain_high);
        table_number(&table, i, GAIN_MAX, 100 * w->gain_max);
        table_number(&table, i, RUN_GAIN, 100 * w->run_gain);
        table_number(&table, i, RUN_LOW, 100 * w->run_low);
        table_number(&table, i, RUN_HIGH, 100 * w->run_high);
    }
    page_table(page, &table);
}

static double measured_of(const struct prediction *p) {
    return p->n_answers ? p->answers[0].answer.measured_s : NAN;
}

static void put_head(const struct prediction *p, struct page *page) {
    char number[LAYOUT_NUMBER_SIZE];
    page_paragraph(page, STYLE_LEAD, "Run %lld (%.60s): %s", (long long)p->run_id, p->run_name,
                   p->command);
    if (strcmp(p->phase, "all") == 0)
        page_paragraph(page, STYLE_LEAD, "The run took %s.",
                       layout_duration(number, measured_of(p)));
    else
        page_paragraph(page, STYLE_LEAD, "The answers are for its phase %.60s, which took %s.",
                       p->phase, layout_duration(number, measured_of(p)));
    page_break(page);
}

/* ---- what it rests on ---- */

static const struct whatif_answer *first_counted(const struct prediction *p) {
    for (size_t i = 0; i < p->n_answers; i++)
        if (p->answers[i].answer.counted)
            return &p->answers[i].answer;
    return NULL;
}

static const char *words_of(const struct whatif_answer *first,
                            const struct whatif_answer *counted) {
    if (!counted)
        return isnan(first->bound_s) ? "Without a critical path there is no bound either."
                                     : "The bound holds nevertheless.";
    return counted->iterations ? "The prediction is the time for as many iterations as "
                                 "all ranks did together, from how much of its own time each "
                                 "would save."
                               : "The prediction rests on counters: those of a process "
                                 "that hardly waits for others, or of all processes where they "
                                 "wait for a link.";
}

static void put_grounds(const struct prediction *p, struct page *page) {
    const char *refused = p->answers[0].refused;
    const struct whatif_answer *w = &p->answers[0].answer, *counted = first_counted(p);
    page_break(page);
    if (refused)
        page_paragraph(page, STYLE_LEAD, "No %s: %s. %s", counted ? "replay" : "prediction",
                       refused, words_of(w, counted));
    else
        page_paragraph(page, STYLE_LEAD,
                       "The MPI calls of the run, replayed as measured, take %.2f %% %s than they "
                       "did.",
                       100 * fabs(w->replay_s / w->measured_s - 1),
                       w->replay_s < w->measured_s ? "less" : "more");
}

/* ---- for programs ---- */

enum { MEASURED = 6 };

static const struct report_column document_columns[] = {
    {KIND_COUNT, "run" INTO "id", FIELD(prediction, run_id)},
    {KIND_TEXT, "run" INTO "name", FIELD(prediction, run_name)},
    {KIND_TEXT, "run" INTO "command", FIELD(prediction, command)},
    {KIND_NUMBER, "run" INTO "duration_s", FIELD(prediction, run_s)},
    {KIND_TEXT, "phase", FIELD(prediction, phase)},
    {KIND_FLAG, "mpi_calls", FIELD(prediction, events)},
    [MEASURED] = {KIND_NUMBER, "measured_s", COMPUTED},
};

void prediction_put(const struct prediction *p, struct page *page) {
    struct report_table table;
    TABLE_INIT(&table, "", NULL, document_columns);
    table_add(&table, p);
    table.audience = FOR_DOCUMENT;
    table_number(&table, 0, MEASURED, measured_of(p));
    page_table(page, &table);
    put_head(p, page);
    put_answers(p, page);
    if (p->n_answers)
        put_grounds(p, page);
}
