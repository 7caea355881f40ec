/* SPDX-License-Identifier: MIT */
/*
 * The environment inside a host. Two lists: settings that keep MPI on the emulated network, which
 * override the caller's; and settings that suit many ranks on few cores, which the caller may
 * override.
 */
#include "cli/testbed/testbed.h"
#include "common/error.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

struct setting {
    const char *name, *value;
};

/* pml ob1 over these three transports, and no one-sided UCX: UCX and libfabric recognise a shared
 * kernel by its boot id and would go through memory from host to host. vader decides by the node's
 * name and only serves ranks on the same host, as on a real one. MPICH has its own shared memory
 * for ranks on one host, and keeps UCX's sockets between hosts. */
static const struct setting fixed[] = {
    {"OMPI_MCA_pml", "ob1"},         {"OMPI_MCA_btl", "self,vader,tcp"},
    {"OMPI_MCA_osc", "^ucx"},        {"OMPI_MCA_plm", "rsh"},
    {"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
    {"CHOKEPOINT_SCOPE", "cgroup"},  {"HYDRA_LAUNCHER", "ssh"},
    {"HYDRA_IFACE", "eth0"},         {"UCX_TLS", "tcp,self"},
    {"UCX_NET_DEVICES", "eth0"},
};

/* Waiting ranks spin; if hosts share cores they must at least yield. */
static const struct setting defaults[] = {
    {"OMPI_MCA_mpi_yield_when_idle", "1"},
    {"OMPI_MCA_hwloc_base_binding_policy", "none"},
    {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
};

/* Names of a batch system or an MPI job around this process, whose allocation does not include
 * these hosts, and of the machine. */
static const char *const strange[] = {"PMIX_",          "PMI_",          "OMPI_COMM_WORLD_",
                                      "OMPI_MCA_orte_", "OMPI_MCA_ess_", "OMPI_UNIVERSE_",
                                      "SLURM_",         "PBS_",          "LSB_",
                                      "HOSTNAME="};

static bool starts_with_any(const char *text, const char *const *prefixes, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (strncmp(text, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* Unsets each variable whose "NAME=value" starts with one of the prefixes, or with none of them. */
static void unset_matching(const char *const *prefixes, size_t n, bool matching) {
    for (char **entry = environ; entry && *entry;) {
        size_t size = strcspn(*entry, "=");
        char *name =
            starts_with_any(*entry, prefixes, n) == matching ? strndup(*entry, size) : NULL;
        if (!name || unsetenv(name) < 0)
            entry++; /* unsetenv moves the next entry here */
        free(name);
    }
}

void testbed_environment(const struct testbed *t) {
    char network[24], hostfile[128], agent[128], address[16];
    testbed_address(t, 0, address);
    snprintf(network, sizeof network, "%s/%u", address, t->prefix);
    snprintf(hostfile, sizeof hostfile, "%s/hostfile", t->directory);
    snprintf(agent, sizeof agent, "%s/chokepoint testbed ssh", t->directory);
    unset_matching(strange, ARRAY_SIZE(strange), true);
    for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
        setenv(fixed[i].name, fixed[i].value, 1);
    for (size_t i = 0; i < ARRAY_SIZE(defaults); i++)
        setenv(defaults[i].name, defaults[i].value, 0);
    setenv("CHOKEPOINT_TESTBED", t->name, 1);
    setenv("CHOKEPOINT_HOSTFILE", hostfile, 1);
    setenv("CHOKEPOINT_RSH", agent, 1);
    setenv("OMPI_MCA_plm_rsh_agent", agent, 1);
    snprintf(agent, sizeof agent, "%s/" TESTBED_SSH, t->directory);
    setenv("HYDRA_LAUNCHER_EXEC", agent, 1);
    setenv("OMPI_MCA_btl_tcp_if_include", network, 1);
    setenv("OMPI_MCA_oob_tcp_if_include", network, 1);
}

/* All hosts share one file system, so the caller's paths to programs and libraries stay. */
void testbed_environment_login(void) {
    static const char *const kept[] = {"PATH=", "LD_LIBRARY_PATH=", "LANG=", "LC_", "TZ=", "TERM="};
    unset_matching(kept, ARRAY_SIZE(kept), false);
    const struct passwd *user = getpwuid(geteuid());
    setenv("HOME", user && user->pw_dir ? user->pw_dir : "/", 1);
    setenv("USER", user && user->pw_name ? user->pw_name : "root", 1);
    setenv("LOGNAME", user && user->pw_name ? user->pw_name : "root", 1);
    setenv("SHELL", "/bin/sh", 1);
    setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 0);
}
