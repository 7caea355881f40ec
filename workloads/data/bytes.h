/* SPDX-License-Identifier: MIT */
/*
 * A whole file in memory, unpacked if it is gzip. An error names the file, the offset (in the
 * unpacked bytes) and the expected bytes.
 */
#ifndef CHOKEPOINT_WORKLOADS_DATA_BYTES_H
#define CHOKEPOINT_WORKLOADS_DATA_BYTES_H

#include <stddef.h>
#include <stdint.h>

#define BYTES_MOST ((size_t)1 << 31) /* largest unpacked size */

struct data_error {
    char text[640];
};

struct bytes {
    uint8_t *data;
    size_t n;
};

/* Returns 0, or negative with ret_error filled; the caller releases. */
int bytes_read(const char *path, struct bytes *ret_bytes, struct data_error *ret_error);
/* Unpacks n bytes of gzip, one or several members, up to `most` bytes. `name` is for the error. */
int bytes_unpack(const char *name, const uint8_t *packed, size_t n, size_t most,
                 struct bytes *ret_bytes, struct data_error *ret_error);
void bytes_release(struct bytes *bytes);

/* CRC-32 (of gzip) of n more bytes; `sum` is that of the bytes before, 0 at the beginning. */
uint32_t bytes_checksum(uint32_t sum, const void *bytes, size_t n);

/* Writes "NAME: offset N: TEXT". Returns -EBADMSG. */
int data_error_at(struct data_error *ret_error, const char *name, size_t offset, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));
/* Writes "NAME: TEXT: WHY". Returns r. */
int data_error_set(struct data_error *ret_error, int r, const char *name, const char *text);

#endif
