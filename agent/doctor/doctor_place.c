/* SPDX-License-Identifier: MIT */
/* The directory for undelivered samples, and the programs that start ranks. */
#include "agent/doctor/doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "agent/spool/spool_dir.h"
#include "common/error.h"

#define SPOOL_BYTES (UINT64_C(320) << 20) /* 64 MiB for samples, 256 for MPI calls */

void doctor_check_space(const struct doctor_env *env) {
    char copy[PATH_MAX], made[PATH_MAX + 32], mend[PATH_MAX + 64];
    struct statvfs fs;
    snprintf(copy, sizeof copy, "%s", env->spool ? env->spool : "");
    const char *directory = env->spool ? dirname(copy) : spool_dir_place();
    snprintf(made, sizeof made, "%s/chokepoint-doctor-XXXXXX", directory);
    if (!mkdtemp(made)) {
        int error = errno;
        snprintf(mend, sizeof mend, "install -d -m 1777 %s  # or name another place in TMPDIR",
                 directory);
        doctor_say(env, DOCTOR_HINDERS, "spool", mend,
                   "%s cannot be written: %s; samples wait there for the collector", directory,
                   strerror(error));
        return;
    }
    rmdir(made);
    if (statvfs(directory, &fs) < 0)
        return;
    uint64_t free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    snprintf(mend, sizeof mend, "df -h %s  # make room, or name another place in TMPDIR",
             directory);
    bool few = free_bytes < SPOOL_BYTES;
    doctor_say(env, few ? DOCTOR_HINDERS : DOCTOR_OK, "spool", few ? mend : "",
               "%s has %.3g GB free%s", directory, (double)free_bytes / 1e9,
               few ? "; samples and calls that wait there take up to 0.34 GB" : "");
}

static bool is_in_path(const char *program) {
    char copy[8192], *rest = copy, *directory, name[PATH_MAX];
    const char *path = getenv("PATH");
    snprintf(copy, sizeof copy, "%s", path ? path : "");
    while ((directory = strsep(&rest, ":"))) {
        int n = snprintf(name, sizeof name, "%s/%s", *directory ? directory : ".", program);
        if (n > 0 && (size_t)n < sizeof name && access(name, X_OK) == 0)
            return true;
    }
    return false;
}

/* Looks for the daemon that mpirun starts on other hosts. */
void doctor_check_launcher(const struct doctor_env *env) {
    if (is_in_path("orted") || is_in_path("prted") || is_in_path("hydra_pmi_proxy"))
        doctor_say(env, DOCTOR_OK, "mpi", "", "ranks can be started here");
    else
        doctor_say(env, DOCTOR_NOTE, "mpi", "apt-get install openmpi-bin",
                   "no MPI is in the PATH of this host: mpirun starts no ranks here");
}
