/* SPDX-License-Identifier: MIT */
/* Traffic of ports of InfiniBand, RoCE and Omni-Path. */
#include <stdlib.h>

#include "analysis/evidence/fabric_ports.h"
#include "common/error.h"
#include "reports/sections/sections.h"

struct port_use {
    int host;
    const char *port, *link;
    double rate_gbit_s, sent_mb_s, sent_pct, received_mb_s, received_pct;
    double waits_per_s, discards, errors, out_of_sequence, congested;
};

static const struct report_column columns[] = {
    {KIND_HOST, "host", "host", FIELD(port_use, host)},
    {KIND_TEXT, "port", "port", FIELD(port_use, port), .names = true},
    {KIND_TEXT, "link", "link", FIELD(port_use, link)},
    {KIND_NUMBER, "rate_gbit_s", "rate", "Gbit/s", FIELD(port_use, rate_gbit_s)},
    {KIND_NUMBER, "sent_mb_s", "sent", "MB/s", FIELD(port_use, sent_mb_s)},
    {KIND_NUMBER, "sent_pct", "sent, of its rate", "%", FIELD(port_use, sent_pct)},
    {KIND_NUMBER, "received_mb_s", "received", "MB/s", FIELD(port_use, received_mb_s)},
    {KIND_NUMBER, "received_pct", "received, of its rate", "%", FIELD(port_use, received_pct)},
    {KIND_NUMBER, "waits_per_s", "waits to send", "1/s", FIELD(port_use, waits_per_s),
     .digits = DIGITS_NONE},
    {KIND_NUMBER, "discards", "thrown away", FIELD(port_use, discards), .digits = DIGITS_NONE},
    {KIND_NUMBER, "errors", "broken", FIELD(port_use, errors), .digits = DIGITS_NONE},
    {KIND_NUMBER, "out_of_sequence", "out of order", FIELD(port_use, out_of_sequence),
     .digits = DIGITS_NONE},
    {KIND_NUMBER, "congested", "told to slow", FIELD(port_use, congested), .digits = DIGITS_NONE},
};

/* The words for the numbers of column link of table fabric. */
static const char *link_name(int64_t link) {
    static const char *const names[] = {"?", "InfiniBand", "RoCE", "Omni-Path"};
    return names[link > 0 && link < (int64_t)ARRAY_SIZE(names) ? link : 0];
}

static void add_port_use(struct report_table *table, int host, const struct fabric_port *port) {
    const double *mb_s = port->mb_s;
    size_t row = table_add(
        table, &(struct port_use){.host = host,
                                  .rate_gbit_s = port->rate_mb_s * 8e-3,
                                  .sent_mb_s = mb_s[FLOW_SEND],
                                  .sent_pct = 100 * mb_s[FLOW_SEND] / port->rate_mb_s,
                                  .received_mb_s = mb_s[FLOW_RECEIVE],
                                  .received_pct = 100 * mb_s[FLOW_RECEIVE] / port->rate_mb_s,
                                  .waits_per_s = port->waits_s,
                                  .discards = port->discards,
                                  .errors = port->errors,
                                  .out_of_sequence = port->late,
                                  .congested = port->congested});
    table_text(table, row, 1, "%s", port->series->name);
    table_text(table, row, 2, "%s", link_name(port->link));
}

void section_fabric(const struct report *report, struct page *page) {
    const struct run_model *model = &report->run->model;
    struct report_table table;
    TABLE_INIT(&table, "fabric", report, columns);
    for (size_t h = 0; h < model->n_hosts; h++) {
        struct fabric_port *items = NULL;
        size_t n = 0;
        if (fabric_ports_make(model, (int)h, phase_windows(&model->groups[0]), &items, &n) < 0)
            table.failed = true;
        for (size_t i = 0; i < n; i++)
            add_port_use(&table, (int)h, &items[i]);
        free(items);
    }
    table_title(&table,
                "Ports of InfiniBand, RoCE and Omni-Path (all that passed them, whoever sent "
                "it)");
    page_table(page, &table);
}
