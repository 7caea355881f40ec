/* SPDX-License-Identifier: MIT */
/*
 * A program of CUDA without a GPU: it loads its runtime, and the library of CUDA_INJECTION64_PATH
 * as the driver does, and then waits until its input ends.
 *
 * usage: injected [RUNTIME]
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int n, char **words) {
    char byte;
    const char *path = getenv("CUDA_INJECTION64_PATH");
    if (n > 1 && !dlopen(words[1], RTLD_NOW)) {
        fprintf(stderr, "injected: %s\n", dlerror());
        return 1;
    }
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;
    int (*begin)(void) = NULL;
    if (library)
        *(void **)&begin = dlsym(library, "InitializeInjection");
    if (path && (!begin || begin() != 1)) {
        fprintf(stderr, "injected: %s\n", dlerror());
        return 1;
    }
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    return 0;
}
