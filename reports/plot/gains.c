/* SPDX-License-Identifier: MIT */
#include "reports/plot/gains.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/plot/drawing.h"

#define WIDTH 980
#define RIGHT 700
#define TOP 14
#define BOTTOM 150
#define HEIGHT 190

struct axes {
    double low, high; /* range of factors */
    double most;      /* largest gain, % */
};

static struct axes axes_of(const struct report_factors *f) {
    struct axes a = {1, 1, 1};
    for (size_t i = 0; i < f->n; i++) {
        const struct report_factor *p = &f->points[i];
        a.low = fmin(a.low, p->factor);
        a.high = fmax(a.high, p->factor);
        a.most = fmax(a.most, fmax(p->gain_pct, isnan(p->high_pct) ? 0 : p->high_pct));
    }
    a.most *= 1.1;
    return a;
}

static double x_of_factor(const struct axes *a, double factor) {
    return a->high > a->low
               ? GAINS_LEFT + (RIGHT - GAINS_LEFT) * (factor - a->low) / (a->high - a->low)
               : GAINS_LEFT;
}

static double y_of(const struct axes *a, double gain) {
    return TOP + (BOTTOM - TOP) * gain / a->most;
}

static void put_gain_axes(FILE *out, const struct axes *a) {
    double step = drawing_step(a->most, 5);
    for (double gain = 0; gain <= a->most * 1.0001; gain += step) {
        char text[32];
        snprintf(text, sizeof text, "%s%.4g %%", gain > 0 ? "-" : "", gain);
        fprintf(out, "<path class=\"axis\" d=\"M%d %.1fH%d\"/>", GAINS_LEFT, y_of(a, gain), RIGHT);
        drawing_put_text(out, GAINS_LEFT - 8, y_of(a, gain) + 4, "end", "small", text, 20);
    }
}

static void put_factor(FILE *out, const struct axes *a, double factor) {
    char text[32];
    snprintf(text, sizeof text, factor == 1 ? "as it was" : "%.3gx", factor);
    drawing_put_text(out, x_of_factor(a, factor), BOTTOM + 22, "middle", "small", text, 20);
}

static void put_point(FILE *out, const struct axes *a, const struct report_factor *p) {
    double x = x_of_factor(a, p->factor), y = y_of(a, p->gain_pct);
    char text[32];
    if (!isnan(p->low_pct) && !isnan(p->high_pct))
        fprintf(out, "<path class=\"span\" d=\"M%.1f %.1fh8m-4 0V%.1fm-4 0h8\"/>", x - 4,
                y_of(a, p->low_pct), y_of(a, p->high_pct));
    fprintf(out, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>", x, y);
    snprintf(text, sizeof text, "%.0f %%", -p->gain_pct);
    drawing_put_text(out, x + 9, y - 4, "start", "name", text, 20);
    put_factor(out, a, p->factor);
}

char *gains_draw(const struct report_factors *factors) {
    struct axes a = axes_of(factors);
    char *svg = NULL;
    size_t size;
    FILE *out = open_memstream(&svg, &size);
    if (!out)
        return NULL;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
            "class=\"runs gains\">",
            WIDTH, HEIGHT);
    put_gain_axes(out, &a);
    fprintf(out, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%d\" r=\"4\"/>", x_of_factor(&a, 1), TOP);
    put_factor(out, &a, 1);
    for (size_t i = 0; i < factors->n; i++)
        put_point(out, &a, &factors->points[i]);
    fputs("</svg>\n", out);
    if (fclose(out) == 0)
        return svg;
    free(svg);
    return NULL;
}
