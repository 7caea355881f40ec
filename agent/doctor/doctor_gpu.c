/* SPDX-License-Identifier: MIT */
/* The GPUs of this host, what is seen of each, and how each function of NVML answered. */
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "agent/base/source.h"
#include "agent/doctor/doctor.h"
#include "agent/probes/gpu/gpu.h"

#define RESTRICTED "NVreg_RestrictProfilingToAdminUsers"

static void say_lines(const struct doctor_env *env, const char *check, char *lines) {
    char *rest = lines, *line;
    while (rest && (line = strsep(&rest, "\n")))
        if (*line)
            doctor_say(env, DOCTOR_OK, check, "", "%s", line);
}

/* With this setting of the driver only root may measure the units; the agent asks without root's
 * rights. */
static void check_profiling(const struct doctor_env *env) {
    char path[PATH_MAX], text[8192];
    snprintf(path, sizeof path, "%s/driver/nvidia/params", env->proc);
    int n = file_read_head(AT_FDCWD, path, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    if (strstr(text, "RmProfilingAdminOnly: 1"))
        doctor_say(env, DOCTOR_NOTE, "gpu",
                   "echo options nvidia " RESTRICTED "=0 > /etc/modprobe.d/nvidia-profiling.conf  "
                   "# and load the driver anew",
                   "the driver lets only root measure the units of a GPU (GPM): a recording may "
                   "see utilization alone");
}

void doctor_check_gpu(const struct doctor_env *env) {
    struct gpu_report report;
    int r = gpu_examine(env->sys, &report);
    if (r < 0)
        doctor_say(env, DOCTOR_NOTE, "gpu", "free -m", "GPUs cannot be looked at: %s",
                   strerror(-r));
    else if (report.why[0])
        doctor_say(env, DOCTOR_NOTE, "gpu", "nvidia-smi", "%s", report.why);
    else if (!report.n)
        doctor_say(env, DOCTOR_OK, "gpu", "", "no GPU whose driver is known");
    if (r == 0) {
        say_lines(env, "gpu", report.lines);
        say_lines(env, "nvml", report.calls);
        check_profiling(env);
    }
    gpu_report_release(&report);
}
