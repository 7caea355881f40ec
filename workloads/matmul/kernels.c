/* SPDX-License-Identifier: MIT */
#include "workloads/matmul/kernels.h"

#include <stddef.h>
#include <strings.h>

/* OpenBLAS 0.3's names of x86-64 processors before AVX2; other names are not judged. */
static const char *const narrow[] = {"Prescott",  "Core2",        "Penryn",     "Dunnington",
                                     "Nehalem",   "Sandybridge",  "Atom",       "Nano",
                                     "Opteron",   "Opteron_SSE3", "Barcelona",  "Bobcat",
                                     "Bulldozer", "Piledriver",   "Steamroller"};

enum kernels_width kernels_width_of_processor(void) {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return KERNELS_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return KERNELS_AVX2;
#endif
    return KERNELS_NARROW;
}

const char *kernels_better(const char *chosen, enum kernels_width processor) {
    if (processor == KERNELS_NARROW)
        return NULL;
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        if (strcasecmp(chosen, narrow[i]) == 0)
            return processor == KERNELS_AVX512 ? "SkylakeX" : "Haswell";
    return NULL;
}
