/* SPDX-License-Identifier: MIT */
/*
 * Findings of the judge, as codes: the resource, its subject, and why it is short. reports/ makes
 * the words for people; the names here belong to the JSON format.
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
    CAUSE_NONE, /* no blame */
#define KIND(code, name) CAUSE_##code,
#include "analysis/causes/causes.def"
    CAUSE_COUNT_
};

/* The subject of the limit. */
enum subject {
    SUBJECT_NONE, /* no subject */
    SUBJECT_HOST,
    SUBJECT_ALL_HOSTS,
    SUBJECT_MACHINE, /* a machine that several of the hosts share */
    SUBJECT_CORE,    /* one core of a host, which a single thread fills */
    SUBJECT_RANK,
    SUBJECT_PROCESS,  /* of the job, without a rank */
    SUBJECT_MESSAGES, /* the time per message, however small it is */
    SUBJECT_OUTSIDE,
    SUBJECT_COUNT_
};

/* "cpu-quota": the name in JSON; static. */
const char *resource_name(enum resource resource);
/* "path-limited"; NULL for CAUSE_NONE; static. */
const char *cause_name(enum cause_kind cause);
/* "all-hosts"; static. */
const char *subject_name(enum subject subject);

#endif
