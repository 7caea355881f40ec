/* SPDX-License-Identifier: MIT */
#include "workloads/common/rank_group.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/mark/chokepoint.h"
#include "workloads/common/whole_file.h"

#define EXIT_USAGE 2
#define TELLING_S 5 /* at most; launchers end this sleep by a signal */

void rank_group_join(struct rank_group *ret, const char *program, bool spin) {
    *ret = (struct rank_group){.program = program, .host = "?"};
    waiter_begin(&ret->waiter, spin);
    MPI_Comm_rank(MPI_COMM_WORLD, &ret->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ret->n_ranks);
    gethostname(ret->host, sizeof ret->host - 1);
}

void rank_group_say(const struct rank_group *c, const char *format, ...) {
    char text[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    fprintf(stderr, "%s: rank %d on %s: %s\n", c->program, c->rank, c->host, text);
}

int rank_group_wrote(const struct rank_group *c, const char *path, int r) {
    if (r < 0)
        rank_group_say(c, "cannot write %s: %s", path, strerror(-r));
    return r;
}

int rank_group_write_floats(const struct rank_group *c, const char *path, const float *values,
                            size_t n) {
    return rank_group_wrote(c, path, whole_file_write(path, values, n * sizeof *values));
}

int rank_group_usage_error(const char *program, const char *text) {
    if (chokepoint_rank_() <= 0)
        fprintf(stderr, "%s: %s\n", program, text);
    else /* mpirun kills all ranks when the first one fails, which must be the one that tells why */
        sleep(TELLING_S);
    return EXIT_USAGE;
}

bool rank_group_is_well(struct rank_group *c, int r) {
    int mine = r, worst = 0;
    MPI_Request request;
    MPI_Iallreduce(&mine, &worst, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request);
    wait_all(&c->waiter, 1, &request);
    return worst >= 0;
}

void *rank_group_gather(struct rank_group *c, const void *mine, size_t size) {
    void *all = c->rank == 0 ? calloc((size_t)c->n_ranks, size) : NULL;
    MPI_Request request;
    if (c->rank == 0 && !all) {
        rank_group_say(c, "not enough memory for the accounts of %d ranks", c->n_ranks);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Igather(mine, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    wait_all(&c->waiter, 1, &request);
    return all;
}

void rank_group_sum(struct rank_group *c, double *values, int n) {
    MPI_Request request;
    MPI_Iallreduce(MPI_IN_PLACE, values, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    wait_all(&c->waiter, 1, &request);
}

void rank_group_tell(struct rank_group *c, int *value) {
    MPI_Request request;
    MPI_Ibcast(value, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    wait_all(&c->waiter, 1, &request);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median(double *values, size_t n) {
    if (n == 0)
        return 0;
    qsort(values, n, sizeof *values, ascending);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}
