/* SPDX-License-Identifier: MIT */
/* Shared by the tests of probes: fixtures, changeable copies of them, and exact cells. */
#ifndef CHOKEPOINT_TESTS_UNIT_PROBE_TEST_H
#define CHOKEPOINT_TESTS_UNIT_PROBE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/probe_harness.h"
#include "tests/unit/files.h"

#define FIXTURES TEST_SOURCE_DIR "/fixtures/"
#define S NS_PER_S

/* Opens the probe on that root and samples it once at `mono_ns`. */
static inline void probe_start(struct harness *h, const char *root, enum scope_kind kind,
                               const struct probe *probe, int64_t mono_ns) {
    assert_int_equal(harness_init(h, root, kind), 0);
    assert_int_equal(harness_open(h, probe), 0);
    assert_int_equal(harness_sample_at(h, mono_ns), 0);
}

static inline void expect_at(const struct harness *h, const char *instance, const char *column,
                             int64_t value, const char *file, int line) {
    int64_t found = harness_value(h, instance, column);
    if (found == value)
        return;
    if (found == HARNESS_NO_ROW)
        print_error("%s: no row %s\n", h->probe->table->name, instance);
    else
        print_error("%s.%s of %s is %lld, not %lld\n", h->probe->table->name, column, instance,
                    (long long)found, (long long)value);
    _fail(file, line);
}
#define expect(h, instance, column, value) expect_at(h, instance, column, value, __FILE__, __LINE__)
#define expect_absent(h, instance, column) expect(h, instance, column, VALUE_ABSENT)

/* A temporary directory, copied from a fixture or empty (NULL); tree_remove removes it. */
struct tree {
    char path[64];
};
static inline void run_command(const char *format, const char *a, const char *b) {
    char command[2048];
    snprintf(command, sizeof command, format, a, b);
    assert_int_equal(system(command), 0);
}
static inline void tree_make(struct tree *tree, const char *fixture) {
    strcpy(tree->path, "/tmp/chokepoint-probe-test-XXXXXX");
    assert_non_null(mkdtemp(tree->path));
    if (fixture)
        run_command("cp -a " FIXTURES "%s/. %s/", fixture, tree->path);
}
static inline void tree_remove(const struct tree *tree) {
    run_command("rm -rf %s%s", tree->path, "");
}

/* Writes a file in place, as the kernel does under an open descriptor; makes its directories. */
static inline void tree_write(const struct tree *tree, const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", tree->path, name);
    *strrchr(path, '/') = '\0';
    run_command("mkdir -p '%s'%s", path, "");
    snprintf(path, sizeof path, "%s/%s", tree->path, name);
    file_write_text(path, text, 0);
}

#endif
