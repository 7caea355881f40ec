/* SPDX-License-Identifier: MIT */
/* Traffic by sender and receiver, as a square with a shade per cell. Pages only; a table lists the
 * pairs, too. */
#include <math.h>

#include "reports/sections/sections.h"

#define HOSTS_MAX 24 /* more hosts make a picture */

/* The shade of a pair's traffic, relative to the largest. */
static const char *shade_of(double share) {
    static const char *const shades[] = {"heat0", "heat1", "heat2", "heat3", "heat4"};
    return shades[share >= .8 ? 4 : share >= .5 ? 3 : share >= .2 ? 2 : share > .02 ? 1 : 0];
}

static void put_routes(struct report_table *table, const struct report *report) {
    double most = report->routes[0].mean_mb_s;
    for (size_t i = 1; i < report->n_routes; i++)
        most = fmax(most, report->routes[i].mean_mb_s);
    for (size_t i = 0; i < report->n_routes; i++) {
        const struct report_route *r = &report->routes[i];
        table_number(table, (size_t)r->from, (size_t)r->to + 1, r->mean_mb_s)->mark =
            shade_of(most > 0 ? r->mean_mb_s / most : 0);
    }
}

void section_matrix(const struct report *report, struct page *page) {
    struct report_table table;
    if (!page_draws(page) || !report->n_routes)
        return;
    section_put_pictures(report, page, "pairs");
    if (report->n_hosts > HOSTS_MAX)
        return;
    table_init(&table, NULL, report,
               &(struct report_column){KIND_TEXT, NULL, "from \\ to", COMPUTED}, 1);
    table.audience = FOR_READERS;
    for (size_t h = 0; h < report->n_hosts; h++)
        table_add_number_column(&table, report->hosts[h].name, NULL);
    for (size_t h = 0; h < report->n_hosts; h++)
        table_borrow(&table, table_add(&table, NULL), 0, report->hosts[h].name);
    put_routes(&table, report);
    table_title(&table, "From host to host (MB/s, mean of the run)");
    page_table(page, &table);
}
