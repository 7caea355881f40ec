/* SPDX-License-Identifier: MIT */
/*
 * Disk I/O of a cgroup: io.stat (v2), or blkio.throttle.io_service_bytes and io_serviced (v1,
 * with the groups below it where the kernel has the recursive form). The files have only I/O that
 * was submitted from within the group: v1 misses written pages that the kernel flushes later, and
 * kernels from 5.x on count on v1 only once the group has a throttle, however high. A device that
 * is not in the file has no row: unknown is not zero.
 */
#include <stdio.h>
#include <string.h>

#include "agent/base/counter.h"
#include "agent/base/scope.h"
#include "agent/probes/disk.h"

static struct row *find_row(struct rows *rows, const char *name) {
    for (size_t i = 0; i < rows->n; i++)
        if (strcmp(rows->items[i].name, name) == 0)
            return &rows->items[i];
    return NULL;
}

/* Finds the name of "major:minor"; a device without one keeps its number. */
static void look_up(const struct disk *disk, struct span number, char *ret_name) {
    if (!disk_device_name(disk->number_fd, number, ret_name))
        text_sanitize(ret_name, NAME_SET_NAME_MAX + 1, number.data, number.size);
}

static void name_of(struct disk *disk, struct span number, char *ret_name) {
    for (size_t i = 0; i < disk->n_numbers; i++)
        if (span_equal(number, disk->numbers[i].number)) {
            strcpy(ret_name, disk->numbers[i].name);
            return;
        }
    look_up(disk, number, ret_name);
    if (disk->n_numbers == DISK_NUMBERS_MAX || number.size >= sizeof disk->numbers->number)
        return;
    struct disk_number *known = &disk->numbers[disk->n_numbers++];
    memcpy(known->number, number.data, number.size);
    known->number[number.size] = '\0';
    strcpy(known->name, ret_name);
}

/* The row of "major:minor" in this sample; NULL if the device does not count. */
static struct row *find_group_row(struct disk *disk, struct span number, struct rows *rows) {
    char name[NAME_SET_NAME_MAX + 1];
    if (!memchr(number.data, ':', number.size))
        return NULL;
    name_of(disk, number, name);
    struct row *row = find_row(rows, name);
    if (row)
        return row;
    struct name_set_entry *entry = disk_see(disk, (struct span){name, strlen(name)}, 0);
    row = entry ? rows_append(rows, name, strlen(name)) : NULL;
    if (row)
        row->flags = entry->born ? ROW_BORN : 0;
    return row;
}

static int v2_column(struct span word, const char **ret_number) {
    static const struct {
        const char *prefix;
        int column;
    } keys[] = {{"rbytes=", DISK_READ_BYTES},
                {"wbytes=", DISK_WRITE_BYTES},
                {"rios=", DISK_READS},
                {"wios=", DISK_WRITES}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (span_starts(word, keys[i].prefix)) {
            *ret_number = word.data + strlen(keys[i].prefix);
            return keys[i].column;
        }
    return -1;
}

/* "254:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5 dios=6"; a device without I/O has only its
 * number. */
static void read_v2_line(struct disk *disk, struct span line, struct rows *rows) {
    const char *p = line.data, *end = line.data + line.size, *q;
    struct span number, word;
    struct row *row = NULL;
    uint64_t value;
    if (!text_word(&p, end, &number))
        return;
    while (text_word(&p, end, &word)) {
        int column = v2_column(word, &q);
        if (column < 0 || !text_u64(&q, word.data + word.size, &value))
            continue;
        if (!row && !(row = find_group_row(disk, number, rows)))
            return;
        row->values[column] = counter_value(value, 1);
    }
}

/* "254:0 Read 123" */
static void read_v1_line(struct disk *disk, struct span line, int read_column, int write_column,
                         struct rows *rows) {
    const char *p = line.data, *end = line.data + line.size;
    struct span number, operation;
    uint64_t value;
    if (!text_word(&p, end, &number) || !text_word(&p, end, &operation) ||
        !text_u64(&p, end, &value))
        return;
    bool is_read = span_equal(operation, "Read");
    if (!is_read && !span_equal(operation, "Write"))
        return;
    struct row *row = find_group_row(disk, number, rows);
    if (row)
        row->values[is_read ? read_column : write_column] = counter_value(value, 1);
}

int disk_group_open(struct disk *disk, const struct scope *scope) {
    if (scope->v2_io)
        return source_open(&disk->stats, scope->io, "io.stat");
    int r = source_open(&disk->stats, scope->io, "blkio.throttle.io_service_bytes_recursive");
    if (r == 0)
        return source_open(&disk->serviced, scope->io, "blkio.throttle.io_serviced_recursive");
    r = source_open(&disk->stats, scope->io, "blkio.throttle.io_service_bytes");
    return r < 0 ? r : source_open(&disk->serviced, scope->io, "blkio.throttle.io_serviced");
}

int disk_group_sample(struct disk *disk, bool v2, struct rows *rows) {
    int r = source_read(&disk->stats);
    if (r == 0 && !v2)
        r = source_read(&disk->serviced);
    if (r < 0)
        return r;
    const char *p = disk->stats.data, *q = disk->serviced.data;
    struct span line;
    while (text_line(&p, source_end(&disk->stats), &line)) {
        if (v2)
            read_v2_line(disk, line, rows);
        else
            read_v1_line(disk, line, DISK_READ_BYTES, DISK_WRITE_BYTES, rows);
    }
    while (!v2 && text_line(&q, source_end(&disk->serviced), &line))
        read_v1_line(disk, line, DISK_READS, DISK_WRITES, rows);
    return 0;
}
