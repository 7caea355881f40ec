/* SPDX-License-Identifier: MIT */
/* The files of cli/serve/page/, which are part of the program (assets.cmake). */
#ifndef CHOKEPOINT_CLI_SERVE_ASSETS_H
#define CHOKEPOINT_CLI_SERVE_ASSETS_H

#include <stddef.h>

struct asset {
    const char *name, *type; /* type: for Content-Type */
    const char *data;
    size_t size;
};

extern const struct asset assets[];
extern const size_t n_assets;

const struct asset *asset_find(const char *name); /* NULL: there is none */

#endif
