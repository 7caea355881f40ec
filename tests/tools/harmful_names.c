/* SPDX-License-Identifier: MIT */
/* harmful-names: a process whose own name and marks are hostile to programs that print them. */
#include <string.h>
#include <sys/prctl.h>

#include "agent/mark/chokepoint.h"
#include "common/clock.h"
#include "common/error.h"

static const char *const names[] = {
    "<script>alert(1)</script>",
    "\"'&amp;<img src=x onerror=alert(3)>",
    "\033[31mred\033]0;title\a",
    "two\nlines\r\n| a | b |",
    "=1+1",
    "@SUM(A1:A9)",
    "`touch pwned1`",
    "$(touch pwned2); system('touch pwned3')",
    "\"; system \"touch pwned4",
    "%s%n%s%n",
    "\xff\xfe\xc0\x80 not UTF-8",
    "'; DROP TABLE run; --",
    "\\|@a_{b}^c\\",
    "../../../../etc/passwd",
};

static void spend(int64_t ns) {
    int64_t end = clock_monotonic_ns() + ns;
    while (clock_monotonic_ns() < end)
        ;
}

int main(void) {
    char giant[1001];
    memset(giant, '|', sizeof giant - 1);
    giant[sizeof giant - 1] = '\0';
    prctl(PR_SET_NAME, "<b>\"|=\033[1m\n`x`");
    for (size_t i = 0; i <= ARRAY_SIZE(names); i++) {
        const char *name = i < ARRAY_SIZE(names) ? names[i] : giant;
        chokepoint_phase(name);
        chokepoint_iteration_begin();
        chokepoint_value(name, 1.5);
        spend(150 * NS_PER_MS);
        chokepoint_operator(name, 1000, chokepoint_now_ns(), 1000);
        chokepoint_iteration((int64_t)i);
    }
    chokepoint_phase(NULL);
    return 0;
}
