/* SPDX-License-Identifier: MIT */
/* A program without MPI that loads a plug-in with MPI into a local scope, as Python does. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*run)(int, char **) = plugin ? (int (*)(int, char **))dlsym(plugin, "main") : NULL;
    if (!run) {
        fprintf(stderr, "plugin_host: %s\n", argc > 1 ? dlerror() : "expected a plug-in");
        return 2;
    }
    return run(1, argv);
}
