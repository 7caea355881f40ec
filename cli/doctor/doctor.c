/* SPDX-License-Identifier: MIT */
/*
 * `chokepoint doctor`: whether hosts can be recorded well. On each host, with this one, the agent
 * that would record it examines it. Findings on this host alone and comparisons of hosts are added.
 */
#include "cli/base/options.h"
#include "cli/base/report.h"
#include "cli/base/verb.h"
#include "cli/doctor/gather.h"
#include "cli/launch/hosts_choose.h"
#include "cli/launch/program_file.h"
#include "cli/launch/run_session.h"
#include "cli/launch/slurm_job.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/text.h"
#include "reports/findings.h"
#include "reports/formats/formats.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const char usage[] =
    "usage: chokepoint doctor [--hosts FILE|A,B | --hostfile FILE] [OPTIONS]\n"
    "\n"
    "Examines hosts before a recording: rights, accounting of the kernel, clocks, networks, disk\n"
    "space, MPI, and whether an agent can be started. Each finding is a line with a command\n"
    "that mends it.\n"
    "\n";

static const char end[] =
    "\n"
    "exit status: 0 fine (notes only say what is seen less well), 1 something hinders, 2 usage\n";

struct options {
    const char *hosts, *hostfile, *database, *format;
    bool verbose, mpirun;
    double timeout_s;
};

#define DATABASE_BYTES 200e6 /* a recording of five hosts takes about 10 MB a minute */

/* ---- checks of this machine ---- */

static void check_database(const struct options *o, struct examined *here) {
    char copy[PATH_MAX], mend[PATH_MAX + 80];
    struct statvfs fs;
    snprintf(copy, sizeof copy, "%s", o->database);
    const char *directory = dirname(copy);
    snprintf(mend, sizeof mend, "cd DIRECTORY  # that can be written, or name one with --db");
    if (access(directory, W_OK) < 0 || statvfs(directory, &fs) < 0)
        examined_add(here, "hinders", "database", mend, "%s cannot be written: %s", directory,
                     strerror(errno));
    else if ((double)fs.f_bavail * (double)fs.f_frsize < DATABASE_BYTES)
        examined_add(here, "hinders", "database", "df -h .  # make room, or name another --db",
                     "%s has only %.3g GB free", directory,
                     (double)fs.f_bavail * (double)fs.f_frsize / 1e9);
    else
        examined_add(here, "ok", "database", "", "%s has %.3g GB free", directory,
                     (double)fs.f_bavail * (double)fs.f_frsize / 1e9);
}

static void check_programs(struct examined *here) {
    if (command_find("mpirun") != 0)
        examined_add(here, "note", "mpi", "apt-get install openmpi-bin",
                     "no mpirun in the PATH: it starts ranks on other hosts");
    if (command_find("gnuplot") != 0)
        examined_add(here, "note", "gnuplot", "apt-get install gnuplot-nox",
                     "no gnuplot: reports have no pictures");
}

static void check_here(const struct options *o, struct gathered *g) {
    size_t here = 0;
    for (size_t i = 0; i < g->n; i++)
        if (g->launches[i].method == LAUNCH_DIRECT)
            here = i;
    check_database(o, &g->hosts[here]);
    check_programs(&g->hosts[here]);
}

/* ---- what is shown ---- */

static bool hinders(const struct finding *finding) {
    return strcmp(finding->level, "hinders") == 0;
}

static void print_host(const struct options *o, const struct examined *host,
                       const struct launch *launch) {
    size_t n_hindering = 0;
    for (size_t i = 0; i < host->n_findings; i++)
        n_hindering += hinders(host->findings[i]);
    if (host->complete)
        printf("%s: agent %s, started %s in %.2f s; %s\n", host->host, host->version,
               launch_method_name(launch->method), host->start_s,
               n_hindering ? "something hinders" : "fine");
    else
        printf("%s: was not examined\n", host->host);
    for (size_t i = 0; i < host->n_findings; i++) {
        const struct finding *f = host->findings[i];
        if (f->mend)
            printf("  %-8s %s: %s; mend: %s\n", f->level, f->check, f->text, f->mend);
        else if (o->verbose)
            printf("  %-8s %s: %s\n", f->level, f->check, f->text);
    }
}

static int write_json(const struct gathered *g) {
    struct finding_host *hosts = calloc(g->n + 1, sizeof *hosts);
    struct finding *findings = calloc(g->n * EXAMINED_FINDINGS_MAX + 1, sizeof *findings);
    size_t n = 0;
    int r = hosts && findings ? 0 : -ENOMEM;
    for (size_t h = 0; h < g->n && r == 0; h++) {
        const struct examined *host = &g->hosts[h];
        hosts[h] = (struct finding_host){host->host, launch_method_name(g->launches[h].method),
                                         host->complete, *host->version ? host->version : NULL,
                                         host->start_s};
        for (size_t i = 0; i < host->n_findings; i++)
            findings[n++] = *host->findings[i];
    }
    if (r == 0)
        r = findings_write(hosts, g->n, findings, n, &format_json, stdout);
    free(hosts);
    free(findings);
    return r;
}

/* Exit status. */
static int show(const struct options *o, const struct gathered *g) {
    int status = 0;
    for (size_t h = 0; h < g->n; h++)
        for (size_t i = 0; i < g->hosts[h].n_findings; i++)
            status |= hinders(g->hosts[h].findings[i]);
    if (strcmp(o->format, "json") == 0)
        return write_json(g) < 0 ? 1 : status;
    for (size_t h = 0; h < g->n; h++)
        print_host(o, &g->hosts[h], &g->launches[h]);
    return fflush(stdout) ? 1 : status;
}

static enum launch_method method_to_reach_others(const struct options *o,
                                                 enum hosts_source source) {
    if (!o->mpirun && source == HOSTS_BATCH && slurm_in_job() && command_find("srun") == 0)
        return LAUNCH_SRUN;
    return o->mpirun || (source == HOSTS_BATCH && command_find("mpirun") == 0) ? LAUNCH_MPIRUN
                                                                               : LAUNCH_SSH;
}

static int examine(const struct options *o) {
    struct command_words words = {0};
    struct hosts hosts = {0};
    struct gathered g = {0};
    enum hosts_source source;
    char why[600] = "";
    const char *named = o->hosts ? o->hosts : o->hostfile;
    int r = hosts_choose(named, &words, &hosts, &source, why, sizeof why);
    if (r == 0)
        r = gather(&hosts, method_to_reach_others(o, source), (int64_t)(o->timeout_s * NS_PER_S),
                   &g, why, sizeof why);
    int status = EXIT_USAGE;
    if (r < 0) {
        verb_complain("doctor", "%s", why);
    } else {
        check_here(o, &g);
        examined_compare(g.hosts, g.n, CHOKEPOINT_VERSION);
        status = show(o, &g);
    }
    gathered_release(&g);
    hosts_release(&hosts);
    return status;
}

static int judge_words(struct options *o, char **rest) {
    if (rest[0])
        return verb_refuse("doctor", "one word too many:", rest[0], "hosts follow --hosts");
    if (o->hosts && o->hostfile)
        return verb_refuse("doctor", "--hosts and --hostfile", NULL, "one of them is enough");
    if (verb_check_hostfile("doctor", o->hostfile) < 0)
        return -EINVAL;
    if (strcmp(o->format, "text") != 0 && strcmp(o->format, "json") != 0)
        return verb_refuse("doctor", "unknown format", o->format, "text or json");
    return 0;
}

static int doctor_main(int argc, char **argv) {
    struct options o = {.database = REPORT_DATABASE, .timeout_s = 20, .format = "text"};
    const struct option_row rows[] = {
        {"--hosts FILE|A,B", "default: of the batch system (Slurm, PBS), else this machine",
         .text = &o.hosts},
        {"--hostfile FILE", "the same", .text = &o.hostfile},
        {"--mpirun", "reach them by mpirun, as a batch system's hosts are; default: ssh",
         .flag = &o.mpirun},
        {"--db FILE", "where a recording would go; default: ./chokepoint.db",
         .take = verb_take_database, .to = &o.database},
        RUN_TIMEOUT_ROW(&o.timeout_s),
        {"-v, --verbose", "also what is as it should be", .flag = &o.verbose},
        {"--format FORMAT", "text (default) or json", .text = &o.format},
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), end, 6, 25, false};
    char **rest;
    int r = verb_words_read("doctor", &table, argc, argv, &rest);
    if (r == 0)
        r = judge_words(&o, rest);
    return r ? verb_words_status(r) : examine(&o);
}

const struct verb verb_doctor = {.name = "doctor",
                                 .help = "say what keeps hosts from being recorded well",
                                 .main = doctor_main,
                                 .formats = "text json"};
