/* SPDX-License-Identifier: MIT */
/* chokepoint.whatif/1: docs/whatif-json.md. */
#include <math.h>

#include "reports/json/json.h"
#include "reports/model/prediction.h"

static json_t *answer_object(const struct prediction_answer *a) {
    const struct whatif_answer *w = &a->answer;
    return json_pack(
        "{s:o, s:b, s:b, s:o, s:o, s:o, s:{s:o, s:o}, s:o, s:{s:o, s:o, s:o}, s:o}", "scenario",
        json_text(a->text), "replayed", w->replayed, "counted", w->counted, "refused",
        json_text(a->refused), "replay_s", json_number_or_null(w->replay_s), "predicted_s",
        json_number_or_null(w->predicted_s), "interval_s", "low", json_number_or_null(w->low_s),
        "high", json_number_or_null(w->high_s), "bound_s", json_number_or_null(w->bound_s),
        "gain_pct", "estimate", json_number_or_null(100 * w->gain), "low",
        json_number_or_null(100 * w->gain_low), "high", json_number_or_null(100 * w->gain_high),
        "gain_max_pct", json_number_or_null(100 * w->gain_max));
}

int prediction_write_json(const struct prediction *p, FILE *out) {
    json_t *answers = json_array();
    for (size_t i = 0; i < p->n_answers; i++)
        json_array_append_new(answers, answer_object(&p->answers[i]));
    double measured = p->n_answers ? p->answers[0].answer.measured_s : NAN;
    return json_write(json_pack("{s:s, s:{s:I, s:o, s:o, s:o}, s:o, s:o, s:b, s:o}", "schema",
                                "chokepoint.whatif/1", "run", "id", (json_int_t)p->run_id, "name",
                                json_text(p->run_name), "command", json_text(p->command),
                                "duration_s", json_number_or_null(p->run_s), "phase",
                                json_text(p->phase), "measured_s", json_number_or_null(measured),
                                "mpi_calls", p->events, "answers", answers),
                      out);
}
