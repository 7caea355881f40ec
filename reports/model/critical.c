/* SPDX-License-Identifier: MIT */
/* The critical path in the model, and in words: which resource of which host the run's time went
 * through, one after the other. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/model/budget_words.h"
#include "reports/model/critical.h"
#include "reports/model/layout.h"
#include "reports/model/model_private.h"
#include "reports/says/term_words.h"

#define PARTS_SAID 5
#define SHARE_SAID 0.01

static int compare_parts(const void *a, const void *b) {
    const struct report_critical *x = a, *y = b;
    if (x->seconds != y->seconds)
        return x->seconds > y->seconds ? -1 : 1;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->term != y->term)
        return x->term < y->term ? -1 : 1;
    return (x->to_host > y->to_host) - (x->to_host < y->to_host);
}

static void add(struct report *report, size_t group, const struct critical_part *part, int host,
                enum budget_term term, int to_host, double seconds) {
    if (seconds <= 0)
        return;
    report->critical[report->n_critical++] =
        (struct report_critical){.phase = report->resources[group].phase,
                                 .host = host,
                                 .term = term,
                                 .to_host = to_host,
                                 .seconds = seconds,
                                 .share_pct = 100 * seconds / part->total_s};
}

/* Transfers by sender and receiver, if known; the rest of the term belongs to a host. */
static void add_transfers(struct report *report, size_t group, const struct critical_path *path) {
    const struct critical_part *part = &path->groups[group];
    size_t n = path->n_hosts;
    double known = 0, all = 0;
    for (size_t h = 0; h < n; h++)
        all += critical_seconds(part, (int)h, BUDGET_TRANSFER);
    for (size_t from = 0; from <= n; from++)
        for (size_t to = 0; to <= n; to++) {
            double seconds = part->transfers[from * (n + 1) + to];
            known += seconds;
            add(report, group, part, from == n ? -1 : (int)from, BUDGET_TRANSFER,
                to == n ? -1 : (int)to, seconds);
        }
    if (all - known > 1e-9 * all)
        add(report, group, part, -1, BUDGET_TRANSFER, -1, all - known);
}

int report_fill_critical(struct report *report, const struct run_model *model) {
    const struct critical_path *path = &model->critical;
    size_t n = path->n_hosts, room = n * BUDGET_TERMS + (n + 1) * (n + 1) + 1;
    static const char *const sources[] = {"events", "waits", "process", "none"};
    report->critical_source = sources[path->source];
    report->critical = calloc(path->n_groups * room + 1, sizeof *report->critical);
    if (!report->critical)
        return -ENOMEM;
    for (size_t g = 0; g < path->n_groups; g++) {
        size_t first = report->n_critical;
        const struct critical_part *part = &path->groups[g];
        for (size_t h = 0; part->total_s > 0 && h < n; h++)
            for (int term = 0; term < BUDGET_TERMS; term++)
                if (term != BUDGET_TRANSFER)
                    add(report, g, part, (int)h, term, -1, critical_seconds(part, (int)h, term));
        if (part->total_s > 0)
            add_transfers(report, g, path);
        qsort(report->critical + first, report->n_critical - first, sizeof *report->critical,
              compare_parts);
    }
    return 0;
}

/* ---- in words ---- */

static void put_part(FILE *out, const struct report *report, const struct report_critical *c) {
    const char *host = c->host < 0 ? "" : layout_host(report, c->host);
    if (c->term == BUDGET_TRANSFER && c->host >= 0 && c->to_host == c->host)
        fprintf(out, "transfer within %s", host);
    else if (c->term == BUDGET_TRANSFER && c->host >= 0 && c->to_host >= 0)
        fprintf(out, "transfer from %s to %s", host, layout_host(report, c->to_host));
    else if (c->term == BUDGET_TRANSFER && (c->host >= 0 || c->to_host >= 0))
        fprintf(out, "transfer %s %s", c->host >= 0 ? "from" : "to",
                c->host >= 0 ? host : layout_host(report, c->to_host));
    else
        fprintf(out, "%s%s%s", budget_term_words(c->term), c->host < 0 ? "" : " on ", host);
    fprintf(out, " %.0f %%", c->share_pct);
}

char *critical_sentence(const struct report *report) {
    const char *phase = report->resources[report->main_phase].phase;
    size_t said = 0, size;
    char *text = NULL;
    bool known = report->n_critical && (strcmp(report->critical_source, "events") == 0 ||
                                        strcmp(report->critical_source, "waits") == 0);
    FILE *out = known ? open_memstream(&text, &size) : NULL;
    if (!out)
        return NULL;
    fprintf(out, "Along the critical path%s%s%s: ", report->main_phase ? " of " : "",
            budget_phase_before(report), report->main_phase ? phase : "");
    for (size_t i = 0; i < report->n_critical && said < PARTS_SAID; i++) {
        const struct report_critical *c = &report->critical[i];
        if (strcmp(c->phase, phase) != 0 || c->share_pct < 100 * SHARE_SAID)
            continue;
        fputs(said++ ? ", " : "", out);
        put_part(out, report, c);
    }
    fputc('.', out);
    if (fclose(out) != 0 || !said) {
        free(text);
        return NULL;
    }
    return text;
}
