/* SPDX-License-Identifier: MIT */
/*
 * The numbers that judge. thresholds.def lists those that several rooms or causes use; a cause's
 * own numbers are in its file. All runs have the same numbers, except in an ablation, whose judge
 * comes with the recording: number_of(model, GAIN_MIN).
 */
#ifndef CHOKEPOINT_ANALYSIS_NUMBER_H
#define CHOKEPOINT_ANALYSIS_NUMBER_H

#include <stddef.h>

struct number {
    const char *name; /* static, like all of these */
    double usual;
    const char *unit, *reason;
    const char
        *cause; /* that it is listed with; "all"; NULL: of the cause in whose file it stands */
};

#define NUMBER(name, value, unit, cause, reason) extern const struct number number_##name;
#include "analysis/thresholds.def"
#undef NUMBER

struct cause;

/* The judge of an ablation. */
struct judge {
    struct judge_number {
        const struct number *number;
        double value;
    } * set; /* numbers with another value */
    size_t n_set;
    unsigned long long causes_off; /* bits of the list of all causes */
    unsigned sources_off; /* bits of enum observed_source: as if they had not been recorded */
};

/* judge NULL: the usual one. */
double judge_number(const struct judge *judge, const struct number *number);
#define number_by(judge, name) judge_number(judge, &number_##name)
#define number_of(model, name) number_by((model)->judge, name)

/* The numbers of thresholds.def; ends with NULL. */
extern const struct number *const numbers_shared[];

#endif
