/* SPDX-License-Identifier: MIT */
#include "reports/formats/json_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"

json_t *json_number(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_numbers(const double *items, size_t n) {
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, json_number(items[i]));
    return array;
}

json_t *json_text(const char *text) {
    size_t size = text ? strlen(text) : 0;
    if (!text)
        return json_null();
    if (text_is_printable_utf8(text, size))
        return json_stringn(text, size);
    char *clean = malloc(size + 1);
    json_t *string = clean ? json_stringn(clean, text_sanitize(clean, size + 1, text, size)) : NULL;
    free(clean);
    return string ? string : json_null();
}
