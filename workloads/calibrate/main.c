/* SPDX-License-Identifier: MIT */
/*
 * chokepoint-calibrate: the limits of hosts, disks and links. All ranks follow the same plan and
 * meet after each step; rank 0 prints the results. A part that fails loses its own figures only.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workloads/calibrate/cluster.h"
#include "workloads/calibrate/host.h"
#include "workloads/calibrate/net.h"
#include "workloads/calibrate/options.h"
#include "workloads/calibrate/plan.h"

#define EXIT_USAGE 2
#define BOOT_ID_SIZE 40

/* Facts about a host that all ranks need. */
struct host {
    char name[HOST_NAME_SIZE], boot_id[BOOT_ID_SIZE];
};

struct calibration {
    const struct calibrate_options *options;
    struct cluster cluster;
    struct host *hosts;        /* owned; by rank */
    const char **names;        /* owned; names of the hosts */
    struct figures *collected; /* owned; by rank */
    struct plan plan;
    struct net net;
    int turn, turns; /* among the hosts of its machine; the most of any machine */
};

static void release(struct calibration *c) {
    plan_release(&c->plan);
    free(c->hosts);
    free(c->names);
    free(c->collected);
}

static void describe_self(const struct calibration *c, struct host *self) {
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (!file || !fgets(self->boot_id, sizeof self->boot_id, file)) /* counts as its own machine */
        snprintf(self->boot_id, sizeof self->boot_id, "rank %d", c->cluster.rank);
    if (file)
        fclose(file);
    if (c->options->name)
        snprintf(self->name, sizeof self->name, "%s", c->options->name);
    else if (gethostname(self->name, sizeof self->name - 1) < 0)
        snprintf(self->name, sizeof self->name, "rank-%d", c->cluster.rank);
}

static int turn_of(const struct calibration *c, int rank) {
    int turn = 0;
    for (int i = 0; i < rank; i++)
        turn += strcmp(c->hosts[i].boot_id, c->hosts[rank].boot_id) == 0;
    return turn;
}

static int know_each_other(struct calibration *c) {
    size_t n = (size_t)c->cluster.n;
    struct host self = {0};
    c->hosts = calloc(n, sizeof *c->hosts);
    c->names = calloc(n, sizeof *c->names);
    c->collected = calloc(n, sizeof *c->collected);
    if (!c->hosts || !c->names || !c->collected)
        return -ENOMEM;
    describe_self(c, &self);
    cluster_exchange(&c->cluster, &self, sizeof self, c->hosts);
    c->turn = turn_of(c, c->cluster.rank);
    for (int i = 0; i < c->cluster.n; i++) {
        int turn = turn_of(c, i);
        c->turns = turn + 1 > c->turns ? turn + 1 : c->turns;
        c->names[i] = c->hosts[i].name;
    }
    return plan_make(&c->plan, c->cluster.n, c->turns, c->options->parts, c->options->quick);
}

/* ---- rank 0 ---- */

static void describe(const struct calibration *c, const struct step *step, char *to, size_t size) {
    static const char *const alone[] = {"cores", "memory", "disks"};
    static const char *const joins[] = {" with ", " to ", " to all", " from all", " with "};
    const char *kind = step->kind == STEP_RTT   ? "round trip "
                       : step->kind == STEP_MPI ? "messages "
                                                : "";
    if (step->kind <= STEP_DISK && c->turns > 1)
        snprintf(to, size, "%s (%d of %d)", alone[step->kind], step->a + 1, c->turns);
    else if (step->kind <= STEP_DISK)
        snprintf(to, size, "%s", alone[step->kind]);
    else
        snprintf(to, size, "%s%.60s%s%.60s", kind, c->names[step->a], joins[step->kind - STEP_RTT],
                 step->b >= 0 ? c->names[step->b] : "");
}

static void print_collected(const struct calibration *c) {
    for (int rank = 0; rank < c->cluster.n; rank++) {
        const struct figures *f = &c->collected[rank];
        for (size_t i = 0; i < f->n && i < FIGURES_MAX; i++) {
            int peer = f->items[i].peer;
            print_figure(stdout, c->names[rank],
                         peer >= 0 && peer < c->cluster.n ? c->names[peer] : NULL, &f->items[i]);
        }
        if (f->trouble[0])
            print_trouble(stdout, c->names[rank], f->trouble);
    }
}

/* ---- all ranks ---- */

static void collect(struct calibration *c, const struct figures *mine) {
    cluster_exchange(&c->cluster, mine, sizeof *mine, c->collected);
    if (c->cluster.rank == 0)
        print_collected(c);
}

static void take_step(struct calibration *c, const struct step *step, struct figures *mine) {
    bool my_turn = step->a == c->turn;
    int rank = c->cluster.rank;
    switch (step->kind) {
    case STEP_CPU:
        if (my_turn)
            measure_cpu(step->seconds, mine);
        return;
    case STEP_MEMORY:
        if (my_turn)
            measure_memory(step->seconds, mine);
        return;
    case STEP_DISK:
        if (my_turn)
            measure_disk(c->options->disk, step->seconds, mine);
        return;
    case STEP_MPI:
        if (rank == step->a || rank == step->b)
            cluster_messages(&c->cluster, step->a, step->b, step->seconds, mine);
        return;
    default:
        net_step(&c->net, &c->cluster, step, c->names, mine);
    }
}

static void follow_plan(struct calibration *c) {
    double all = plan_seconds(&c->plan, 0);
    for (size_t i = 0; i < c->plan.n; i++) {
        struct figures mine = {0};
        char what[160];
        describe(c, &c->plan.steps[i], what, sizeof what);
        double left = plan_seconds(&c->plan, i);
        if (c->cluster.rank == 0)
            print_progress(stdout, 1 - left / all, left, what);
        take_step(c, &c->plan.steps[i], &mine);
        collect(c, &mine);
    }
    if (c->cluster.rank == 0)
        print_progress(stdout, 1, 0, "");
}

static void say_what_is_left_out(const struct calibration *c) {
    char text[200];
    if (c->cluster.rank != 0)
        return;
    if (c->plan.n_pairs_left_out) {
        snprintf(text, sizeof text, "%zu of %zu pairs of hosts were measured, spread evenly",
                 c->plan.n_pairs, c->plan.n_pairs + c->plan.n_pairs_left_out);
        print_trouble(stdout, c->names[0], text);
    }
    if (c->turns > 1) {
        snprintf(text, sizeof text,
                 "%d of these hosts are one machine: their cores, memory and disks took turns",
                 c->turns);
        print_trouble(stdout, c->names[0], text);
    }
}

static int calibrate(struct calibration *c) {
    bool links = c->options->parts & PART_NET && c->cluster.n > 1;
    struct figures mine = {0};
    int r = know_each_other(c);
    if (r < 0)
        return r;
    if (links) {
        r = net_open(&c->net, &c->cluster, c->names, &mine);
        if (r < 0)
            return r;
        collect(c, &mine);
    }
    say_what_is_left_out(c);
    follow_plan(c);
    if (links)
        net_close(&c->net);
    return 0;
}

int main(int argc, char **argv) {
    struct calibrate_options options;
    struct calibration c = {.options = &options, .net = {.listener = -1}};
    struct words_error error;
    int r = calibrate_options_read(argc, argv, &options, &error);
    if (r < 0)
        return fprintf(stderr, "chokepoint-calibrate: %s\n", error.text), EXIT_USAGE;
    if (r == OPTIONS_HELP)
        return EXIT_SUCCESS;
    if (cluster_open(&c.cluster, &argc, &argv) < 0)
        return fputs("chokepoint-calibrate: MPI does not start\n", stderr), EXIT_FAILURE;
    r = calibrate(&c);
    if (r < 0) {
        fprintf(stderr, "chokepoint-calibrate: %s\n", strerror(-r));
        cluster_abort(&c.cluster);
    }
    release(&c);
    cluster_close(&c.cluster);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
