/* SPDX-License-Identifier: MIT */
#include "reports/facts/programs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/processes.h"
#include "reports/facts/processes.h"

/* A process is named "train[1000]". */
static void name_of(const struct model_process *process, char *name, size_t size) {
    const char *whole = process->series->name;
    snprintf(name, size, "%.*s", (int)strcspn(whole, "["), whole);
}

/* The program of that name, added if it is new; there is room for it. */
static struct report_program *program_of(struct programs *programs,
                                         const struct model_process *process) {
    struct report_program *last = &programs->items[programs->n];
    *last = (struct report_program){.job = process->job,
                                    .cpu_s = NAN,
                                    .run_queue_s = NAN,
                                    .read_mb = NAN,
                                    .write_mb = NAN,
                                    .received_mb = NAN,
                                    .sent_mb = NAN};
    name_of(process, last->name, sizeof last->name);
    for (size_t i = 0; i < programs->n; i++)
        if (programs->items[i].job == last->job && strcmp(programs->items[i].name, last->name) == 0)
            return &programs->items[i];
    programs->n++;
    return last;
}

static double sum_known(double sum, double part) {
    return isnan(sum) ? part : isnan(part) ? sum : sum + part;
}

static void add_process(const struct run_model *model, const struct process_traffic *traffic,
                        const struct model_process *process, struct report_program *program) {
    struct windows all = phase_windows(&model->groups[0]);
    struct process_use use = model_process_use(model, process, all);
    struct traffic moved = process_traffic_named(traffic, process->series);
    bool ended = strcmp(process->series->name, RECORDING_ENDED) == 0; /* nobody counted them */
    if (ended)
        use.cpu_s += processes_unseen_s(model, process->host, all);
    program->processes += !ended;
    program->cpu_s = sum_known(program->cpu_s, use.cpu_s);
    program->run_queue_s = sum_known(program->run_queue_s, use.run_queue_s);
    program->read_mb = sum_known(program->read_mb, use.read_bytes / 1e6);
    program->write_mb = sum_known(program->write_mb, use.write_bytes / 1e6);
    program->received_mb = sum_known(program->received_mb, moved.received_bytes / 1e6);
    program->sent_mb = sum_known(program->sent_mb, moved.sent_bytes / 1e6);
}

/* Processes come host by host. */
static void count_host(struct report_program *program, int host, int *last_host) {
    program->hosts += *last_host != host;
    *last_host = host;
}

static int compare_programs(const void *a, const void *b) {
    const struct report_program *x = a, *y = b;
    if (x->job != y->job)
        return x->job ? -1 : 1;
    return (x->cpu_s < y->cpu_s) - (x->cpu_s > y->cpu_s);
}

int programs_find(const struct run_model *model, const struct process_traffic *traffic,
                  struct programs *ret_programs) {
    struct programs found = {.items = calloc(model->n_processes + 1, sizeof *found.items)};
    int *last_hosts = malloc((model->n_processes + 1) * sizeof *last_hosts);
    if (!found.items || !last_hosts) {
        free(found.items);
        free(last_hosts);
        return -ENOMEM;
    }
    for (size_t i = 0; i < model->n_processes; i++)
        last_hosts[i] = -1;
    for (size_t i = 0; i < model->n_processes; i++) {
        const struct model_process *process = &model->processes[i];
        struct report_program *program = program_of(&found, process);
        add_process(model, traffic, process, program);
        count_host(program, process->host, &last_hosts[program - found.items]);
        found.processes++;
    }
    free(last_hosts);
    qsort(found.items, found.n, sizeof *found.items, compare_programs);
    *ret_programs = found;
    return 0;
}
