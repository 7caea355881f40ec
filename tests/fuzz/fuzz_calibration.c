/* SPDX-License-Identifier: MIT */
/* Lines of a calibration: only hosts that were asked get figures. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/calibrate/result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    static struct hosts hosts;
    struct calibration result = {.hosts = &hosts};
    char why[200], *text = strndup((const char *)data, n), *rest = text, *line;
    if (!hosts.n)
        hosts_add_list(&hosts, "vm1,vm2,vm3", why, sizeof why);
    while ((line = strsep(&rest, "\n")))
        calibration_take_line(&result, line);
    for (size_t i = 0; i < result.n; i++)
        if (!hosts_contain(&hosts, result.figures[i].host) || !(result.figures[i].value >= 0))
            abort();
    if (result.n_troubles > CALIBRATION_TROUBLES_MAX || !(result.done >= 0 && result.done <= 1))
        abort();
    calibration_release(&result);
    free(text);
    return 0;
}
