/* SPDX-License-Identifier: MIT */
#include "reports/findings.h"

#include "reports/sections/sections.h"

static const struct report_column host_columns[] = {
    {KIND_TEXT, "name", FIELD(finding_host, name)},
    {KIND_TEXT, "reached", FIELD(finding_host, method)},
    {KIND_FLAG, "answered", FIELD(finding_host, answered)},
    {KIND_TEXT, "version", FIELD(finding_host, version)},
    {KIND_NUMBER, "start_s", FIELD(finding_host, start_s)},
};

static const struct report_column finding_columns[] = {
    {KIND_TEXT, "host", FIELD(finding, host)},   {KIND_TEXT, "level", FIELD(finding, level)},
    {KIND_TEXT, "check", FIELD(finding, check)}, {KIND_TEXT, "text", FIELD(finding, text)},
    {KIND_TEXT, "mend", FIELD(finding, mend)},
};

int findings_write(const struct finding_host *hosts, size_t n_hosts, const struct finding *findings,
                   size_t n_findings, const struct format *format, FILE *out) {
    struct report_table table;
    struct page page;
    page_begin(&page, format, out, "Hosts", "chokepoint.doctor/1");
    TABLE_INIT(&table, "hosts", NULL, host_columns);
    table.audience = FOR_DOCUMENT;
    TABLE_ADD_ALL(&table, hosts, n_hosts);
    page_table(&page, &table);
    TABLE_INIT(&table, "findings", NULL, finding_columns);
    table.audience = FOR_DOCUMENT;
    TABLE_ADD_ALL(&table, findings, n_findings);
    page_table(&page, &table);
    return page_end(&page);
}
