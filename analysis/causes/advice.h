/* SPDX-License-Identifier: MIT */
/* Advice for a candidate: what causes know when they give it, and what several of them advise. */
#ifndef CHOKEPOINT_ANALYSIS_CAUSES_ADVICE_H
#define CHOKEPOINT_ANALYSIS_CAUSES_ADVICE_H

#include "analysis/causes/candidate.h"

struct advised {
    const struct run_model *model;
    const struct candidate *c;
    const char *host;
    struct windows windows;
    struct remarks *next; /* where it is added */
};

/* The series of a table on the host whose column grew most, but those whose
 * names begin with `not_named`. NULL: none. */
const struct series *advised_most(const struct advised *advised, enum recording_table table,
                                  size_t column, const char *not_named);
double advised_level(const struct advised *advised, enum recording_table table,
                     const struct series *series, size_t column);

/* The subject is another program, which the candidate has; */
void advise_culprit(const struct advised *advised);
/* or a rank, or a process of the job. */
void advise_less_work(const struct advised *advised);
void advise_divide(const struct advised *advised);
void advise_trace(const struct advised *advised);
void advise_continue(const struct advised *advised);
void advise_receiver(const struct advised *advised);
void advise_send_buffer(const struct advised *advised);

#endif
