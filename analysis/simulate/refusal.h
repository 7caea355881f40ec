/* SPDX-License-Identifier: MIT */
/*
 * The reason why a run cannot be replayed, or a question cannot be answered by a replay: a code
 * with at most two numbers and the name of an MPI call. reports/words makes the sentence.
 */
#ifndef CHOKEPOINT_ANALYSIS_SIMULATE_REFUSAL_H
#define CHOKEPOINT_ANALYSIS_SIMULATE_REFUSAL_H

enum refusal_code {
    REFUSAL_NONE, /* the run can be replayed */
    /* the recording tells too little */
    REFUSAL_NO_CALLS,
    REFUSAL_CALLS_LOST,
    REFUSAL_NOTHING_MATCHED,
    REFUSAL_MUCH_UNMATCHED,
    REFUSAL_NEWCOMERS,    /* call: the one by which processes joined later */
    REFUSAL_WAITS_UNTOLD, /* call: ranks wait in it, but the recording does not tell for whom */
    REFUSAL_RANK_UNTOLD,  /* numbers: rank, % of its time it waits for nobody known; call */
    REFUSAL_RANKS_FREE,   /* ranks run freely: a change gains iterations, not time */
    REFUSAL_NO_RANK,      /* no rank's calls could be replayed */
    /* the replay does not reproduce the run */
    REFUSAL_UNLIKE_RUN,    /* numbers: replayed s, measured s */
    REFUSAL_NO_REACTION,   /* ranks that compute twice as fast would not shorten the run */
    REFUSAL_NO_LINK_WAITS, /* a host throttles what it sends, but no call waits for its link */
    REFUSAL_PATH_STAYS,    /* the change is on the critical path, but does not shorten it */
    REFUSAL_DEADLOCK,
    REFUSAL_TOO_MANY, /* too many messages under way, or a run of years */
    /* the question cannot be answered */
    REFUSAL_NO_PEER,        /* no other rank does the same */
    REFUSAL_ONE_SIDED,      /* one-sided accesses do not react to the change */
    REFUSAL_GROUPS_UNTOLD,  /* unknown whether collectives wait for that link */
    REFUSAL_GROUPS_HELD,    /* collectives are throttled, and no small ones show by how much */
    REFUSAL_LINK_UNKNOWN,   /* a slower link, and nobody told what it carries */
    REFUSAL_SERVER_UNKNOWN, /* more workers, whose messages the server's link never limited */
    REFUSAL_COUNT_
};

struct refusal {
    enum refusal_code code;
    double numbers[2];
    const char *call; /* a pointer into the recording; NULL if the code has none */
};

#endif
