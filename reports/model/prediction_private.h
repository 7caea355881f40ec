/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_REPORTS_PREDICTION_PRIVATE_H
#define CHOKEPOINT_REPORTS_PREDICTION_PRIVATE_H

#include "analysis/verdict/judgement.h"
#include "reports/model/prediction.h"

struct prediction_reader {
    const struct judgement *judgement;
    const struct run_model *model; /* of the judgement */
    char *why;
    size_t why_size;
};

/* -EINVAL: `why` says what is wrong. */
int prediction_read_word(struct prediction_reader *reader, const struct prediction_word *word,
                         struct whatif_scenario *ret_scenario);

#endif
