/* SPDX-License-Identifier: MIT */
/* MNIST's IDX: the first two bytes say where labels begin. A bad input must be refused cleanly. */
#include <stdlib.h>

#include "workloads/data/images.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    struct images images = {0};
    struct data_error error;
    if (n < 2)
        return 0;
    size_t cut = ((size_t)data[0] << 8 | data[1]) % (n - 1);
    uint8_t *copy = malloc(n - 2 + 1); /* of the exact size, so that a sanitizer sees reads beyond
                                          it */
    if (!copy)
        return 0;
    for (size_t i = 0; i + 2 < n; i++)
        copy[i] = data[i + 2];
    const struct bytes pixels = {copy, cut}, labels = {copy + cut, n - 2 - cut};
    if (images_parse_idx("images", &pixels, "labels", &labels, &images, &error) == 0)
        for (size_t i = 0; i < images.n; i++)
            if (images.labels[i] >= IMAGES_CLASSES)
                abort();
    images_release(&images);
    free(copy);
    return 0;
}
