/* SPDX-License-Identifier: MIT */
/* Files and folders of tests. */
#ifndef CHOKEPOINT_TESTS_UNIT_FILES_H
#define CHOKEPOINT_TESTS_UNIT_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

/* Makes or replaces a file; mode 0: as the umask has it. */
static inline void file_write(const char *path, const void *bytes, size_t size, mode_t mode) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    if (mode)
        assert_int_equal(chmod(path, mode), 0);
}

static inline void file_write_text(const char *path, const char *text, mode_t mode) {
    file_write(path, text, strlen(text), mode);
}

/* The first line, without its end. */
static inline void file_read_line(const char *path, char *to, size_t size) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(to, (int)size, file));
    fclose(file);
    to[strcspn(to, "\n")] = '\0';
}

/* Removes a folder with everything in it; 0 if it could. */
static inline int folder_remove(const char *path) {
    char command[200];
    snprintf(command, sizeof command, "rm -rf -- '%s'", path);
    return system(command);
}

#endif
