/* SPDX-License-Identifier: MIT */
/*
 * Popularity: the octave of a category's rank is uniform, and so is the rank in its octave. Rank k
 * then has a probability of about 1 / (k log2 n): Zipf's law in steps, without a logarithm. With
 * the logit's spread of 2.5 a perfect model gets about 83 % of the examples right.
 */
#include "workloads/sgd/planted.h"

#include <math.h>

#define LOGIT_SPREAD 2.5
#define LOGIT_MEAN 0.3    /* a little more than half are positive */
#define NUMERIC_WEIGHT .8 /* categories have 1 to .15: about half of the signal */
#define LEAST 4           /* fewest features of a slot */
#define N_CALIBRATION 4000

static uint64_t mix(uint64_t x) { /* splitmix64 */
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static uint64_t draw(uint64_t *stream) {
    uint64_t r = mix(*stream);
    *stream += 0x9e3779b97f4a7c15;
    return r;
}

/* Uniform below n, n < 2^32. */
static uint32_t draw_below(uint64_t *stream, uint32_t n) {
    return (uint32_t)((draw(stream) >> 32) * n >> 32);
}

/* About normal with deviation 1: the sum of four 16-bit uniforms. */
static double normal_of(uint64_t r) {
    int64_t sum = (int64_t)((r & 0xffff) + (r >> 16 & 0xffff) + (r >> 32 & 0xffff) + (r >> 48));
    return (double)(sum - 2 * 0xffff) * (1.7320508075688772 / 65536);
}

static double planted_weight(const struct planted *model, uint32_t feature) {
    return normal_of(mix(model->seed ^ mix(feature + 1)));
}

/* Ranges grow by half from slot to slot, from LEAST on; the first one gets the rest. */
static void lay_out_slots(struct planted *model, uint32_t n_features) {
    double share = 1.0 / 3;
    uint32_t end = n_features, to_share = n_features - N_NUMERIC - N_CATEGORICAL * LEAST;
    for (int s = N_CATEGORICAL - 1; s > 0; s--, share /= 1.5) {
        model->size[s] = LEAST + (uint32_t)(share * to_share);
        model->first[s] = end -= model->size[s];
    }
    model->first[0] = N_NUMERIC;
    model->size[0] = end - N_NUMERIC;
}

/* Mean and deviation of the raw logit, from which both are normalized. */
static void calibrate(struct planted *model) {
    double sum = 0, squares = 0;
    uint64_t stream = planted_stream(model, UINT64_MAX);
    struct planted_example e;
    model->offset = 0;
    model->scale = 1;
    for (int i = 0; i < N_CALIBRATION; i++) {
        planted_draw(model, &stream, &e);
        sum += e.logit;
        squares += e.logit * e.logit;
    }
    double mean = sum / N_CALIBRATION;
    model->scale = LOGIT_SPREAD / sqrt(squares / N_CALIBRATION - mean * mean);
    model->offset = mean - LOGIT_MEAN / model->scale;
}

void planted_init(struct planted *ret_model, uint32_t n_features, uint64_t seed) {
    ret_model->seed = mix(seed);
    lay_out_slots(ret_model, n_features);
    calibrate(ret_model);
}

uint64_t planted_stream(const struct planted *model, uint64_t number) {
    return mix(model->seed + mix(number));
}

static uint32_t draw_category(uint64_t *stream, uint32_t size) {
    uint32_t octaves = 32 - (uint32_t)__builtin_clz(size);
    uint32_t octave = draw_below(stream, octaves);
    uint32_t rank = (1U << octave) - 1 + draw_below(stream, 1U << octave);
    return rank % size;
}

/* Scatters the ranks over the slot's range: a one-to-one map, as the multiplier is prime. */
static uint32_t hash_category(uint32_t rank, uint32_t size) {
    return (uint32_t)(rank * UINT64_C(2654435761) % size);
}

/* Rarer features have smaller weights: otherwise most of the signal would be in features that are
 * too rare to learn. */
static double weight_of_rank(uint32_t rank) {
    int octave = 31 - __builtin_clz(rank + 1);
    return 1 / (1 + octave / 4.0);
}

static void add(struct planted_example *e, uint32_t index, int hundredths) {
    e->index[e->n] = index;
    e->hundredths[e->n++] = (int16_t)hundredths;
}

void planted_draw(const struct planted *model, uint64_t *stream, struct planted_example *ret) {
    double raw = 0;
    ret->n = 0;
    for (uint32_t s = 0; s < N_NUMERIC; s++) {
        int hundredths = (int)lround(100 * normal_of(draw(stream)));
        if (hundredths == 0)
            continue;
        add(ret, s, hundredths);
        raw += NUMERIC_WEIGHT * planted_weight(model, s) * hundredths * .01;
    }
    for (int s = 0; s < N_CATEGORICAL; s++) {
        uint32_t rank = draw_category(stream, model->size[s]);
        add(ret, model->first[s] + hash_category(rank, model->size[s]), 100);
        raw += planted_weight(model, ret->index[ret->n - 1]) * weight_of_rank(rank);
    }
    ret->logit = (raw - model->offset) * model->scale;
    ret->label = (double)(draw(stream) >> 11) * 0x1p-53 < 1 / (1 + exp(-ret->logit));
}
