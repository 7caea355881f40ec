/* SPDX-License-Identifier: MIT */
/* new-run FILE: makes the database and a run in it, as `chokepoint run` does before it starts the
 * collector; prints the run's number. For tests of the collector alone.
 */
#include <stdio.h>

#include "collector/store.h"
#include "common/clock.h"

int main(int argc, char **argv) {
    struct store *store;
    int64_t run;
    char why[256];
    if (argc != 2)
        return 2;
    const struct run_begin begin = {.command = "new-run",
                                    .wall_ns = clock_wall_ns(),
                                    .mono_ns = clock_monotonic_ns(),
                                    .period_ns = 100 * NS_PER_MS,
                                    .n_hosts_expected = 1};
    if (store_open_write(argv[1], &store, why, sizeof why)) {
        fprintf(stderr, "new-run: %s\n", why);
        return 1;
    }
    int r = store_run_begin(store, &begin, &run);
    if (r == 0)
        printf("%lld\n", (long long)run);
    store_close(store);
    return r == 0 ? 0 : 1;
}
