/* SPDX-License-Identifier: MIT */
/*
 * The numbers that judge. Those that several rooms or causes go by stand in thresholds.def, those
 * of one cause alone in its file. A number is the same for all runs but under an ablation, whose
 * judge comes in with the recording: number_of(model, GAIN_MIN).
 */
#ifndef CHOKEPOINT_ANALYSIS_NUMBER_H
#define CHOKEPOINT_ANALYSIS_NUMBER_H

#include <stddef.h>

struct number {
    const char *name; /* static, as all of these */
    double usual;
    const char *unit, *reason;
    const char
        *cause; /* that it is listed with; "all"; NULL: of the cause in whose file it stands */
};

#define NUMBER(name, value, unit, cause, reason) extern const struct number number_##name;
#include "analysis/thresholds.def"
#undef NUMBER

struct cause;

/* The judge as an ablation wants it. */
struct judge {
    struct judge_number {
        const struct number *number;
        double value;
    } * set; /* other than usual */
    size_t n_set;
    unsigned long long causes_off; /* bits of the list of all causes */
    unsigned sources_off; /* bits of enum observed_source: as if they had not been recorded */
};

/* judge NULL: the usual one. */
double judge_number(const struct judge *judge, const struct number *number);
#define number_by(judge, name) judge_number(judge, &number_##name)
#define number_of(model, name) number_by((model)->judge, name)

/* Those of thresholds.def; NULL at the end. */
extern const struct number *const numbers_shared[];

#endif
