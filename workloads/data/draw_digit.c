/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "workloads/data/draw.h"

#define POINTS_MAX 64
#define ARC_STEPS 10

/* Strokes in a square from -1 to 1, y downwards: an arc of an ellipse between two angles (degrees,
 * clockwise from the right), or a straight line. */
struct stroke {
    enum { END, ARC, LINE } kind;
    double a, b, c, d, from, to; /* ARC: centre, radii, angles; LINE: x, y to x, y */
};

static const struct stroke digits[10][5] = {
    {{ARC, 0, 0, .55, .9, 0, 360}},
    {{LINE, .1, -.9, .1, .9, 0, 0}, {LINE, -.3, -.55, .1, -.9, 0, 0}},
    {{ARC, 0, -.4, .55, .5, 180, 380},
     {LINE, .5, -.2, -.55, .9, 0, 0},
     {LINE, -.55, .9, .6, .9, 0, 0}},
    {{ARC, -.05, -.45, .5, .45, 200, 450}, {ARC, -.05, .45, .55, .47, 270, 520}},
    {{LINE, .3, .9, .3, -.9, 0, 0}, {LINE, .3, -.9, -.6, .3, 0, 0}, {LINE, -.6, .3, .65, .3, 0, 0}},
    {{LINE, .5, -.9, -.4, -.9, 0, 0},
     {LINE, -.4, -.9, -.45, -.1, 0, 0},
     {ARC, -.05, .35, .55, .55, 225, 500}},
    {{ARC, .35, .2, .85, 1.1, 180, 260}, {ARC, 0, .4, .5, .5, 0, 360}},
    {{LINE, -.55, -.9, .55, -.9, 0, 0}, {LINE, .55, -.9, -.15, .9, 0, 0}},
    {{ARC, 0, -.45, .42, .44, 0, 360}, {ARC, 0, .45, .52, .46, 0, 360}},
    {{ARC, 0, -.4, .5, .5, 0, 360}, {ARC, -.35, -.2, .85, 1.1, 0, 80}},
};

/* ---- random numbers ---- */

/* SplitMix64 (G. Steele, D. Lea, C. Flood, 2014; public domain code by S. Vigna). */
static uint64_t next(struct draw_random *random) {
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

struct draw_random draw_random_of(uint64_t seed, uint64_t image) {
    struct draw_random of_seed = {seed};
    struct draw_random random = {next(&of_seed) ^ image * UINT64_C(0xd1342543de82ef95)};
    next(&random);
    return random;
}

double draw_uniform(struct draw_random *random, double low, double high) {
    return low + (high - low) * (double)(next(random) >> 11) * 0x1p-53;
}

double draw_normal(struct draw_random *random) {
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += draw_uniform(random, -1, 1);
    return sum; /* each has variance 1/3 */
}

/* ---- pen and paper ---- */

struct point {
    double x, y;
    int begins; /* begins a stroke; otherwise a line leads here from the previous point */
};

struct path {
    struct point points[POINTS_MAX];
    int n;
};

static void add(struct path *path, double x, double y, int begins) {
    if (path->n < POINTS_MAX)
        path->points[path->n++] = (struct point){x, y, begins};
}

static void add_stroke(struct path *path, const struct stroke *s) {
    if (s->kind == LINE) { /* in parts, so that it can bend */
        for (int i = 0; i <= 4; i++)
            add(path, s->a + (s->c - s->a) * i / 4, s->b + (s->d - s->b) * i / 4, i == 0);
        return;
    }
    for (int i = 0; i <= ARC_STEPS; i++) {
        double t = (s->from + (s->to - s->from) * i / ARC_STEPS) * (M_PI / 180);
        add(path, s->a + s->c * cos(t), s->b + s->d * sin(t), i == 0);
    }
}

/* Bends, turns, shears, stretches and moves a point to pixel coordinates. */
static void distort(struct path *path, struct draw_random *random) {
    double turn = draw_uniform(random, -.3, .3), shear = draw_uniform(random, -.3, .3);
    double width = draw_uniform(random, 6, 10), height = draw_uniform(random, 7, 10.5);
    double x0 = 13.5 + draw_uniform(random, -1.8, 1.8), y0 = 13.5 + draw_uniform(random, -1.8, 1.8);
    double bend = draw_uniform(random, 0, .14), phase = draw_uniform(random, 0, 2 * M_PI);
    double wave = draw_uniform(random, 2, 4);
    for (int i = 0; i < path->n; i++) {
        struct point *p = &path->points[i];
        double x =
            p->x + bend * sin(wave * p->y + phase) + shear * p->y + .025 * draw_normal(random);
        double y = p->y + bend * sin(wave * p->x - phase) + .025 * draw_normal(random);
        p->x = x0 + width * x * cos(turn) - height * y * sin(turn);
        p->y = y0 + width * x * sin(turn) + height * y * cos(turn);
    }
}

static double distance_squared(const struct point *a, const struct point *b, double x, double y) {
    double dx = b->x - a->x, dy = b->y - a->y, length = dx * dx + dy * dy;
    double t = length > 0 ? ((x - a->x) * dx + (y - a->y) * dy) / length : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    double ex = a->x + t * dx - x, ey = a->y + t * dy - y;
    return ex * ex + ey * ey;
}

static int clamp_pixel(double v, int most) {
    return v < 0 ? 0 : v > most ? most : (int)v;
}

/* Lowers the distances of the pixels near a line. */
static void draw_line(const struct point *a, const struct point *b, double reach, double *nearest) {
    int most = DIGIT_ROWS - 1;
    int left = clamp_pixel(fmin(a->x, b->x) - reach, most),
        top = clamp_pixel(fmin(a->y, b->y) - reach, most);
    int right = clamp_pixel(fmax(a->x, b->x) + reach + 1, most);
    int bottom = clamp_pixel(fmax(a->y, b->y) + reach + 1, most);
    for (int y = top; y <= bottom; y++) {
        for (int x = left; x <= right; x++) {
            double d = distance_squared(a, b, x, y), *old = &nearest[y * DIGIT_ROWS + x];
            *old = d < *old ? d : *old;
        }
    }
}

static uint8_t grey(double value) {
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

uint8_t draw_digit(uint64_t seed, uint64_t image, uint8_t *ret) {
    struct draw_random random = draw_random_of(seed, image);
    uint8_t label = (uint8_t)draw_uniform(&random, 0, 10);
    struct path path = {.n = 0};
    double nearest[DIGIT_BYTES];
    for (int i = 0; i < 5 && digits[label][i].kind != END; i++)
        add_stroke(&path, &digits[label][i]);
    distort(&path, &random);
    double pen = draw_uniform(&random, .7, 1.7), ink = draw_uniform(&random, 170, 255);
    double noise = draw_uniform(&random, 0, 25);
    for (int i = 0; i < DIGIT_BYTES; i++)
        nearest[i] = 1e9;
    for (int i = 1; i < path.n; i++)
        if (!path.points[i].begins)
            draw_line(&path.points[i - 1], &path.points[i], pen + 1, nearest);
    for (int i = 0; i < DIGIT_BYTES; i++) {
        double edge = pen + .5 - sqrt(nearest[i]); /* one pixel wide */
        double value = ink * (edge < 0 ? 0 : edge > 1 ? 1 : edge);
        ret[i] = grey(value + noise * draw_normal(&random));
    }
    return label;
}
