/* SPDX-License-Identifier: MIT */
#include "agent/doctor/doctor.h"

#include <errno.h>

#include "common/error.h"

static void (*const checks[])(const struct doctor_env *env) = {
    doctor_check_rights,   doctor_check_kernel, doctor_check_groups,  doctor_check_processor,
    doctor_check_clock,    doctor_check_space,  doctor_check_storage, doctor_check_network,
    doctor_check_launcher, doctor_check_gpu,
};

int doctor_run(const struct doctor_env *env) {
    doctor_fact(env, "version", "%s", CHOKEPOINT_VERSION);
    for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
        checks[i](env);
    doctor_fact(env, "end", "1");
    return fflush(env->out) || ferror(env->out) ? -EIO : 0;
}
