/* SPDX-License-Identifier: MIT */
/* What is known of the core beneath a rank, said for or against a finding that rests on CPU time.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/rules/rules_private.h"

char *core_speed_words(struct core_speed core) {
    if (!isnan(core.at_best))
        return text_format("sampling took %.2f times as much CPU time there as for its peers, and "
                           "the fastest quarter of its iterations no more than %.2f times as much",
                           core.sampling, core.at_best);
    if (core.by_pace)
        return text_format("its operators took at least %.2f times as long there for as much "
                           "output as those of its peers",
                           core.pace);
    if (core.by_beat)
        return text_format("the same arithmetic took %.2f times as much CPU time there as for its "
                           "peers",
                           core.beat);
    return text_format("sampling took %.2f times as much CPU time there as for its peers",
                       core.sampling);
}

/* Who takes longer for output of a set size may have more to do for it. */
static bool is_doubted(struct core_speed core) {
    return core.by_pace && core.sampling < CORE_SLOWER && !(core.beat >= CORE_SLOWER);
}

void core_speed_rule_out(const struct run_model *model, size_t group, const struct rank_budget *who,
                         double ratio, struct core_speed core, struct candidates *candidates) {
    char rank[40] = "";
    if (group != model->main_group || !(ratio >= SKEW_WORTH_SAYING) ||
        model_shares_cores(model, who->host))
        return;
    if (who->rank >= 0)
        snprintf(rank, sizeof rank, "rank %d", who->rank);
    const char *name = *rank ? rank : who->process, *host = model->hosts[who->host].name;
    char *words = core_speed_words(core);
    if (core.slower > 1)
        text_list_add(&candidates->ruled_out,
                      "imbalance: %s on %s took %.2f times as much CPU time as its peers, but %s: "
                      "a slower core%s",
                      name, host, ratio, words ? words : "",
                      is_doubted(core) ? ", or more work whose output is as large: sampling took "
                                         "no more CPU time there"
                                       : " rather than more work");
    else
        text_list_add(&candidates->ruled_out,
                      "imbalance: %s on %s took %.2f times as much CPU time as its peers: more "
                      "work or a slower core, and no more than cores of one kind differ by",
                      name, host, ratio);
    free(words);
}

void core_speed_tell(struct core_speed core, struct candidate *c) {
    if (core_has_more_to_do(&core)) {
        text_list_add(&c->evidence,
                      "its operators gave up to %.2f times as much an iteration as those of its "
                      "peers, which took at least %.0f %% of its computing: more work, whatever "
                      "its core",
                      core.amount, 100 * core.more);
        c->signals++;
        return;
    }
    char *words = core_speed_words(core);
    if (core.slower > 1)
        text_list_add(&c->against,
                      "its core is slower as well: %s, so that a factor of %.2f is put down to "
                      "that",
                      words ? words : "", core.slower);
    else if (!isnan(core.pace))
        text_list_add(&c->against,
                      "a slower core would look the same; it is not that, as far as some of its "
                      "operators tell, which took no longer there for as much output (%.2f times)",
                      core.pace);
    else if (!isnan(core.beat))
        text_list_add(
            &c->against,
            "the program marks no amounts of work, and a slower core would look the same; "
            "it is not that: the same arithmetic took no more CPU time there than for its peers "
            "(%.2f times)",
            core.beat);
    else if (!isnan(core.sampling))
        text_list_add(
            &c->against,
            "the program marks no amounts of work, and a slower core would look the same; "
            "it is not that, as far as sampling tells, which took no more CPU time there "
            "than for its peers (%.2f times)",
            core.sampling);
    else
        text_list_add(&c->against, "more work or a slower core: the program marks no amounts of "
                                   "work, so CPU time alone cannot tell");
    free(words);
}
