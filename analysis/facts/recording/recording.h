/* SPDX-License-Identifier: MIT */
/* One run's samples and marks in memory, for the analysis. The reader of the database fills it. */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_RECORDING_RECORDING_H
#define CHOKEPOINT_ANALYSIS_FACTS_RECORDING_RECORDING_H

#include "analysis/facts/recording/metric.h"
#include "analysis/facts/recording/mpi_event.h"
#include "analysis/facts/series/series.h"
#include "tables/tables.h"

/* Each table that an agent records; what analysis does not read stays empty. */
enum recording_table {
#define TABLE(ID, name, instance, kind, help) RECORDING_##ID = TABLE_##ID,
#include "tables/tables.def"
    RECORDING_COUNT_ = TABLES_KNOWN
};

/* Its size is the greatest number of values that a row of any table has. */
union recording_widest {
#define UNREAD(ID) char ID[ID##_COLUMNS_READ + 1];
#include "tables/tables.def"
};
#define RECORDING_COLUMNS_MAX (sizeof(union recording_widest) - 1)

/* The columns that analysis reads: the first of each table. */
struct recording_columns {
    const char *table;
    const char *const *columns;
    size_t n;
};
extern const struct recording_columns recording_columns[RECORDING_COUNT_];

enum mark_kind { MARK_PHASE = 1, MARK_ITERATION = 2, MARK_OPERATOR = 3, MARK_VALUE = 4 };

#define MARK_NAME_SIZE 64

struct mark { /* a report of the program through chokepoint.h */
    int host;
    enum mark_kind kind;
    char name[MARK_NAME_SIZE];
    int rank;            /* -1: none */
    int64_t pid;         /* -1: unknown */
    int64_t number;      /* VALUE_ABSENT: none */
    int64_t start_ns;    /* since the command started */
    int64_t duration_ns; /* VALUE_ABSENT: it is not known to have ended */
    int64_t output_bytes, value_nano;
};

struct recording {
    int64_t duration_ns, period_ns;
    int exit_status;    /* of the command, as a shell reports it; -1: unknown, or interrupted */
    bool waits_refused; /* wait clocks were asked for and could not be had */
    char **hosts;       /* names, owned */
    size_t n_hosts;
    struct series_set tables[RECORDING_COUNT_];
    struct mark *marks; /* in any order */
    size_t n_marks, marks_capacity;
    struct mpi_log calls;    /* empty if no call was recorded */
    int64_t *clock_bound_ns; /* by host: the bound of its clock against the run's; -1: unknown */
    int64_t *machines; /* owned, by host: equal for hosts that share a kernel; VALUE_ABSENT, or
                          NULL: not known */
    const struct judge
        *judge;       /* borrowed; by which numbers it is judged (number.h); NULL: the usual */
    double *ceilings; /* owned, NULL: none; [host * METRIC_COUNT_ + metric], NAN: not measured */
};

/* The most samples of hosts, or rows of cores, that are held: beyond it, consecutive ones are
 * joined while reading (series.h). It keeps 100 hosts of 64 cores for an hour within 2 GB; 10 hosts
 * for an hour and a quarter are not joined.
 */
#define RECORDING_SAMPLES_MAX 500000
#define RECORDING_CORE_ROWS_MAX 8000000

/* The step to which n samples or rows are joined so that at most `max` remain: 0, or 2, 5, 10, 20,
 * ... periods.
 */
int64_t recording_step_ns(uint64_t n, uint64_t max, int64_t period_ns);

/* MPI calls that ranks of a host wrote and that are missing in the log; 0 if there is no log. */
uint64_t recording_calls_missing(const struct recording *recording, int host);
/* Marks of a host that the agent could not read, or that did not fit. */
uint64_t recording_marks_missing(const struct recording *recording, int host);

/* Makes an empty recording with the columns of each table. */
void recording_init(struct recording *recording);

/* After all rows were added: joins the series of one process under several names, under its last
 * name. -ENOMEM.
 */
int recording_join_names(struct recording *recording);

/* After the names are joined: where PROCESS_CHILDREN is known, CPU time and bytes of ended children
 * are in their parent's rows, too. Subtracts from these what the children's own rows tell, and puts
 * the remaining CPU time into PROCESS_UNSEEN, 0 where it was not recorded. -ENOMEM.
 */
int recording_find_unseen(struct recording *recording);

struct recording_usage { /* each VALUE_ABSENT if not known */
    int64_t cpu_ns, read_bytes, write_bytes;
};

#define RECORDING_ENDED "(ended between samples)"
#define RECORDING_ENDED_INSTANCE (-1)

/* After recording_find_unseen(): adds a process RECORDING_ENDED for what the kernel charged to the
 * command on that host, where it was started, beyond the rows there. -ENOMEM.
 */
int recording_add_usage(struct recording *recording, int host, const struct recording_usage *usage);

/* Adds such a process for every host but `except` (-1: none), for what ranks did after the last row
 * of their process. -ENOMEM.
 */
int recording_add_rank_tails(struct recording *recording, int except);

/* After all rows were added: if a host is a control group, its CPU time becomes what the scheduler
 * counted for the group, if recorded, rather than what samples of the tick found.
 */
void recording_use_exact_cpu(struct recording *recording);

/* After all rows were added: removes impossible growth (disk waits longer than the process lived,
 * or than any process on its host waited for disks), and moves what the job's processes did into
 * the time of the run.
 */
void recording_settle(struct recording *recording);

/* After that, and after the calls are finished: collectives of GPUs get the time in which their
 * host waited for other members. -ENOMEM.
 */
int recording_settle_gpu_calls(struct recording *recording);
void recording_release(struct recording *recording);
int recording_add_mark(struct recording *recording, const struct mark *mark);

/* Whether the cores' counters of a host are of its control group alone. */
bool recording_counts_group(const struct recording *recording, int host);

/* Adds a measured ceiling of a host's metric, in the metric's unit; the highest of several counts.
 * The hosts must be set. -ENOMEM.
 */
int recording_add_ceiling(struct recording *recording, int host, enum metric metric, double value);
double recording_ceiling(const struct recording *recording, int host, enum metric metric);

#endif
