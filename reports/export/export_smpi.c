/* SPDX-License-Identifier: MIT */
/*
 * A run for SimGrid's SMPI, which replays it by a model of its own: a folder with a trace for each
 * rank, `traces`, which lists them, `hosts`, where ranks ran, and `platform.xml`. In the folder:
 *
 *     smpirun -np RANKS -platform platform.xml -hostfile hosts -replay traces
 *
 * Refused where the traces would not be the run: not all ranks have calls, calls were lost, or a
 * rank is for long in calls that traces do not know.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"
#include "reports/export/export.h"
#include "reports/export/export_smpi.h"
#include "reports/model/input.h"

#define UNTOLD_MAX 0.05 /* of a rank's time in calls that are slept through */

static int refuse(struct export_folder *folder, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static int refuse(struct export_folder *folder, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(folder->why, sizeof folder->why, format, arguments);
    va_end(arguments);
    return EXPORT_REFUSED;
}

static int check_ranks(const struct mpi_log *log, struct export_folder *folder) {
    if (log->n == 0)
        return refuse(folder, "no MPI calls of this run were recorded");
    for (size_t r = 0; r < log->n; r++) {
        const struct mpi_rank *rank = &log->ranks[r];
        if (rank->rank > (int)r)
            return refuse(folder, "no MPI calls of rank %zu were recorded", r);
        if (rank->rank < (int)r)
            return refuse(folder, "two processes are rank %d: traces have no processes that join",
                          rank->rank);
        if (rank->lost_ns != INT64_MAX)
            return refuse(folder, "MPI calls of rank %d were lost", rank->rank);
    }
    return 0;
}

/* ---- files of the folder ---- */

/* result: of the writing so far. */
static int end_file(struct export_folder *folder, const char *name, FILE *file, int result) {
    if (fclose(file) != 0 && result == 0)
        result = -EIO;
    return result == -EIO ? refuse(folder, "cannot write %s: %s", name, strerror(errno)) : result;
}

static FILE *begin_file(struct export_folder *folder, const char *name) {
    int fd = openat(folder->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file) {
        refuse(folder, "cannot write %s: %s", name, strerror(errno));
        if (fd >= 0)
            close(fd);
    }
    return file;
}

#define TRACE_NAME_SIZE 24

static void trace_name(const struct mpi_rank *rank, char name[TRACE_NAME_SIZE]) {
    snprintf(name, TRACE_NAME_SIZE, "rank%d", rank->rank);
}

static int write_trace(const struct run_model *model, const struct mpi_rank *rank,
                       struct export_folder *folder) {
    char name[TRACE_NAME_SIZE];
    struct smpi_told told;
    trace_name(rank, name);
    FILE *file = begin_file(folder, name);
    if (!file)
        return EXPORT_REFUSED;
    double flop_s = smpi_flop_s(model, rank->host);
    int result = smpi_write_trace(&model->recording->calls, rank, flop_s, file, &told);
    result = end_file(folder, name, file, result);
    if (result == 0 && told.untold_s > UNTOLD_MAX * told.lived_s)
        return refuse(folder, "rank %d is for %.0f %% of its time in %s, which traces do not know",
                      rank->rank, 100 * told.untold_s / told.lived_s, told.function);
    return result;
}

/* Where the ranks ran, or their traces: a line for each rank. */
static int write_list(const struct run_model *model, struct export_folder *folder, const char *name,
                      bool of_hosts) {
    const struct mpi_log *log = &model->recording->calls;
    FILE *file = begin_file(folder, name);
    if (!file)
        return EXPORT_REFUSED;
    for (size_t r = 0; r < log->n; r++) {
        char id[SMPI_ID_SIZE], trace[TRACE_NAME_SIZE];
        smpi_host_id(model, log->ranks[r].host, id);
        trace_name(&log->ranks[r], trace);
        fprintf(file, "%s\n", of_hosts ? id : trace);
    }
    return end_file(folder, name, file, ferror(file) ? -EIO : 0);
}

static int write_platform(const struct run_model *model, struct export_folder *folder) {
    FILE *file = begin_file(folder, "platform.xml");
    return file ? end_file(folder, "platform.xml", file, smpi_write_platform(model, file))
                : EXPORT_REFUSED;
}

static void remove_files(const struct mpi_log *log, const struct export_folder *folder) {
    static const char *const names[] = {"traces", "hosts", "platform.xml"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        unlinkat(folder->fd, names[i], 0);
    for (size_t r = 0; r < log->n; r++) {
        char name[TRACE_NAME_SIZE];
        trace_name(&log->ranks[r], name);
        unlinkat(folder->fd, name, 0);
    }
}

static int write_files(const struct run_model *model, struct export_folder *folder) {
    const struct mpi_log *log = &model->recording->calls;
    int result = write_platform(model, folder);
    for (size_t r = 0; r < log->n && result == 0; r++)
        result = write_trace(model, &log->ranks[r], folder);
    if (result == 0)
        result = write_list(model, folder, "hosts", true);
    if (result == 0)
        result = write_list(model, folder, "traces", false);
    if (result)
        remove_files(log, folder);
    return result;
}

static int write_smpi(struct store *store, const struct store_run *run,
                      struct export_folder *folder) {
    struct report_input input;
    struct run_model model;
    char which[32];
    snprintf(which, sizeof which, "%" PRId64, run->id);
    int result = report_load(store, which, REPORT_CALLS, &input);
    if (result < 0)
        return result;
    result = check_ranks(&input.recording.calls, folder);
    if (result == 0)
        result = model_build(&input.recording, &model);
    if (result == 0) {
        result = write_files(&model, folder);
        model_release(&model);
    }
    report_input_release(&input);
    return result;
}

const struct export_format export_smpi = {.name = "smpi", .write_folder = write_smpi};
