/* SPDX-License-Identifier: MIT */
/* The list of writers: a new format is one file and one line here. */
#include <string.h>

#include "common/error.h"
#include "reports/writer.h"

static const struct report_format *const formats[] = {&report_text, &report_md, &report_html,
                                                      &report_csv, &report_json};

const struct report_format *report_find_format(const char *name) {
    for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}
