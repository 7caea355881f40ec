/* SPDX-License-Identifier: MIT */
/* F1 and F2: resources, cores and the marks of the program, over time. Pictures only. */
#include "reports/plot/pictures.h"

#include "reports/plot/finding.h"
#include "reports/sections/sections.h"

void section_put_pictures(const struct report *report, struct page *page, const char *names) {
    struct plot *plot;
    while (page_draws(page) && (plot = pictures_take(&page->pictures, names)))
        page_picture_found(page, plot, picture_finding(report, plot_name(plot)));
}

static void put_cores(const struct report *report, struct page *page) {
    page_fold(page, "Each core of each host");
    section_put_pictures(report, page, "cores");
    if (report->n_hosts > PICTURE_CORES_MAX)
        page_paragraph(page, STYLE_NOTE, "The first %d of %zu hosts.", PICTURE_CORES_MAX,
                       report->n_hosts);
    page_unfold(page);
}

void section_pictures(const struct report *report, struct page *page) {
    if (!page_draws(page))
        return;
    section_put_pictures(report, page,
                         "cpu,network,memory,disk,pressure,gpu,gpus,gpu-link,gpu-memory,gpu-power");
    put_cores(report, page);
    if (report->n_curves)
        page_heading(page, 2, "Progress as the program reported it");
    section_put_pictures(report, page, "accuracy,marks");
}
