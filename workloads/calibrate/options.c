/* SPDX-License-Identifier: MIT */
#include "workloads/calibrate/options.h"

#include <string.h>

#include "common/error.h"
#include "workloads/calibrate/plan.h"

static const char usage[] =
    "usage: [mpirun ...] chokepoint-calibrate [--name HOST] [--disk DIR] [--quick]\n"
    "           [--only net,disk,memory,cpu,mpi]\n"
    "\n"
    "Measures what these hosts can do, one rank a host, and prints a line of JSON for each "
    "figure.\n"
    "`chokepoint calibrate` starts it, shows tables and keeps the figures.\n"
    "\n";

/* "net,disk" */
static int take_parts(const struct option_word *word, void *to) {
    static const char *const names[] = {"cpu", "memory", "disk", "net", "mpi"};
    const char *text = word->text;
    unsigned parts = 0;
    while (*text) {
        size_t size = strcspn(text, ","), i = 0;
        while (i < 5 && (strlen(names[i]) != size || strncmp(names[i], text, size) != 0))
            i++;
        if (i == 5)
            break;
        parts |= 1u << i;
        text += size + (text[size] == ',');
    }
    if (*text || !parts)
        return option_expects(word, "words of net,disk,memory,cpu,mpi");
    *(unsigned *)to = parts;
    return 0;
}

int calibrate_options_read(int argc, char **argv, struct calibrate_options *o,
                           struct words_error *error) {
    const struct option_row rows[] = {
        {"--name HOST", "of this rank's host (default: its own name)", .text = &o->name},
        {"--disk DIR", "where the disk is measured (default: .)", .text = &o->disk},
        {"--quick", "shorter, less exact", .flag = &o->quick},
        {"--only LIST", "these alone", .take = take_parts, .to = &o->parts},
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), NULL, 2, 16, false};
    *o = (struct calibrate_options){.disk = ".", .parts = PART_ALL};
    int r = words_read(&table, argc, argv, error);
    if (r == OPTIONS_HELP)
        options_print_help(&table, stdout);
    return r;
}
