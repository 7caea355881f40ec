/* SPDX-License-Identifier: MIT */
/* Prints the marks in a directory of rings, one in each line: rank kind number value bytes duration
 * name.
 */
#include <stdio.h>

#include "agent/mark/ring.h"

static void print(void *ctx, const struct mark_writer *w, const struct chokepoint_mark_record *r) {
    static const char *const kinds[] = {"?", "begin", "end", "iteration", "operator", "value"};
    (void)ctx;
    printf("%d %s %lld %.9f %lld %lld %s\n", w->rank, kinds[r->kind], (long long)r->number,
           (double)r->value_nano * 1e-9, (long long)r->bytes, (long long)r->duration_ns, r->name);
}

int main(int argc, char **argv) {
    struct mark_reader reader;
    if (argc != 2 || mark_reader_open(&reader, argv[1]) < 0) {
        fprintf(stderr, "mark_dump: expected a directory of rings\n");
        return 2;
    }
    int n = mark_reader_drain(&reader, print, NULL);
    unsigned long long lost = reader.lost;
    mark_reader_release(&reader);
    fprintf(stderr, "%d marks, %llu lost\n", n, lost);
    return n < 0 || lost > 0;
}
