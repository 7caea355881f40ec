/* SPDX-License-Identifier: MIT */
/* make-wire-seeds DIR: the seed corpus of fuzz_wire, from the encoder. For each seed's first byte
 * see fuzz_wire.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "tests/unit/random_frames.h"

#define TABLES 3

static int write_seed(const char *dir, int number, uint8_t mode, const struct buffer *stream) {
    char path[4096];
    snprintf(path, sizeof path, "%s/seed-%d", dir, number);
    FILE *file = fopen(path, "wb");
    if (!file)
        return -errno;
    fputc(mode, file);
    fwrite(stream->data, 1, stream->size, file);
    return fclose(file) ? -EIO : 0;
}

static int make_seed(const char *dir, int number) {
    uint64_t state = (uint64_t)number + 1;
    struct random_table tables[TABLES];
    struct rows rows[TABLES], *list[TABLES];
    struct buffer out = {0}, scratch = {0};
    struct wire_stream stream = {.host = "host", .stream_id = 7, .period_ns = 100000000};
    unsigned indexes[TABLES];
    wire_put_stream(&out, &stream);
    for (unsigned i = 0; i < TABLES; i++) {
        random_table_fill(&state, i, 4, &tables[i]);
        indexes[i] = i;
        list[i] = &rows[i];
        if (rows_init(&rows[i], &tables[i].table, 3) < 0)
            return -ENOMEM;
        wire_put_table(&out, i, &tables[i].table);
    }
    for (uint64_t seq = 1; seq <= 3; seq++) {
        struct frame_head head = random_head(&state, seq);
        for (unsigned i = 0; i < TABLES; i++)
            random_rows_fill(&state, &rows[i]);
        wire_put_frame(&out, &scratch, &head, list, indexes, TABLES);
    }
    int r = write_seed(dir, number, (uint8_t)number, &out);
    for (unsigned i = 0; i < TABLES; i++)
        rows_release(&rows[i]);
    buffer_release(&out);
    buffer_release(&scratch);
    return r;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fputs("usage: make-wire-seeds DIR\n", stderr);
        return 2;
    }
    for (int i = 0; i < 6; i++)
        if (make_seed(argv[1], i) < 0) {
            perror(argv[1]);
            return 1;
        }
    return 0;
}
