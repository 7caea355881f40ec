/* SPDX-License-Identifier: MIT */
#include "cli/launch/slurm_nodes.h"
#include "cli/launch/hosts.h"
#include "common/error.h"
#include "common/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define COMPONENTS_MAX 128 /* Slurm's own limit */
#define NODELIST "SLURM_JOB_NODELIST"

/* 0: the job has no components. */
static unsigned n_components(void) {
    const char *text = getenv("SLURM_HET_SIZE");
    uint64_t n;
    return text && text_parse_u64(text, &n) == 0 && n <= COMPONENTS_MAX ? (unsigned)n : 0;
}

bool slurm_has_components(void) {
    return n_components() > 0;
}

/* The variable of a component; in a job without components the only one. NULL: not set. */
static const char *nodes_of(unsigned i, char name[48]) {
    if (n_components())
        snprintf(name, 48, NODELIST "_HET_GROUP_%u", i);
    else
        snprintf(name, 48, NODELIST);
    const char *nodes = getenv(name);
    return nodes && *nodes ? nodes : NULL;
}

static unsigned n_lists(void) {
    return n_components() ? n_components() : 1;
}

int slurm_add_nodes(struct hosts *hosts, char *why, size_t why_size) {
    char name[48], reason[128];
    for (unsigned i = 0; i < n_lists(); i++) {
        const char *nodes = nodes_of(i, name);
        if (!nodes && n_components())
            return snprintf(why, why_size, "%s is not set; name the hosts with --hosts", name),
                   -EINVAL;
        int r = nodes ? hosts_add_nodelist(hosts, nodes, reason, sizeof reason) : 0;
        if (r < 0)
            return snprintf(why, why_size, "%s: %s", name, reason), r;
    }
    return 0;
}

int slurm_component_of(const char *host) {
    char name[48], why[128];
    for (unsigned i = 0; i < n_components(); i++) {
        struct hosts hosts = {0};
        const char *nodes = nodes_of(i, name);
        bool found = nodes && hosts_add_nodelist(&hosts, nodes, why, sizeof why) == 0 &&
                     hosts_contain(&hosts, host);
        hosts_release(&hosts);
        if (found)
            return (int)i;
    }
    return -1;
}

void slurm_describe_nodes(char *to, size_t size) {
    char name[48];
    size_t used = 0;
    to[0] = '\0';
    for (unsigned i = 0; i < n_lists() && used < size; i++) {
        const char *nodes = nodes_of(i, name);
        if (nodes)
            used += (size_t)snprintf(to + used, size - used, "%s%s", used ? "; " : "", nodes);
    }
}
