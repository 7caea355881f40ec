/* SPDX-License-Identifier: MIT */
/*
 * A verb of the command `chokepoint`: one file a verb, one line in the list in verbs.c.
 */
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
    const char *words; /* what its first word may be, for completion; NULL: anything */
};

/* All of them, in the order of the help (verbs.c). */
extern const struct verb *const verbs[];
extern const size_t n_verbs;

extern const struct verb verb_run;
extern const struct verb verb_attach;
extern const struct verb verb_top;
extern const struct verb verb_report;
extern const struct verb verb_compare;
extern const struct verb verb_sweep;
extern const struct verb verb_whatif;
extern const struct verb verb_verify;
extern const struct verb verb_export;
extern const struct verb verb_import;
extern const struct verb verb_list;
extern const struct verb verb_serve;
extern const struct verb verb_rename;
extern const struct verb verb_note;
extern const struct verb verb_rm;
extern const struct verb verb_pack;
extern const struct verb verb_unpack;
extern const struct verb verb_completion;
extern const struct verb verb_doctor;
extern const struct verb verb_rules;
extern const struct verb verb_calibrate;
extern const struct verb verb_testbed;
extern const struct verb verb_collector; /* the collector as a process of its own; started by run */

#endif
