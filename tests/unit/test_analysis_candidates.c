/* SPDX-License-Identifier: MIT */
/*
 * Planted causes, judged as a whole. Lockstep programs whose calls are known: every rank computes,
 * then all meet in a collective, where they spin. And jobs of which connections are known, but no
 * calls: which side of which host explains the throttled ones.
 */
#include "analysis/causes/causes_private.h"
#include "tests/unit/lockstep.h"
#include "tests/unit/own_remark.h"

#define CONNECTION_LEVELS                                                                          \
    (1u << CONNECTION_PID | 1u << CONNECTION_RTT | 1u << CONNECTION_MIN_RTT |                      \
     1u << CONNECTION_DELIVERY_RATE)

/* The ranks finish. */
static void finalize(struct recording *r, int ranks) {
    for (int rank = 0; rank < ranks; rank++)
        PLANT(&r->calls, rank, rank, "MPI_Finalize", -1, -1, 0, r->duration_ns - 2,
              r->duration_ns - 1);
}

static void ranks_that_compute_alike_are_balanced(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_lockstep(&r, 3, (struct trouble){0});
    finalize(&r, 3);
    judge(&r, &j);
    assert_true(model_has_path(&j.model));
    assert_true(blames_nobody(&j.verdict));
    assert_int_equal(j.verdict.host, -1);
    assert_int_equal(j.verdict.kind, CAUSE_COMPUTE_BOUND);
    assert_true(j.verdict.confidence > 0.8);
    assert_non_null(strstr(j.words.summary, "CPU limits the run on all hosts"));
    release(&r, &j);
}

/* One rank computes while the other spins, in turn: the path always computes, and each rank for
 * three quarters of it. Spinning does not fill its core.
 */
static void ranks_that_spin_in_turn_have_not_filled_their_cores(void **state) {
    static const double in_turn[][2] = {{1, 0.5}, {0.5, 1}};
    struct recording r;
    struct judged j;
    (void)state;
    plant_lockstep(&r, 2, (struct trouble){.works = in_turn});
    finalize(&r, 2);
    judge(&r, &j);
    assert_int_equal(j.verdict.kind, CAUSE_COMPUTE_BOUND);
    assert_int_equal(j.verdict.state, VERDICT_SUSPECTED);
    release(&r, &j);
}

/* Half as much again: 0.076 s instead of 0.051 s a round. The surplus is shared out. */
static void more_work_on_one_rank_is_imbalance(void **state) {
    for (int ranks = 2; ranks <= 4; ranks++) {
        struct recording r;
        struct judged j;
        (void)state;
        plant_lockstep(&r, ranks, (struct trouble){.work = 1.5});
        judge(&r, &j);
        expect(&j, "imbalance", "skew", 1);
        assert_int_equal(j.verdict.rank, 1);
        assert_true(fabs(j.candidates.items[0].blocked - 0.025 / 0.076) < 0.02);
        double given = 0.025 * (ranks - 1) / ranks;
        assert_true(fabs(j.verdict.gain - given / 0.076) < 0.03);
        assert_true(any_says(&j.words.next, "`chokepoint whatif last --without-straggler 1`"));
        release(&r, &j);
    }
}

static void call_instead(struct mpi_log *log, const char *was, const char *of_0, const char *of_1) {
    int from = mpi_log_function(log, was);
    int to[] = {mpi_log_function(log, of_0), mpi_log_function(log, of_1)};
    for (size_t r = 0; r < log->n; r++)
        for (size_t i = 0; i < log->ranks[r].n; i++)
            if (log->ranks[r].events[i].function == from)
                log->ranks[r].events[i].function = (uint16_t)to[log->ranks[r].rank];
}

/* As before, but the other rank only waits for answers from this one's memory: whichever rank is
 * near the common stock of work takes more of it.
 */
static void a_rank_that_is_only_away_has_no_more_work(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_lockstep(&r, 2, (struct trouble){.work = 1.5});
    call_instead(&r.calls, "MPI_Allreduce", "MPI_Win_flush_all", "MPI_Win_sync");
    PLANT(&r.calls, 0, 0, "MPI_Get", 1, -1, 8, 100 * 1000 * US, 100 * 1000 * US + 100);
    judge(&r, &j);
    assert_true(model_has_path(&j.model));
    for (size_t i = 0; i < j.candidates.n; i++)
        assert_string_not_equal(resource_name(j.candidates.items[i].resource), "imbalance");
    release(&r, &j);
}

static void a_rank_that_sleeps_is_its_program_s_doing(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_lockstep(&r, 3, (struct trouble){.asleep = 0.02});
    judge(&r, &j);
    expect(&j, "application", "sleep", 1);
    assert_int_equal(j.verdict.rank, 1);
    assert_non_null(strstr(j.words.summary, "waits for vm2, where rank 1 sleeps"));
    release(&r, &j);
}

static void waiting_for_a_core_is_contention_not_more_work(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_lockstep(&r, 3, (struct trouble){.queue = 0.03});
    plant_process(&r, 1, "hog[77]", (struct plant_process){-1, 0.4, 0.3, 0});
    judge(&r, &j);
    expect(&j, "cpu", "contention", 1);
    assert_string_equal(j.verdict.culprit, "hog[77]");
    assert_true(isnan(j.verdict.start_s));
    release(&r, &j);
}

/* It ran for two fifths of the time that the rank waited, and too little to be blamed. */
static void a_small_program_beside_the_job_is_named_and_not_blamed(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_lockstep(&r, 3, (struct trouble){.queue = 0.03});
    plant_process(&r, 1, "hog[77]", (struct plant_process){-1, 0.15, 0.3, 0});
    judge(&r, &j);
    expect(&j, "cpu", "contention", 1);
    assert_null(j.verdict.culprit);
    assert_true(any_says(&j.words.evidence, "hog[77]"));
    release(&r, &j);
}

/* To stop a program on one host relieves no host that lacks cores by itself. */
static void hosts_suffer_alike_only_from_the_same(void **state) {
    char hog[] = "hog[77]";
    struct candidate one = {.host = 0, .resource = RESOURCE_CPU, .kind = CAUSE_CONTENTION};
    struct candidate other = {.host = 1, .resource = RESOURCE_CPU, .kind = CAUSE_CONTENTION};
    (void)state;
    one.run_share = .28;
    other.run_share = .14;
    assert_true(candidate_is_alike(&one, &other));
    one.culprit.process = hog;
    assert_false(candidate_is_alike(&one, &other));
    other.culprit.process = hog;
    assert_true(candidate_is_alike(&one, &other));
}

enum account { WHOLE_CORES, GROUP_SUM, GROUP_BY_CORE, GROUP_AND_OUTSIDE };

/* Records the use of the cores by each host's group: their sum, or core by core, as on cgroup v1;
 * or with what the cores did outside of it, where the group itself used most of its time.
 */
static void account_by(struct recording *r, enum account account) {
    struct series_set *set = &r->tables[RECORDING_CPU];
    for (size_t s = 0; account != WHOLE_CORES && s < set->n; s++) {
        struct series *cores = &set->items[s];
        if (account == GROUP_SUM) {
            free(cores->name);
            cores->name = strdup("cpus");
        }
        for (size_t i = 0; i < cores->n; i++) {
            int64_t *values = &cores->values[i * set->n_columns];
            if (values[CPU_USER] == VALUE_ABSENT) /* before the first interval */
                continue;
            values[CPU_NICE] = VALUE_ABSENT;
            values[CPU_OUTSIDE] = VALUE_ABSENT;
            if (account == GROUP_AND_OUTSIDE)
                values[CPU_OUTSIDE] = cores->host == 1 ? values[CPU_USER] : 0;
            else
                values[CPU_IDLE] += values[CPU_USER] / 2;
            values[CPU_USER] /= account == GROUP_AND_OUTSIDE ? 1 : 2;
        }
    }
}

/* A program outside the host's control group had the core, and nothing on the host shows which. It
 * is neither sleep of the rank nor more work, and no program of the host is blamed.
 */
static void a_hog_outside_the_host_s_control_group_is_outside(void **state) {
    (void)state;
    for (int account = WHOLE_CORES; account <= GROUP_AND_OUTSIDE; account++) {
        struct recording r;
        struct judged j;
        plant_lockstep(&r, 2, (struct trouble){.queue = 0.03});
        account_by(&r, (enum account)account);
        judge(&r, &j);
        expect(&j, "cpu", "contention", 1);
        assert_null(j.verdict.culprit);
        const struct candidate *c = j.verdict.candidate;
        bool whole = account == WHOLE_CORES;
        assert_ptr_equal(c->cause.kind, whole ? remark_named("READY_AT_TIMES")
                                              : remark_named("CORES_SHARED_OUTSIDE"));
        assert_ptr_equal(c->next, whole ? NULL : remark_named("ADVISE_OWN_CORES"));
        release(&r, &j);
    }
}

static double full_core(size_t column, double t_s) {
    (void)t_s;
    return column == CPU_USER ? 1e9 : 0;
}

/* A machine full of programs, none of which lives long enough to be seen, and a program whose main
 * phase takes less than two seconds, which is what the run is about.
 */
static void a_short_run_on_a_crowded_host_waits_for_cores(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_lockstep(&r, 2, (struct trouble){.work = 0.1, .queue = 0.0035, .all = true});
    for (int h = 0; h < 2; h++)
        plant(&r, RECORDING_CPU, h, "cpu1", 0.1, 0, full_core);
    plant_mark(&r, MARK_PHASE, "training", 0, 0, 0, 0.1, 1.8);
    judge(&r, &j);
    assert_int_equal(j.model.main_group, 1);
    expect(&j, "cpu", "contention", -1);
    assert_int_equal(j.verdict.subject, SUBJECT_ALL_HOSTS);
    assert_string_equal(j.words.cause, "contention with other programs");
    assert_null(j.verdict.culprit);
    release(&r, &j);
}

/* The path is in one of them by chance; that one alone would gain nothing. */
static void hosts_that_all_lack_cores_are_all_meant(void **state) {
    for (int ranks = 2; ranks <= 16; ranks *= 2) {
        struct recording r;
        struct judged j;
        (void)state;
        plant_lockstep(&r, ranks, (struct trouble){.queue = 0.03, .all = true});
        judge(&r, &j);
        const struct candidate *c = &j.candidates.items[0];
        assert_true(j.candidates.n == (size_t)ranks && c->everywhere);
        assert_string_equal(cause_name(j.verdict.kind), "contention");
        assert_true(fabs(c->gain.estimate - 0.03 / 0.081) < 0.03);
        release(&r, &j);
    }
}

/* A replay does not know how long accesses to a throttled rank's memory take. */
static void add_idle_host(struct recording *r) {
    size_t h = r->n_hosts++;
    r->hosts = realloc(r->hosts, (h + 2) * sizeof *r->hosts);
    r->clock_bound_ns = realloc(r->clock_bound_ns, (h + 1) * sizeof *r->clock_bound_ns);
    assert_true(r->hosts && r->clock_bound_ns);
    r->hosts[h] = strdup("spare");
    r->clock_bound_ns[h] = r->clock_bound_ns[0];
    plant(r, RECORDING_CPU, (int)h, "cpu0", 0.1, 0, quiet_cpu);
    plant(r, RECORDING_NET, (int)h, "eth0", 0.1, 0, little_net);
}

/* A host that is recorded, and on which the job never ran, lacks nothing and changes nothing. */
static void all_hosts_are_those_of_the_job(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_lockstep(&r, 2, (struct trouble){.queue = 0.03, .all = true});
    add_idle_host(&r);
    judge(&r, &j);
    assert_int_equal(j.verdict.subject, SUBJECT_ALL_HOSTS);
    assert_string_equal(cause_name(j.verdict.kind), "contention");
    assert_true(fabs(j.candidates.items[0].gain.estimate - 0.03 / 0.081) < 0.03);
    release(&r, &j);
}

static void a_quota_that_holds_up_one_sided_accesses_gains_its_part_of_the_path(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_lockstep(&r, 2, (struct trouble){.queue = 0.03, .throttled = true});
    call_instead(&r.calls, "MPI_Allreduce", "MPI_Win_flush_all", "MPI_Win_sync");
    PLANT(&r.calls, 0, 0, "MPI_Get", 1, -1, 8, 100 * 1000 * US, 100 * 1000 * US + 100);
    for (int rank = 0; rank < 2; rank++)
        PLANT(&r.calls, rank, rank, "MPI_Barrier", -1, -1, 0, r.duration_ns - 2 * US,
              r.duration_ns - US);
    judge(&r, &j);
    expect(&j, "cpu-quota", "quota", 1);
    assert_false(j.candidates.items[0].gain.replayed);
    assert_true(fabs(j.candidates.items[0].gain.estimate - 0.03 / 0.081) < 0.03);
    assert_true(any_says(&j.words.against, "one-sided accesses"));
    release(&r, &j);
}

static void what_a_group_is_throttled_is_its_quota(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_lockstep(&r, 3, (struct trouble){.queue = 0.03, .throttled = true});
    judge(&r, &j);
    expect(&j, "cpu-quota", "quota", 1);
    assert_non_null(strstr(j.words.summary, "waits for vm2's CPU quota"));
    assert_non_null(strstr(j.words.cause, "0.5 cores"));
    release(&r, &j);
}

/* A hog on a core on which a rank only spins. */
static void a_spinning_rank_that_is_put_aside_is_harmless(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_lockstep(&r, 3, (struct trouble){0});
    plant_process(&r, 2, "hog[77]", (struct plant_process){-1, 0.9, 0.1, 0});
    judge(&r, &j);
    assert_true(blames_nobody(&j.verdict));
    release(&r, &j);
}

static void a_cause_that_held_for_a_while_is_given_its_time(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    struct trouble t = {.queue = 0.06, .from = 80, .to = 120};
    plant_lockstep(&r, 3, t);
    judge(&r, &j);
    expect(&j, "cpu", "contention", 1);
    double start = 0.1 + 80 * 0.051, end = start + 40 * 0.111;
    double slice = (double)r.duration_ns / 1e9 / RANK_BUDGET_SLICES;
    assert_true(fabs(j.verdict.start_s - start) < 1.5 * slice);
    assert_true(fabs(j.verdict.end_s - end) < 1.5 * slice);
    release(&r, &j);
}

static void a_verdict_is_the_same_each_time(void **state) {
    char *summary = NULL;
    double confidence = 0;
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct recording r;
        struct judged j;
        plant_lockstep(&r, 3, (struct trouble){.work = 1.5});
        judge(&r, &j);
        if (summary) {
            assert_string_equal(summary, j.words.summary);
            assert_true(confidence == j.verdict.confidence);
        }
        free(summary);
        summary = strdup(j.words.summary);
        confidence = j.verdict.confidence;
        release(&r, &j);
    }
    free(summary);
}

/* ---- connections ---- */

#define HOSTS 4

/* One connection: shares of time, and the rate at which its bytes arrive. */
static struct { double busy, receiver, mb_s, rate_mb_s; } connection_now;
static double backlog_now;

static double connection_value(size_t column, double t_s) {
    (void)t_s;
    switch (column) {
    case CONNECTION_PID:
        return 1000;
    case CONNECTION_BUSY:
        return connection_now.busy * 1e9;
    case CONNECTION_RWND_LIMITED:
        return connection_now.receiver * 1e9;
    case CONNECTION_SEND_BYTES:
        return connection_now.mb_s * 1e6;
    case CONNECTION_RTT:
        return 3e6;
    case CONNECTION_MIN_RTT:
        return 1e5;
    case CONNECTION_DELIVERY_RATE:
        return connection_now.rate_mb_s * 1e6;
    default:
        return 0;
    }
}

static double through_queue_now;
static double qdisc_value(size_t column, double t_s) {
    (void)t_s;
    return column == QDISC_BACKLOG      ? backlog_now
           : column == QDISC_RATE       ? 100e6
           : column == QDISC_SEND_BYTES ? through_queue_now
                                        : 1e3;
}

static void plant_flow(struct recording *r, int from, int to, double busy, double rate_mb_s) {
    char name[64];
    snprintf(name, sizeof name, "10.0.0.%d:5000>10.0.0.%d:600%d", from + 1, to + 1, from);
    connection_now.busy = busy;
    connection_now.receiver = 0;
    connection_now.rate_mb_s = rate_mb_s;
    connection_now.mb_s = 30;
    plant(r, RECORDING_CONNECTION, from, name, 0.1, CONNECTION_LEVELS, connection_value);
}

/* Host 0 serves the others; listed connections are throttled by their path: for 60 % of the time,
 * in which 30 MB/s move at 50.
 */
static double core_queue_now; /* of each process */
static void plant_star(struct recording *r, const char *held_up_out, const char *held_up_in) {
    plant_hosts(r, HOSTS, 30);
    for (int h = 0; h < HOSTS; h++)
        plant_process(r, h, "train", (struct plant_process){h, 0.3, core_queue_now, 0});
    for (int h = 1; h < HOSTS; h++) {
        bool out = strchr(held_up_out, '0' + h), in = strchr(held_up_in, '0' + h);
        plant_flow(r, 0, h, out ? 0.6 : 0.04, out ? 50 : 5000);
        plant_flow(r, h, 0, in ? 0.6 : 0.04, in ? 50 : 5000);
    }
}

static void expect_link(const char *out, const char *in, const char *resource, int host) {
    struct recording r;
    struct judged j;
    plant_star(&r, out, in);
    judge(&r, &j);
    expect(&j, resource, "path-limited", host);
    assert_true(j.verdict.confidence <= number_CONFIDENCE_CAP.usual);
    release(&r, &j);
}

static void the_side_that_explains_the_set_is_named(void **state) {
    (void)state;
    expect_link("123", "", "net-egress", 0);
    expect_link("", "123", "net-ingress", 0);
    expect_link("2", "", "net-ingress", 2);
    expect_link("", "3", "net-egress", 3);
}

/* Packets between hosts on one machine are passed on by its cores. If processes wait for these as
 * long as data are under way, no link is blamed, except one with a rate set by its host.
 */
static void data_between_hosts_that_lack_the_same_cores_accuse_no_link(void **state) {
    static const struct {
        bool one_machine, set;
        double queue;
        bool named;
    } cases[] = {{true, false, 0.65, false},
                 {true, false, 0.3, true},
                 {false, false, 0.65, true},
                 {true, true, 0.65, true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct recording r;
        struct judged j;
        core_queue_now = cases[i].queue;
        plant_star(&r, "123", "");
        core_queue_now = 0;
        r.machines = calloc(HOSTS, sizeof *r.machines);
        for (int h = 0; h < HOSTS; h++)
            r.machines[h] = cases[i].one_machine ? 7 : h;
        backlog_now = 50e3;
        through_queue_now = 30e6;
        if (cases[i].set)
            plant(&r, RECORDING_QDISC, 0, "eth0 tbf 1:", 0.1,
                  1u << QDISC_BACKLOG | 1u << QDISC_RATE, qdisc_value);
        judge(&r, &j);
        bool named = false, unclear = false;
        for (size_t k = 0; k < j.candidates.n; k++)
            named |= j.candidates.items[k].resource == RESOURCE_NET_EGRESS;
        for (size_t k = 0; k < j.candidates.ruled_out.n; k++)
            unclear |= j.candidates.ruled_out.items[k].kind == remark_named("LINK_OR_CORE");
        assert_int_equal(named, cases[i].named);
        assert_int_equal(unclear, !cases[i].named);
        if (!named)
            assert_int_equal(j.verdict.subject, SUBJECT_MACHINE);
        release(&r, &j);
    }
}

/* A replay knows which transfers a faster link would shorten. */
static void a_link_that_a_replay_speaks_for_stays_named(void **state) {
    struct model_host hosts[] = {{.name = "vm1"}, {.name = "vm2"}};
    struct run_model model = {.hosts = hosts, .n_hosts = 2};
    struct candidates found = {0};
    (void)state;
    for (int host = 0; host < 2; host++) {
        struct candidate c = candidate_of(host, 0, RESOURCE_NET_EGRESS, CAUSE_PATH_LIMITED);
        c.link.core_waited = 0.3;
        c.gain.replayed = host == 1;
        assert_non_null(candidates_add(&found, &c));
    }
    cause_link_connections.settle(&model, &found);
    assert_int_equal(found.n, 1);
    assert_int_equal(found.items[0].host, 1);
    assert_int_equal(found.ruled_out.n, 1);
    assert_string_equal(found.ruled_out.items[0].names[0], "vm1");
    candidates_release(&found);
}

/* The rank that is served second waits for the first, too: 64 % of its wait is the time of its own
 * bytes, too little for a route limited beyond doubt. It still counts for the link that both share.
 */
static void a_route_held_up_in_part_counts_in_part(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_hosts(&r, 3, 30);
    for (int h = 0; h < 3; h++)
        plant_process(&r, h, "train", (struct plant_process){h, 0.3, 0, 0});
    plant_flow(&r, 0, 1, 0.6, 78);
    plant_flow(&r, 0, 2, 0.6, 52);
    plant_flow(&r, 1, 0, 0.04, 5000);
    plant_flow(&r, 2, 0, 0.04, 5000);
    judge(&r, &j);
    expect(&j, "net-egress", "path-limited", 0);
    release(&r, &j);
}

static double all_it_may_send(size_t column, double t_s) {
    (void)t_s;
    return column == NET_SEND_BYTES ? 95e6 : 1e6;
}

/* The first route was throttled slightly less than counts, so that the second one's receiver
 * explains the set better than the sender of both. The sender is seen to be full with others'
 * traffic, if that goes through the queue with the set rate.
 */
static void a_sender_that_is_full_needs_no_argument_by_sets(void **state) {
    (void)state;
    for (int sends = 0; sends < 3; sends++) {
        bool full = sends == 1;
        struct recording r;
        struct judged j;
        plant_hosts(&r, 3, 30);
        for (int h = 0; h < 3; h++)
            plant_process(&r, h, "train", (struct plant_process){h, 0.3, 0, 0});
        plant_flow(&r, 0, 1, 0.6, 111);
        plant_flow(&r, 0, 2, 0.6, 67);
        plant_flow(&r, 1, 0, 0.04, 5000);
        plant_flow(&r, 2, 0, 0.04, 5000);
        backlog_now = 50e3;
        through_queue_now = full ? 95e6 : 1e3;
        plant(&r, RECORDING_QDISC, 0, "eth0 tbf 1:", 0.1, 1u << QDISC_BACKLOG | 1u << QDISC_RATE,
              qdisc_value);
        if (sends)
            plant(&r, RECORDING_NET, 0, "eth1", 0.1, 0, all_it_may_send);
        judge(&r, &j);
        expect(&j, full ? "net-egress" : "net-ingress", full ? "link-contention" : "path-limited",
               full ? 0 : 2);
        release(&r, &j);
    }
}

/* The same two routes from a sender that may send far more than its average: the queue is its own
 * if the bytes waiting at its interface take most of what round trips take beyond the shortest.
 */
static void a_queue_that_makes_round_trips_longer_needs_no_argument_by_sets(void **state) {
    (void)state;
    for (int here = 0; here < 2; here++) {
        struct recording r;
        struct judged j;
        plant_hosts(&r, 3, 30);
        for (int h = 0; h < 3; h++)
            plant_process(&r, h, "train", (struct plant_process){h, 0.3, 0, 0});
        plant_flow(&r, 0, 1, 0.6, 150); /* too fast to count as throttled */
        plant_flow(&r, 0, 2, 0.6, 67);
        plant_flow(&r, 1, 0, 0.04, 5000);
        plant_flow(&r, 2, 0, 0.04, 5000);
        backlog_now = here ? 120e3 : 60e3; /* 2 ms and 1 of 2.9, while data are under way */
        through_queue_now = 60e6;
        plant(&r, RECORDING_QDISC, 0, "eth0 tbf 1:", 0.1, 1u << QDISC_BACKLOG | 1u << QDISC_RATE,
              qdisc_value);
        judge(&r, &j);
        expect(&j, here ? "net-egress" : "net-ingress", "path-limited", here ? 0 : 2);
        release(&r, &j);
    }
}

/* Answers wait for requests, so one of them was throttled as long: the incoming direction explains
 * most.
 */
static void the_way_with_the_better_evidence_comes_first(void **state) {
    (void)state;
    expect_link("1", "123", "net-ingress", 0);
    expect_link("123", "1", "net-egress", 0);
}

static void a_link_slow_both_ways_is_its_host_s(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_star(&r, "2", "2");
    judge(&r, &j);
    assert_int_equal(j.verdict.state, VERDICT_SATURATED);
    assert_int_equal(j.verdict.host, 2);
    assert_int_equal(strncmp(resource_name(j.verdict.resource), "net-", 4), 0);
    release(&r, &j);
}

/* Between two hosts both ends explain one connection; a queue at the sender's interface decides. */
static void a_queue_at_the_sender_decides_between_two_ends(void **state) {
    (void)state;
    for (int queued = 0; queued < 2; queued++) {
        struct recording r;
        struct judged j;
        plant_hosts(&r, 2, 30);
        plant_process(&r, 0, "train", (struct plant_process){0, 0.3, 0, 0});
        plant_process(&r, 1, "train", (struct plant_process){1, 0.3, 0, 0});
        plant_flow(&r, 0, 1, 0.6, 50);
        plant_flow(&r, 1, 0, 0.04, 5000);
        backlog_now = queued ? 50e3 : 0;
        plant(&r, RECORDING_QDISC, 0, "eth0 tbf 1:", 0.1, 1u << QDISC_BACKLOG | 1u << QDISC_RATE,
              qdisc_value);
        judge(&r, &j);
        expect(&j, queued ? "net-egress" : "net-ingress", "path-limited", queued ? 0 : 1);
        release(&r, &j);
    }
}

/* Acknowledged late, since the receiver has no core: data are under way as long, but arrive at full
 * speed.
 */
static void a_receiver_without_a_core_is_no_network(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_hosts(&r, 2, 30);
    plant_process(&r, 0, "train", (struct plant_process){0, 0.3, 0, 0});
    plant_process(&r, 1, "train", (struct plant_process){1, 0.3, 0, 0});
    plant_flow(&r, 0, 1, 0.8, 4000);
    plant_flow(&r, 1, 0, 0.04, 4000);
    judge(&r, &j);
    assert_int_equal(j.candidates.n, 0);
    assert_true(any_says(&j.words.ruled_out, "no connection was limited by its path (2 routes"));
    release(&r, &j);
}

static void addresses_of_nobody_are_left_out(void **state) {
    static const char *const names[] = {"",
                                        ">",
                                        "10.0.0.1",
                                        "10.0.0.1:5>",
                                        "[::1]:5>[::1]:6",
                                        "127.0.0.1:1>127.0.0.1:2",
                                        "10.0.0.1:5>192.0.2.9:80"};
    struct recording r;
    struct judged j;
    (void)state;
    plant_hosts(&r, 2, 10);
    connection_now.busy = 0.6;
    connection_now.rate_mb_s = 50;
    connection_now.mb_s = 30;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        plant(&r, RECORDING_CONNECTION, 0, names[i], 0.1, CONNECTION_LEVELS, connection_value);
    judge(&r, &j);
    assert_int_equal(j.candidates.n, 0);
    release(&r, &j);
}

/* ---- confidence ---- */

static void the_table_of_confidences_never_turns_back(void **state) {
    double last = 0;
    (void)state;
    for (int i = 0; i <= 100; i++) {
        double right = verdict_calibrated(i / 100.0);
        assert_true(right >= last && right <= 1);
        last = right;
    }
    assert_true(verdict_calibrated(0) >= 0 && verdict_calibrated(2) <= 1);
}

static double confidence_of_lockstep(int finalized, double work) {
    struct recording r;
    struct judged j;
    plant_lockstep(&r, 3, (struct trouble){.work = work});
    finalize(&r, finalized);
    judge(&r, &j);
    double confidence = j.verdict.confidence;
    release(&r, &j);
    return confidence;
}

static void nothing_is_said_to_be_certain(void **state) {
    (void)state;
    for (double work = 1; work < 4; work += 1)
        assert_true(confidence_of_lockstep(3, work) <= number_CONFIDENCE_MAX.usual);
    assert_true(number_CONFIDENCE_MAX.usual < 1);
}

static void a_rank_that_did_not_come_to_its_end_makes_less_sure(void **state) {
    (void)state;
    assert_true(confidence_of_lockstep(2, 1.5) < 0.85 * confidence_of_lockstep(3, 1.5));
}

/* As if `times` as many samples were asked for as there are; step_ns: rows are joined to that. */
static double confidence_of_samples(int times, int64_t step_ns) {
    struct recording r;
    struct judged j;
    plant_lockstep(&r, 3, (struct trouble){.work = 1.5});
    finalize(&r, 3);
    r.tables[RECORDING_CPU].step_ns = step_ns;
    r.period_ns /= times;
    judge(&r, &j);
    double sure = j.verdict.confidence;
    release(&r, &j);
    return sure;
}

static void samples_that_are_missing_make_less_sure(void **state) {
    (void)state;
    assert_true(confidence_of_samples(2, 0) < 0.6 * confidence_of_samples(1, 0));
}

static void rows_that_are_joined_are_not_missing(void **state) {
    (void)state;
    assert_true(confidence_of_samples(10, 100 * MS) > 0.99 * confidence_of_samples(1, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_suffer_alike_only_from_the_same),
        cmocka_unit_test(ranks_that_compute_alike_are_balanced),
        cmocka_unit_test(ranks_that_spin_in_turn_have_not_filled_their_cores),
        cmocka_unit_test(more_work_on_one_rank_is_imbalance),
        cmocka_unit_test(a_rank_that_is_only_away_has_no_more_work),
        cmocka_unit_test(a_rank_that_sleeps_is_its_program_s_doing),
        cmocka_unit_test(waiting_for_a_core_is_contention_not_more_work),
        cmocka_unit_test(a_small_program_beside_the_job_is_named_and_not_blamed),
        cmocka_unit_test(a_hog_outside_the_host_s_control_group_is_outside),
        cmocka_unit_test(a_short_run_on_a_crowded_host_waits_for_cores),
        cmocka_unit_test(hosts_that_all_lack_cores_are_all_meant),
        cmocka_unit_test(all_hosts_are_those_of_the_job),
        cmocka_unit_test(a_quota_that_holds_up_one_sided_accesses_gains_its_part_of_the_path),
        cmocka_unit_test(what_a_group_is_throttled_is_its_quota),
        cmocka_unit_test(a_spinning_rank_that_is_put_aside_is_harmless),
        cmocka_unit_test(a_cause_that_held_for_a_while_is_given_its_time),
        cmocka_unit_test(a_verdict_is_the_same_each_time),
        cmocka_unit_test(the_side_that_explains_the_set_is_named),
        cmocka_unit_test(data_between_hosts_that_lack_the_same_cores_accuse_no_link),
        cmocka_unit_test(a_link_that_a_replay_speaks_for_stays_named),
        cmocka_unit_test(a_route_held_up_in_part_counts_in_part),
        cmocka_unit_test(a_sender_that_is_full_needs_no_argument_by_sets),
        cmocka_unit_test(a_queue_that_makes_round_trips_longer_needs_no_argument_by_sets),
        cmocka_unit_test(the_way_with_the_better_evidence_comes_first),
        cmocka_unit_test(a_link_slow_both_ways_is_its_host_s),
        cmocka_unit_test(a_queue_at_the_sender_decides_between_two_ends),
        cmocka_unit_test(a_receiver_without_a_core_is_no_network),
        cmocka_unit_test(addresses_of_nobody_are_left_out),
        cmocka_unit_test(the_table_of_confidences_never_turns_back),
        cmocka_unit_test(nothing_is_said_to_be_certain),
        cmocka_unit_test(a_rank_that_did_not_come_to_its_end_makes_less_sure),
        cmocka_unit_test(samples_that_are_missing_make_less_sure),
        cmocka_unit_test(rows_that_are_joined_are_not_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
