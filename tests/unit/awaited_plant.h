/* SPDX-License-Identifier: MIT */
/* Three hosts whose processes wait for each other, judged by planted wait clocks. Include it after
 * cmocka.h.
 */
#ifndef CHOKEPOINT_TESTS_AWAITED_PLANT_H
#define CHOKEPOINT_TESTS_AWAITED_PLANT_H

#include "tests/unit/judged.h"
#include "tests/unit/wait_plant.h"

#define SECONDS 20

#define A_TO_B "10.0.0.1:5000>10.0.0.2:6000"
#define B_TO_A "10.0.0.2:6000>10.0.0.1:5000"
#define B_TO_C "10.0.0.2:7000>10.0.0.3:8000"
#define C_TO_B "10.0.0.3:8000>10.0.0.2:7000"

static struct recording recording;
static struct judged judged;

static inline void begin(void) {
    plant_init(&recording, 3, SECONDS);
}

static inline void judge(void) {
    assert_int_equal(model_build(&recording, &judged.model), 0);
    assert_int_equal(judged.model.critical.source, CRITICAL_FROM_WAITS);
    judge_model(&judged.model, &judged);
}

static inline void release(void) {
    judged_release(&judged);
    model_release(&judged.model);
    recording_release(&recording);
}

static inline const struct candidate *found(enum cause_kind cause) {
    for (size_t i = 0; i < judged.candidates.n; i++)
        if (judged.candidates.items[i].kind == cause)
            return &judged.candidates.items[i];
    return NULL;
}

#endif
