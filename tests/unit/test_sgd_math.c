/* SPDX-License-Identifier: MIT */
/* The gradient against finite differences, the loss at its extremes, the generator's planted truth.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/common/libsvm.h"
#include "workloads/sgd/generate.h"
#include "workloads/sgd/logistic.h"
#include "workloads/sgd/planted.h"

enum { ROWS = 40, FEATURES = 12, MOST_CLASSES = 10 };

static uint64_t random_state = 7;

static float uniform(void) { /* -1 .. 1 */
    random_state = random_state * 6364136223846793005 + 1442695040888963407;
    return (float)(random_state >> 40) / (float)(1 << 23) - 1;
}

/* Every row has about half of the features. */
static void fill(struct batch *b) {
    for (int row = 0; row < ROWS; row++) {
        assert_int_equal(batch_reserve(b, FEATURES), 0);
        for (uint32_t i = 0; i < FEATURES; i++) {
            if (uniform() < 0)
                continue;
            b->index[b->n_entries] = i * 1000;
            b->value[b->n_entries++] = 2 * uniform();
        }
        b->label[b->n_rows++] = uniform() > 0;
        b->row_start[b->n_rows] = (uint32_t)b->n_entries;
    }
    assert_int_equal(batch_compact(b, FEATURES * 1000), 0);
    assert_int_equal(b->n_unique, FEATURES);
}

/* The margins of a row in double precision, from the definition. */
static void reference_margins(const struct batch *b, size_t row, uint32_t width, const double *w,
                              double *z) {
    for (uint32_t k = 0; k < width; k++) {
        z[k] = 0;
        for (uint32_t i = b->row_start[row]; i < b->row_start[row + 1]; i++)
            z[k] += w[b->local[i] * width + k] * b->value[i];
    }
}

/* The mean loss from the definition: minus the logarithm of the label's probability. */
static double reference_loss(const struct batch *b, uint32_t width, const double *w) {
    double sum = 0, z[MOST_CLASSES];
    for (size_t row = 0; row < b->n_rows; row++) {
        double of_all = 0;
        reference_margins(b, row, width, w, z);
        for (uint32_t k = 0; k < width; k++)
            of_all += exp(z[k]);
        double p = width > 1 ? exp(z[(int)b->label[row]]) / of_all : 1 / (1 + exp(-z[0]));
        sum -= log(width > 1 || b->label[row] > 0 ? p : 1 - p);
    }
    return sum / (double)b->n_rows;
}

/* width 1: two classes */
static void gradient_agrees(uint32_t width) {
    struct batch b = {0};
    float w[FEATURES * MOST_CLASSES], z[ROWS * MOST_CLASSES], g[FEATURES * MOST_CLASSES] = {0};
    double exact[FEATURES * MOST_CLASSES];
    fill(&b);
    for (size_t row = 0; width > 1 && row < b.n_rows; row++)
        b.label[row] = (float)(row * 7 % width);
    for (uint32_t i = 0; i < FEATURES * width; i++)
        exact[i] = w[i] = uniform();
    logistic_margins(&b, b.local, width, w, z);
    double loss = logistic_residuals(&b, width, z);
    logistic_add_gradient(&b, b.local, width, z, 1, g);
    assert_true(fabs(loss / reference_loss(&b, width, exact) - 1) < 1e-5);
    for (uint32_t i = 0; i < FEATURES * width; i++) {
        const double h = 1e-5, at = exact[i];
        exact[i] = at + h;
        double up = reference_loss(&b, width, exact);
        exact[i] = at - h;
        double down = reference_loss(&b, width, exact);
        exact[i] = at;
        double slope = (up - down) / (2 * h);
        assert_true(fabs(g[i] - slope) <= 1e-3 * fabs(slope) + 1e-7);
    }
    batch_release(&b);
}

static void the_gradient_agrees_with_finite_differences(void **state) {
    (void)state;
    gradient_agrees(1);
}

/* The width of digits has separate loops. */
static void the_softmax_gradient_agrees_with_finite_differences(void **state) {
    (void)state;
    gradient_agrees(10);
    gradient_agrees(3);
}

/* Applied to a whole model in place, or gathered, computed and scattered. */
static void a_batch_and_the_whole_model_agree(void **state) {
    (void)state;
    struct batch b = {0};
    float z[ROWS], local[FEATURES], g[FEATURES] = {0};
    float *model = calloc(FEATURES * 1000, sizeof *model);
    fill(&b);
    for (int i = 0; i < FEATURES; i++)
        local[i] = model[i * 1000] = uniform();
    logistic_margins(&b, b.local, 1, local, z);
    logistic_residuals(&b, 1, z);
    logistic_add_gradient(&b, b.local, 1, z, 1, g);
    logistic_margins(&b, b.index, 1, model, z);
    logistic_residuals(&b, 1, z);
    logistic_add_gradient(&b, b.index, 1, z, -.5f, model);
    for (int i = 0; i < FEATURES; i++)
        assert_true(fabsf(model[i * 1000] - (local[i] - .5f * g[i])) < 1e-6f);
    free(model);
    batch_release(&b);
}

static void the_loss_does_not_overflow(void **state) {
    (void)state;
    struct batch b = {.n_rows = 1};
    float label = 0, z = 1e30f;
    b.label = &label;
    assert_true(fabs(logistic_residuals(&b, 1, &z) / 1e30 - 1) < 1e-6);
    assert_true(z == 1);
    z = -1e30f;
    assert_true(logistic_residuals(&b, 1, &z) == 0);
    assert_true(z == 0);
    z = NAN;
    assert_true(isnan(logistic_residuals(&b, 1, &z)));
}

static void the_softmax_loss_does_not_overflow(void **state) {
    (void)state;
    struct batch b = {.n_rows = 1};
    float label = 1, z[3] = {1e30f, 0, -1e30f};
    b.label = &label;
    assert_true(fabs(logistic_residuals(&b, 3, z) / 1e30 - 1) < 1e-6);
    assert_true(z[0] == 1 && z[1] == -1 && z[2] == 0);
    float one_is_none[3] = {0, NAN, 0};
    assert_true(isnan(logistic_residuals(&b, 3, one_is_none)));
}

static size_t reference_best(const double *z, uint32_t width) {
    size_t best = 0;
    for (uint32_t k = 1; k < width; k++)
        best = z[k] > z[best] ? k : best;
    return width > 1 ? best : z[0] > 0;
}

static void score_counts(uint32_t width) {
    struct batch b = {0};
    struct logistic_score score = {0};
    float *model = calloc(FEATURES * 1000 * width, sizeof *model), margins[ROWS * MOST_CLASSES];
    double exact[FEATURES * MOST_CLASSES], z[MOST_CLASSES];
    uint64_t right = 0;
    fill(&b);
    for (uint32_t i = 0; i < FEATURES * width; i++)
        exact[i] = model[i / width * 1000 * width + i % width] = uniform();
    for (size_t row = 0; row < b.n_rows; row++) {
        reference_margins(&b, row, width, exact, z);
        right += reference_best(z, width) == (size_t)b.label[row];
    }
    logistic_margins(&b, b.index, width, model, margins);
    logistic_score_add(&score, &b, width, margins);
    assert_int_equal(score.n, ROWS);
    assert_int_equal(score.n_correct, right);
    assert_true(fabs(score.loss_sum / ROWS - reference_loss(&b, width, exact)) < 1e-5);
    free(model);
    batch_release(&b);
}

static void the_score_counts_what_is_right(void **state) {
    (void)state;
    score_counts(1);
    score_counts(4);
}

/* ---- generator ---- */

struct fixture {
    char dir[64];
    struct generate_options options;
    struct generate_result result;
    struct generate_error error;
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->dir, "/tmp/test-generate-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    f->options = (struct generate_options){.n_features = 200000,
                                           .n_examples = 3001,
                                           .n_files = 3,
                                           .n_test = 2000,
                                           .seed = 5,
                                           .directory = f->dir};
    *state = f;
    return 0;
}

static int count_files(const char *path, bool remove) {
    char full[512];
    int n = 0;
    DIR *dir = opendir(path);
    for (struct dirent *e; (e = readdir(dir));) {
        if (e->d_name[0] == '.')
            continue;
        n++;
        snprintf(full, sizeof full, "%s/%s", path, e->d_name);
        if (remove)
            unlink(full);
    }
    closedir(dir);
    return n;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    count_files(f->dir, true);
    assert_int_equal(rmdir(f->dir), 0);
    free(f);
    return 0;
}

/* FNV-1a of a file. */
static uint64_t digest(const struct fixture *f, const char *name) {
    char path[128];
    uint64_t hash = 0xcbf29ce484222325;
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (int c; (c = getc(file)) != EOF;)
        hash = (hash ^ (uint64_t)c) * 0x100000001b3;
    fclose(file);
    return hash;
}

static void the_same_seed_gives_the_same_bytes(void **state) {
    struct fixture *f = *state;
    assert_int_equal(generate_files(&f->options, &f->result, &f->error), 0);
    assert_int_equal(count_files(f->dir, false), 4);
    uint64_t first = digest(f, "train-00.libsvm"), test = digest(f, "test.libsvm");
    assert_true(first != digest(f, "train-01.libsvm"));
    assert_int_equal(generate_files(&f->options, &f->result, &f->error), 0);
    assert_true(first == digest(f, "train-00.libsvm") && test == digest(f, "test.libsvm"));
    f->options.seed = 6;
    assert_int_equal(generate_files(&f->options, &f->result, &f->error), 0);
    assert_true(first != digest(f, "train-00.libsvm"));
}

static void generated_data_has_the_shape_it_claims(void **state) {
    struct fixture *f = *state;
    struct libsvm_reader reader;
    struct libsvm_error error;
    struct batch b = {0};
    uint64_t rows = 0, entries = 0, positive = 0;
    f->options.n_features = 33762578;
    assert_int_equal(generate_files(&f->options, &f->result, &f->error), 0);
    assert_int_equal(libsvm_open_share(&reader, f->dir, 0, 1, 33762578, &error), 0);
    while (reader.epoch == 0) {
        assert_true(libsvm_read(&reader, 500, &b, &error) >= 0);
        rows += b.n_rows;
        entries += b.n_entries;
        for (size_t i = 0; i < b.n_rows; i++)
            positive += b.label[i] > 0;
        batch_clear(&b);
    }
    libsvm_release(&reader);
    batch_release(&b);
    assert_int_equal(rows, f->options.n_examples);
    assert_true(fabs((double)entries / (double)rows - 39) < .5);
    assert_true(fabs((double)f->result.bytes / (3001 + 2000) - 300) < 50);
    assert_true(fabs((double)positive / (double)rows - .54) < .05);
    assert_true(f->result.base_rate > .5 && f->result.base_rate < .6);
    assert_true(f->result.best_accuracy > .78 && f->result.best_accuracy < .86);
}

/* Zipf: in the largest slot the most common value has about 1 / log2(n) of the draws, n = 11
 * million.
 */
static void popularity_follows_a_power_law(void **state) {
    (void)state;
    struct planted model;
    struct planted_example e;
    planted_init(&model, 33762578, 1);
    uint64_t stream = planted_stream(&model, 0);
    const int n = 20000;
    int head = 0;
    uint32_t last = model.first[N_CATEGORICAL - 1];
    for (int i = 0; i < n; i++) {
        planted_draw(&model, &stream, &e);
        head += e.index[e.n - 1] == last; /* rank 0 hashes to the first place */
        for (int k = 1; k < e.n; k++)
            assert_true(e.index[k] > e.index[k - 1]);
        assert_true(e.index[e.n - 1] < 33762578);
    }
    assert_true(fabs((double)head / n - 1.0 / 24) < .01);
}

static void a_failed_write_is_reported_and_leaves_no_half_file(void **state) {
    struct fixture *f = *state;
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = (struct rlimit){100000, old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int r = generate_files(&f->options, &f->result, &f->error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_true(r < 0);
    assert_non_null(strstr(f->error.text, "cannot write"));
    assert_non_null(strstr(f->error.text, "train-00.libsvm"));
    assert_int_equal(count_files(f->dir, false), 0);
}

static void leftover_files_are_not_mixed_in(void **state) {
    struct fixture *f = *state;
    assert_int_equal(generate_files(&f->options, &f->result, &f->error), 0);
    f->options.n_files = 2;
    assert_true(generate_files(&f->options, &f->result, &f->error) < 0);
    assert_non_null(strstr(f->error.text, "train-02.libsvm"));
}

static void impossible_arguments_are_refused(void **state) {
    struct fixture *f = *state;
    f->options.n_features = 10;
    assert_true(generate_files(&f->options, &f->result, &f->error) < 0);
    f->options.n_features = 1000;
    f->options.n_examples = 2;
    assert_true(generate_files(&f->options, &f->result, &f->error) < 0);
    f->options.n_examples = 10;
    f->options.directory = "/proc/nowhere";
    assert_true(generate_files(&f->options, &f->result, &f->error) < 0);
    assert_non_null(strstr(f->error.text, "/proc/nowhere"));
}

static void the_smallest_model_still_works(void **state) {
    struct fixture *f = *state;
    f->options.n_features = GENERATE_MIN_FEATURES;
    assert_int_equal(generate_files(&f->options, &f->result, &f->error), 0);
    assert_true(f->result.best_accuracy > .75);
    struct libsvm_reader reader;
    struct libsvm_error error;
    struct batch b = {0};
    assert_int_equal(libsvm_open_share(&reader, f->dir, 0, 1, GENERATE_MIN_FEATURES, &error), 0);
    assert_int_equal(libsvm_read(&reader, 3001, &b, &error), 3001);
    libsvm_release(&reader);
    batch_release(&b);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_agrees_with_finite_differences),
        cmocka_unit_test(the_softmax_gradient_agrees_with_finite_differences),
        cmocka_unit_test(a_batch_and_the_whole_model_agree),
        cmocka_unit_test(the_loss_does_not_overflow),
        cmocka_unit_test(the_softmax_loss_does_not_overflow),
        cmocka_unit_test(the_score_counts_what_is_right),
        cmocka_unit_test(popularity_follows_a_power_law),
        TEST(the_same_seed_gives_the_same_bytes),
        TEST(generated_data_has_the_shape_it_claims),
        TEST(a_failed_write_is_reported_and_leaves_no_half_file),
        TEST(leftover_files_are_not_mixed_in),
        TEST(impossible_arguments_are_refused),
        TEST(the_smallest_model_still_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
