/* SPDX-License-Identifier: MIT */
/* The command line of `chokepoint serve`. */
#ifndef CHOKEPOINT_CLI_SERVE_OPTIONS_H
#define CHOKEPOINT_CLI_SERVE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/serve/guard.h"

struct serve_options {
    const char *database;
    const char *run;     /* run whose live page is printed; NULL: the list */
    const char *address; /* numeric, without port and brackets */
    uint16_t port;       /* 0: any */
    bool any_port;       /* the port is a default: if it is taken, any other is used */
    bool loopback;       /* the address reaches this host alone */
    bool tls;
    char token[GUARD_TOKEN_MAX + 1]; /* path; "": none */
};

/* 0, OPTIONS_HELP, or -EINVAL after one line on stderr. Points into argv. */
int serve_options_read(int argc, char **argv, struct serve_options *ret_options);

#endif
