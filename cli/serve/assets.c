/* SPDX-License-Identifier: MIT */
#include "cli/serve/assets.h"

#include <string.h>

const struct asset *asset_find(const char *name) {
    for (size_t i = 0; i < n_assets; i++)
        if (strcmp(assets[i].name, name) == 0)
            return &assets[i];
    return NULL;
}
