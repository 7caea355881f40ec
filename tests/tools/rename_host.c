/* SPDX-License-Identifier: MIT */
/* rename-host FROM TO HOST: copies the segments of a spool as if they were another host's, whose
 * agent knew only the run's id.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/wire.h"

static void copy_records(struct buffer *out, const char *data, size_t size, const char *host) {
    struct wire_reader reader;
    struct wire_record record;
    struct wire_run run = {.name = ""};
    bool told = false;
    wire_reader_init(&reader, data, size);
    while (wire_next(&reader, &record) == 0) {
        struct wire_stream stream = reader.stream;
        snprintf(stream.host, sizeof stream.host, "%s", host);
        memcpy(run.id, reader.run.id, sizeof run.id);
        if (record.type == WIRE_STREAM)
            wire_put_stream(out, &stream);
        else if (record.type == WIRE_FRAME && !told)
            wire_put_run(out, &run);
        told |= record.type == WIRE_FRAME;
        if (record.type != WIRE_STREAM)
            buffer_put(out, data + record.offset, record.size);
    }
    wire_reader_release(&reader);
}

static int copy(const char *from, const char *to, const char *host) {
    static char data[4 << 20];
    struct buffer out = {0};
    FILE *file = fopen(from, "re");
    size_t size = file ? fread(data, 1, sizeof data, file) : 0;
    if (file)
        fclose(file);
    copy_records(&out, data, size, host);
    file = fopen(to, "we");
    bool good = file && out.size && fwrite(out.data, 1, out.size, file) == out.size;
    good = file && fclose(file) == 0 && good;
    buffer_release(&out);
    return good ? 0 : 1;
}

int main(int argc, char **argv) {
    char from[4096], to[4096];
    DIR *directory = argc == 4 ? opendir(argv[1]) : NULL;
    if (!directory || mkdir(argv[2], 0700) < 0)
        return 2;
    int status = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        snprintf(from, sizeof from, "%s/%s", argv[1], entry->d_name);
        snprintf(to, sizeof to, "%s/%s", argv[2], entry->d_name);
        if (strstr(entry->d_name, ".spool"))
            status |= copy(from, to, argv[3]);
    }
    closedir(directory);
    return status;
}
