/* SPDX-License-Identifier: MIT */
/* Whether a change made a program slower, as a yes or no for a build server. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "reports/comparison/comparison_private.h"

static struct gated judge(const struct comparison *c, size_t group, double limit) {
    const struct comparison_row *row = &c->summary[0];
    const struct comparison_cell *cell = &row->groups[group];
    struct comparison_work work;
    struct gated gated = {.slower = cell->median / row->groups[c->baseline_group].median - 1,
                          .established = cell->finding == COMPARE_LOWER ||
                                         cell->finding == COMPARE_HIGHER ||
                                         cell->finding == COMPARE_SAME};
    if (comparison_work_differs(c, group, &work)) { /* what was tested is another quantity */
        gated.slower = work.baseline_per_s / work.per_s - 1;
        gated.per_work = true;
        gated.established = false;
    }
    bool tested = !gated.per_work && !isnan(cell->test.p);
    gated.passed = gated.slower <= limit || (tested && !gated.established);
    return gated;
}

int comparison_set_gate(struct comparison *c, double limit) {
    struct gated *each = calloc(c->n_groups + 1, sizeof *each);
    if (!each)
        return -ENOMEM;
    bool known = c->n_summary && c->summary[0].section == COMPARISON_TIME;
    c->gate = (struct comparison_gate){limit, each, true};
    for (size_t g = 0; g < c->n_groups; g++) {
        each[g] = (struct gated){.slower = NAN};
        if (known && g != c->baseline_group)
            each[g] = judge(c, g, limit);
        each[g].passed |= g == c->baseline_group;
        c->gate.passed &= each[g].passed;
    }
    return 0;
}
