/* SPDX-License-Identifier: MIT */
/*
 * Bars of a page are text and boxes, which fit every width: a row each, under its name where room
 * is short. The page's script says the part under the cursor, also by keyboard.
 */
#include <math.h>

#include "reports/formats/html_private.h"

#define SAID_MIN .02   /* a smaller part is not read out */
#define SHOWN_MIN 5e-4 /* a smaller part is no pixel */

static void put_bar_words(FILE *out, const struct page_bars *bars, const double *shares) {
    for (size_t p = 0; p < bars->n_parts; p++) {
        if (shares[p] < SAID_MIN)
            continue;
        fputs(", ", out);
        html_put(out, bars->parts[p]);
        fprintf(out, " %.0f %%", 100 * shares[p]);
    }
}

static void put_part(FILE *out, const struct page_bars *bars, size_t bar, size_t part) {
    double share = bars->shares[bar * bars->n_parts + part];
    if (share < SHOWN_MIN)
        return;
    fprintf(out, "<i style=\"width:%.4g%%;background:%s\" title=\"", 100 * share,
            bars->colours[part]);
    html_put(out, bars->parts[part]);
    fprintf(out, ", %.3g %% (%.3g s)\"></i>", 100 * share, share * bars->wholes_s[bar]);
}

static void put_row(FILE *out, const struct page_bars *bars, size_t bar) {
    fputs("<li><span class=\"whose\">", out);
    html_put(out, bars->names[bar]);
    fputs("</span><span class=\"stack\" role=\"img\" aria-label=\"", out);
    html_put(out, bars->names[bar]);
    put_bar_words(out, bars, bars->shares + bar * bars->n_parts);
    fputs("\">", out);
    for (size_t p = 0; p < bars->n_parts; p++)
        put_part(out, bars, bar, p);
    fputs("</span></li>\n", out);
}

void html_bars(struct page *page, const struct page_bars *bars) {
    FILE *out = page->out;
    html_open_figure(out, &(struct page_picture){.name = bars->name,
                                                 .caption = bars->caption,
                                                 .finding = bars->finding});
    html_open_legend(out, "legend");
    for (size_t p = 0; p < bars->n_parts; p++)
        html_put_key(out, bars->colours[p], bars->parts[p]);
    fputs("</ul><ul class=\"bars\">\n", out);
    for (size_t i = 0; i < bars->n; i++)
        put_row(out, bars, i);
    fputs("</ul></figure>\n", out);
}
