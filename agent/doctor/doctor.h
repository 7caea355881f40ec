/* SPDX-License-Identifier: MIT */
/*
 * Checks how well this host can be observed, for `chokepoint doctor`, which starts an agent on
 * every host: the checks then see what an agent sees there. Prints a line for each check:
 *
 *   chokepoint-agent: doctor | LEVEL | CHECK | TEXT | MEND
 *
 * LEVEL is ok, note (less is seen) or hinders (a recording fails, or its figures are wrong). MEND
 * is one command; "" with ok. Values for comparing hosts are printed as "fact | NAME | VALUE".
 */
#ifndef CHOKEPOINT_AGENT_DOCTOR_H
#define CHOKEPOINT_AGENT_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct doctor_env {
    const char *proc, *sys; /* roots */
    const char *spool;      /* the directory for an agent's spool */
    const char *peers;      /* names of other hosts, separated by commas; NULL: none */
    FILE *out;
};

enum doctor_level { DOCTOR_OK, DOCTOR_NOTE, DOCTOR_HINDERS };

/* Makes all checks. Negative errno of writing. */
int doctor_run(const struct doctor_env *env);

/* ---- for the checks ---- */

/* Prints a finding; mend: one command, or "". Texts may contain anything. */
__attribute__((format(printf, 5, 6))) void doctor_say(const struct doctor_env *env,
                                                      enum doctor_level level, const char *check,
                                                      const char *mend, const char *format, ...);
__attribute__((format(printf, 3, 4))) void doctor_fact(const struct doctor_env *env,
                                                       const char *name, const char *format, ...);

/* The beginning of a file below a root, up to the end of its first line. False: it cannot be
 * read. */
bool doctor_read(const char *root, const char *path, char *to, size_t size);

void doctor_check_rights(const struct doctor_env *env);
void doctor_check_kernel(const struct doctor_env *env);
void doctor_check_groups(const struct doctor_env *env);
void doctor_check_processor(const struct doctor_env *env);
void doctor_check_clock(const struct doctor_env *env);
void doctor_check_space(const struct doctor_env *env);
void doctor_check_storage(const struct doctor_env *env);
void doctor_check_network(const struct doctor_env *env);
void doctor_check_launcher(const struct doctor_env *env);
void doctor_check_gpu(const struct doctor_env *env);

#endif
