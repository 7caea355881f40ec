/* SPDX-License-Identifier: MIT */
#include "workloads/calibrate/plan.h"

#include <errno.h>
#include <stdlib.h>

#define BETWEEN_S 0.03 /* seconds between two steps */

static double clamp(double value, double least, double most) {
    return value < least ? least : value > most ? most : value;
}

static void add_step(struct plan *plan, enum step_kind kind, int a, int b, double seconds) {
    plan->steps[plan->n++] = (struct step){kind, a, b, seconds};
}

static void add_turns(struct plan *plan, enum step_kind kind, int turns, double seconds) {
    for (int turn = 0; turn < turns; turn++)
        add_step(plan, kind, turn, -1, seconds);
}

/* Neighbours first, then ranks at distance two, and so on, so that each host gets about the same
 * share. */
static void add_pairs(struct plan *plan, int n, unsigned parts, bool quick) {
    size_t all = (size_t)n * (size_t)(n - 1) / 2;
    plan->n_pairs = all < PLAN_PAIRS_MAX ? all : PLAN_PAIRS_MAX;
    plan->n_pairs_left_out = all - plan->n_pairs;
    double way = clamp((quick ? 5 : 18) / (2.0 * (double)plan->n_pairs), 0.25, 1);
    double message = clamp((quick ? 2 : 6) / (double)plan->n_pairs, 0.1, 0.6);
    size_t made = 0;
    for (int distance = 1; made < plan->n_pairs; distance++)
        for (int i = 0; i < n && made < plan->n_pairs; i++) {
            int a = i, b = (i + distance) % n;
            if (2 * distance == n && i >= distance)
                break; /* opposite pairs are there already */
            if (parts & PART_NET) {
                add_step(plan, STEP_RTT, a, b, quick ? 0.05 : 0.2);
                add_step(plan, STEP_PAIR, a, b, way);
                add_step(plan, STEP_PAIR, b, a, way);
            }
            if (parts & PART_MPI)
                add_step(plan, STEP_MPI, a, b, message);
            made++;
        }
}

static void add_all(struct plan *plan, int n, bool quick) {
    int hosts = n < PLAN_HOSTS_MAX ? n : PLAN_HOSTS_MAX;
    double seconds = clamp((quick ? 2.5 : 8) / (2.0 * hosts), 0.25, 1);
    for (int a = 0; a < hosts; a++) {
        add_step(plan, STEP_TO_ALL, a, -1, seconds);
        add_step(plan, STEP_FROM_ALL, a, -1, seconds);
    }
}

int plan_make(struct plan *ret_plan, int n, int turns, unsigned parts, bool quick) {
    size_t room = 3 * (size_t)turns + 4 * PLAN_PAIRS_MAX + 2 * PLAN_HOSTS_MAX;
    *ret_plan = (struct plan){.steps = calloc(room, sizeof *ret_plan->steps)};
    if (!ret_plan->steps)
        return -ENOMEM;
    if (parts & PART_CPU)
        add_turns(ret_plan, STEP_CPU, turns, clamp((quick ? 0.6 : 2.5) / turns, 0.1, 0.5));
    if (parts & PART_MEMORY)
        add_turns(ret_plan, STEP_MEMORY, turns, clamp((quick ? 0.5 : 3.0) / turns, 0.1, 0.6));
    if (parts & PART_DISK)
        add_turns(ret_plan, STEP_DISK, turns, clamp((quick ? 2.5 : 14) / turns, 0.2, 3));
    if (n > 1)
        add_pairs(ret_plan, n, parts, quick);
    if (n > 1 && parts & PART_NET)
        add_all(ret_plan, n, quick);
    return 0;
}

void plan_release(struct plan *plan) {
    free(plan->steps);
    *plan = (struct plan){0};
}

double plan_seconds(const struct plan *plan, size_t from) {
    double seconds = 0;
    for (size_t i = from; i < plan->n; i++)
        seconds += plan->steps[i].seconds + BETWEEN_S;
    return seconds;
}

int plan_fan(int n) {
    return n - 1 < PLAN_FAN_MAX ? n - 1 : PLAN_FAN_MAX;
}

int plan_other(int n, int a, int i) {
    return (a + 1 + i) % n;
}

bool plan_takes_part(int n, int a, int rank) {
    int distance = (rank - a + n) % n;
    return distance >= 1 && distance <= plan_fan(n);
}
