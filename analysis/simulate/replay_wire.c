/* SPDX-License-Identifier: MIT */
/*
 * Bytes of group calls on links: the part of a member's bytes that leaves its host, in the
 * algorithm that MPI libraries usually choose (Thakur, Rabenseifner and Gropp, Optimization of
 * Collective Communication Operations in MPICH, 2005). An exchange lasts as long as the busiest
 * link needs.
 */
#include <math.h>
#include <string.h>

#include "analysis/simulate/replay_private.h"

#define TREE_MEMBERS 4   /* fewer members, if they started the call, sum up along a tree */
#define TREE_BYTES 65536 /* at most so many bytes */

/* One rank sums up and sends back the result: one direction after the other. */
static bool is_tree(const struct replay_group *g) {
    return g->started && g->exchange == MPI_EXCHANGE_ALL_TO_ALL &&
           (g->members < TREE_MEMBERS || g->bytes < TREE_BYTES);
}

/* Bytes through the link of a host with k members in one direction (0: out, 1: in). `root`: the
 * root is among them.
 */
static double through(const struct replay_group *g, double k, bool root, int side) {
    double n = g->members, elsewhere = n > 0 ? (n - k) / n : 0;
    bool to_root = g->need == MPI_NEED_GATHERED;
    if (elsewhere <= 0)
        return 0;
    if (g->exchange == MPI_EXCHANGE_EACH_ITS_PART)
        return k * elsewhere * g->bytes;
    if (g->exchange == MPI_EXCHANGE_ALL_TO_ALL)
        return is_tree(g) ? g->bytes : 2 * elsewhere * g->bytes;
    if (g->root == REPLAY_NONE || (!to_root && g->need != MPI_NEED_ROOT))
        return g->bytes;
    if (root != (to_root == (side == 1)))
        return 0;
    return g->exchange == MPI_EXCHANGE_WHOLE ? g->bytes : g->bytes * (root ? elsewhere : k / n);
}

void replay_wire_load(const struct replay *p, const struct replay_group *g, double *ret_load) {
    size_t hosts = p->model->n_hosts;
    memset(ret_load, 0, 2 * hosts * sizeof *ret_load);
    if (!(g->bytes > 0))
        return;
    for (uint32_t i = 0; i < g->members; i++)
        ret_load[p->ranks[p->group_members[g->first_member + i]].host]++;
    for (size_t h = 0; h < hosts; h++) {
        double k = ret_load[h];
        bool root = g->root != REPLAY_NONE && (size_t)p->ranks[g->root].host == h;
        ret_load[h] = k > 0 ? through(g, k, root, 0) : 0;
        ret_load[hosts + h] = k > 0 ? through(g, k, root, 1) : 0;
    }
}

double replay_wire_s(const struct replay_group *g, const double *seconds, size_t n_hosts) {
    double longest = 0;
    for (size_t h = 0; h < n_hosts; h++) {
        double out = seconds[h], in = seconds[n_hosts + h];
        longest = fmax(longest, is_tree(g) ? out + in : fmax(out, in));
    }
    return longest;
}
