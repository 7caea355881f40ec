/* SPDX-License-Identifier: MIT */
/* Budgets as stacked bars, one for each rank, in percent of the wall time. */
#include <stdlib.h>
#include <string.h>

#include "reports/model/budget_words.h"
#include "reports/plot/colour.h"
#include "reports/plot/gnuplot.h"
#include "reports/plot/rank_bars.h"
#include "reports/says/term_words.h"

#define NAMES_ABREAST 80 /* characters of all names together */

static const char *const colours[BUDGET_TERMS] = {
    [BUDGET_CPU] = COLOUR_COMPUTING,     [BUDGET_RUN_QUEUE] = COLOUR_CORE,
    [BUDGET_QUOTA] = COLOUR_QUOTA,       [BUDGET_STEAL] = COLOUR_STEAL,
    [BUDGET_DISK] = COLOUR_DISK,         [BUDGET_MEMORY] = COLOUR_MEMORY,
    [BUDGET_STOPPED] = COLOUR_STOPPED,   [BUDGET_IDLE] = COLOUR_ASLEEP,
    [BUDGET_PEER_WAIT] = COLOUR_PEER,    [BUDGET_TRANSFER] = COLOUR_TRANSFER,
    [BUDGET_FILE] = COLOUR_DISK_WRITE,   [BUDGET_OVERHEAD] = COLOUR_OVERHEAD,
    [BUDGET_UNSPLIT] = COLOUR_UNSPLIT,   [BUDGET_GPU] = COLOUR_GPU,
    [BUDGET_GPU_COPY] = COLOUR_GPU_COPY,
};

const char *budget_term_colour(enum budget_term term) {
    return colours[term];
}

static void put_budget_data(FILE *out, const struct rank_bars *bars) {
    fputs("$budget << EOD\n", out);
    for (size_t r = 0; r < bars->n; r++) {
        const struct report_budget *b = bars->items[r];
        for (int term = 0; term < BUDGET_TERMS; term++)
            fprintf(out, "%.4f ", 100 * rank_bar_share(b, (enum budget_term)term));
        fputc('\n', out);
    }
    fputs("EOD\n", out);
}

/* Names that fit beside each other are not slanted. */
static void put_names(FILE *out, const struct report *report, const struct rank_bars *bars) {
    char who[128];
    size_t longest = 0;
    for (size_t r = 0; r < bars->n; r++) {
        budget_whose(report, bars->items[r], who, sizeof who);
        longest = strlen(who) > longest ? strlen(who) : longest;
    }
    fprintf(out, "set xtics %s (",
            longest * bars->n <= NAMES_ABREAST ? "norotate" : "rotate by -35");
    for (size_t r = 0; r < bars->n; r++) {
        budget_whose(report, bars->items[r], who, sizeof who);
        fputs(r ? ", " : "", out);
        script_put_short(out, who, 32);
        fprintf(out, " %zu", r);
    }
    fputs(")\n", out);
}

const char *budget_main_phase(const struct report *report) {
    return report->main_phase ? report->resources[report->main_phase].phase : "the whole run";
}

struct plot *plot_budget(const struct report *report) {
    struct rank_bars bars = rank_bars_of(report);
    struct script script;
    if (!bars.n)
        return script_no_data();
    if (script_open(&script, 380) < 0)
        return NULL;
    put_budget_data(script.file, &bars);
    put_names(script.file, report, &bars);
    fputs("set style data histograms\nset style histogram rowstacked\nset boxwidth 0.7\n"
          "set style fill solid 1 border lc rgb '#b0b6be'\n"
          "set yrange [0:100]\nset ylabel '% of the wall time'\n"
          "set key outside right top reverse Left samplen 1.2 invert\n",
          script.file);
    for (size_t i = 0; i < bars.n_terms; i++) {
        fprintf(script.file, "%s$budget using %d title ", i ? ", " : "plot ",
                (int)bars.terms[i] + 1);
        script_put_string(script.file, budget_term_words(bars.terms[i]));
        fprintf(script.file, " lc rgb '%s'", budget_term_colour(bars.terms[i]));
    }
    fputc('\n', script.file);
    char *title = rank_bars_title(report);
    struct plot *plot = plot_titled(script_close(&script), "%s", title ? title : "");
    free(title);
    return plot;
}
