/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "reports/model/layout.h"
#include "reports/model/prediction.h"
#include "reports/text/terminal.h"

static void put_head(const struct prediction *p, FILE *out) {
    char text[160], number[LAYOUT_NUMBER_SIZE];
    snprintf(text, sizeof text, "Run %lld (%.60s): ", (long long)p->run_id, p->run_name);
    terminal_paragraph(out, text, p->command, 4);
    double measured = p->n_answers ? p->answers[0].answer.measured_s : NAN;
    if (strcmp(p->phase, "all") == 0)
        snprintf(text, sizeof text, "The run took %s.", layout_duration(number, measured));
    else
        snprintf(text, sizeof text, "Of its phase %.60s, which took %s.", p->phase,
                 layout_duration(number, measured));
    terminal_put(out, text, TERMINAL_COLUMNS);
    fputc('\n', out);
}

static void put_seconds(struct text_table *t, size_t row, size_t column, double s) {
    char number[LAYOUT_NUMBER_SIZE];
    text_table_set(t, row, column, "%s", layout_number(number, s));
}

static void put_answer(struct text_table *t, size_t row, const struct prediction_answer *a) {
    const struct whatif_answer *w = &a->answer;
    char low[LAYOUT_NUMBER_SIZE], high[LAYOUT_NUMBER_SIZE];
    text_table_set(t, row, 0, "%s", a->text);
    put_seconds(t, row, 1, w->predicted_s);
    if (isnan(w->low_s))
        text_table_set(t, row, 2, "-");
    else
        text_table_set(t, row, 2, "%s to %s", layout_number(low, w->low_s),
                       layout_number(high, w->high_s));
    if (isnan(w->gain))
        text_table_set(t, row, 3, "-");
    else
        text_table_set(t, row, 3, "%+.1f %%", -100 * w->gain);
    put_seconds(t, row, 4, w->bound_s);
}

static const struct whatif_answer *first_counted(const struct prediction *p) {
    for (size_t i = 0; i < p->n_answers; i++)
        if (p->answers[i].answer.counted)
            return &p->answers[i].answer;
    return NULL;
}

static const char *words_of(const struct whatif_answer *counted) {
    if (!counted)
        return "No prediction: %s. The bound holds nevertheless.";
    return counted->iterations ? "No replay: %s. What is predicted is how long the iterations take "
                                 "that all ranks together got done, by the share of each one's own "
                                 "time."
                               : "No replay: %s. What is predicted is by counters, of a process "
                                 "that hardly waits for others, or of all where they wait for a "
                                 "link.";
}

static void put_refused(const struct prediction *p, FILE *out) {
    const char *refused = p->n_answers ? p->answers[0].refused : NULL;
    char text[400];
    if (refused) {
        snprintf(text, sizeof text, words_of(first_counted(p)), refused);
        terminal_paragraph(out, "", text, 0);
        return;
    }
    const struct whatif_answer *w = &p->answers[0].answer;
    snprintf(text, sizeof text,
             "The MPI calls of the run, replayed as measured, take %.2f %% %s than they did.",
             100 * fabs(w->replay_s / w->measured_s - 1),
             w->replay_s < w->measured_s ? "less" : "more");
    terminal_paragraph(out, "", text, 0);
}

int prediction_write_text(const struct prediction *p, FILE *out) {
    static const char *const titles[] = {"if", "it would take (s)", "95 % (s)", "change",
                                         "at least (s)"};
    struct text_table table;
    put_head(p, out);
    fputc('\n', out);
    text_table_init(&table, p->n_answers + 1, 5);
    for (size_t c = 0; c < 5; c++)
        text_table_set(&table, 0, c, "%s", titles[c]);
    for (size_t i = 0; i < p->n_answers; i++)
        put_answer(&table, i + 1, &p->answers[i]);
    text_table_print(&table, out, 0);
    bool failed = table.failed;
    text_table_release(&table);
    fputc('\n', out);
    if (p->n_answers)
        put_refused(p, out);
    return failed ? -ENOMEM : ferror(out) ? -EIO : 0;
}
