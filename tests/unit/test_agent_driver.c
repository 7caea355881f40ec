/* SPDX-License-Identifier: MIT */
/* Libraries of GPU drivers: the calls that are found in them, also in damaged ones, and the
 * mappings of planted processes. */
#include "tests/unit/probe_test.h"

#include <fcntl.h>
#include <libgen.h>
#include <link.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/wait/driver_mapping.h"
#include "agent/wait/wait_shared.h"
#include "common/error.h"

#define LIBRARY_MAX (1 << 20)

/* The player of tests/gpu, which lies beside this program. */
static size_t read_library(unsigned char *bytes) {
    char self[400], path[512];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(n > 0);
    self[n] = '\0';
    snprintf(path, sizeof path, "%s/gpu/libcuda.so.1", dirname(self));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    ssize_t size = read(fd, bytes, LIBRARY_MAX);
    close(fd);
    assert_in_range(size, 1000, LIBRARY_MAX - 1);
    return (size_t)size;
}

static int find_in(const unsigned char *bytes, size_t size,
                   struct driver_symbol ret_symbols[DRIVER_SYMBOLS_MAX]) {
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fflush(file), 0);
    int n = driver_symbols_find(fileno(file), DRIVER_CUDA, ret_symbols);
    fclose(file);
    return n;
}

static void calls_that_wait_or_copy_are_found(void **state) {
    (void)state;
    static unsigned char bytes[LIBRARY_MAX];
    struct driver_symbol symbols[DRIVER_SYMBOLS_MAX];
    size_t of[WAIT_STATES] = {0}, size = read_library(bytes);
    int n = find_in(bytes, size, symbols);
    for (int i = 0; i < n; i++) {
        size_t at = symbols[i].offset, state_of_call = symbols[i].cookie & 0xff;
        assert_true(state_of_call < WAIT_STATES && at < size);
        of[state_of_call]++;
#if defined(__x86_64__)
        assert_int_not_equal(bytes[at], 0xf3); /* behind endbr64 */
#endif
    }
    assert_int_equal(n, 9); /* no launch */
    assert_int_equal(of[WAIT_GPU], 5);
    assert_int_equal(of[WAIT_COPY_TO_GPU], 2);
    assert_int_equal(of[WAIT_COPY_FROM_GPU], 2);
}

/* A number in the header, a table or anywhere is replaced by a drawn one. */
static void a_damaged_library_is_refused_or_read(void **state) {
    (void)state;
    static unsigned char bytes[LIBRARY_MAX], damaged[LIBRARY_MAX];
    struct driver_symbol symbols[DRIVER_SYMBOLS_MAX];
    size_t size = read_library(bytes), refused = 0;
    srandom(7);
    for (int i = 0; i < 3000; i++) {
        uint64_t draw = (uint64_t)random() << 33 ^ (uint64_t)random();
        size_t within = i % 3 ? 64 : size - 8, end = i % 7 ? size : (size_t)random() % size;
        memcpy(damaged, bytes, size);
        memcpy(damaged + (size_t)random() % within, &draw, 1 + (size_t)random() % 8);
        int n = find_in(damaged, end, symbols);
        assert_true(n <= DRIVER_SYMBOLS_MAX);
        refused += n < 0;
        for (int k = 0; k < n; k++)
            assert_true(symbols[k].offset < end);
    }
    assert_in_range(refused, 500, 2999);
}

static void code_behind_the_end_of_the_file_is_none(void **state) {
    (void)state;
    static unsigned char bytes[LIBRARY_MAX];
    struct driver_symbol symbols[DRIVER_SYMBOLS_MAX];
    size_t size = read_library(bytes);
    ElfW(Ehdr) head;
    memcpy(&head, bytes, sizeof head);
    for (size_t i = 0; i < head.e_phnum; i++) {
        ElfW(Phdr) part;
        unsigned char *at = bytes + head.e_phoff + i * sizeof part;
        memcpy(&part, at, sizeof part);
        part.p_offset = part.p_flags & PF_X ? size - 8 : part.p_offset;
        memcpy(at, &part, sizeof part);
    }
    assert_int_equal(find_in(bytes, size, symbols), 0);
}

static void a_text_is_no_library(void **state) {
    (void)state;
    struct driver_symbol symbols[DRIVER_SYMBOLS_MAX];
    assert_int_equal(find_in((const unsigned char *)"not a library", 13, symbols), -ENOEXEC);
}

/* ---- mappings ---- */

struct planted {
    struct tree tree;
    char proc[100];
    struct stat file;
};

static void plant(struct planted *p, const char *path) {
    char name[300], line[500];
    tree_make(&p->tree, NULL);
    snprintf(p->proc, sizeof p->proc, "%s/proc", p->tree.path);
    snprintf(name, sizeof name, "proc/7/root%s", path);
    tree_write(&p->tree, name, "library");
    snprintf(name, sizeof name, "%s/7/root%s", p->proc, path);
    assert_int_equal(stat(name, &p->file), 0);
    snprintf(line, sizeof line,
             "7f0000000000-7f0000001000 r--p 00000000 08:01 1   /lib/libc.so.6\n"
             "7f0000001000-7f0000002000 rw-p 00000000 00:00 0 \n"
             "7f0000002000-7f0000003000 r-xp 00001000 %x:%x %lu     %s\n",
             major(p->file.st_dev), minor(p->file.st_dev), (unsigned long)p->file.st_ino, path);
    tree_write(&p->tree, "proc/7/maps", line);
}

static void the_mapped_file_is_opened_below_the_root_of_its_process(void **state) {
    (void)state;
    struct planted p;
    struct driver_mapping mapping;
    plant(&p, "/opt/a b/libcuda.so.580.65");
    assert_true(driver_mapping_find(p.proc, 7, &mapping));
    assert_int_equal(mapping.library, DRIVER_CUDA);
    assert_int_equal(mapping.inode, p.file.st_ino);
    assert_int_equal(mapping.device, p.file.st_dev);
    assert_string_equal(mapping.path, "/opt/a b/libcuda.so.580.65");
    int fd = driver_mapping_open(p.proc, 7, &mapping);
    assert_true(fd >= 0);
    close(fd);
    mapping.inode++; /* another file lies there now */
    assert_int_equal(driver_mapping_open(p.proc, 7, &mapping), -ESTALE);
    strcat(mapping.path, " (deleted)");
    assert_int_equal(driver_mapping_open(p.proc, 7, &mapping), -ESTALE);
    assert_int_equal(driver_mapping_open(p.proc, 8, &mapping), -ESTALE);
    *strrchr(mapping.path, ' ') = '\0'; /* the process has ended */
    assert_int_equal(driver_mapping_open(p.proc, 8, &mapping), -ENOENT);
    tree_remove(&p.tree);
}

static void a_library_of_the_toolkit_is_no_driver(void **state) {
    (void)state;
    struct planted p;
    struct driver_mapping mapping;
    plant(&p, "/opt/libcudart.so.12");
    assert_false(driver_mapping_find(p.proc, 7, &mapping));
    assert_false(driver_mapping_find(p.proc, 8, &mapping)); /* it has ended */
    tree_remove(&p.tree);
}

static void any_mapping_may_be_the_last(void **state) {
    (void)state;
    static char text[200000];
    struct planted p;
    struct driver_mapping mapping;
    for (size_t before = 0; before < 1000; before += 37) {
        size_t size = 0;
        for (size_t i = 0; i < before; i++)
            size += (size_t)sprintf(text + size, "7f00-7f01 r--p 00000000 08:01 1%*s/lib/l%zu.so\n",
                                    (int)(i % 91), "", i);
        plant(&p, "/x/libamdhip64.so.6");
        sprintf(text + size, "7f00-7f01 r-xp 00000000 8:1 5 /x/libamdhip64.so.6\n");
        tree_write(&p.tree, "proc/7/maps", text);
        assert_true(driver_mapping_find(p.proc, 7, &mapping));
        assert_int_equal(mapping.library, DRIVER_HIP);
        tree_remove(&p.tree);
    }
}

static void a_line_without_an_end_is_no_mapping(void **state) {
    (void)state;
    static char text[40000];
    struct planted p;
    struct driver_mapping mapping;
    plant(&p, "/x/libcuda.so.1");
    memset(text, 'x', sizeof text - 1);
    memcpy(text + 20000, "/libcuda.so.1\n", 14);
    tree_write(&p.tree, "proc/7/maps", text);
    assert_false(driver_mapping_find(p.proc, 7, &mapping));
    tree_remove(&p.tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_that_wait_or_copy_are_found),
        cmocka_unit_test(a_damaged_library_is_refused_or_read),
        cmocka_unit_test(code_behind_the_end_of_the_file_is_none),
        cmocka_unit_test(a_text_is_no_library),
        cmocka_unit_test(the_mapped_file_is_opened_below_the_root_of_its_process),
        cmocka_unit_test(a_library_of_the_toolkit_is_no_driver),
        cmocka_unit_test(any_mapping_may_be_the_last),
        cmocka_unit_test(a_line_without_an_end_is_no_mapping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
