/* SPDX-License-Identifier: MIT */
/*
 * Loads libnvidia-ml.so.1, which comes with the driver. LD_LIBRARY_PATH may name another one, as
 * for every program. The kernel's loader ignores it for programs that gain rights when they start;
 * an agent of root that was told to use it looks first whether another user could have put the
 * library there.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "agent/base/probe.h"
#include "agent/probes/gpu/nvml.h"
#include "common/private_path.h"

#define LIBRARY "libnvidia-ml.so.1"

/* The absolute path of the library in the first directory of LD_LIBRARY_PATH that has one; "":
 * none. */
static void find_named(char path[PATH_MAX]) {
    char copy[8192], name[PATH_MAX], *rest = copy, *directory;
    const char *all = getauxval(AT_SECURE) ? NULL : getenv("LD_LIBRARY_PATH");
    snprintf(copy, sizeof copy, "%s", all ? all : "");
    while (all && *all && (directory = strsep(&rest, ":;"))) {
        int n = snprintf(name, sizeof name, "%s/%s", *directory ? directory : ".", LIBRARY);
        if (n >= PATH_MAX || access(name, F_OK) != 0)
            continue;
        if (name[0] == '/' ? snprintf(path, PATH_MAX, "%s", name) > 0
                           : realpath(name, path) != NULL)
            return;
    }
    path[0] = '\0';
}

static void *look_up(void *library, const char *name, const char *older) {
    void *function = dlsym(library, name);
    return function || !*older ? function : dlsym(library, older);
}

static void look_up_all(struct nvml *nvml) {
    void *function;
#define CALL(ID, name, older, parameters)                                                          \
    function = look_up(nvml->library, name, older);                                                \
    memcpy(&nvml->call.ID, &function, sizeof function);                                            \
    nvml->told[NVML_##ID##_CALL].answer = NVML_NEVER_ASKED;
#include "agent/probes/gpu/nvml_calls.def"
#undef CALL
}

int nvml_library_open(struct nvml *nvml, char *why, size_t why_size) {
    char named[PATH_MAX];
    find_named(named);
    if (*named && geteuid() == 0 && private_path_check(named) < 0) {
        snprintf(why, why_size, "other users can change %.80s: it is not loaded", named);
        return -EPERM;
    }
    nvml->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!nvml->library)
        return PROBE_ABSENT;
    look_up_all(nvml);
    return 0;
}

void nvml_library_close(struct nvml *nvml) {
    if (nvml->library)
        dlclose(nvml->library);
    nvml->library = NULL;
}
