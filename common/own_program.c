/* SPDX-License-Identifier: MIT */
#include "common/own_program.h"

#include <string.h>
#include <unistd.h>

#include "common/error.h"

#define GONE " (deleted)" /* proc(5): the kernel appends this if the file was removed */

int own_program_path(char ret_path[PATH_MAX]) {
    const size_t gone = sizeof GONE - 1;
    ssize_t n = readlink("/proc/self/exe", ret_path, PATH_MAX - 1);
    if (n < 0)
        return negative_errno();
    size_t size = (size_t)n;
    ret_path[size] = '\0';
    if (size > gone && strcmp(ret_path + size - gone, GONE) == 0 && access(ret_path, F_OK) < 0)
        ret_path[size - gone] = '\0';
    return 0;
}
