/* SPDX-License-Identifier: MIT */
#include "reports/formats/json_text.h"

#include "reports/formats/json_value.h"

void json_text_write(FILE *out, const char *text) {
    json_t *value = json_text(text);
    if (!value || json_dumpf(value, out, JSON_ENCODE_ANY) < 0)
        fputs("null", out);
    json_decref(value);
}
