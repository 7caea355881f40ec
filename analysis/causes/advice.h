/* SPDX-License-Identifier: MIT */
/* Advice for a candidate: the facts that causes have for it, and advice that several causes
 * give. */
#ifndef CHOKEPOINT_ANALYSIS_CAUSES_ADVICE_H
#define CHOKEPOINT_ANALYSIS_CAUSES_ADVICE_H

#include "analysis/causes/candidate.h"

struct advised {
    const struct run_model *model;
    const struct candidate *c;
    const char *host;
    struct windows windows;
    struct remarks *next; /* the list that receives it */
};

/* The series of the table on the host whose column grew most, without those whose names begin with
 * `not_named`. NULL: none. */
const struct series *advised_most(const struct advised *advised, enum recording_table table,
                                  size_t column, const char *not_named);
double advised_level(const struct advised *advised, enum recording_table table,
                     const struct series *series, size_t column);

/* Advice on the candidate's culprit, which is another program; */
void advise_culprit(const struct advised *advised);
/* or on a rank or a process of the job. */
void advise_less_work(const struct advised *advised);
void advise_divide(const struct advised *advised);
void advise_trace(const struct advised *advised);
void advise_continue(const struct advised *advised);
void advise_receiver(const struct advised *advised);
void advise_send_buffer(const struct advised *advised);

#endif
