/* SPDX-License-Identifier: MIT */
/*
 * Findings of the judge, as codes: the resource, its subject, and why it is short. The words that
 * people read are made in reports/; the names here are those of the JSON contract.
 */
#ifndef CHOKEPOINT_ANALYSIS_CAUSES_FINDING_H
#define CHOKEPOINT_ANALYSIS_CAUSES_FINDING_H

enum resource {
#define RESOURCE(code, name, words) RESOURCE_##code,
#include "analysis/causes/causes.def"
    RESOURCE_COUNT_
};

/* Several causes, which look in different ways, may be of one kind. */
enum cause_kind {
    CAUSE_NONE, /* nobody is blamed */
#define KIND(code, name) CAUSE_##code,
#include "analysis/causes/causes.def"
    CAUSE_COUNT_
};

/* The subject of the limit. */
enum subject {
    SUBJECT_NONE, /* nobody's */
    SUBJECT_HOST,
    SUBJECT_ALL_HOSTS,
    SUBJECT_MACHINE, /* the one that several of the hosts share */
    SUBJECT_CORE,    /* one core of a host, which a single thread fills */
    SUBJECT_RANK,
    SUBJECT_PROCESS,  /* of the job, without a rank */
    SUBJECT_MESSAGES, /* the time that each takes, however small */
    SUBJECT_OUTSIDE,
    SUBJECT_COUNT_
};

/* "cpu-quota": as in the JSON contract; static. */
const char *resource_name(enum resource resource);
/* "path-limited"; NULL for CAUSE_NONE; static. */
const char *cause_name(enum cause_kind cause);
/* "all-hosts"; static. */
const char *subject_name(enum subject subject);

#endif
