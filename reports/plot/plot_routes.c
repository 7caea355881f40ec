/* SPDX-License-Identifier: MIT */
/* F2: a line a pair of hosts, those that moved most. */
#include <math.h>
#include <stdio.h>

#include "common/error.h"
#include "reports/plot/gnuplot.h"
#include "reports/plot/plot.h"

char *plot_routes(const struct report *report) {
    struct script script;
    if (!report->n_routes)
        return script_no_data();
    if (script_open(&script, 330) < 0)
        return NULL;
    for (size_t i = 0; i < report->n_routes; i++) {
        char name[32];
        snprintf(name, sizeof name, "r%zu", i);
        script_put_series(script.file, name, &report->routes[i].series, report_end_s(report));
    }
    script_put_phases(script.file, report);
    script_put_phase_words(script.file, report);
    fprintf(script.file,
            "set xrange [0:%.7g]\nset yrange [0:*]\nset ylabel 'MB/s'\nset tmargin 3\n"
            "set xlabel 'seconds since the command started' offset 0,0.5\n"
            "set key outside right top\nplot ",
            report_end_s(report));
    for (size_t i = 0; i < report->n_routes; i++) {
        fprintf(script.file, "%s$r%zu using 1:2 with lines lw 1.2 lc rgb '%s' title ",
                i ? ", " : "", i, script_colour(i));
        script_put_string(script.file, report->routes[i].series.label);
    }
    fputc('\n', script.file);
    return script_run(&script);
}
