/* SPDX-License-Identifier: MIT */
/* The list of formats: a new one is one file, and one line here. */
#include "reports/formats/formats.h"

#include <string.h>

#include "common/error.h"

static const struct format *const formats[] = {&format_text, &format_md, &format_html, &format_csv,
                                               &format_json};

const struct format *format_find(const char *name) {
    for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}
