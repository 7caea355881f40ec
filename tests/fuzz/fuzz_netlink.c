/* SPDX-License-Identifier: MIT */
/* Bytes as netlink messages, through every function that reads such messages. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/probes/connection/connection.h"
#include "agent/probes/process/exit_record.h"
#include "agent/probes/qdisc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take(void *ctx, unsigned type, struct bytes payload) {
    struct connection_message connection;
    struct qdisc_message qdisc;
    struct exit_record record;
    int64_t values[CONNECTION_COLUMNS];
    char name[INSTANCE_MAX + 1];
    (void)ctx;
    if (connection_read(type, payload, &connection)) {
        if (connection_name(&connection, name) > INSTANCE_MAX)
            abort();
        connection_values(&connection, values);
    }
    if (qdisc_read(type, payload, &qdisc) && qdisc_name(&qdisc, "eth0", name) > INSTANCE_MAX)
        abort();
    if (exit_record_read(payload, &record) && (record.comm_size > COMM_MAX || record.pid <= 0))
        abort();
}

/* In memory of exactly that size, aligned as a receive buffer is. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bool interrupted = false;
    void *bytes = malloc(size ? size : 1);
    if (!bytes)
        return 0;
    memcpy(bytes, data, size);
    netlink_read((struct bytes){bytes, size}, 0, &interrupted, take, NULL);
    free(bytes);
    return 0;
}
