/* SPDX-License-Identifier: MIT */
/* Hostfiles, --host lists, Slurm's node lists (the first byte chooses): every resulting name is one
 * that ssh and mpirun cannot take for an option, and is in the set once.
 */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/launch/hosts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_name(const struct hosts *hosts, const char *name) {
    size_t size = strlen(name);
    if (size == 0 || size > HOST_NAME_LENGTH_MAX || name[0] == '-' || !hosts_contain(hosts, name))
        abort();
    for (const char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("._-:", *p))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    struct hosts hosts = {0};
    char why[200] = "", *text;
    int r;
    if (n == 0 || !(text = malloc(n)))
        return 0;
    memcpy(text, data + 1, n - 1);
    text[n - 1] = '\0';
    if (data[0] % 3 == 0)
        r = hosts_add_hostfile_text(&hosts, text, n - 1, why, sizeof why);
    else if (data[0] % 3 == 1)
        r = hosts_add_list(&hosts, text, why, sizeof why);
    else
        r = hosts_add_nodelist(&hosts, text, why, sizeof why);
    if (hosts.n > HOSTS_MAX || r > 0 || (r < 0 && !why[0] && r != -ENOMEM) || strchr(why, '\n'))
        abort();
    for (size_t i = 0; i < hosts.n; i++)
        check_name(&hosts, hosts.names[i]);
    hosts_release(&hosts);
    free(text);
    return 0;
}
