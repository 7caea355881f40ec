/* SPDX-License-Identifier: MIT */
/* Writes each kind of report: a page of a format, and its sections. */
#include "reports/writer.h"

#include "reports/model/ceilings.h"
#include "reports/model/prediction.h"
#include "reports/sections/sections.h"
#include "reports/sweep/sweep_write.h"

int report_write(const struct report *report, const struct format *format, FILE *out) {
    struct page page;
    page_begin(&page, format, out, report->run_name, "chokepoint.report/1");
    sections_put_report(report, &page);
    return page_end(&page);
}

int report_write_alerts(const struct report *report, const struct format *format, FILE *out) {
    struct page page;
    page_begin(&page, format, out, report->run_name, "chokepoint.report/1");
    sections_put_alerts(report, &page);
    return page_end(&page);
}

int comparison_write(const struct comparison *comparison, const struct format *format, FILE *out) {
    struct page page;
    page_begin(&page, format, out, "Comparison of runs", "chokepoint.compare/1");
    sections_put_comparison(comparison, &page);
    return page_end(&page);
}

int sweep_write(const struct sweep_section *sections, size_t n, const struct format *format,
                FILE *out) {
    struct page page;
    const char *title = n == 1 ? sweep_title(&sections[0]) : "Sweeps";
    page_begin(&page, format, out, title, "chokepoint.sweep/1");
    for (size_t i = 0; i < n; i++)
        sweep_put(&sections[i], &page);
    return page_end(&page);
}

static int write_prediction(const struct prediction *prediction, const struct format *format,
                            FILE *out) {
    struct page page;
    page_begin(&page, format, out, "What if", "chokepoint.whatif/1");
    prediction_put(prediction, &page);
    return page_end(&page);
}

int prediction_write_text(const struct prediction *prediction, FILE *out) {
    return write_prediction(prediction, &format_text, out);
}

int prediction_write_json(const struct prediction *prediction, FILE *out) {
    return write_prediction(prediction, &format_json, out);
}

int ceilings_print(FILE *out, const struct store_ceiling *ceilings, size_t n) {
    struct page page;
    page_begin(&page, &format_text, out, "", "");
    ceilings_put(&page, ceilings, n);
    return page_end(&page);
}

int ceilings_print_json(FILE *out, const struct store_ceiling *ceilings, size_t n,
                        char *const *notes, size_t n_notes) {
    static const struct report_column column = {KIND_LIST, "notes", COMPUTED};
    struct report_table table;
    struct page page;
    page_begin(&page, &format_json, out, "", "chokepoint.calibration/1");
    ceilings_put_document(&page, ceilings, n);
    table_init(&table, "", NULL, &column, 1);
    table_items(&table, table_add(&table, NULL), 0, notes, n_notes);
    page_table(&page, &table);
    return page_end(&page);
}
