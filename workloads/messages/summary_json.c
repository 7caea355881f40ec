/* SPDX-License-Identifier: MIT */
#include "workloads/messages/summary.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/common/whole_file.h"

int summary_write_json(const struct summary *s, const char *path) {
    json_t *root =
        json_pack("{s:I, s:[s, s], s:I, s:f, s:f, s:f}", "bytes", (json_int_t)s->bytes, "hosts",
                  s->here, s->there, "round_trips", (json_int_t)s->round_trips, "latency_s",
                  s->latency_s, "least_latency_s", s->least_latency_s, "mb_s", s->mb_s);
    char *text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
    int result = text ? whole_file_write(path, text, strlen(text)) : -ENOMEM;
    free(text);
    json_decref(root);
    return result;
}
