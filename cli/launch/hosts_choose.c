/* SPDX-License-Identifier: MIT */
/*
 * The most specific source wins: the user's --hosts, then the command's words, then the batch
 * system's allocation. A --host list of mpirun selects from its hostfile, so the list wins.
 */
#include "cli/launch/hosts_choose.h"
#include "cli/launch/slurm_nodes.h"
#include "common/error.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int from_option(const char *option, struct hosts *hosts, char *why, size_t why_size) {
    if (strchr(option, '/') || access(option, F_OK) == 0)
        return hosts_add_hostfile(hosts, option, why, why_size);
    char reason[128];
    int r = hosts_add_list(hosts, option, reason, sizeof reason);
    if (r == 0 && hosts->n == 0) {
        r = -ENODATA;
        snprintf(reason, sizeof reason, "it names no host");
    }
    if (r < 0)
        snprintf(why, why_size, "--hosts '%s': %s", option, reason);
    return r;
}

/* srun's node list names nodes that must be in the step: they are all of them, if the step has no
 * more. */
static bool may_have_more_hosts(const struct command_words *words, const struct hosts *hosts) {
    const char *allocation = getenv("SLURM_JOB_NODELIST"), *dash;
    if (words->kind != COMMAND_SRUN || !allocation || !*allocation)
        return false;
    if (!words->n_nodes || slurm_has_components())
        return true;
    dash = strchr(words->n_nodes, '-');
    return strtoul(dash ? dash + 1 : words->n_nodes, NULL, 10) > hosts->n;
}

static int from_list(const struct command_words *words, const char *list, struct hosts *hosts,
                     char *why, size_t why_size) {
    if (words->kind != COMMAND_SRUN)
        return hosts_add_list(hosts, list, why, why_size);
    return strchr(list, '/') ? hosts_add_hostfile(hosts, list, why, why_size)
                             : hosts_add_nodelist(hosts, list, why, why_size);
}

static int from_words(const struct command_words *words, struct hosts *hosts, char *why,
                      size_t why_size) {
    for (size_t i = 0; i < words->n_lists; i++) {
        char reason[128];
        int r = from_list(words, words->lists[i], hosts, reason, sizeof reason);
        if (r < 0) {
            snprintf(why, why_size, "host list of the command: %s; name them with --hosts", reason);
            return r;
        }
    }
    for (size_t i = 0; i < words->n_hostfiles && words->n_lists == 0; i++) {
        int r = hosts_add_hostfile(hosts, words->hostfiles[i], why, why_size);
        if (r < 0)
            return r;
    }
    return 0;
}

/* A default hostfile may have no hosts: OpenMPI installs such a file. */
static int from_default_hostfile(struct hosts *hosts, enum command_kind kind, char *why,
                                 size_t why_size) {
    const char *path =
        getenv(kind == COMMAND_HYDRA ? "HYDRA_HOST_FILE" : "OMPI_MCA_orte_default_hostfile");
    if (!path || !*path || strcmp(path, "none") == 0)
        return 0;
    int r = hosts_add_hostfile(hosts, path, why, why_size);
    return r == -ENODATA ? 0 : r;
}

static int from_batch_system(struct hosts *hosts, char *why, size_t why_size) {
    static const char *const files[] = {"PBS_NODEFILE", "PE_HOSTFILE", "LSB_DJOB_HOSTFILE"};
    int r = slurm_add_nodes(hosts, why, why_size);
    if (r < 0 || hosts->n)
        return r;
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        const char *path = getenv(files[i]);
        if (path && *path)
            return hosts_add_hostfile(hosts, path, why, why_size);
    }
    return 0;
}

static int from_this_machine(struct hosts *hosts, char *why, size_t why_size) {
    char name[HOST_NAME_MAX + 1] = "";
    if (gethostname(name, sizeof name - 1) < 0)
        return negative_errno();
    return hosts_add(hosts, name, strlen(name), why, why_size);
}

int hosts_choose(const char *option, const struct command_words *words, struct hosts *ret_hosts,
                 enum hosts_source *ret_source, char *why, size_t why_size) {
    *ret_source = HOSTS_OPTION;
    if (option)
        return from_option(option, ret_hosts, why, why_size);
    *ret_source = HOSTS_COMMAND;
    int r = from_words(words, ret_hosts, why, why_size);
    if (r == 0 && ret_hosts->n == 0 &&
        (words->kind == COMMAND_MPIRUN || words->kind == COMMAND_HYDRA))
        r = from_default_hostfile(ret_hosts, words->kind, why, why_size);
    if (r == 0 && may_have_more_hosts(words, ret_hosts))
        hosts_release(ret_hosts);
    if (r < 0 || ret_hosts->n)
        return r;
    *ret_source = HOSTS_BATCH;
    r = from_batch_system(ret_hosts, why, why_size);
    if (r < 0 || ret_hosts->n)
        return r;
    *ret_source = HOSTS_LOCAL;
    return from_this_machine(ret_hosts, why, why_size);
}
