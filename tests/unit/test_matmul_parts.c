/* SPDX-License-Identifier: MIT */
/* Owners of blocks, their elements, and sums over them, against the definitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/matmul/element.h"
#include "workloads/matmul/grid.h"
#include "workloads/matmul/kernels.h"

static void every_block_lives_at_one_rank_and_has_a_place_of_its_own(void **state) {
    (void)state;
    for (int n_ranks = 1; n_ranks <= 9; n_ranks++) {
        struct grid g = grid_make(700, 100, n_ranks);
        size_t total = 0, starts[7];
        assert_int_equal(g.blocks, 7);
        for (int rank = 0; rank < n_ranks; rank++) {
            bool taken[49] = {false};
            size_t n = 0;
            grid_row_starts(&g, rank, starts);
            for (int i = 0; i < 7; i++) {
                bool any = false;
                for (int j = 0; j < 7; j++) {
                    if (grid_owner(&g, i, j) != rank)
                        continue;
                    size_t place = grid_place(&g, starts, rank, i, j);
                    assert_true(place < grid_count(&g, rank));
                    assert_false(taken[place]);
                    taken[place] = any = true;
                    n++;
                }
                assert_int_equal(grid_needs(&g, rank, i), any);
            }
            assert_int_equal(n, grid_count(&g, rank));
            total += n;
        }
        assert_int_equal(total, 49);
    }
}

static void operands_of_a_trace_live_together(void **state) {
    (void)state;
    struct grid g = grid_make(1000, 90, 5);
    for (int i = 0; i < g.blocks; i++)
        for (int j = 0; j < g.blocks; j++)
            assert_int_equal(grid_owner(&g, i, j), grid_owner(&g, j, i));
}

static void last_block_is_what_is_left(void **state) {
    (void)state;
    struct grid g = grid_make(1001, 100, 2);
    assert_int_equal(g.blocks, 11);
    assert_int_equal(grid_length(&g, 9), 100);
    assert_int_equal(grid_length(&g, 10), 1);
    assert_int_equal(grid_make(4294967295u, 1u << 20, 1).blocks, 4096);
}

static void expect_even(uint32_t size, int ranks) {
    struct grid g = grid_make(size, grid_even_block(size, 512, ranks), ranks);
    assert_true(g.block <= 512 && g.block >= GRID_MIN_BLOCK);
    for (int rank = 1; rank < ranks; rank++)
        assert_int_equal(grid_count(&g, rank), grid_count(&g, 0));
}

/* With blocks of 512, rank 0 of two would have all of 500 rows, and five of nine blocks of 1500. */
static void all_ranks_have_as_many_blocks_if_none_is_asked_for(void **state) {
    static const uint32_t sizes[] = {500, 512, 1024, 1500, 2048, 3000, 8192};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int ranks = 1; ranks <= 7; ranks++)
            expect_even(sizes[i], ranks);
    assert_int_equal(grid_even_block(2048, 512, 2), 512);
    assert_int_equal(grid_even_block(100, 512, 4), 512); /* blocks would be too small */
}

static void elements_do_not_depend_on_the_blocks(void **state) {
    (void)state;
    float whole[30 * 30], part[7 * 11];
    double wide[7 * 11];
    element_fill(whole, false, 5, 1, 0, 0, 30, 30);
    element_fill(part, false, 5, 1, 13, 17, 7, 11);
    element_fill(wide, true, 5, 1, 13, 17, 7, 11);
    for (int i = 0; i < 7; i++) {
        for (int j = 0; j < 11; j++) {
            assert_true(part[i * 11 + j] == whole[(13 + i) * 30 + 17 + j]);
            assert_true(wide[i * 11 + j] == (double)part[i * 11 + j]);
            assert_true(part[i * 11 + j] ==
                        (float)element_at(5, 1, 13 + (uint32_t)i, 17 + (uint32_t)j));
        }
    }
}

/* More columns than are drawn at a time, and rows of two hashes. */
static void a_wide_block_has_the_same_elements(void **state) {
    static float block[3 * 1100];
    (void)state;
    element_fill(block, false, 5, 1, 6, 40, 3, 1100);
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t j = 0; j < 1100; j++)
            assert_true(block[i * 1100 + j] == (float)element_at(5, 1, 6 + i, 40 + j));
}

static void elements_are_drawn_evenly_and_differ_by_matrix_and_seed(void **state) {
    (void)state;
    int count[16] = {0}, same_matrix = 0, same_seed = 0;
    for (uint32_t i = 0; i < 200; i++) {
        for (uint32_t j = 0; j < 200; j++) {
            int x = element_at(1, 0, i, j);
            assert_in_range(x + 8, 0, 15);
            count[x + 8]++;
            same_matrix += x == element_at(1, 1, i, j);
            same_seed += x == element_at(2, 0, i, j);
        }
    }
    for (int x = 0; x < 16; x++) /* expected 2500, standard deviation 48 */
        assert_in_range(count[x], 2500 - 300, 2500 + 300);
    assert_in_range(same_matrix, 2500 - 300, 2500 + 300);
    assert_in_range(same_seed, 2500 - 300, 2500 + 300);
}

static void trace_of_product_is_the_definition(void **state) {
    (void)state;
    enum { ROWS = 70, COLUMNS = 45 };
    static float a[ROWS * COLUMNS], b[COLUMNS * ROWS];
    static double wide_a[ROWS * COLUMNS], wide_b[COLUMNS * ROWS];
    double expected = 0;
    element_fill(a, false, 3, 0, 0, 0, ROWS, COLUMNS);
    element_fill(b, false, 3, 1, 0, 0, COLUMNS, ROWS);
    element_fill(wide_a, true, 3, 0, 0, 0, ROWS, COLUMNS);
    element_fill(wide_b, true, 3, 1, 0, 0, COLUMNS, ROWS);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            expected += (double)(a[i * COLUMNS + j] * b[j * ROWS + i]);
    assert_true(element_trace_of_product(a, b, false, ROWS, COLUMNS) == expected);
    assert_true(element_trace_of_product(wide_a, wide_b, true, ROWS, COLUMNS) == expected);
}

static void block_times_vector_adds(void **state) {
    (void)state;
    const float block[] = {1, 2, 3, 4, 5, 6};
    const double x[] = {1, 10, 100};
    double y[] = {7, 8};
    element_times_vector(block, false, 2, 3, x, y);
    assert_true(y[0] == 328 && y[1] == 662);
    assert_true(element_trace((const float[]){1, 2, 3, 4}, false, 2) == 5);
}

static void kernels_that_leave_a_wide_processor_unused_are_known(void **state) {
    (void)state;
    assert_string_equal(kernels_better("Prescott", KERNELS_AVX512), "SkylakeX");
    assert_string_equal(kernels_better("Sandybridge", KERNELS_AVX2), "Haswell");
    assert_null(kernels_better("Prescott", KERNELS_NARROW));
    assert_null(kernels_better("Haswell", KERNELS_AVX512));
    assert_null(kernels_better("SkylakeX", KERNELS_AVX512));
    assert_null(kernels_better("armv8", KERNELS_AVX2));
    assert_null(kernels_better("", KERNELS_AVX512));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_lives_at_one_rank_and_has_a_place_of_its_own),
        cmocka_unit_test(operands_of_a_trace_live_together),
        cmocka_unit_test(last_block_is_what_is_left),
        cmocka_unit_test(all_ranks_have_as_many_blocks_if_none_is_asked_for),
        cmocka_unit_test(elements_do_not_depend_on_the_blocks),
        cmocka_unit_test(a_wide_block_has_the_same_elements),
        cmocka_unit_test(elements_are_drawn_evenly_and_differ_by_matrix_and_seed),
        cmocka_unit_test(trace_of_product_is_the_definition),
        cmocka_unit_test(block_times_vector_adds),
        cmocka_unit_test(kernels_that_leave_a_wide_processor_unused_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
