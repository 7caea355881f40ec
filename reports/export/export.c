/* SPDX-License-Identifier: MIT */
/* The list of exports: a new format is one file, and one line here. */
#include "reports/export/export.h"

#include <string.h>

#include "common/error.h"

static const struct export_format *const formats[] = {&export_perfetto, &export_csv,
                                                      &export_openmetrics, &export_smpi};

const struct export_format *export_find_format(const char *name) {
    for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}
