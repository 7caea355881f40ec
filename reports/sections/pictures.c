/* SPDX-License-Identifier: MIT */
/* F1 and F2: resources, cores and the marks of the program, over time. Pictures only. */
#include <string.h>

#include "reports/plot/plot.h"
#include "reports/sections/sections.h"

#define CORE_PICTURES_MAX 16

static void put_resources(const struct report *report, struct page *page) {
    char which[80] = "", *svg;
    page_heading(page, 2, "Over time");
    for (int i = 0; i < PLOT_RESOURCE_COUNT_; i++) {
        svg = plot_resource(report, (enum plot_resource)i);
        page_picture(page, svg, "%s", plot_resource_title((enum plot_resource)i));
    }
    if (report->n_routes < report->n_routes_all)
        snprintf(which, sizeof which, ", the %zu of %zu pairs that moved most", report->n_routes,
                 report->n_routes_all);
    svg = plot_routes(report);
    page_picture(page, svg, "Between hosts: what the job's TCP connections carried%s", which);
}

static void put_cores(const struct report *report, struct page *page) {
    size_t n = report->n_hosts < CORE_PICTURES_MAX ? report->n_hosts : CORE_PICTURES_MAX;
    page_fold(page, "Each core of each host");
    for (size_t h = 0; h < n; h++) {
        char *svg = plot_cores(report, h);
        page_picture(page, svg, "busy share of each core, %s", report->hosts[h].name);
    }
    if (n < report->n_hosts)
        page_paragraph(page, STYLE_NOTE, "The first %zu of %zu hosts.", n, report->n_hosts);
    page_unfold(page);
}

/* Whether a curve of this name was drawn for an earlier index. */
static bool curve_seen(const struct report *report, size_t at) {
    for (size_t i = 0; i < at; i++)
        if (strcmp(report->curves[i].name, report->curves[at].name) == 0)
            return true;
    return false;
}

static void put_curves(const struct report *report, struct page *page) {
    if (report->n_curves)
        page_heading(page, 2, "Progress as the program reported it");
    for (size_t i = 0; i < report->n_curves; i++) {
        const char *name = report->curves[i].name;
        size_t ranks = curve_seen(report, i) ? 0 : plot_marked_count(report, name);
        char which[64] = "";
        if (!ranks)
            continue;
        if (ranks > PLOT_MARKED_MAX)
            snprintf(which, sizeof which, ", %d of %zu ranks", PLOT_MARKED_MAX, ranks);
        char *svg = plot_marked(report, name);
        page_picture(page, svg, "%s against time%s", name, which);
    }
}

void section_pictures(const struct report *report, struct page *page) {
    if (!page_draws(page))
        return;
    put_resources(report, page);
    put_cores(report, page);
    put_curves(report, page);
}
