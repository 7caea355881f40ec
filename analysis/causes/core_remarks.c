/* SPDX-License-Identifier: MIT */
/* Evidence about the core of a rank, for or against a finding based on CPU time. */
#include <math.h>

#include "analysis/causes/causes_private.h"

/* Sources of the evidence for a slow core; they choose words of the sentences. */
enum { BY_OPERATORS = 1, BY_ARITHMETIC, BY_SAMPLING };

static int told_by(const struct core_speed *core) {
    return core->by_operators ? BY_OPERATORS : core->by_calibration ? BY_ARITHMETIC : BY_SAMPLING;
}

static double told_times(const struct core_speed *core) {
    return core->by_operators     ? core->operators
           : core->by_calibration ? core->calibration
                                  : core->sampling;
}

/* Whether a rank that takes longer for output of a given size may have more to do for it. */
static bool is_doubted(const struct run_model *model, struct core_speed core) {
    return core.by_operators && core.sampling < number_of(model, CORE_SLOWER) &&
           !(core.calibration >= number_of(model, CORE_SLOWER));
}

void core_speed_rule_out(const struct run_model *model, size_t group, const struct rank_budget *who,
                         double ratio, struct core_speed core, struct candidates *candidates) {
    struct remarks *to = &candidates->ruled_out;
    const char *host = model->hosts[who->host].name;
    int by = told_by(&core);
    if (group != model->main_group || !(ratio >= number_of(model, SKEW_WORTH_SAYING)) ||
        model_shares_cores(model, who->host))
        return;
    if (!(core.slower > 1))
        remarks_add(to, CORES_DIFFER, NUMBERS(who->rank, ratio), NAMES(who->process, host));
    else if (!isnan(core.at_best))
        remarks_add(to, SLOWER_CORE_AT_BEST,
                    NUMBERS(who->rank, ratio, core.sampling, core.at_best, is_doubted(model, core)),
                    NAMES(who->process, host));
    else
        remarks_add(to, SLOWER_CORE,
                    NUMBERS(who->rank, ratio, by, told_times(&core), by, is_doubted(model, core)),
                    NAMES(who->process, host));
}

void core_speed_explain(struct core_speed core, double ratio, struct remarks *to) {
    int by = told_by(&core);
    double of_it = fmin(core.slower, ratio);
    if (!(core.slower > 1) && !isnan(core.calibration))
        remarks_add(to, NO_SLOWER_CORE, NUMBERS(true, core.calibration), NAMES());
    else if (!(core.slower > 1) && !isnan(core.sampling))
        remarks_add(to, NO_SLOWER_CORE, NUMBERS(false, core.sampling), NAMES());
    else if (!(core.slower > 1))
        remarks_add(to, CORE_SPEED_UNKNOWN, NUMBERS(), NAMES());
    else if (!isnan(core.at_best))
        remarks_add(to, CORE_SLOWER_AT_BEST, NUMBERS(core.sampling, core.at_best, of_it, ratio),
                    NAMES());
    else
        remarks_add(to, CORE_SLOWER, NUMBERS(by, told_times(&core), by, of_it, ratio), NAMES());
}

static void tell_slower(const struct core_speed *core, struct remarks *to) {
    int by = told_by(core);
    if (!isnan(core->at_best))
        remarks_add(to, CORE_SLOWER_TOO_AT_BEST,
                    NUMBERS(core->sampling, core->at_best, core->slower), NAMES());
    else
        remarks_add(to, CORE_SLOWER_TOO, NUMBERS(by, told_times(core), by, core->slower), NAMES());
}

void core_speed_tell(const struct run_model *model, struct core_speed core, struct candidate *c) {
    if (core_has_more_to_do(model, &core)) {
        remarks_add(&c->evidence, OPERATORS_GAVE_MORE, NUMBERS(core.amount, 100 * core.more),
                    NAMES());
        c->signals++;
        return;
    }
    if (core.slower > 1)
        tell_slower(&core, &c->against);
    else if (!isnan(core.operators))
        remarks_add(&c->against, CORE_ALIKE_BY_OPERATORS, NUMBERS(core.operators), NAMES());
    else if (!isnan(core.calibration))
        remarks_add(&c->against, CORE_ALIKE_BY_ARITHMETIC, NUMBERS(core.calibration), NAMES());
    else if (!isnan(core.sampling))
        remarks_add(&c->against, CORE_ALIKE_BY_SAMPLING, NUMBERS(core.sampling), NAMES());
    else
        remarks_add(&c->against, WORK_OR_CORE, NUMBERS(), NAMES());
}
