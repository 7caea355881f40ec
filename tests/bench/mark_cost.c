/* SPDX-License-Identifier: MIT */
/* Cost of a mark for the program: without a listener (at most 100 ns), and with one. */
#include <stdio.h>

#include "agent/mark/ring.h"

static double cost_ns(int n) {
    int64_t start = chokepoint_now_ns();
    for (int i = 0; i < n; i++)
        chokepoint_iteration(i);
    return (double)(chokepoint_now_ns() - start) / n;
}

int main(void) {
    char base[] = "/dev/shm/bench-mark-XXXXXX", stem[64], dir[384];
    unsetenv("CHOKEPOINT_MARKS");
    unsetenv("OMPI_CHOKEPOINT_MARKS");
    double silent = cost_ns(100000000), again = cost_ns(100000000);
    if (!mkdtemp(base))
        return 1;
    snprintf(stem, sizeof stem, "%s/marks", base);
    if (mark_directory_path(stem, dir, sizeof dir) < 0 || mark_directory_create(dir) < 0)
        return 1;
    setenv("CHOKEPOINT_MARKS", stem, 1);
    chokepoint_state_.mode = CHOKEPOINT_UNKNOWN_;
    double heard = cost_ns(1000000);
    mark_directory_remove(dir);
    rmdir(base);
    printf("a mark: %.2f ns when nobody listens (at most 100; A/A: %.2f ns again), %.0f ns when "
           "somebody does\n",
           silent, again, heard);
    return silent > 100;
}
