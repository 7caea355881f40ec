/* SPDX-License-Identifier: MIT */
/*
 * Drawn images, for use without a network. The seed and i determine image i and its label.
 *
 * Digits: strokes of a pen on 28 x 28, each digit turned, sheared, stretched, moved and bent, with
 * thick or thin pens and noisy grey values. The darkness of a pixel depends so much on these that a
 * linear model learns little of the shape; a convolutional net learns it.
 *
 * Textures: 32 x 32 in colour. The class is the pattern; colours, scale, phase and angle are
 * random, so that neither a colour nor a pixel reveals the class.
 */
#ifndef CHOKEPOINT_WORKLOADS_DATA_DRAW_H
#define CHOKEPOINT_WORKLOADS_DATA_DRAW_H

#include <stdint.h>

#define DIGIT_ROWS 28
#define DIGIT_BYTES (DIGIT_ROWS * DIGIT_ROWS)
#define TEXTURE_ROWS 32
#define TEXTURE_BYTES (3 * TEXTURE_ROWS * TEXTURE_ROWS)

struct draw_random {
    uint64_t state;
};

/* Each image has its own random stream. */
struct draw_random draw_random_of(uint64_t seed, uint64_t image);
double draw_uniform(struct draw_random *random, double low, double high);
double draw_normal(struct draw_random *random); /* mean 0, deviation about 1: three uniforms */

/* Each returns the label. */
uint8_t draw_digit(uint64_t seed, uint64_t image, uint8_t *ret_pixels);
uint8_t draw_texture(uint64_t seed, uint64_t image, uint8_t *ret_pixels); /* planes of colour */

#endif
