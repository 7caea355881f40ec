/* SPDX-License-Identifier: MIT */
/* Names of the directory and the files of an agent's spool. The directory: a prefix and six random
 * characters. A file: STREAM-NUMBER.spool, with the stream's id in 16 hex digits. */
#ifndef CHOKEPOINT_COMMON_SEGMENT_NAME_H
#define CHOKEPOINT_COMMON_SEGMENT_NAME_H

#include <stdbool.h>
#include <stdint.h>

#define SPOOL_DIR_PREFIX "chokepoint-spool-"
#define SPOOL_RUN_LINK "run" /* a symbolic link to the id of the run */

#define SEGMENT_NAME_SIZE 40 /* "0123456789abcdef-4294967295.spool" */

void segment_name_put(char ret_name[SEGMENT_NAME_SIZE], uint64_t stream, uint32_t number);

/* Stream and number from the name of a segment; false: another name. */
bool segment_name_get(const char *name, uint64_t *ret_stream, uint32_t *ret_number);

#endif
