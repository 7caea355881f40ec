/* SPDX-License-Identifier: MIT */
#include "reports/plot/pictures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/plot/gnuplot.h"

#define AHEAD 8

/* Takes over the plot; if it is NULL, errno says why. */
static int add(struct pictures *pictures, struct plot *plot) {
    if (!plot)
        return errno == ENODATA ? 0 : negative_errno();
    struct plot **grown = realloc(pictures->items, (pictures->n + 1) * sizeof *grown);
    if (!grown) {
        plot_free(plot);
        return -ENOMEM;
    }
    grown[pictures->n++] = plot;
    pictures->items = grown;
    return 0;
}

static int add_cores(const struct report *report, struct pictures *pictures) {
    int result = 0;
    for (size_t h = 0; result == 0 && h < report->n_hosts && h < PICTURE_CORES_MAX; h++)
        result = add(pictures, plot_cores(report, h));
    return result;
}

static bool is_accuracy(const char *name) {
    return strcmp(name, "accuracy") == 0;
}

static bool name_seen(const struct report *report, size_t at) {
    for (size_t i = 0; i < at; i++)
        if (strcmp(report->curves[i].name, report->curves[at].name) == 0)
            return true;
    return false;
}

static int add_accuracy(const struct report *report, struct pictures *pictures) {
    if (!plot_marked_count(report, "accuracy"))
        return 0;
    int result = add(pictures, plot_marked(report, "accuracy", PLOT_ITERATION));
    return result ? result : add(pictures, plot_marked(report, "accuracy", PLOT_TIME));
}

static int add_marks(const struct report *report, struct pictures *pictures) {
    int result = 0;
    for (size_t i = 0; result == 0 && i < report->n_curves; i++) {
        const char *name = report->curves[i].name;
        if (!is_accuracy(name) && !name_seen(report, i) && plot_marked_count(report, name))
            result = add(pictures, plot_marked(report, name, PLOT_TIME));
    }
    return result;
}

struct kind {
    const char *name;
    struct plot *(*plot)(const struct report *report); /* one plot; or (NULL) */
    int (*add)(const struct report *report, struct pictures *pictures);
};

static struct plot *cpu(const struct report *report) {
    return plot_resource(report, PLOT_CPU);
}

static struct plot *memory(const struct report *report) {
    return plot_resource(report, PLOT_MEMORY);
}

static struct plot *network(const struct report *report) {
    return plot_resource(report, PLOT_NETWORK);
}

static struct plot *disk(const struct report *report) {
    return plot_resource(report, PLOT_DISK);
}

static struct plot *pressure(const struct report *report) {
    return plot_resource(report, PLOT_PRESSURE);
}

static struct plot *gpu(const struct report *report) {
    return plot_resource(report, PLOT_GPU);
}

static struct plot *gpu_link(const struct report *report) {
    return plot_resource(report, PLOT_GPU_LINK);
}

static struct plot *gpu_memory(const struct report *report) {
    return plot_resource(report, PLOT_GPU_MEMORY);
}

static struct plot *gpu_power(const struct report *report) {
    return plot_resource(report, PLOT_GPU_POWER);
}

static const struct kind kinds[] = {
    {"cpu", cpu, NULL},
    {"memory", memory, NULL},
    {"network", network, NULL},
    {"disk", disk, NULL},
    {"pressure", pressure, NULL},
    {"gpu", gpu, NULL},
    {"gpus", plot_gpus, NULL},
    {"gpu-link", gpu_link, NULL},
    {"gpu-memory", gpu_memory, NULL},
    {"gpu-power", gpu_power, NULL},
    {"pairs", plot_routes, NULL},
    {"cores", NULL, add_cores},
    {"budget", plot_budget, NULL},
    {"budget-iterations", plot_budget_iterations, NULL},
    {"iterations", plot_iterations, NULL},
    {"timeline", plot_timeline, NULL},
    {"accuracy", NULL, add_accuracy},
    {"marks", NULL, add_marks},
};

const char *picture_name(size_t i) {
    return i < ARRAY_SIZE(kinds) ? kinds[i].name : NULL;
}

/* Whether the n characters at text are that name. */
static bool is_name(const char *text, size_t n, const char *name) {
    return strlen(name) == n && strncmp(text, name, n) == 0;
}

static bool is_listed(const char *names, const char *name) {
    for (const char *at = names; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (is_name(at, strcspn(at, ","), name))
            return true;
    return false;
}

int pictures_check(const char *names, char *ret_wrong, size_t size) {
    for (const char *at = names; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        size_t n = strcspn(at, ","), i = 0;
        while (i < ARRAY_SIZE(kinds) && !is_name(at, n, kinds[i].name))
            i++;
        if (i < ARRAY_SIZE(kinds))
            continue;
        snprintf(ret_wrong, size, "%.*s", n < size ? (int)n : (int)size - 1, at);
        return -EINVAL;
    }
    return 0;
}

static int add_kind(const struct report *report, const struct kind *kind,
                    struct pictures *pictures) {
    size_t first = pictures->n;
    int result = kind->plot ? add(pictures, kind->plot(report)) : kind->add(report, pictures);
    for (size_t i = first; i < pictures->n; i++)
        pictures->items[i]->name = kind->name;
    return result;
}

int pictures_make(const struct report *report, const char *names, struct pictures *pictures) {
    int result = 0;
    for (size_t i = 0; result == 0 && i < ARRAY_SIZE(kinds); i++)
        if (!names || is_listed(names, kinds[i].name))
            result = add_kind(report, &kinds[i], pictures);
    return result;
}

/* At most AHEAD plots are drawn and not taken yet. */
void pictures_begin(struct pictures *pictures) {
    size_t drawn = 0;
    for (size_t i = 0; i < pictures->begun; i++)
        drawn += pictures->items[i] != NULL;
    for (; drawn < AHEAD && pictures->begun < pictures->n; drawn++)
        plot_svg_begin(pictures->items[pictures->begun++]);
}

struct plot *pictures_take(struct pictures *pictures, const char *names) {
    for (size_t i = 0; i < pictures->n; i++) {
        struct plot *plot = pictures->items[i];
        if (!plot || !is_listed(names, plot->name))
            continue;
        pictures->items[i] = NULL;
        if (pictures->begun)
            pictures_begin(pictures);
        return plot;
    }
    return NULL;
}

void pictures_release(struct pictures *pictures) {
    for (size_t i = 0; i < pictures->n; i++)
        plot_free(pictures->items[i]);
    free(pictures->items);
    *pictures = (struct pictures){0};
}
