/* SPDX-License-Identifier: MIT */
/* More bytes than a pipe holds, in both directions, and bytes that cannot be written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "common/transfer.h"

#define SIZE (1 << 20) /* a pipe holds 64 kB */

static uint8_t sent[SIZE], got[SIZE + 1];

static void *send_all(void *fd) {
    int r = transfer_write(*(int *)fd, sent, SIZE);
    close(*(int *)fd);
    return r == 0 ? fd : NULL;
}

static void all_arrives_and_the_end_is_seen(void **state) {
    (void)state;
    int ends[2];
    pthread_t thread;
    void *written;
    for (size_t i = 0; i < SIZE; i++)
        sent[i] = (uint8_t)(i * 31 >> 3);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pthread_create(&thread, NULL, send_all, &ends[1]), 0);
    assert_int_equal(transfer_read(ends[0], got, sizeof got), SIZE);
    assert_int_equal(pthread_join(thread, &written), 0);
    assert_non_null(written);
    assert_memory_equal(got, sent, SIZE);
    assert_int_equal(transfer_read(ends[0], got, 1), 0);
    close(ends[0]);
}

static void what_fails_says_why(void **state) {
    (void)state;
    int full = open("/dev/full", O_RDWR | O_CLOEXEC);
    assert_true(full >= 0);
    assert_int_equal(transfer_write(full, sent, 1), -ENOSPC);
    assert_int_equal(transfer_write(full, sent, 0), 0);
    close(full);
    assert_int_equal(transfer_read(full, got, 1), -EBADF);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_arrives_and_the_end_is_seen),
        cmocka_unit_test(what_fails_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
