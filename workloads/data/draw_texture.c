/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "workloads/data/draw.h"

/* Position of a pattern: u and v run along its axes, in periods of the pattern. */
struct lay {
    double scale, angle, phase_u, phase_v, duty;
};

static double fraction(double x) {
    return x - floor(x);
}

static double wave(double x) {
    return .5 + .5 * sin(2 * M_PI * x);
}

static double from_centre(double u, double v) {
    return hypot(fraction(u) - .5, fraction(v) - .5);
}

/* A lattice of random heights with smooth interpolation. */
static double heap(double u, double v, double seed) {
    double iu = floor(u), iv = floor(v), fu = u - iu, fv = v - iv, sum = 0;
    fu = fu * fu * (3 - 2 * fu);
    fv = fv * fv * (3 - 2 * fv);
    for (int i = 0; i < 4; i++) {
        int right = i % 2, below = i / 2;
        double h = fraction(sin((iu + right) * 127.1 + (iv + below) * 311.7 + seed) * 43758.5453);
        sum += h * (right ? fu : 1 - fu) * (below ? fv : 1 - fv);
    }
    return sum;
}

/* Mixture of the colours, from 0 (one) to 1 (the other). */
static double pattern(uint8_t label, double u, double v, const struct lay *lay) {
    switch (label) {
    case 0: /* bars */
        return fraction(u) < lay->duty;
    case 1: /* a soft wave */
        return wave(u);
    case 2: /* chequers */
        return (fraction(u) < .5) ^ (fraction(v) < .5);
    case 3: /* a grid of lines */
        return fraction(u) < .22 || fraction(v) < .22;
    case 4: /* dots */
        return from_centre(u, v) < .3;
    case 5: /* rings inside each other */
        return fraction(hypot(u - lay->phase_u, v - lay->phase_v)) < lay->duty;
    case 6: /* a zigzag */
        return fraction(u + fabs(fraction(v) - .5)) < lay->duty;
    case 7: /* clouds */
        return heap(u, v, lay->phase_u * 100);
    case 8: /* bricks */
        return fraction(v) < .18 || fraction(u / 2 + .5 * fmod(fabs(floor(v)), 2)) < .1;
    default: /* small rings */
        return fabs(from_centre(u, v) - .3) < .1;
    }
}

uint8_t draw_texture(uint64_t seed, uint64_t image, uint8_t *ret) {
    struct draw_random random = draw_random_of(seed, image);
    uint8_t label = (uint8_t)draw_uniform(&random, 0, 10);
    struct lay lay = {.scale = draw_uniform(&random, 2.5, 5),
                      .angle = draw_uniform(&random, 0, 2 * M_PI),
                      .phase_u = draw_uniform(&random, 0, 8),
                      .phase_v = draw_uniform(&random, 0, 8),
                      .duty = draw_uniform(&random, .35, .65)};
    double colours[2][3], noise = draw_uniform(&random, 5, 30);
    for (int c = 0; c < 3; c++)
        colours[0][c] = draw_uniform(&random, 20, 235);
    for (int c = 0; c < 3; c++) /* colours at least 60 apart */
        colours[1][c] = fmod(colours[0][c] + draw_uniform(&random, 60, 160), 255);
    for (int i = 0; i < TEXTURE_ROWS * TEXTURE_ROWS; i++) {
        int column = i % TEXTURE_ROWS, row = i / TEXTURE_ROWS;
        double x = column * lay.scale / TEXTURE_ROWS, y = row * lay.scale / TEXTURE_ROWS;
        double u = x * cos(lay.angle) - y * sin(lay.angle) + lay.phase_u;
        double v = x * sin(lay.angle) + y * cos(lay.angle) + lay.phase_v;
        double share = pattern(label, u, v, &lay);
        for (int c = 0; c < 3; c++) {
            double value = colours[0][c] + share * (colours[1][c] - colours[0][c]) +
                           noise * draw_normal(&random);
            ret[c * TEXTURE_ROWS * TEXTURE_ROWS + i] = (uint8_t)(value < 0     ? 0
                                                                 : value > 255 ? 255
                                                                               : value);
        }
    }
    return label;
}
