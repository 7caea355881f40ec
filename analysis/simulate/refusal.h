/* SPDX-License-Identifier: MIT */
/*
 * Why a run's calls are not replayed, or a question not answered by a replay: a code with at most
 * two numbers and the name of an MPI call. The sentence is made of it in reports/says.
 */
#ifndef CHOKEPOINT_ANALYSIS_SIMULATE_REFUSAL_H
#define CHOKEPOINT_ANALYSIS_SIMULATE_REFUSAL_H

enum refusal_code {
    REFUSAL_NONE, /* there is a replay */
    /* the recording tells too little */
    REFUSAL_NO_CALLS,
    REFUSAL_CALLS_LOST,
    REFUSAL_NOTHING_MATCHED,
    REFUSAL_MUCH_UNMATCHED,
    REFUSAL_NEWCOMERS,    /* call: the one by which processes come later */
    REFUSAL_WAITS_UNTOLD, /* call: the one in which ranks wait for nobody known */
    REFUSAL_RANK_UNTOLD,  /* numbers: rank, % of the time it waits for nobody known; call */
    REFUSAL_RANKS_FREE,   /* iterations are gained, not time */
    REFUSAL_NO_RANK,      /* no rank's calls could be replayed */
    /* the replay does not do what the run did */
    REFUSAL_UNLIKE_RUN,    /* numbers: replayed s, measured s */
    REFUSAL_NO_REACTION,   /* with every rank twice as fast it takes as long */
    REFUSAL_NO_LINK_WAITS, /* a host holds back what it sends, and no call waits for its link */
    REFUSAL_PATH_STAYS,    /* the critical path goes through what is changed, and stays as long */
    REFUSAL_DEADLOCK,
    REFUSAL_TOO_MANY, /* messages on their way, or years */
    /* the question */
    REFUSAL_NO_PEER,       /* no other rank does the same */
    REFUSAL_ONE_SIDED,     /* accesses take as long as they did */
    REFUSAL_GROUPS_UNTOLD, /* nothing shows whether collectives wait for that link */
    REFUSAL_GROUPS_HELD,   /* collectives are held up, and no small ones tell by how much */
    REFUSAL_COUNT_
};

struct refusal {
    enum refusal_code code;
    double numbers[2];
    const char *call; /* borrowed from the recording; NULL: the code has none */
};

#endif
