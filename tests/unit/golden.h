/* SPDX-License-Identifier: MIT */
/* Compares text with the files in tests/golden; UPDATE_GOLDEN=1 writes them instead. */
#ifndef CHOKEPOINT_TESTS_GOLDEN_H
#define CHOKEPOINT_TESTS_GOLDEN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static inline char *golden_read(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;
    if (file && getdelim(&text, &size, EOF, file) < 0) {
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

static inline void golden_write(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static inline void expect_golden(const char *name, const char *text) {
    char path[512], actual[128];
    snprintf(path, sizeof path, "%s/golden/%s", TEST_SOURCE_DIR, name);
    if (getenv("UPDATE_GOLDEN")) {
        golden_write(path, text);
        return;
    }
    char *expected = golden_read(path);
    bool same = expected && strcmp(expected, text) == 0;
    free(expected);
    if (same)
        return;
    snprintf(actual, sizeof actual, "/tmp/chokepoint-golden-actual-%.60s", name);
    golden_write(actual, text);
    fail_msg("%s differs: diff %s %s", name, path, actual);
}

#endif
