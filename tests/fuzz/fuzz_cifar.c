/* SPDX-License-Identifier: MIT */
/* Bytes in place of CIFAR-10: gzip, then a tar archive, then records. Each reader must accept them
 * or refuse them cleanly.
 */
#include <stdlib.h>

#include "workloads/data/images.h"
#include "workloads/data/tar.h"

#define UNPACKED_MOST (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void parse(const struct bytes *b) {
    struct images images = {0};
    struct data_error error;
    struct tar_entry entry;
    size_t offset = 0;
    if (images_parse_cifar("records", b, &images, &error) == 0)
        for (size_t i = 0; i < images.n; i++)
            if (images.labels[i] >= IMAGES_CLASSES)
                abort();
    images_release(&images);
    while (tar_next("archive", b, &offset, &entry, &error) > 0)
        if (entry.data < b->data || entry.data + entry.n > b->data + b->n)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    const struct bytes plain = {(uint8_t *)(uintptr_t)data, n};
    struct bytes unpacked;
    struct data_error error;
    parse(&plain);
    if (bytes_unpack("packed", data, n, UNPACKED_MOST, &unpacked, &error) == 0) {
        parse(&unpacked);
        bytes_release(&unpacked);
    }
    return 0;
}
