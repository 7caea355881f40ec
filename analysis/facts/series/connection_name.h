/* SPDX-License-Identifier: MIT */
/* Names of connections: "10.0.0.1:5000>10.0.0.2:6000", the near end first. */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_SERIES_CONNECTION_NAME_H
#define CHOKEPOINT_ANALYSIS_FACTS_SERIES_CONNECTION_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define CONNECTION_NAME_SIZE 256

/* Makes the name of the other end: "b:2>a:1" from "a:1>b:2". False if it is no such name, or too
 * long.
 */
static inline bool connection_mirror(const char *name, char ret_mirror[CONNECTION_NAME_SIZE]) {
    const char *arrow = strchr(name, '>');
    size_t near_length = arrow ? (size_t)(arrow - name) : 0;
    size_t far_length = arrow ? strlen(arrow + 1) : 0;
    if (!arrow || near_length + far_length + 2 > CONNECTION_NAME_SIZE)
        return false;
    memcpy(ret_mirror, arrow + 1, far_length);
    ret_mirror[far_length] = '>';
    memcpy(ret_mirror + far_length + 1, name, near_length);
    ret_mirror[far_length + 1 + near_length] = '\0';
    return true;
}

#endif
