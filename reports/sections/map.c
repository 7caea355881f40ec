/* SPDX-License-Identifier: MIT */
/* Full resources over time. A picture only. */
#include <errno.h>
#include <stdlib.h>

#include "reports/model/layout.h"
#include "reports/plot/map.h"
#include "reports/sections/sections.h"

void section_map(const struct report *report, struct page *page) {
    struct map_drawing map;
    if (!page_draws(page))
        return;
    struct limit_levels levels = limit_levels_of(&report->run->judgement);
    int result = map_draw(report, &levels, &map);
    if (result < 0 && result != -ENODATA)
        page->error = page->error ? page->error : result;
    page_drawn(page, &(struct page_picture){.svg = map.svg,
                                            .why = -result,
                                            .name = "map",
                                            .held = MAP_LEFT,
                                            .caption = "How full each host was over time",
                                            .finding = map.finding});
    if (result == 0)
        page_paragraph(
            page, STYLE_NOTE,
            "%sThe darker, the fuller; red: %.0f %% of what it can do, or more.%s A link "
            "of which no ceiling is known is held against the highest rate seen, and is "
            "never red.%s",
            levels.known
                ? "The top row: the part of each stretch of time in which the limit held up "
                  "its host or process. "
                : "",
            100 * MAP_FULL,
            map.limited ? " A control group with a limit is held against what it may "
                          "use."
                        : "",
            report->n_hosts > MAP_HOSTS_MAX
                ? " Each row shows the resource that is fullest: CPU green, network "
                  "blue, disk purple, memory pink, GPUs brown."
                : "");
    if (result == 0 && layout_has(report, METRIC_GPU_BUSY))
        page_paragraph(page, STYLE_NOTE,
                       "A GPU is as full as the fullest of its multiprocessors, the bandwidth of "
                       "its memory and its link over PCIe. Some tell only the time with any work, "
                       "which counts then.");
    free(map.svg);
    free(map.finding);
}
