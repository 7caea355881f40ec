/* SPDX-License-Identifier: MIT */
/* `chokepoint job ID`: what the epilog of Slurm stored with a job. */
#include "cli/jobs/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/options.h"
#include "cli/base/verb.h"
#include "common/error.h"

static const char usage[] =
    "usage: chokepoint job [--format FORMAT] ID\n"
    "\n"
    "Shows what limited a job of Slurm, as an epilog stored it in its AdminComment. ID: a\n"
    "number, as squeue and sacct show it.\n"
    "\n";

/* "4711", "4711_3", "4711+1" */
static bool is_id(const char *text) {
    size_t n = strspn(text, "0123456789"), more = 0;
    if (n && (text[n] == '_' || text[n] == '+'))
        more = strspn(text + n + 1, "0123456789");
    return n && strlen(text) < 32 && (!text[n] || (more && !text[n + 1 + more]));
}

static int show_job(const char *id, bool json) {
    char *summary = job_comment(id);
    int status = 0;
    if (!summary || !*summary) {
        verb_complain("job",
                      "Slurm has no summary of job %s: it still runs, it is gone (`sacct -j %s`), "
                      "or no epilog stores one",
                      id, id);
        status = 1;
    } else if (json) {
        puts(summary);
    } else if (job_print(id, summary) < 0) {
        verb_complain("job", "the comment of job %s is no summary: %.100s", id, summary);
        status = 1;
    }
    free(summary);
    return fflush(stdout) != 0 && status == 0 ? 1 : status;
}

static int job_main(int argc, char **argv) {
    const char *format = "text";
    const struct option_row rows[] = {
        {"--format FORMAT", "text (default) or json", .text = &format},
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), NULL, 2, 19, false};
    char **rest;
    int r = verb_words_read("job", &table, argc, argv, &rest);
    bool json = r == 0 && strcmp(format, "json") == 0;
    if (r == 0 && !json && strcmp(format, "text") != 0)
        r = verb_refuse("job", "unknown format", format, "text or json");
    if (r == 0 && (!rest[0] || rest[1]))
        r = verb_refuse("job", "one job at a time", NULL, "chokepoint job 4711");
    if (r == 0 && !is_id(rest[0]))
        r = verb_refuse("job", "no number of a job:", rest[0], "such as 4711 or 4711_3");
    return r ? verb_words_status(r) : show_job(rest[0], json);
}

const struct verb verb_job = {.name = "job",
                              .help = "show what limited a job of Slurm",
                              .main = job_main,
                              .formats = "text json"};
