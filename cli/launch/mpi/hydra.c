/* SPDX-License-Identifier: MIT */
/*
 * Hydra, the launcher of MPICH, Intel MPI and MVAPICH. It passes the whole environment to the
 * ranks, unless it is told not to, and needs no list of variables. All its options are listed: for
 * an unknown one nobody knows how many words it takes, and whether it names hosts.
 */
#include "cli/launch/mpi/launcher.h"

static const struct launcher_option hydra_options[] = {
    {"f", 1, ROLE_HOSTFILE},
    {"hostfile", 1, ROLE_HOSTFILE},
    {"machinefile", 1, ROLE_HOSTFILE},
    {"hosts", 1, ROLE_LIST},
    {"host", 1, ROLE_LIST},
    {"configfile", 1, ROLE_HIDES_HOSTS},
    {"rmk", 1, ROLE_HIDES_HOSTS},
    {"genvlist", 1, ROLE_HIDES_VARIABLES},
    {"genvnone", 0, ROLE_HIDES_VARIABLES},
    {"envlist", 1, ROLE_HIDES_VARIABLES},
    {"envnone", 0, ROLE_HIDES_VARIABLES},
    {"env", 2, ROLE_NONE},
    {"genv", 2, ROLE_NONE},
    {"arch", 1, ROLE_NONE},
    {"bind-to", 1, ROLE_NONE},
    {"binding", 1, ROLE_NONE},
    {"bootstrap", 1, ROLE_NONE},
    {"bootstrap-exec", 1, ROLE_NONE},
    {"ckpoint-interval", 1, ROLE_NONE},
    {"ckpoint-num", 1, ROLE_NONE},
    {"ckpoint-prefix", 1, ROLE_NONE},
    {"ckpointlib", 1, ROLE_NONE},
    {"demux", 1, ROLE_NONE},
    {"dir", 1, ROLE_NONE},
    {"errfile-pattern", 1, ROLE_NONE},
    {"gpus-per-proc", 1, ROLE_NONE},
    {"iface", 1, ROLE_NONE},
    {"launcher", 1, ROLE_NONE},
    {"launcher-exec", 1, ROLE_NONE},
    {"localhost", 1, ROLE_NONE},
    {"map-by", 1, ROLE_NONE},
    {"membind", 1, ROLE_NONE},
    {"n", 1, ROLE_NONE},
    {"nameserver", 1, ROLE_NONE},
    {"np", 1, ROLE_NONE},
    {"num", 1, ROLE_NONE},
    {"order-nodes", 1, ROLE_NONE},
    {"outfile-pattern", 1, ROLE_NONE},
    {"path", 1, ROLE_NONE},
    {"ppn", 1, ROLE_NONE},
    {"prepend-pattern", 1, ROLE_NONE},
    {"soft", 1, ROLE_NONE},
    {"topolib", 1, ROLE_NONE},
    {"usize", 1, ROLE_NONE},
    {"wd", 1, ROLE_NONE},
    {"wdir", 1, ROLE_NONE},
    {"disable-auto-cleanup", 0, ROLE_NONE},
    {"disable-hostname-propagation", 0, ROLE_NONE},
    {"disable-x", 0, ROLE_NONE},
    {"enable-x", 0, ROLE_NONE},
    {"envall", 0, ROLE_NONE},
    {"genvall", 0, ROLE_NONE},
    {"info", 0, ROLE_NONE},
    {"l", 0, ROLE_NONE},
    {"pmi-port", 0, ROLE_NONE},
    {"prepend-rank", 0, ROLE_NONE},
    {"print-all-exitcodes", 0, ROLE_NONE},
    {"print-rank-map", 0, ROLE_NONE},
    {"profile", 0, ROLE_NONE},
    {"skip-launch-node", 0, ROLE_NONE},
    {"v", 0, ROLE_NONE},
    {"verbose", 0, ROLE_NONE},
    {0},
};

static const char *const names[] = {"mpiexec.hydra", "mpirun.hydra", "mpirun.mpich",
                                    "mpiexec.mpich", NULL};

const struct launcher launcher_hydra = {
    .kind = COMMAND_HYDRA, .names = names, .options = hydra_options, .lists_all_options = true};
