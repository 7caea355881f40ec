/* SPDX-License-Identifier: MIT */
#include "reports/json/json.h"

#include "collector/store.h"
#include "reports/model/ceilings.h"

static json_t *ceiling_object(const struct store_ceiling *c) {
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "host", json_text(c->host),
                     "peer", json_text(c->peer), "metric", json_text(c->metric), "unit",
                     json_text(c->unit), "value", json_number_or_null(c->value), "low",
                     json_number_or_null(c->low), "high", json_number_or_null(c->high),
                     "measured_at", json_instant(c->measured_wall_ns), "how", json_text(c->how));
}

json_t *json_ceilings(const struct store_ceiling *ceilings, size_t n) {
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, ceiling_object(&ceilings[i]));
    return array;
}

int ceilings_print_json(FILE *out, const struct store_ceiling *ceilings, size_t n,
                        char *const *notes, size_t n_notes) {
    json_t *texts = json_array();
    for (size_t i = 0; i < n_notes; i++)
        json_array_append_new(texts, json_text(notes[i]));
    return json_write(json_pack("{s:s, s:o, s:o}", "schema", "chokepoint.calibration/1", "ceilings",
                                json_ceilings(ceilings, n), "notes", texts),
                      out);
}
