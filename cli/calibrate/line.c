/* SPDX-License-Identifier: MIT */
/* A line of chokepoint-calibrate: a JSON object that is a figure, a trouble, or progress. */
#include "cli/calibrate/result.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/text.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *text_of(const json_t *object, const char *name) {
    return json_string_value(json_object_get(object, name));
}

static double number_of(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static int take_figure(struct calibration *c, const json_t *object, char *why, size_t size) {
    const char *host = text_of(object, "host"), *metric = text_of(object, "metric");
    const char *unit = text_of(object, "unit"), *how = text_of(object, "how");
    if (!host || !metric || !unit || !how)
        return snprintf(why, size, "a figure without host, metric, unit or how"), -EINVAL;
    const struct store_ceiling figure = {.host = (char *)host,
                                         .peer = (char *)text_of(object, "peer"),
                                         .metric = (char *)metric,
                                         .unit = (char *)unit,
                                         .value = number_of(object, "value"),
                                         .low = number_of(object, "low"),
                                         .high = number_of(object, "high"),
                                         .measured_wall_ns = clock_wall_ns(),
                                         .how = (char *)how};
    return calibration_add(c, &figure, why, size);
}

static int take_progress(struct calibration *c, const json_t *object, char *why, size_t size) {
    double done = number_of(object, "done"), left_s = number_of(object, "left_s");
    const char *what = text_of(object, "what");
    if (!(done >= 0 && done <= 1) || !(left_s >= 0 && left_s <= 86400) || !what)
        return snprintf(why, size, "impossible progress"), -EINVAL;
    c->done = done;
    c->left_s = left_s;
    text_sanitize(c->what, sizeof c->what, what, strlen(what));
    return 0;
}

static int take_object(struct calibration *c, const json_t *object, char *why, size_t size) {
    const char *trouble = text_of(object, "trouble"), *host = text_of(object, "host");
    if (json_object_get(object, "metric"))
        return take_figure(c, object, why, size);
    if (json_object_get(object, "done"))
        return take_progress(c, object, why, size);
    snprintf(why, size, "neither figure, trouble nor progress");
    return trouble && host ? calibration_add_trouble(c, host, trouble) : -EINVAL;
}

int calibration_take_line(struct calibration *c, const char *line) {
    char why[160] = "not a line of JSON";
    size_t size = strnlen(line, CALIBRATION_LINE_MAX + 1);
    json_t *object =
        size <= CALIBRATION_LINE_MAX ? json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL) : NULL;
    int r = json_is_object(object) ? take_object(c, object, why, sizeof why) : -EINVAL;
    json_decref(object);
    if (r != -EINVAL)
        return r;
    if (c->n_refused++ == 0)
        snprintf(c->refused, sizeof c->refused, "%s", why);
    return 0;
}
