/* SPDX-License-Identifier: MIT */
/*
 * chokepoint-data: images for the trainings of this folder, drawn or fetched.
 *
 * On the 60,000 + 10,000 digits of seed 1 a linear model (chokepoint-sgd --model softmax) reaches
 * 92 % in one epoch and 96.5 % in 50, LeNet-5 above 98 % in one. On the textures a linear model is
 * no better than chance. So the accuracy of a training on them says something about the training.
 * Sources and checksums of MNIST and CIFAR-10 are below.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "workloads/common/printed.h"
#include "workloads/common/progress.h"
#include "workloads/data/fetch.h"
#include "workloads/data/images.h"
#include "workloads/data/options.h"
#include "workloads/data/origin.h"
#include "workloads/data/tar.h"

#define EXIT_USAGE 2
#define PATH_SIZE 4096

struct collection {
    const char *name, *from;
    struct {
        const char *name, *sha256;
    } files[5];
};

/* The mirror that TensorFlow uses, and the author's site. */
static const struct collection collections[] = {
    {"mnist",
     "https://storage.googleapis.com/cvdf-datasets/mnist",
     {{"train-images-idx3-ubyte.gz",
       "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"},
      {"train-labels-idx1-ubyte.gz",
       "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"},
      {"t10k-images-idx3-ubyte.gz",
       "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"},
      {"t10k-labels-idx1-ubyte.gz",
       "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"}}},
    {"cifar10",
     "https://www.cs.toronto.edu/~kriz",
     {{"cifar-10-binary.tar.gz",
       "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"}}},
};

static int say(const char *text) {
    fprintf(stderr, "chokepoint-data: %s\n", text);
    return EXIT_FAILURE;
}

/* ---- generate ---- */

struct generating {
    struct progress progress;
    double total;
};

static void show_images(void *ctx, double done) {
    struct generating *g = ctx;
    progress_show(&g->progress, "images", done, g->total, "", false);
}

static int generate(const struct data_options *o) {
    struct data_error error;
    struct generating g = {.total = (double)o->generate.n_train + o->generate.n_test};
    progress_start(&g.progress, o->quiet, 0);
    int r = generate_files(&o->generate, show_images, &g, &error);
    progress_end(&g.progress);
    if (r < 0)
        return say(error.text);
    printf("%u training and %u test images in %s\n", o->generate.n_train, o->generate.n_test,
           o->out);
    return EXIT_SUCCESS;
}

/* ---- check ---- */

static void print_images(const char *part, const struct images *images) {
    size_t counts[IMAGES_CLASSES] = {0};
    for (size_t i = 0; i < images->n; i++)
        counts[images->labels[i]]++;
    printf("%s: %zu images of %u x %u x %u; of each class", part, images->n, images->rows,
           images->columns, images->channels);
    for (int i = 0; i < IMAGES_CLASSES; i++)
        printf(" %zu", counts[i]);
    putchar('\n');
}

static int check_images(const struct data_options *o) {
    static const char *const parts[] = {"training", "test"};
    for (int part = IMAGES_TRAIN; part <= IMAGES_TEST; part++) {
        struct images images;
        struct data_error error;
        if (images_read(o->what, (enum images_part)part, &images, &error) < 0)
            return say(error.text);
        print_images(parts[part], &images);
        images_release(&images);
    }
    return EXIT_SUCCESS;
}

/* ---- fetch ---- */

static void show_bytes(void *ctx, const char *name, double done, double total) {
    progress_show(ctx, name, done * 1e-6, (total > 0 ? total : done) * 1e-6, "MB", false);
}

/* mkdir -p */
static int make_directories(char *path) {
    for (char *p = path + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = 0;
        int r = mkdir(path, 0777);
        *p = '/';
        if (r < 0 && errno != EEXIST)
            return -errno;
    }
    return mkdir(path, 0777) < 0 && errno != EEXIST ? -errno : 0;
}

static int find_directory(const struct data_options *o, const char *name, char *ret) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n;
    if (o->out)
        n = snprintf(ret, PATH_SIZE, "%s", o->out);
    else if (cache && cache[0] == '/')
        n = snprintf(ret, PATH_SIZE, "%s/chokepoint/%s", cache, name);
    else if (home && home[0] == '/')
        n = snprintf(ret, PATH_SIZE, "%s/.cache/chokepoint/%s", home, name);
    else
        return -ENOENT;
    return n < PATH_SIZE ? make_directories(ret) : -ENAMETOOLONG;
}

/* CIFAR-10 comes packed: its files are written beside the archive. */
static int unpack(const char *directory, const char *name, struct data_error *error) {
    char path[PATH_SIZE];
    struct bytes archive = {0};
    size_t n = strlen(name);
    if (n < 7 || strcmp(name + n - 7, ".tar.gz") != 0)
        return 0;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int r = bytes_read(path, &archive, error);
    if (r == 0)
        r = tar_extract(path, &archive, ".bin", directory, error);
    bytes_release(&archive);
    return r < 0 ? r : 0;
}

static int fetch_one(const struct data_options *o, const char *directory,
                     const struct fetch_source *source) {
    struct progress progress;
    struct data_error error;
    progress_start(&progress, o->quiet, 0);
    int r = fetch_file(source, directory, show_bytes, &progress, &error);
    progress_end(&progress);
    if (r == 0)
        r = unpack(directory, source->name, &error);
    if (r < 0)
        return say(error.text);
    printf("%s/%s\n", directory, source->name);
    return EXIT_SUCCESS;
}

static int fetch_collection(const struct data_options *o, const char *directory,
                            const struct collection *c) {
    char url[PATH_SIZE];
    struct data_error error;
    int status = EXIT_SUCCESS;
    for (int i = 0; status == EXIT_SUCCESS && c->files[i].name; i++) {
        snprintf(url, sizeof url, "%s/%s", o->from ? o->from : c->from, c->files[i].name);
        status = fetch_one(o, directory,
                           &(struct fetch_source){url, c->files[i].name, c->files[i].sha256});
    }
    snprintf(url, sizeof url, "%s fetched", c->name);
    if (status == EXIT_SUCCESS && origin_write(directory, url, &error) < 0)
        status = say(error.text);
    return status;
}

static int fetch_url(const struct data_options *o, const char *directory) {
    char name[256];
    const char *base = strstr(o->what, "://") + 3, *slash = strrchr(base, '/');
    size_t n = slash ? strcspn(slash + 1, "?#") : 0;
    if (n == 0 || n >= sizeof name || slash[1] == '.')
        return say("the URL ends in no name of a file");
    snprintf(name, sizeof name, "%.*s", (int)n, slash + 1);
    return fetch_one(o, directory, &(struct fetch_source){o->what, name, o->sha256});
}

static int fetch(const struct data_options *o) {
    char directory[PATH_SIZE], text[PATH_SIZE + 64];
    const struct collection *c = NULL;
    for (size_t i = 0; i < sizeof collections / sizeof *collections; i++)
        if (strcmp(collections[i].name, o->what) == 0)
            c = &collections[i];
    int r = find_directory(o, c ? c->name : "files", directory);
    if (r == -ENOENT && !o->out)
        return say("no cache directory, as neither XDG_CACHE_HOME nor HOME is set; use --out");
    if (r < 0) {
        snprintf(text, sizeof text, "%s: cannot make the directory: %s", directory, strerror(-r));
        return say(text);
    }
    return c ? fetch_collection(o, directory, c) : fetch_url(o, directory);
}

static int run(const struct data_options *o) {
    switch (o->verb) {
    case DATA_GENERATE:
        return generate(o);
    case DATA_CHECK:
        return check_images(o);
    case DATA_FETCH:
        return fetch(o);
    default:
        return EXIT_SUCCESS;
    }
}

int main(int argc, char **argv) {
    struct data_options options;
    struct words_error error;
    int r = data_options_read(argc, argv, &options, &error);
    if (r < 0) {
        say(error.text);
        return EXIT_USAGE;
    }
    int status = r == OPTIONS_HELP ? EXIT_SUCCESS : run(&options);
    r = status == EXIT_SUCCESS ? printed() : 0;
    if (r == 0)
        return status;
    fprintf(stderr, "chokepoint-data: cannot write standard output: %s\n", strerror(-r));
    return EXIT_FAILURE;
}
