/* SPDX-License-Identifier: MIT */
/* The shim that came behind the agent's program: whole where it is ours to put, else nowhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/delivered.h"

struct place {
    char root[64], program[96], shim[96], shim_file[128];
};

static int make(void **state) {
    static struct place place;
    char path[128];
    strcpy(place.root, "/tmp/chokepoint-delivered-test-XXXXXX");
    assert_non_null(mkdtemp(place.root));
    snprintf(place.program, sizeof place.program, "%s/program", place.root);
    snprintf(place.shim, sizeof place.shim, "%s/shim", place.root);
    snprintf(place.shim_file, sizeof place.shim_file, "%s/libchokepoint-mpi.so", place.shim);
    assert_int_equal(mkdir(place.program, 0700), 0);
    snprintf(path, sizeof path, "%s/chokepoint-agent", place.program);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("program shim", file) >= 0);
    assert_int_equal(fclose(file), 0);
    *state = &place;
    return 0;
}

static int clean(void **state) {
    const struct place *place = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", place->root);
    return system(command);
}

static void expect_shim(const struct place *place, const char *expected) {
    char text[32] = "";
    FILE *file = fopen(place->shim_file, "r");
    assert_non_null(file);
    assert_int_equal(fread(text, 1, sizeof text - 1, file), strlen(expected));
    fclose(file);
    assert_string_equal(text, expected);
}

static void the_end_of_the_program_becomes_the_shim(void **state) {
    const struct place *place = *state;
    assert_int_equal(delivered_place_shim(place->program, place->shim, 4), 0);
    expect_shim(place, "shim");
    assert_int_equal(delivered_place_shim(place->program, place->shim, 5), 0); /* by a neighbour */
    expect_shim(place, " shim");
    assert_int_equal(delivered_remove_shim(place->shim), 0);
    assert_int_equal(access(place->shim, F_OK), -1);
    assert_int_equal(delivered_remove_program(place->program), 0);
    assert_int_equal(access(place->program, F_OK), -1);
}

static void more_than_came_is_no_shim(void **state) {
    const struct place *place = *state;
    assert_int_equal(delivered_place_shim(place->program, place->shim, 13), -ENODATA);
    assert_int_equal(rmdir(place->shim), 0); /* no piece is left */
}

static void a_directory_that_others_made_gets_none(void **state) {
    const struct place *place = *state;
    char elsewhere[128];
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", place->root);
    assert_int_equal(mkdir(elsewhere, 0700), 0);
    assert_int_equal(symlink(elsewhere, place->shim), 0);
    assert_true(delivered_place_shim(place->program, place->shim, 4) < 0);
    assert_int_equal(rmdir(elsewhere), 0); /* empty */
    assert_int_equal(unlink(place->shim), 0);
    if (geteuid() != 0)
        return; /* only root can make one that is another's */
    assert_int_equal(mkdir(place->shim, 0777), 0);
    assert_int_equal(chown(place->shim, 65534, 65534), 0);
    assert_int_equal(delivered_place_shim(place->program, place->shim, 4), -EPERM);
    assert_int_equal(rmdir(place->shim), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_end_of_the_program_becomes_the_shim, make, clean),
        cmocka_unit_test_setup_teardown(more_than_came_is_no_shim, make, clean),
        cmocka_unit_test_setup_teardown(a_directory_that_others_made_gets_none, make, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
