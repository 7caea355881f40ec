/* SPDX-License-Identifier: MIT */
/* Processes that map a GPU library, by planted lists of mappings. */
#include "tests/unit/planted_process.h"

#include "common/buffer.h"
#include "common/error.h"

static void put_maps(const struct tree *tree, int pid, size_t before, const char *last) {
    static const char line[] = "7f0000000000-7f0000001000 r--p 00000000 08:01 1 /lib/libc.so.6\n";
    struct buffer text = {0};
    for (size_t i = 0; i < before; i++)
        buffer_put(&text, line, sizeof line - 1);
    buffer_put(&text, last, strlen(last));
    put_file(tree, pid, "maps", (const char *)text.data, text.size);
    buffer_release(&text);
}

#define CUDA "7f0000000000-7f0000001000 r-xp 00000000 08:01 1 /usr/lib/libcuda.so.1\n"

/* Found anywhere in the list, and however late it comes; other processes are not examined, nor are
 * lists read for ever.
 */
static void a_library_of_gpus_is_found(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    begin(&h, &tree);
    const int pids[] = {50, 51, 52, 53, 54};
    for (size_t i = 0; i < ARRAY_SIZE(pids); i++)
        plant(&tree, (struct planted){.pid = pids[i], .comm = "p", .environ = i < 4 ? MARK : NULL});
    put_maps(&tree, 50, 0, CUDA);
    put_maps(&tree, 51, 4096 / 63 - 1, CUDA); /* across the end of a chunk */
    put_maps(&tree, 52, 3, "");
    put_maps(&tree, 53, 40000, CUDA); /* after the first mebibyte */
    put_maps(&tree, 54, 0, CUDA);
    look(&h, 101);
    expect(&h, "p[50]", "gpu", 1);
    expect(&h, "p[51]", "gpu", 1);
    expect(&h, "p[52]", "gpu", 0);
    expect(&h, "p[53]", "gpu", 0);
    if (harness_row(&h, "p[54]"))
        expect_absent(&h, "p[54]", "gpu");
    put_maps(&tree, 52, 3, "7f0000000000-7f0000001000 r-xp 0 08:01 1 /opt/libze_loader.so.1.2\n");
    for (int second = 102; second <= 104; second++)
        look(&h, second);
    expect(&h, "p[52]", "gpu", 1);
    put_maps(&tree, 52, 1, "");
    for (int second = 105; second <= 110; second++)
        look(&h, second);
    expect(&h, "p[52]", "gpu", 1); /* it stays */
    end(&h, &tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_of_gpus_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
