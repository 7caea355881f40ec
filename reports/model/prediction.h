/* SPDX-License-Identifier: MIT */
/*
 * `chokepoint whatif`: the predicted time of a run under a change, as a model that the writers of
 * its formats show.
 */
#ifndef CHOKEPOINT_REPORTS_PREDICTION_H
#define CHOKEPOINT_REPORTS_PREDICTION_H

#include <stdint.h>
#include <stdio.h>

#include "analysis/gain/whatif.h"

struct store;

/* One scenario in the user's words: "--link" and "vm1=2x". */
struct prediction_word {
    const char *option, *value; /* value NULL: the option has none */
};

struct prediction_answer {
    char *text; /* "--link vm1=2x", several with a space between them */
    struct whatif_answer answer;
    char *refused; /* why there is no prediction; NULL */
};

struct prediction {
    int64_t run_id;
    char *run_name, *command;
    char *phase;  /* the phase of all these figures */
    double run_s; /* the whole run */
    bool events;  /* MPI calls were recorded */
    struct prediction_answer *answers;
    size_t n_answers;
};

/* Each word is a scenario of its own; together: all words are one scenario. -ENOENT: no such run;
 * -EINVAL: a word is invalid, and ret_why (of `size` bytes) says which and what to do; -ENOMEM and
 * others. */
int prediction_build(struct store *store, const char *which, const struct prediction_word *words,
                     size_t n_words, bool together, char *ret_why, size_t size,
                     struct prediction **ret_prediction);
void prediction_free(struct prediction *prediction);

int prediction_write_text(const struct prediction *prediction, FILE *out);
int prediction_write_json(const struct prediction *prediction, FILE *out);

#endif
