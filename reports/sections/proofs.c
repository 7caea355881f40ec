/* SPDX-License-Identifier: MIT */
/*
 * The evidence of the verdict and of the ranking, for programs: each piece has an id, and the query
 * that gives its figure, or the reason why there is none.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/facts/figure.h"
#include "reports/says/candidate_words.h"
#include "reports/sections/proofs.h"
#include "reports/sections/sections.h"

#define HOSTS_MOST 8 /* of a candidate that is about all hosts */

enum { ID, OF, TEXT, BASIS, FIGURE, VALUE, UNIT, HOST, PHASE, RUN, TABLES, SQL, NO_SQL };

static const struct report_column columns[] = {
    [ID] = {KIND_TEXT, "id", COMPUTED},
    [OF] = {KIND_TEXT, "of", COMPUTED},
    [TEXT] = {KIND_TEXT, "text", COMPUTED},
    [BASIS] = {KIND_TEXT, "basis", COMPUTED},
    [FIGURE] = {KIND_TEXT, "figure", COMPUTED},
    [VALUE] = {KIND_NUMBER, "value", COMPUTED},
    [UNIT] = {KIND_TEXT, "unit", COMPUTED},
    [HOST] = {KIND_HOST, "host", COMPUTED},
    [PHASE] = {KIND_TEXT, "phase", COMPUTED},
    [RUN] = {KIND_COUNT, "source" INTO "run", COMPUTED},
    [TABLES] = {KIND_LIST, "source" INTO "tables", COMPUTED},
    [SQL] = {KIND_TEXT, "sql", COMPUTED},
    [NO_SQL] = {KIND_TEXT, "no_sql", COMPUTED},
};

/* The rows that are made. Lists of tables live until the table was written. */
struct proofs {
    struct report_table table;
    struct figure_run run;
    struct figure *figures; /* owned: of the rows */
    size_t n, capacity;
    int error;
};

struct figure_run proofs_run(const struct report *report) {
    int64_t cpu_ns = report->run->input.command_cpu_ns;
    return (struct figure_run){.model = &report->run->model,
                               .id = report->run_id,
                               .cpu_s = cpu_ns > 0 ? (double)cpu_ns / 1e9 : NAN,
                               .duration_s = report->duration_s,
                               .budgets = report->run->input.budgets,
                               .n_budgets = report->run->input.n_budgets};
}

/* Takes the figure over. NULL: no memory. */
static const struct figure *keep(struct proofs *proofs, struct figure figure) {
    if (proofs->n == proofs->capacity) {
        size_t room = proofs->capacity ? 2 * proofs->capacity : 32;
        struct figure *grown = realloc(proofs->figures, room * sizeof *grown);
        if (!grown) {
            figure_release(&figure);
            proofs->error = -ENOMEM;
            return NULL;
        }
        proofs->figures = grown;
        proofs->capacity = room;
    }
    proofs->figures[proofs->n] = figure;
    return &proofs->figures[proofs->n++];
}

static void fill_proof(struct report_table *table, size_t row, const struct figure_run *run,
                       const struct figure *figure, bool inferred) {
    table_borrow(table, row, BASIS, inferred ? "inferred" : "observed");
    table_borrow(table, row, FIGURE, figure->name);
    table_number(table, row, VALUE, figure->value);
    table_borrow(table, row, UNIT, figure->unit);
    table_integer(table, row, HOST, figure->host);
    table_borrow(table, row, PHASE, run->model->groups[figure->group].name);
    table_integer(table, row, RUN, run->id);
    table_text(table, row, SQL, "%s", figure->sql ? figure->sql : "");
    table_cell(table, row, SQL)->known = figure->sql;
    table_borrow(table, row, NO_SQL, figure->why);
}

/* Adds a row; its id and place are set. */
static size_t add_row(struct proofs *proofs, struct figure figure, bool inferred) {
    size_t row = table_add(&proofs->table, NULL);
    const struct figure *kept = keep(proofs, figure);
    if (kept)
        fill_proof(&proofs->table, row, &proofs->run, kept, inferred);
    return row;
}

/* ---- of the verdict ---- */

/* texts: the sentences of these remarks, one each, or there are others. */
static void add_remarks(struct proofs *proofs, const struct candidate *c,
                        const struct remarks *remarks, char *const *texts, size_t n, char letter,
                        const char *of) {
    bool paired = remarks->n == n;
    for (size_t i = 0; i < n; i++) {
        struct figure figure = {.host = -1, .value = NAN, .why = "it is said without a figure"};
        bool inferred = !paired || figure_is_inferred(&remarks->items[i]);
        if (paired && figure_of_remark(&proofs->run, c, &remarks->items[i], &figure) < 0)
            proofs->error = -ENOMEM;
        size_t row = add_row(proofs, figure, inferred);
        table_text(&proofs->table, row, ID, "%c%zu", letter, i + 1);
        table_text(&proofs->table, row, OF, "verdict.%s[%zu]", of, i);
        table_borrow(&proofs->table, row, TEXT, texts[i]);
    }
}

/* ---- of the ranking ---- */

/* The metrics that show a resource; ends with METRIC_COUNT_. */
static const enum metric *metrics_of(enum resource resource) {
    static const enum metric cpu[] = {METRIC_CPU_IDLE, METRIC_PSI_CPU, METRIC_COUNT_},
                             steal[] = {METRIC_CPU_STEAL, METRIC_PSI_CPU, METRIC_COUNT_},
                             memory[] = {METRIC_MEM_FREE, METRIC_PSI_MEMORY, METRIC_COUNT_},
                             disk[] = {METRIC_DISK_BUSY, METRIC_PSI_IO, METRIC_DISK_READ,
                                       METRIC_DISK_WRITE, METRIC_COUNT_},
                             sent[] = {METRIC_NET_SEND, METRIC_COUNT_},
                             received[] = {METRIC_NET_RECV, METRIC_COUNT_},
                             gpu[] = {METRIC_GPU_BUSY, METRIC_COUNT_},
                             others[] = {METRIC_CPU_USER, METRIC_CPU_IDLE, METRIC_COUNT_};
    const char *name = resource_name(resource);
    static const struct {
        const char *name;
        const enum metric *metrics;
    } shown[] = {
        {"cpu", cpu},   {"cpu-quota", cpu},      {"steal", steal},     {"memory", memory},
        {"disk", disk}, {"disk-throttle", disk}, {"net-egress", sent}, {"net-ingress", received},
        {"gpu", gpu}};
    for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
        if (name && strcmp(name, shown[i].name) == 0)
            return shown[i].metrics;
    return others;
}

static void name_row(struct proofs *proofs, size_t row, size_t at, const char *what,
                     const char *words) {
    table_text(&proofs->table, row, ID, "c%zu.%s", at + 1, what);
    table_text(&proofs->table, row, OF, "ranking[%zu]", at);
    table_text(&proofs->table, row, TEXT, "%s", words);
}

static void add_share(struct proofs *proofs, const struct candidate *c, size_t at, const char *name,
                      double share, const char *words) {
    struct figure figure = {.name = name,
                            .unit = "% of the run",
                            .value = 100 * share,
                            .host = c->host,
                            .group = c->group,
                            .tables = {"process"},
                            .n_tables = 1,
                            .why = "it is what a model of the run says, not a sum over rows"};
    if (proofs->run.model->observed.sources >> SOURCE_CALLS & 1) {
        figure.tables[figure.n_tables++] = "call";
        figure.why = "it comes from MPI calls that were matched across ranks and replayed";
    }
    name_row(proofs, add_row(proofs, figure, true), at, name, words);
}

static void add_metrics(struct proofs *proofs, const struct candidate *c, size_t at,
                        const char *words) {
    const struct run_model *model = proofs->run.model;
    size_t first = c->host < 0 ? 0 : (size_t)c->host, n = c->host < 0 ? model->n_hosts : 1;
    for (size_t h = first; h < first + n && h < first + HOSTS_MOST; h++)
        for (const enum metric *m = metrics_of(c->resource); *m != METRIC_COUNT_; m++) {
            struct figure figure;
            if (figure_of_metric(&proofs->run, (int)h, *m, c->group, &figure) < 0)
                proofs->error = -ENOMEM;
            if (isnan(figure.value)) {
                figure_release(&figure);
                continue;
            }
            size_t row = add_row(proofs, figure, false);
            name_row(proofs, row, at, metric_name(*m), words);
            if (n > 1)
                table_text(&proofs->table, row, ID, "c%zu.%s.%zu", at + 1, metric_name(*m), h + 1);
        }
}

static void add_candidate(struct proofs *proofs, const struct candidate *c, size_t at) {
    const struct gain *gain = candidate_gain(c);
    char *words = candidate_words(proofs->run.model, c);
    if (!words)
        proofs->error = -ENOMEM;
    else if (gain->replayed || gain->counted)
        add_share(proofs, c, at, "gain_pct", gain->estimate, words);
    if (words)
        add_share(proofs, c, at, "blocked_pct", c->run_share, words);
    if (words)
        add_metrics(proofs, c, at, words);
    free(words);
}

/* The places are those of the table "ranking" (verdict.c). */
static void add_ranking(struct proofs *proofs, const struct candidates *candidates) {
    for (size_t i = 0, at = 0; i < candidates->n; i++)
        if (!candidates->items[i].repeated)
            add_candidate(proofs, &candidates->items[i], at++);
}

/* ---- all of it ---- */

/* Figures are complete only now: adding may have moved them. */
static void set_tables(struct proofs *proofs) {
    for (size_t i = 0; i < proofs->n && i < proofs->table.n_rows; i++)
        table_items(&proofs->table, i, TABLES, proofs->figures[i].tables,
                    proofs->figures[i].n_tables);
}

void section_proofs(const struct report *report, struct page *page) {
    const struct judgement *judgement = &report->run->judgement;
    const struct verdict *v = &judgement->verdict;
    const struct report_verdict *said = &report->verdict;
    if (!page_is_for(page, FOR_DOCUMENT))
        return;
    struct proofs proofs = {.run = proofs_run(report)};
    TABLE_INIT(&proofs.table, "evidence", report, columns);
    proofs.table.audience = FOR_DOCUMENT;
    add_remarks(&proofs, v->candidate, &v->evidence, said->evidence, said->n_evidence, 'e',
                "evidence");
    add_remarks(&proofs, v->candidate, &v->against, said->against, said->n_against, 'a', "against");
    add_ranking(&proofs, &judgement->candidates);
    set_tables(&proofs);
    proofs.table.failed |= proofs.error < 0;
    page_table(page, &proofs.table);
    for (size_t i = 0; i < proofs.n; i++)
        figure_release(&proofs.figures[i]);
    free(proofs.figures);
}
