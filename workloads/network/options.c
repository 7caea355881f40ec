/* SPDX-License-Identifier: MIT */
#include "workloads/network/options.h"

#include "common/error.h"

static const char usage_format[] =
    "usage: [mpirun ...] %s --data DIR [--mode sync|async] [--batch N] [--epochs N]\n"
    "           [--iterations N] [--test-every N] [--target PCT] [--optimizer sgd|adam]\n"
    "           [--rate R] [--momentum M] [--seed N] [--threads N] [--time-limit S]\n"
    "           [--json FILE] [--weights FILE] [--plant CAUSE]... [--spin] [--quiet]\n"
    "\n"
    "%s, trained over MPI through oneDNN.\n"
    "\n";

/* Texts with the program's own defaults. */
struct about {
    char usage[700], batch[64], epochs[80], optimizer[32], rate[32];
};

static void describe(const struct network_program *p, struct about *to) {
    snprintf(to->usage, sizeof to->usage, usage_format, p->name, p->title);
    snprintf(to->batch, sizeof to->batch, "images a rank and iteration (%llu)",
             (unsigned long long)p->batch);
    snprintf(to->epochs, sizeof to->epochs,
             "how often all images are seen, by all ranks together (%llu)",
             (unsigned long long)p->epochs);
    snprintf(to->optimizer, sizeof to->optimizer, "sgd or adam (%s)", optimizer_name(p->optimizer));
    snprintf(to->rate, sizeof to->rate, "learning rate (%g)", p->rate);
}

/* Plants that leave out work are refused: a batch cannot be left out. */
static int take_plant(const struct option_word *word, void *to) {
    const struct plants *plants = to;
    int r = word_take_plant(word, to);
    const struct plant *p = r < 0 ? NULL : &plants->plant[plants->n - 1];
    if (!p || p->kind != PLANT_SKEW || p->amount >= 1)
        return r;
    return option_refuse(word, "--plant %.80s: here the work can only become more", word->text);
}

int network_options_read(const struct network_program *p, int argc, char **argv,
                         struct network_options *o, struct words_error *error) {
    static const char *const modes[] = {"sync", "async", NULL};
    static const char *const optimizers[] = {
        [OPTIMIZER_SGD] = "sgd", [OPTIMIZER_ADAM] = "adam", NULL};
    int optimizer = (int)p->optimizer;
    double percent = 0;
    struct about about;
    describe(p, &about);
    const struct option_row rows[] = {
        {"--data DIR", "images as chokepoint-data makes or fetches them", .text = &o->data},
        {"--mode sync|async",
         "gradients of all ranks added up in each iteration, or a\n"
         "parameter server at rank 0, which nobody waits for others at\n"
         "(sync)",
         .choices = modes, .second = &o->async},
        {"--batch N", about.batch, .count = &o->batch, .low = 1, .high = 65536},
        {"--epochs N", about.epochs, .count = &o->epochs, .low = 1, .high = 1000000},
        {"--iterations N", "of each rank, instead of --epochs", .count = &o->iterations, .low = 1,
         .high = UINT32_MAX},
        {"--test-every N",
         "test accuracy every N iterations (0: once an epoch, and at the\n"
         "end)",
         .count = &o->test_every, .high = UINT32_MAX},
        {"--target PCT", "end when a test reaches this accuracy, and say after how long",
         .number = &percent, .low = .000001, .high = 100},
        {"--optimizer NAME", about.optimizer, .choices = optimizers, .choice = &optimizer},
        {"--rate R", about.rate, .number = &o->rate},
        {"--momentum M",
         "of the gradient, from 0 to below 1; the first decay of adam\n"
         "(0.9; sgd with async 0)",
         .number = &o->momentum, .high = .999999},
        {"--seed N", "of the first weights and of the images' order (1)", .count = &o->seed},
        {"--threads N", "of oneDNN, in each rank (1)", .small = &o->threads, .low = 1,
         .high = 1024},
        {"--time-limit S", "stop after S seconds", .number = &o->time_limit_s},
        {"--json FILE", "write the summary as JSON", .text = &o->json},
        {"--weights FILE", "write the trained weights as 32-bit floats", .text = &o->weights},
        {"--plant CAUSE",
         "slow itself down, to try a profiler: skew:RANK:FACTOR,\n"
         "sleep:RANK:MS, apply:MS, memory:RANK:MB, spin:RANK:MS, each\n"
         "with an optional @FROM-TO (shares of the iterations); may\n"
         "repeat",
         .take = take_plant, .to = &o->plants},
        {"--spin", "wait in blocking MPI calls, which use a core each", .flag = &o->spin},
        {"--quiet", "no progress", .flag = &o->quiet},
    };
    const struct option_table table = {about.usage, rows, ARRAY_SIZE(rows), NULL, 2, 21, false};
    *o = (struct network_options){.threads = 1,
                                  .batch = p->batch,
                                  .epochs = p->epochs,
                                  .seed = 1,
                                  .rate = p->rate,
                                  .momentum = -1};
    int r = words_read(&table, argc, argv, error);
    if (r == OPTIONS_HELP)
        options_print_help(&table, stdout);
    if (r == 0 && !o->data)
        r = words_missing("data", error);
    o->optimizer = (enum optimizer_kind)optimizer;
    o->target = percent / 100;
    if (o->momentum < 0) /* stale gradients act as momentum already */
        o->momentum = o->async && o->optimizer == OPTIMIZER_SGD ? 0 : .9;
    return r;
}
