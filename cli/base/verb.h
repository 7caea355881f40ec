/* SPDX-License-Identifier: MIT */
/* A verb of the command `chokepoint`: one file a verb, one line in cli/verbs.def. */
#ifndef CHOKEPOINT_CLI_VERB_H
#define CHOKEPOINT_CLI_VERB_H

/* Exit status of a usage error: bad options, missing or unreadable input. One line on stderr. */
#define EXIT_USAGE 2

#include <stdbool.h>
#include <stddef.h>

struct verb {
    const char *name;
    const char *help;                   /* one line for `chokepoint --help` */
    int (*main)(int argc, char **argv); /* argv[0] is the verb's name; returns the exit status */
    const char *formats;                /* of --format, for completion; NULL: it has none */
    bool takes_runs;                    /* its words are runs of the database, for completion */
    const char *words;                  /* possible first words, for completion; NULL: any */
};

#endif
