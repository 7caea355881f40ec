/* SPDX-License-Identifier: MIT */
/* Pages of files are dropped only if the kernel's list says that nothing would be lost. The list is
 * planted, the pages are real.
 */
#include "agent/supervise/page_drop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/files.h"

static size_t size; /* of the mapping: four pages */

/* Maps a file whose pages are in memory. */
static char *map_file(void) {
    FILE *file = tmpfile();
    size = 4 * (size_t)sysconf(_SC_PAGESIZE);
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), (off_t)size), 0);
    char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(file), 0);
    assert_ptr_not_equal(map, MAP_FAILED);
    fclose(file);
    for (size_t i = 0; i < size; i += size / 4)
        map[i] = 'x'; /* a private page: lost when it is dropped */
    return map;
}

/* Whether the mapping is dropped if the list of mappings has these values for it. */
static bool drops(const char *permissions, unsigned inode, const char *rest) {
    char root[] = "/tmp/chokepoint-page-drop-XXXXXX", path[100];
    char *map = map_file();
    assert_non_null(mkdtemp(root));
    snprintf(path, sizeof path, "%s/self", root);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/self/smaps", root);
    FILE *list = fopen(path, "w");
    assert_non_null(list);
    fprintf(list, "%lx-%lx %s 00000000 08:01 %u %s\n%s", (unsigned long)(uintptr_t)map,
            (unsigned long)((uintptr_t)map + size), permissions, inode,
            inode ? "/usr/lib/x.so" : "", rest);
    fclose(list);
    page_drop_files(root);
    bool first = map[0] != 'x', last = map[size - size / 4] != 'x';
    assert_int_equal(first, last);
    munmap(map, size);
    assert_int_equal(folder_remove(root), 0);
    return first;
}

#define SIZES "Size:  16 kB\nRss:  16 kB\n"

static void what_can_be_read_again_is_dropped(void **state) {
    (void)state;
    assert_true(drops("r-xp", 7, SIZES "Anonymous:             0 kB\n"));
    assert_true(drops("r--p", 7, SIZES "Anonymous:             0 kB\n"));
}

static void what_would_be_lost_stays(void **state) {
    (void)state;
    assert_false(drops("r--p", 7, SIZES "Anonymous:             4 kB\n")); /* relocated */
    assert_false(drops("rw-p", 7, SIZES "Anonymous:             0 kB\n"));
    assert_false(drops("---p", 7, SIZES "Anonymous:             0 kB\n"));
    assert_false(drops("r--p", 0, SIZES "Anonymous:             0 kB\n")); /* not of a file */
    assert_false(drops("r--p", 7, SIZES));                                 /* not known */
    page_drop_files("/nowhere");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_can_be_read_again_is_dropped),
        cmocka_unit_test(what_would_be_lost_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
