/* SPDX-License-Identifier: MIT */
/*
 * The job waits for a server of its own host that is not recorded. Wait clocks tell how long all
 * threads of a process were blocked until data came from there. The gain is a bound, since
 * nobody knows what the server did meanwhile.
 */
#include <errno.h>

#include "analysis/causes/causes_private.h"
#include "analysis/evidence/unrecorded_server.h"

#define OWN_REMARKS                                                                                \
    REMARK(WAITS_FOR_SERVER, "%s waits for the server on port %d, which is not recorded",          \
           SLOTS("port"), SLOTS("process"), .is_clause = true)                                     \
    REMARK(SERVER_AWAITED,                                                                         \
           "all threads of %s were blocked %.0f %% of the time, until data came from port %d of "  \
           "its own host",                                                                         \
           SLOTS("blocked, %", "port"), SLOTS("process"))                                          \
    REMARK(ADVISE_RECORD_SERVER,                                                                   \
           "record the server as well: put `--job port=%d` before the command", SLOTS("port"),     \
           SLOTS())
#include "analysis/causes/own.h"

static const char *client_of(const struct run_model *model, int host, int64_t pid) {
    for (size_t r = 0; r < model->budgets.n; r++)
        if (model->budgets.items[r].host == host && model->budgets.items[r].pid == pid)
            return model->budgets.items[r].process;
    return NULL;
}

static int add_server(const struct run_model *model, size_t group,
                      const struct unrecorded_server *server, struct candidates *candidates) {
    struct candidate c = candidate_of(server->host, group, RESOURCE_APPLICATION, CAUSE_SERVER);
    const char *process = client_of(model, server->host, server->pid);
    if (!process)
        return 0;
    c.subject = SUBJECT_OUTSIDE;
    c.blocked = server->share;
    c.saturated = true;
    c.signals = 2; /* the process's clock, and that of the connection */
    c.path.terms = 1u << BUDGET_PEER_WAIT;
    remark_set(&c.cause, WAITS_FOR_SERVER, NUMBERS(server->port), NAMES(process));
    remarks_add(&c.evidence, SERVER_AWAITED, NUMBERS(100 * server->share, server->port),
                NAMES(process));
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    struct unrecorded_server server;
    int found = group == model->main_group && !model_has_ranks(model)
                    ? unrecorded_server_find(model, &server)
                    : 0;
    if (found <= 0 || !server.serves || server.share < number_of(model, BLOCKED_MIN))
        return found < 0 ? found : 0;
    return add_server(model, group, &server, candidates);
}

static void advise(const struct advised *advised) {
    remarks_add(advised->next, ADVISE_RECORD_SERVER, NUMBERS(advised->c->cause.numbers[0]),
                NAMES());
}

const struct cause cause_outside_server = {
    .name = "outside-server",
    .resource = RESOURCE_APPLICATION,
    .kind = CAUSE_SERVER,
    .needs = 1u << SOURCE_WAITS,
    .remarks = own_remarks,
    .reason = "a process that has asked a server goes on when the answer is there",
    .detect = detect,
    .advise = advise,
};
