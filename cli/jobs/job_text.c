/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/jobs/job.h"
#include "common/error.h"
#include "common/text.h"
#include "reports/formats/terminal.h"
#include "reports/model/layout.h"

#define TEXT_LINES 3

/* Printable; "" if it is no text. */
static const char *text_in(const json_t *job, const char *key, char clean[512]) {
    const char *text = json_string_value(json_object_get(job, key));
    text_sanitize(clean, 512, text ? text : "", text ? strlen(text) : 0);
    return clean;
}

static double number_in(const json_t *job, const char *key) {
    const json_t *number = json_object_get(job, key);
    return json_is_number(number) ? json_number_value(number) : NAN;
}

static void print_head(const char *id, const json_t *job) {
    char clean[512], duration[LAYOUT_NUMBER_SIZE];
    double hosts = number_in(job, "hosts");
    bool named = strcmp(text_in(job, "name", clean), id) != 0;
    printf("chokepoint: job %s, %s%s%s on %.0f host%s\n", id, named ? clean : "", named ? ", " : "",
           layout_duration(duration, number_in(job, "duration_s")), hosts, hosts == 1 ? "" : "s");
}

static void print_text(const json_t *job, const char *key) {
    char clean[512], label[16];
    snprintf(label, sizeof label, "%-8s", key);
    if (*text_in(job, key, clean))
        terminal_paragraph(stdout, label, clean, TEXT_LINES);
}

static void print_limit(const json_t *job) {
    char clean[512], whole[600];
    double confidence = number_in(job, "confidence");
    text_in(job, "limit", clean);
    snprintf(whole, sizeof whole, confidence > 0 ? "%s; confidence %.0f %%" : "%s", clean,
             100 * confidence);
    terminal_paragraph(stdout, "limit   ", whole, TEXT_LINES);
}

static void print_used(const json_t *job) {
    char text[256], number[LAYOUT_NUMBER_SIZE], of[LAYOUT_NUMBER_SIZE];
    int n = 0;
    static const struct {
        const char *used, *had, *unit;
    } rows[] = {{"cores_used", "cores", "cores"},
                {"memory_peak_gb", "memory_gb", "GB of memory"},
                {"gpus_used", "gpus", "GPUs"}};
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        double used = number_in(job, rows[i].used), had = number_in(job, rows[i].had);
        if (!isnan(used) && had > 0)
            n += snprintf(text + n, sizeof text - (size_t)n, "%s%s of %s %s", n ? ", " : "",
                          layout_number(number, used), layout_number(of, had), rows[i].unit);
    }
    if (n)
        terminal_paragraph(stdout, "used    ", text, TEXT_LINES);
}

int job_print(const char *id, const char *summary) {
    json_t *job = json_loads(summary, 0, NULL);
    const char *schema = json_string_value(json_object_get(job, "schema"));
    bool is_one = schema && strcmp(schema, "chokepoint.job/1") == 0;
    if (is_one) {
        print_head(id, job);
        print_limit(job);
        print_text(job, "worth");
        print_text(job, "do");
        print_text(job, "note");
        print_used(job);
    }
    json_decref(job);
    return is_one ? 0 : -EINVAL;
}
