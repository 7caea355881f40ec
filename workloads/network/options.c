/* SPDX-License-Identifier: MIT */
#include "workloads/network/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>

int network_help(const struct network_program *p, FILE *out) {
    fprintf(out,
            "usage: [mpirun ...] %s --data DIR [--mode sync|async] [--batch N] [--epochs N]\n"
            "           [--iterations N] [--test-every N] [--target PCT] [--optimizer sgd|adam]\n"
            "           [--rate R] [--momentum M] [--seed N] [--threads N] [--time-limit S]\n"
            "           [--json FILE] [--weights FILE] [--plant CAUSE]... [--spin] [--quiet]\n"
            "\n"
            "%s, trained over MPI through oneDNN.\n"
            "\n",
            p->name, p->title);
    fprintf(out,
            "  --data DIR         images as chokepoint-data makes or fetches them\n"
            "  --mode sync|async  gradients of all ranks added up in each iteration, or a\n"
            "                     parameter server at rank 0, which nobody waits for others at\n"
            "                     (sync)\n"
            "  --batch N          images a rank and iteration (%llu)\n"
            "  --epochs N         how often all images are seen, by all ranks together (%llu)\n"
            "  --iterations N     of each rank, instead of --epochs\n"
            "  --test-every N     test accuracy every N iterations (0: once an epoch, and at the\n"
            "                     end)\n"
            "  --target PCT       end when a test reaches this accuracy, and say after how long\n"
            "  --optimizer NAME   sgd or adam (%s)\n"
            "  --rate R           learning rate (%g)\n"
            "  --momentum M       of the gradient, from 0 to below 1; the first decay of adam\n"
            "                     (0.9; sgd with async 0)\n",
            (unsigned long long)p->batch, (unsigned long long)p->epochs,
            optimizer_name(p->optimizer), p->rate);
    return fputs(
        "  --seed N           of the first weights and of the images' order (1)\n"
        "  --threads N        of oneDNN, in each rank (1)\n"
        "  --time-limit S     stop after S seconds\n"
        "  --json FILE        write the summary as JSON\n"
        "  --weights FILE     write the trained weights as 32-bit floats\n"
        "  --plant CAUSE      slow itself down, to try a profiler: skew:RANK:FACTOR,\n"
        "                     sleep:RANK:MS, apply:MS, memory:RANK:MB, spin:RANK:MS, each\n"
        "                     with an optional @FROM-TO (shares of the iterations); may\n"
        "                     repeat\n"
        "  --spin             wait in blocking MPI calls, which use a core each\n"
        "  --quiet            no progress\n",
        out);
}

enum {
    OPT_DATA = WORDS_FIRST,
    OPT_MODE,
    OPT_BATCH,
    OPT_EPOCHS,
    OPT_ITERATIONS,
    OPT_TEST_EVERY,
    OPT_TARGET,
    OPT_OPTIMIZER,
    OPT_RATE,
    OPT_MOMENTUM,
    OPT_THREADS,
    OPT_WEIGHTS,
};

static const struct option network_words[] = {
    {"data", required_argument, NULL, OPT_DATA},
    {"mode", required_argument, NULL, OPT_MODE},
    {"batch", required_argument, NULL, OPT_BATCH},
    {"epochs", required_argument, NULL, OPT_EPOCHS},
    {"iterations", required_argument, NULL, OPT_ITERATIONS},
    {"test-every", required_argument, NULL, OPT_TEST_EVERY},
    {"target", required_argument, NULL, OPT_TARGET},
    {"optimizer", required_argument, NULL, OPT_OPTIMIZER},
    {"rate", required_argument, NULL, OPT_RATE},
    {"momentum", required_argument, NULL, OPT_MOMENTUM},
    {"threads", required_argument, NULL, OPT_THREADS},
    {"weights", required_argument, NULL, OPT_WEIGHTS},
    WORDS_SHARED,
    {0},
};

static int take_mode(const struct word *word, bool *ret_async) {
    int which;
    int r = word_choice(word, (const char *const[]){"sync", "async", NULL}, &which);
    if (r == 0)
        *ret_async = which == 1;
    return r;
}

static int take_optimizer(const struct word *word, enum optimizer_kind *ret) {
    int which;
    int r = word_choice(word, (const char *const[]){"sgd", "adam", NULL}, &which);
    if (r == 0)
        *ret = which ? OPTIMIZER_ADAM : OPTIMIZER_SGD;
    return r;
}

static int take_target(const struct word *word, double *ret) {
    double percent;
    int r = word_number(word, .000001, 100, &percent);
    if (r == 0)
        *ret = percent / 100;
    return r;
}

/* Plants that leave out work are refused: a batch cannot be left out. */
static int take_plant(const struct word *word, struct plants *plants) {
    int r = word_plant(word, plants);
    const struct plant *p = r < 0 ? NULL : &plants->plant[plants->n - 1];
    if (!p || p->kind != PLANT_SKEW || p->amount >= 1)
        return r;
    snprintf(word->error->text, sizeof word->error->text,
             "--plant %.80s: here the work can only become more", word->text);
    return -EINVAL;
}

static int take(int option, const struct word *word, void *into) {
    struct network_options *o = into;
    switch (option) {
    case OPT_DATA:
        return word_text(word, &o->data);
    case OPT_MODE:
        return take_mode(word, &o->async);
    case OPT_BATCH:
        return word_count(word, 1, 65536, &o->batch);
    case OPT_EPOCHS:
        return word_count(word, 1, 1000000, &o->epochs);
    case OPT_ITERATIONS:
        return word_count(word, 1, UINT32_MAX, &o->iterations);
    case OPT_TEST_EVERY:
        return word_count(word, 0, UINT32_MAX, &o->test_every);
    case OPT_TARGET:
        return take_target(word, &o->target);
    case OPT_OPTIMIZER:
        return take_optimizer(word, &o->optimizer);
    case OPT_RATE:
        return word_positive(word, &o->rate);
    case OPT_MOMENTUM:
        return word_number(word, 0, .999999, &o->momentum);
    case WORD_SEED:
        return word_count(word, 0, UINT64_MAX, &o->seed);
    case OPT_THREADS:
        return word_small(word, 1024, &o->threads);
    case WORD_TIME_LIMIT:
        return word_positive(word, &o->time_limit_s);
    case WORD_JSON:
        return word_text(word, &o->json);
    case OPT_WEIGHTS:
        return word_text(word, &o->weights);
    case WORD_PLANT:
        return take_plant(word, &o->plants);
    case WORD_SPIN:
        return word_flag(&o->spin);
    case WORD_QUIET:
        return word_flag(&o->quiet);
    default:
        o->help = true;
        return 1;
    }
}

int network_options_parse(const struct network_program *p, int argc, char **argv,
                          struct network_options *ret, struct words_error *error) {
    struct network_options o = {.threads = 1,
                                .batch = p->batch,
                                .epochs = p->epochs,
                                .seed = 1,
                                .optimizer = p->optimizer,
                                .rate = p->rate,
                                .momentum = -1};
    int r = words_parse(argc, argv, network_words, take, &o, error);
    if (r == 0 && !o.data)
        r = words_missing("data", error);
    if (o.momentum < 0) /* stale gradients act as momentum already */
        o.momentum = o.async && o.optimizer == OPTIMIZER_SGD ? 0 : .9;
    if (r >= 0)
        *ret = o;
    return r < 0 ? r : 0;
}
