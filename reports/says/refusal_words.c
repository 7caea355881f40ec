/* SPDX-License-Identifier: MIT */
#include "reports/says/refusal_words.h"

#include "analysis/gain/whatif.h"
#include "reports/says/remark_words.h"

/* Numbers: the two of the refusal, then the tolerance of a replay in %. Names: the call. */
static const char *const templates[REFUSAL_COUNT_] = {
    [REFUSAL_NONE] = "",
    [REFUSAL_NEWCOMERS] = "the run uses %s, which a replay does not follow",
    [REFUSAL_WAITS_UNTOLD] = "nothing tells whom ranks wait for in %s",
    [REFUSAL_RANK_UNTOLD] = "rank %d waits %.0f %% of the time, mostly in %s, and its calls do "
                            "not tell for whom",
    [REFUSAL_UNLIKE_RUN] = "the MPI calls, replayed as measured, take %.3g s, the run took %.3g s: "
                           "more than %.0f %% off",
    [REFUSAL_NO_CALLS] = "no MPI calls were recorded",
    [REFUSAL_CALLS_LOST] = "some MPI calls were lost",
    [REFUSAL_NOTHING_MATCHED] = "no call of one rank could be matched with one of another",
    [REFUSAL_MUCH_UNMATCHED] = "too many MPI calls could not be matched between ranks",
    [REFUSAL_RANKS_FREE] = "the ranks do not wait for each other, so a faster one does more "
                           "iterations, and a replay has the same calls as before",
    [REFUSAL_NO_RANK] = "no rank's calls could be replayed",
    [REFUSAL_NO_REACTION] = "with each rank twice as fast its calls, replayed, take as long as "
                            "before: they do not tell who waits for whom",
    [REFUSAL_NO_LINK_WAITS] = "the host holds back what it sends, yet the replayed calls wait for "
                              "no link",
    [REFUSAL_PATH_STAYS] = "the critical path goes through what would change, yet the replayed "
                           "calls take hardly less time without it",
    [REFUSAL_DEADLOCK] = "the MPI calls, replayed, wait for each other for ever",
    [REFUSAL_TOO_MANY] = "the replay has too many messages on their way at once, or takes years",
    [REFUSAL_NO_PEER] = "no other rank does the same work, so there is none to be like, or to "
                        "share with",
    [REFUSAL_ONE_SIDED] = "the data move by one-sided accesses, whose time a replay leaves as it "
                          "was",
    [REFUSAL_GROUPS_UNTOLD] = "most of the traffic on that link is collectives, and nothing shows "
                              "whether they wait for the link",
    [REFUSAL_GROUPS_HELD] = "collectives are held up on that link, and there are no small ones "
                            "that show how long they take without it",
    [REFUSAL_LINK_UNKNOWN] = "that link never was the limit, and what it can carry is not known; "
                             "ask by a rate, as --link HOST=200mbit",
    [REFUSAL_SERVER_UNKNOWN] = "the server's link never was the limit of its messages, so nothing "
                               "tells how long those of another number of workers take",
};

char *refusal_words(const struct refusal *r) {
    const double numbers[] = {r->numbers[0], r->numbers[1], 100 * WHATIF_REPLAY_TOLERANCE};
    const char *names[] = {r->call};
    return template_words(templates[r->code], numbers, names, &(struct caller){.run = 0});
}
