/* SPDX-License-Identifier: MIT */
/*
 * Measured limits of the hosts of a run. A link's ceiling is the highest rate that any of its
 * measurements reached, since one stream, or many on few cores, may stay below it. Bytes that
 * interfaces count win over payload because they are more.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/model/model_private.h"

static const struct {
    const char *name;
    enum metric metric;
    bool of_peer; /* describes the peer's side */
} meanings[] = {
    {"net_egress", METRIC_NET_SEND, false},  {"net_egress_wire", METRIC_NET_SEND, false},
    {"net_pair", METRIC_NET_SEND, false},    {"net_pair", METRIC_NET_RECV, true},
    {"net_ingress", METRIC_NET_RECV, false}, {"net_ingress_wire", METRIC_NET_RECV, false},
    {"disk_read", METRIC_DISK_READ, false},  {"disk_write", METRIC_DISK_WRITE, false},
};

static int take(struct report_input *input, const struct store_ceiling *ceiling) {
    int result = 0;
    for (size_t i = 0; i < ARRAY_SIZE(meanings) && result == 0; i++) {
        if (strcmp(meanings[i].name, ceiling->metric) != 0 || strcmp(ceiling->unit, "MB/s") != 0)
            continue;
        int host = report_host_named(input, meanings[i].of_peer ? ceiling->peer : ceiling->host);
        if (host >= 0)
            result =
                recording_add_ceiling(&input->recording, host, meanings[i].metric, ceiling->value);
    }
    return result;
}

int report_load_ceilings(struct store *store, struct report_input *input) {
    int result = store_list_ceilings(store, &input->ceilings, &input->n_ceilings);
    for (size_t i = 0; i < input->n_ceilings && result == 0; i++)
        result = take(input, &input->ceilings[i]);
    return result;
}

int report_fill_ceilings(struct report *report, const struct report_input *input) {
    size_t n = input->n_hosts * METRIC_COUNT_;
    if (!input->recording.ceilings)
        return 0;
    report->metric_ceilings = malloc((n + 1) * sizeof *report->metric_ceilings);
    if (!report->metric_ceilings)
        return -ENOMEM;
    memcpy(report->metric_ceilings, input->recording.ceilings, n * sizeof *report->metric_ceilings);
    return 0;
}
