/* SPDX-License-Identifier: MIT */
#include "workloads/common/crew.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/mark/chokepoint.h"
#include "workloads/common/whole_file.h"

#define EXIT_USAGE 2

void crew_join(struct crew *ret, const char *program, bool spin) {
    *ret = (struct crew){.program = program, .host = "?"};
    waiter_begin(&ret->waiter, spin);
    MPI_Comm_rank(MPI_COMM_WORLD, &ret->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ret->n_ranks);
    gethostname(ret->host, sizeof ret->host - 1);
}

void crew_say(const struct crew *c, const char *format, ...) {
    char text[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    fprintf(stderr, "%s: rank %d on %s: %s\n", c->program, c->rank, c->host, text);
}

int crew_wrote(const struct crew *c, const char *path, int r) {
    if (r < 0)
        crew_say(c, "cannot write %s: %s", path, strerror(-r));
    return r;
}

int crew_write_floats(const struct crew *c, const char *path, const float *values, size_t n) {
    return crew_wrote(c, path, whole_file_write(path, values, n * sizeof *values));
}

int crew_usage_error(const char *program, const char *text) {
    if (chokepoint_rank_() <= 0)
        fprintf(stderr, "%s: %s\n", program, text);
    return EXIT_USAGE;
}

bool crew_is_well(struct crew *c, int r) {
    int mine = r, worst = 0;
    MPI_Request request;
    MPI_Iallreduce(&mine, &worst, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request);
    wait_all(&c->waiter, 1, &request);
    return worst >= 0;
}

void *crew_gather(struct crew *c, const void *mine, size_t size) {
    void *all = c->rank == 0 ? calloc((size_t)c->n_ranks, size) : NULL;
    MPI_Request request;
    if (c->rank == 0 && !all) {
        crew_say(c, "not enough memory for the accounts of %d ranks", c->n_ranks);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Igather(mine, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    wait_all(&c->waiter, 1, &request);
    return all;
}

void crew_sum(struct crew *c, double *values, int n) {
    MPI_Request request;
    MPI_Iallreduce(MPI_IN_PLACE, values, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    wait_all(&c->waiter, 1, &request);
}

void crew_tell(struct crew *c, int *value) {
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
