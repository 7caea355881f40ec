/* SPDX-License-Identifier: MIT */
/*
 * Images drawn by program, which stand in where there is no network. Image i of a seed is always
 * the same, and its label is drawn as well.
 *
 * Digits: strokes of a pen on 28 x 28, each digit turned, sheared, stretched, moved and bent, pens
 * thick or thin, grey values noisy. Where a pixel is dark depends so much on those that a linear
 * model sees little of the shape; a convolutional net does.
 *
 * Textures: 32 x 32 in colour. The class is the pattern; its two colours, its scale, phase and
 * angle are drawn at random, so that neither a colour nor a pixel tells the class by itself.
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

/* A stream of its own for each image. */
struct draw_random draw_random_of(uint64_t seed, uint64_t image);
double draw_uniform(struct draw_random *random, double low, double high);
double draw_normal(struct draw_random *random); /* mean 0, deviation 1, roughly: three uniforms */

/* Each returns the label. */
uint8_t draw_digit(uint64_t seed, uint64_t image, uint8_t *ret_pixels);
uint8_t draw_texture(uint64_t seed, uint64_t image, uint8_t *ret_pixels); /* planes of colour */

#endif
