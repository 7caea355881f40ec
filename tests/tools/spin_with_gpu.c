/* SPDX-License-Identifier: MIT */
/* spin-with-gpu LIBRARY SECONDS: loads the library, then burns a core for that time, as a thread
 * does that waits for a GPU.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"

int main(int argc, char **argv) {
    if (argc != 3 || !dlopen(argv[1], RTLD_NOW))
        return 2;
    int64_t end_ns = clock_monotonic_ns() + (int64_t)(atof(argv[2]) * 1e9);
    while (clock_monotonic_ns() < end_ns)
        ;
    return 0;
}
