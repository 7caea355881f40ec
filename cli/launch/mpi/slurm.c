/* SPDX-License-Identifier: MIT */
#include "cli/launch/mpi/launcher.h"

/* srun(1): those with a separate argument. */
static const struct launcher_option srun_options[] = {
    {"nodelist", 1, ROLE_LIST},
    {"w", 1, ROLE_LIST},
    {"A", 1, ROLE_NONE},
    {"account", 1, ROLE_NONE},
    {"c", 1, ROLE_NONE},
    {"C", 1, ROLE_NONE},
    {"chdir", 1, ROLE_NONE},
    {"constraint", 1, ROLE_NONE},
    {"cpus-per-task", 1, ROLE_NONE},
    {"d", 1, ROLE_NONE},
    {"D", 1, ROLE_NONE},
    {"distribution", 1, ROLE_NONE},
    {"e", 1, ROLE_NONE},
    {"error", 1, ROLE_NONE},
    {"G", 1, ROLE_NONE},
    {"gpus", 1, ROLE_NONE},
    {"i", 1, ROLE_NONE},
    {"input", 1, ROLE_NONE},
    {"J", 1, ROLE_NONE},
    {"job-name", 1, ROLE_NONE},
    {"jobid", 1, ROLE_NONE},
    {"m", 1, ROLE_NONE},
    {"mem", 1, ROLE_NONE},
    {"mpi", 1, ROLE_NONE},
    {"N", 1, ROLE_NONE},
    {"n", 1, ROLE_NONE},
    {"nodes", 1, ROLE_NONE},
    {"ntasks", 1, ROLE_NONE},
    {"ntasks-per-node", 1, ROLE_NONE},
    {"o", 1, ROLE_NONE},
    {"output", 1, ROLE_NONE},
    {"p", 1, ROLE_NONE},
    {"partition", 1, ROLE_NONE},
    {"q", 1, ROLE_NONE},
    {"qos", 1, ROLE_NONE},
    {"r", 1, ROLE_NONE},
    {"relative", 1, ROLE_NONE},
    {"t", 1, ROLE_NONE},
    {"T", 1, ROLE_NONE},
    {"time", 1, ROLE_NONE},
    {"W", 1, ROLE_NONE},
    {"wait", 1, ROLE_NONE},
    {"x", 1, ROLE_NONE},
    {"exclude", 1, ROLE_NONE},
    {0},
};

static const char *const names[] = {"srun", NULL};

const struct launcher launcher_slurm = {
    .kind = COMMAND_SRUN, .names = names, .options = srun_options};
