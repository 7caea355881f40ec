/* SPDX-License-Identifier: MIT */
#include "cli/run_verdict.h"
#include "collector/store_read.h"
#include "common/error.h"

#include <inttypes.h>

static void print_host(const struct store_host *host, FILE *out) {
    fprintf(out, "chokepoint: %s: %" PRIu64 " samples", host->name, host->frames);
    if (host->missed_slots)
        fprintf(out, ", %" PRIu64 " missed", host->missed_slots);
    if (host->lost_frames)
        fprintf(out, ", %" PRIu64 " lost", host->lost_frames);
    if (host->gaps)
        fprintf(out, ", %" PRIu64 " gaps", host->gaps);
    fputc('\n', out);
}

int run_verdict_print(const char *database, int64_t run, FILE *out) {
    struct store *store;
    struct store_host *hosts;
    size_t n;
    int r = store_open_read(database, &store, NULL, 0);
    if (r)
        return r < 0 ? r : -EINVAL;
    r = store_list_hosts(store, run, &hosts, &n);
    for (size_t i = 0; r == 0 && i < n; i++)
        print_host(&hosts[i], out);
    if (r == 0)
        store_hosts_free(hosts, n);
    store_close(store);
    return r;
}
