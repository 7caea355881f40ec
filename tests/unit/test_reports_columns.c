/* SPDX-License-Identifier: MIT */
/*
 * Every column of every exported table shows its own field: records whose values all differ, and
 * the expected table of each. Quotes in the expected JSON are written as '.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>

#include "common/clock.h"
#include "common/error.h"
#include "reports/facts/changes.h"
#include "reports/formats/formats.h"
#include "reports/live/live.h"
#include "reports/sections/sections.h"
#include "tests/unit/golden.h"
#include "tests/unit/own_remark.h"
#include "tests/unit/plant.h"

#define T(text) ((char *)(text))

static struct report_host hosts[] = {{.name = T("vm1"),
                                      .n_cpus = 2,
                                      .samples_expected = 103,
                                      .samples_recorded = 104,
                                      .samples_missed = 105,
                                      .calls_missing = 115,
                                      .marks_missing = 116,
                                      .samples_duplicate = 106,
                                      .gaps = 107,
                                      .clock_offset_s = 0.108,
                                      .clock_drift_ppm = 109,
                                      .clock_error_s = 0.11,
                                      .beat_us = 111},
                                     {.name = T("vm2"),
                                      .n_cpus = 3,
                                      .samples_expected = 203,
                                      .samples_recorded = 204,
                                      .samples_missed = 205,
                                      .calls_missing = 215,
                                      .marks_missing = 216,
                                      .samples_duplicate = 206,
                                      .gaps = 207,
                                      .clock_offset_s = 0.208,
                                      .clock_drift_ppm = 209,
                                      .clock_error_s = 0.21,
                                      .beat_us = 211,
                                      .missing = true},
                                     {.name = T("vm3"), .n_cpus = 4}};

/* The run model that sections read beside the report. */
static struct window whole = {0, 50 * S};
static struct phase_group groups[] = {{.name = "all", .items = &whole, .n = 1},
                                      {.name = "training", .items = &whole, .n = 1}};
static struct model_host model_hosts[] = {{.name = "vm1"}, {.name = "vm2"}, {.name = "vm3"}};
static struct reported run = {.model = {.recording = &run.input.recording,
                                        .hosts = model_hosts,
                                        .n_hosts = 3,
                                        .groups = groups,
                                        .n_groups = 2}};
static struct report_resources named[] = {{.phase = T("all")}, {.phase = T("training")}};

static struct report report = {.run = &run,
                               .hosts = hosts,
                               .n_hosts = 3,
                               .duration_s = 50,
                               .period_s = 0.1,
                               .resources = named};

static int set_up(void **state) {
    (void)state;
    plant_init(&run.input.recording, 3, 50);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    recording_release(&run.input.recording);
    return 0;
}

/* A row of a table, at the end of the run. */
/* Each row is one of another instance. */
static void add_row(enum recording_table table, int host, const char *name, const int64_t *values) {
    struct series_set *set = &run.input.recording.tables[table];
    assert_int_equal(
        series_set_append(set, host, 1 + (int64_t)set->n, name, 40 * S, 10 * S, values), 0);
}

static char *written(const struct format *format, report_section *section) {
    char *text = NULL;
    size_t size;
    struct page page;
    FILE *out = open_memstream(&text, &size);
    page_begin(&page, format, out, "x/1", "test");
    section(&report, &page);
    assert_int_equal(page_end(&page), 0);
    fclose(out);
    return text;
}

static bool are_near(const json_t *a, const json_t *b) {
    double x = json_number_value(a), y = json_number_value(b);
    return json_is_number(a) && json_is_number(b) && fabs(x - y) <= 1e-6 * fabs(y);
}

/* All expected members, and no others. */
static void expect_equal(const json_t *is, const json_t *should, const char *where) {
    const char *key;
    json_t *member;
    size_t i;
    char at[256];
    assert_int_equal(json_object_size(is), json_object_size(should));
    assert_int_equal(json_array_size(is), json_array_size(should));
    json_object_foreach((json_t *)should, key, member) {
        snprintf(at, sizeof at, "%.200s.%.50s", where, key);
        expect_equal(json_object_get(is, key), member, at);
    }
    json_array_foreach((json_t *)should, i, member) {
        snprintf(at, sizeof at, "%.200s[%zu]", where, i);
        expect_equal(json_array_get(is, i), member, at);
    }
    if (json_is_object(should) || json_is_array(should))
        return;
    if (!json_equal((json_t *)is, (json_t *)should) && !are_near(is, should)) {
        char *seen = is ? json_dumps(is, JSON_ENCODE_ANY) : NULL;
        fail_msg("%s is %s", where, seen ? seen : "missing");
    }
}

/* A member of the document, by its name. */
static void expect_in(const char *text, const char *name, const char *json) {
    char *expected = strdup(json);
    for (char *p = expected; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    json_error_t error;
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    json_t *should = json_loads(expected, JSON_DECODE_ANY, &error);
    if (!document || !should)
        fail_msg("%s: %s", name, error.text);
    json_t *is = document;
    for (const char *part = name; *part; part += strcspn(part, ".") + (strchr(part, '.') != NULL)) {
        char key[64];
        snprintf(key, sizeof key, "%.*s", (int)strcspn(part, "."), part);
        is = json_object_get(is, key);
    }
    expect_equal(is, should, name);
    json_decref(document);
    json_decref(should);
    free(expected);
}

static void expect(report_section *section, const char *name, const char *json) {
    char *text = written(&format_json, section);
    expect_in(text, name, json);
    free(text);
}

/* ---- traffic ---- */

static struct report_route routes[] = {
    {.from = 1, .to = 2, .bytes = 3e6, .mean_mb_s = 4, .peak_mb_s = 5, .share_pct = 6},
    {.from = 2, .to = 0, .bytes = 7e6, .mean_mb_s = 8, .peak_mb_s = 9, .share_pct = 10}};

static void traffic_of_pairs(void **state) {
    (void)state;
    report.routes = routes;
    report.n_routes = report.n_routes_all = 2;
    expect(section_pairs, "pairs",
           "[{'from':'vm2','to':'vm3','bytes':3e6,'mean_mb_s':4,'peak_mb_s':5,'share_pct':6},"
           "{'from':'vm3','to':'vm1','bytes':7e6,'mean_mb_s':8,'peak_mb_s':9,'share_pct':10}]");
}

static void the_argument_by_arithmetic(void **state) {
    static struct arithmetic arithmetic = {.host = 1,
                                           .direction = METRIC_NET_RECV,
                                           .group = 1,
                                           .bytes_per_iteration = 2e6,
                                           .bandwidth_mb_s = 3,
                                           .known = ARITHMETIC_MEASURED,
                                           .bound_s = 4,
                                           .iteration_s = 5,
                                           .share = .06};
    (void)state;
    run.judgement.candidates.arithmetic = &arithmetic;
    run.judgement.candidates.n_arithmetic = 1;
    expect(section_arithmetic, "arithmetic",
           "[{'host':'vm2','direction':'receive','phase':'training','bytes_per_iteration':2e6,"
           "'bandwidth_mb_s':3,'rate':'measured','bound_s':4,'iteration_s':5,'share_pct':6,"
           "'calibrated':true}]");
}

/* ---- time ---- */

static void waits_of_processes(void **state) {
    static struct budget budgets[2] = {[1] = {.wall_s = 75}};
    static struct rank_budget items[] = {{.host = 0, .process = "client[1]", .groups = budgets},
                                         {.host = 2, .process = "server[2]", .groups = budgets}};
    static struct process_wait waits[] = {
        {.who = 0, .whom = 1, .kind = WAIT_KIND_LOCK, .seconds = 3}};
    (void)state;
    run.model.main_group = 1;
    run.model.budgets = (struct rank_budgets){.items = items, .n = 2, .waits = waits, .n_waits = 1};
    expect(section_waits, "waits",
           "[{'host':'vm1','process':'client[1]','share_pct':4,'seconds':3,'what':'lock',"
           "'whom':'server[2]','whom_host':'vm3'}]");
}

static void parts_of_the_critical_path(void **state) {
    static double seconds[3 * BUDGET_TERMS], transfers[4 * 4];
    static struct critical_part parts[] = {
        {.total_s = 0}, {.seconds = seconds, .transfers = transfers, .total_s = 75}};
    (void)state;
    seconds[1 * BUDGET_TERMS + BUDGET_TRANSFER] = transfers[1 * 4 + 2] = 3;
    run.model.critical = (struct critical_path){
        .source = CRITICAL_FROM_EVENTS, .n_hosts = 3, .groups = parts, .n_groups = 2};
    expect(section_critical_path, "critical_path",
           "[{'phase':'training','host':'vm2','term':'transfer','to_host':'vm3','seconds':3,"
           "'share_pct':4,'source':'events'}]");
}

static struct report_efficiency efficiency[] = {{.phase = T("training"),
                                                 .n_ranks = 2,
                                                 .elapsed_s = 3,
                                                 .useful_mean_s = 4,
                                                 .useful_max_s = 5,
                                                 .longest_host = 1,
                                                 .longest_rank = 6,
                                                 .parallel_pct = 7,
                                                 .load_balance_pct = 8,
                                                 .communication_pct = 9,
                                                 .serialisation_pct = 10,
                                                 .transfer_pct = 11,
                                                 .computing_pct = 12,
                                                 .source = "replay"}};

static void ratios_of_efficiency(void **state) {
    (void)state;
    report.efficiency = efficiency;
    report.n_efficiency = 1;
    expect(section_efficiency, "efficiency",
           "[{'phase':'training','parallel_pct':7,'load_balance_pct':8,'communication_pct':9,"
           "'serialisation_pct':10,'transfer_pct':11,'computing_pct':12,'ranks':2,'elapsed_s':3,"
           "'useful_mean_s':4,'useful_max_s':5,'longest_host':'vm2','longest_rank':6,"
           "'transfer_source':'replay'}]");
}

static struct report_budget budgets[] = {{.host = 1,
                                          .rank = 2,
                                          .pid = 3,
                                          .process = "train[3]",
                                          .phase = T("training"),
                                          .wall_s = 100,
                                          .term_s = {[BUDGET_CPU] = 4,
                                                     [BUDGET_RUN_QUEUE] = 5,
                                                     [BUDGET_QUOTA] = 6,
                                                     [BUDGET_STEAL] = 7,
                                                     [BUDGET_DISK] = 8,
                                                     [BUDGET_MEMORY] = 9,
                                                     [BUDGET_STOPPED] = 10,
                                                     [BUDGET_IDLE] = 11,
                                                     [BUDGET_PEER_WAIT] = 12,
                                                     [BUDGET_TRANSFER] = 13,
                                                     [BUDGET_FILE] = 14,
                                                     [BUDGET_OVERHEAD] = 15,
                                                     [BUDGET_UNSPLIT] = 16},
                                          .unknown_s = 17,
                                          .other_cpu_s = 18,
                                          .closure_pct = 19,
                                          .trusted = true,
                                          .source = "events",
                                          .path_pct = 20,
                                          .receiver_pct = 21,
                                          .send_buffer_pct = 22,
                                          .awaited_host = 2,
                                          .awaited_rank = 23,
                                          .awaited_s = 24}};

static void time_of_ranks(void **state) {
    (void)state;
    report.budget = budgets;
    report.n_budget = 1;
    report.n_resources = 1;
    expect(section_budget, "budget",
           "[{'wall_s':100,'cpu_s':4,'runqueue_s':5,'quota_s':6,'steal_s':7,'disk_s':8,"
           "'memory_s':9,'stopped_s':10,'idle_s':11,'peer_wait_s':12,'transfer_s':13,'file_s':14,"
           "'mpi_overhead_s':15,'mpi_unsplit_s':16,'closure_pct':19,'host':'vm2','rank':2,"
           "'phase':'training','process':'train[3]','source':'events','trusted':true,"
           "'awaited_host':'vm3','awaited_rank':23,'unknown_s':17,'other_threads_cpu_s':18,"
           "'awaited_s':24,'path_limited_pct':20,'receiver_limited_pct':21,"
           "'send_buffer_limited_pct':22}]");
    report.n_resources = 0;
}

/* ---- ranks and processes ---- */

static struct report_rank ranks[] = {{.rank = 3,
                                      .host = 1,
                                      .role = T("worker"),
                                      .n = 3,
                                      .end_s = (double[]){2, 5, 9},
                                      .duration_s = (double[]){2, 3, 4},
                                      .median_s = 5,
                                      .p95_s = 6},
                                     {.rank = 7,
                                      .host = 2,
                                      .role = T("server"),
                                      .n = 2,
                                      .end_s = (double[]){6, 13},
                                      .duration_s = (double[]){6, 7},
                                      .median_s = 9,
                                      .p95_s = 10}};

/* Durations of all ranks are 2, 3, 4, 6 and 7 s; the slower rank did two iterations in 13 s. */
static void iterations_of_ranks(void **state) {
    (void)state;
    report.ranks = ranks;
    report.n_ranks = 2;
    run.model.iterations.source = ITERATION_CALLS;
    report.ranks_in_step = true;
    expect(section_iterations, "iterations.by_rank",
           "[{'rank':3,'host':'vm2','role':'worker','count':3,'median_s':5,'p95_s':6},"
           "{'rank':7,'host':'vm3','role':'server','count':2,'median_s':9,'p95_s':10}]");
    expect(section_iterations, "iterations.count", "3"); /* of one rank, since they are in step */
    expect(section_iterations, "iterations.per_s", "0.2307692308");
    expect(section_iterations, "iterations.median_s", "4");
    expect(section_iterations, "iterations.p95_s", "6.8");
    expect(section_iterations, "iterations.source", "'calls'");
    expect(section_iterations, "iterations.in_step", "true");
}

static struct report_role roles[] = {{.rank = 1,
                                      .host = 2,
                                      .role = T("worker"),
                                      .accuracy_pct = 3,
                                      .time_s = 4,
                                      .lived_s = 5,
                                      .cpu_s = 6,
                                      .cpu_pct = 7,
                                      .peak_memory_gb = 8,
                                      .received_mb = 9,
                                      .sent_mb = 10,
                                      .received_at_most = true,
                                      .bytes_source = "mpi"}};

static void use_of_ranks(void **state) {
    (void)state;
    report.roles = roles;
    report.n_roles = 1;
    expect(section_roles, "roles",
           "[{'rank':1,'host':'vm3','role':'worker','accuracy_pct':3,'time_s':4,'lived_s':5,"
           "'cpu_s':6,'cpu_pct':7,'peak_memory_gb':8,'received_mb':9,'sent_mb':10,"
           "'received_at_most':true,'bytes_source':'mpi'}]");
}

static void use_of_processes(void **state) {
    static struct model_process process = {.host = 1, .rank = 2, .job = true};
    (void)state;
    add_row(RECORDING_PROCESS, 1, "train[5]",
            (int64_t[RECORDING_COLUMNS_MAX]){[PROCESS_PID] = 5,
                                             [PROCESS_RSS] = 4 * S,
                                             [PROCESS_USER] = 1500 * MS,
                                             [PROCESS_RUN_QUEUE] = 2500 * MS,
                                             [PROCESS_READ] = 300 * MS,
                                             [PROCESS_WRITE] = 350 * MS});
    add_row(RECORDING_CONNECTION, 1, "10.0.0.2:6000>10.0.0.3:7000",
            (int64_t[RECORDING_COLUMNS_MAX]){[CONNECTION_PID] = 5,
                                             [CONNECTION_RECEIVE_BYTES] = 400 * MS,
                                             [CONNECTION_SEND_BYTES] = 450 * MS});
    process.series = &run.input.recording.tables[RECORDING_PROCESS].items[0];
    run.model.processes = &process;
    run.model.n_processes = 1;
    struct rank_budgets waiting = run.model.budgets;
    run.model.budgets = (struct rank_budgets){0}; /* else it would have to be one of them */
    expect(section_processes, "processes",
           "[{'host':'vm2','process':'train[5]','rank':2,'job':true,'cpu_pct':3,"
           "'run_queue_pct':5,'rss_gb':4,'read_mb_s':6,'write_mb_s':7,'received_mb_s':8,"
           "'sent_mb_s':9}]");
    run.model.budgets = waiting;
}

static struct report_operator operators[] = {{.name = T("gradient"),
                                              .role = T("worker"),
                                              .n_ranks = 2,
                                              .calls = 3,
                                              .output_bytes = 4e6,
                                              .total_s = 5,
                                              .mean_s = 6,
                                              .p95_s = 7,
                                              .longest_s = 8,
                                              .share_pct = 9}};

static void operators_of_ranks(void **state) {
    (void)state;
    report.operators = operators;
    report.n_operators = 1;
    expect(section_operators, "operators",
           "[{'name':'gradient','role':'worker','ranks':2,'calls':3,'output_bytes':4e6,"
           "'total_s':5,'mean_s':6,'p95_s':7,'longest_s':8,'share_pct':9}]");
}

static void the_iteration_of_median_length(void **state) {
    static struct report_bar bars[] = {
        {.host = 2, .rank = 5, .name = T("gradient"), .start_s = 6, .end_s = 7}};
    (void)state;
    report.timeline = (struct report_timeline){.host = 1,
                                               .rank = 2,
                                               .number = 3,
                                               .start_s = 4,
                                               .duration_s = 5,
                                               .bars = bars,
                                               .n_bars = 1,
                                               .n_bars_left_out = 8};
    expect(section_operators, "timeline",
           "{'rank':2,'host':'vm2','number':3,'start_s':4,'duration_s':5,'bars_left_out':8,"
           "'bars':[{'rank':5,'host':'vm3','operator':'gradient','start_s':6,'end_s':7}]}");
}

static void stragglers_and_causes(void **state) {
    static struct remark evidence[2];
    static struct straggler straggler; /* readers_see_the_same() sees it again */
    (void)state;
    evidence[0].kind = remark_named("QUOTA_USED_UP");
    evidence[1].kind = &remark_LINK;
    straggler = (struct straggler){.host = 1,
                                   .rank = 2,
                                   .kind = "onset",
                                   .slowdown = 3,
                                   .flagged = .04,
                                   .explained = .05,
                                   .severity = 6,
                                   .severity_max = 7,
                                   .cause = {.kind = remark_named("CONTENTION_WITH_MANY")},
                                   .cause_kind = CAUSE_CONTENTION,
                                   .culprit = "hog",
                                   .culprit_pid = 8,
                                   .evidence = {.items = evidence, .n = 2}};
    run.judgement.stragglers = (struct stragglers){.items = &straggler, .n = 1};
    expect(section_stragglers, "stragglers",
           "[{'rank':2,'host':'vm2','kind':'onset','slowdown':3,'iterations_pct':4,"
           "'cause':'contention with other programs','explained_pct':5,"
           "'evidence':['its control group has used up its share of CPU','link'],"
           "'severity':6,'severity_max':7,'cause_kind':'contention',"
           "'culprit':{'process':'hog','pid':8,'host':'vm2'}}]");
}

/* ---- hosts ---- */

/* values[host][metric] are 100 * host + metric, and .1 and .2 more. */
static void use_of_hosts(void **state) {
    static struct report_value values[3 * METRIC_COUNT_];
    static double ceilings[3 * METRIC_COUNT_];
    static struct report_resources resources[] = {
        {.phase = T("all"), .duration_s = 50, .values = values}};
    static char json[1 << 16];
    size_t n = 0;
    (void)state;
    for (int h = 0; h < 3; h++)
        for (int m = 0; m < METRIC_COUNT_; m++) {
            double x = 100 * h + m;
            values[h * METRIC_COUNT_ + m] = (struct report_value){x, x + .1, x + .2};
            ceilings[h * METRIC_COUNT_ + m] = x + .3;
            n += (size_t)snprintf(json + n, sizeof json - n,
                                  "%c{'host':'vm%d','phase':'all','metric':'%s','unit':'%s',"
                                  "'mean':%.1f,'p95':%.1f,'peak':%.1f,'ceiling':%.1f}",
                                  n ? ',' : '[', h + 1, metric_name(m), metric_unit(m), x, x + .1,
                                  x + .2, x + .3);
        }
    strcpy(json + n, "]");
    report.resources = resources;
    report.n_resources = 1;
    report.metric_ceilings = ceilings;
    expect(section_resources, "resources", json);
    report.metric_ceilings = NULL;
    report.resources = named;
    report.n_resources = 0;
}

/* Ten seconds of one GPU that tells all, and one of another maker that tells its power. */
static void use_of_gpus(void **state) {
    int64_t values[RECORDING_COLUMNS_MAX], facts[RECORDING_COLUMNS_MAX];
    (void)state;
    for (size_t c = 0; c < RECORDING_COLUMNS_MAX; c++)
        values[c] = facts[c] = VALUE_ABSENT;
    values[GPU_WATTS] = 50 * S;
    add_row(RECORDING_GPU, 1, "card1", values);
    values[GPU_BUSY] = 9 * S;
    values[GPU_SM] = 8 * S;
    values[GPU_TENSOR] = 7 * S;
    values[GPU_DRAM] = 6 * S;
    values[GPU_PCIE_RECEIVE] = 50000000;
    values[GPU_PCIE_SEND] = 40000000;
    values[GPU_MEMORY_USED] = 30 * S;
    values[GPU_WATTS] = 200 * S;
    values[GPU_CLOCK_REASONS] = 4;
    values[GPU_XIDS] = 2;
    add_row(RECORDING_GPU, 0, "gpu0", values);
    facts[GPU_DEVICE_MEMORY] = 40 * S;
    facts[GPU_DEVICE_WATTS_LIMIT] = 300 * S;
    add_row(RECORDING_GPU_DEVICE, 0, "gpu0 NVIDIA H200 GPU-1a driver 5", facts);
    expect(section_gpus, "gpus",
           "[{'host':'vm1','gpu':'gpu0','model':'NVIDIA H200','busy_pct':90,'sm_pct':80,"
           "'tensor_pct':70,'dram_pct':60,'pcie_to_mb_s':5,'pcie_from_mb_s':4,"
           "'memory_peak_gb':30,'memory_gb':40,'watts':200,'watts_limit':300,'joules':10000,"
           "'power_cap_pct':100,'heat_cap_pct':0,'xids':2},"
           "{'host':'vm2','gpu':'card1','model':null,'busy_pct':null,'sm_pct':null,"
           "'tensor_pct':null,'dram_pct':null,'pcie_to_mb_s':null,'pcie_from_mb_s':null,"
           "'memory_peak_gb':null,'memory_gb':null,'watts':50,'watts_limit':null,'joules':2500,"
           "'power_cap_pct':null,'heat_cap_pct':null,'xids':null}]");
}

static void quality_of_the_recording(void **state) {
    static char *notes[] = {T("one"), T("two")};
    (void)state;
    report.quality.notes = notes;
    report.quality.n_notes = 2;
    report.quality.grade = 'B';
    expect(section_quality, "quality", "{'grade':'B','notes':['one','two']}");
}

static void the_run_and_its_hosts(void **state) {
    static struct store_comment said = {.text = T("said")};
    (void)state;
    run.input.comments = &said;
    run.input.n_comments = 1;
    report.run_id = report.caller.run = 1;
    report.run_name = T("sync");
    report.command = T("./train");
    report.state = T("failed");
    report.exit_status = 3;
    report.started_wall_ns = 1700000000 * NS_PER_S;
    expect(section_run, "run",
           "{'id':1,'name':'sync','command':'./train','state':'failed','exit_status':3,"
           "'started_at':'2023-11-14T22:13:20.000Z','duration_s':50,'period_s':0.1,"
           "'samples':{'expected':306,'recorded':308,'missed':310,'duplicate':312},"
           "'hosts':['vm1','vm2','vm3'],'notes':['said'],"
           "'host_details':[{'name':'vm1','cores':2,'missing':false,'samples':{'recorded':104,"
           "'expected':103,'missed':105,'duplicate':106},'calls_missing':115,'marks_missing':116,'"
           "gaps':107,'clock_offset_s':0.108,"
           "'clock_drift_ppm':109,'clock_error_s':0.11,'beat_us':111},"
           "{'name':'vm2','cores':3,'missing':true,'samples':{'recorded':204,'expected':203,"
           "'missed':205,'duplicate':206},'calls_missing':215,'marks_missing':216,'gaps':207,'"
           "clock_offset_s':0.208,"
           "'clock_drift_ppm':209,'clock_error_s':0.21,'beat_us':211},"
           "{'name':'vm3','cores':4,'missing':false,'samples':{'recorded':0,'expected':0,"
           "'missed':0,'duplicate':0},'calls_missing':0,'marks_missing':0,'gaps':0,'clock_offset_s'"
           ":0,'clock_drift_ppm':0,"
           "'clock_error_s':0,'beat_us':0}]}");
}

static void phases_of_the_run(void **state) {
    static struct report_phase phases[] = {
        {.name = T("training"), .start_s = 1, .end_s = 2, .source = "detected"}};
    (void)state;
    report.phases = phases;
    report.n_phases = 1;
    expect(section_phases, "phases",
           "[{'name':'training','start_s':1,'end_s':2,'source':'detected'}]");
}

static void load_of_hosts(void **state) {
    (void)state;
    add_row(RECORDING_LOAD, 1, "load",
            (int64_t[]){[LOAD_1] = 2 * S,
                        [LOAD_5] = 3 * S,
                        [LOAD_15] = 4 * S,
                        [LOAD_UPTIME] = 5 * S,
                        [LOAD_RUNNING] = 6,
                        [LOAD_SLEEPING] = 7,
                        [LOAD_WAITING] = 8,
                        [LOAD_STOPPED] = 9,
                        [LOAD_ZOMBIE] = 10,
                        [LOAD_OTHER] = 11});
    expect(section_loads, "loads",
           "[{'host':'vm2','load_1':2,'load_5':3,'load_15':4,'running':6,'sleeping':7,'waiting':8,"
           "'stopped':9,'zombie':10,'other':11,'uptime_s':5}]");
}

static void file_systems_and_exports(void **state) {
    (void)state;
    add_row(
        RECORDING_FILESYSTEM, 1, "/home",
        (int64_t[]){
            [FILESYSTEM_SIZE] = 10 * S, [FILESYSTEM_FREE] = 4 * S, [FILESYSTEM_AVAILABLE] = 2 * S});
    add_row(RECORDING_NFS, 2, "nas:/data READ",
            (int64_t[]){[NFS_OPERATIONS] = 2,
                        [NFS_RETRANSMISSIONS] = 4,
                        [NFS_SEND_BYTES] = 6000000,
                        [NFS_RECEIVE_BYTES] = 5000000,
                        [NFS_QUEUE] = 14 * MS,
                        [NFS_RTT] = 16 * MS,
                        [NFS_EXECUTE] = 18 * MS});
    expect(section_filesystems, "filesystems",
           "[{'host':'vm2','mount':'/home','size_gb':10,'used_gb':6,'available_gb':2,"
           "'used_pct':75}]");
    expect(section_exports, "exports",
           "[{'host':'vm3','export':'nas:/data','calls':2,'execute_ms':9,'rtt_ms':8,'queue_ms':7,"
           "'receive_mb':5,'send_mb':6,'retransmissions':4}]");
}

static void calls_to_lustre(void **state) {
    (void)state;
    add_row(
        RECORDING_LUSTRE, 2, "scratch read",
        (int64_t[]){[LUSTRE_OPERATIONS] = 3, [LUSTRE_BYTES] = 5000000, [LUSTRE_TIME] = 18 * MS});
    add_row(RECORDING_LUSTRE, 2, "scratch write",
            (int64_t[]){[LUSTRE_OPERATIONS] = 1, [LUSTRE_BYTES] = 6000000, [LUSTRE_TIME] = 2 * MS});
    add_row(RECORDING_LUSTRE_TARGET, 2, "scratch-OST0001",
            (int64_t[]){[LUSTRE_TARGET_REQUESTS] = 2,
                        [LUSTRE_TARGET_WAIT] = 12 * MS,
                        [LUSTRE_TARGET_CONNECTED] = 0});
    add_row(RECORDING_LUSTRE_TARGET, 2, "scratch-MDT0000",
            (int64_t[]){[LUSTRE_TARGET_REQUESTS] = 6,
                        [LUSTRE_TARGET_WAIT] = 4 * MS,
                        [LUSTRE_TARGET_CONNECTED] = 1});
    add_row(RECORDING_LUSTRE_TARGET, 2, "scratch2-OST0001", /* of another file system */
            (int64_t[]){[LUSTRE_TARGET_REQUESTS] = 2,
                        [LUSTRE_TARGET_WAIT] = 99 * MS,
                        [LUSTRE_TARGET_CONNECTED] = 1});
    add_row(
        RECORDING_LUSTRE, 1, "home open",
        (int64_t[]){
            [LUSTRE_OPERATIONS] = 7, [LUSTRE_BYTES] = VALUE_ABSENT, [LUSTRE_TIME] = VALUE_ABSENT});
    expect(section_lustre, "lustre",
           "[{'host':'vm2','filesystem':'home','calls':7,'call_ms':null,'read_mb':0,'written_mb':0,"
           "'requests':null,'request_ms':null,'slowest':null,'slowest_pct':null,'lost':null},"
           "{'host':'vm3','filesystem':'scratch','calls':4,'call_ms':5,'read_mb':5,'written_mb':6,"
           "'requests':8,'request_ms':2,'slowest':'scratch-OST0001','slowest_pct':75,'lost':1}]");
}

static void servers_of_beegfs(void **state) {
    (void)state;
    add_row(RECORDING_BEEGFS, 1, "storage storage01",
            (int64_t[]){[BEEGFS_TCP] = 2,
                        [BEEGFS_RDMA] = 4,
                        [BEEGFS_FALLBACK] = 1,
                        [BEEGFS_TARGETS] = 3,
                        [BEEGFS_OFFLINE] = 1});
    expect(section_beegfs, "beegfs",
           "[{'host':'vm2','server':'storage01','kind':'storage','rdma':4,'tcp':2,'fallback':1,"
           "'targets':3,'offline':1}]");
}

static void ports_of_fabrics(void **state) {
    (void)state;
    add_row(RECORDING_FABRIC, 1, "mlx5_1/1",
            (int64_t[]){[FABRIC_SEND_BYTES] = 50000 * MS,
                        [FABRIC_RECEIVE_BYTES] = 25000 * MS,
                        [FABRIC_SPEED] = 12500 * MS,
                        [FABRIC_SEND_WAITS] = 700,
                        [FABRIC_LINK] = 2,
                        [FABRIC_STATE] = 4,
                        [FABRIC_DISCARDS] = 1,
                        [FABRIC_ERRORS] = 2,
                        [FABRIC_LATE] = 3,
                        [FABRIC_CONGESTED] = 4});
    expect(section_fabric, "fabric",
           "[{'host':'vm2','port':'mlx5_1/1','link':'RoCE','rate_gbit_s':100,'sent_mb_s':5000,"
           "'sent_pct':40,'received_mb_s':2500,'received_pct':20,'waits_per_s':70,'discards':1,"
           "'errors':2,'out_of_sequence':3,'congested':4}]");
}

static void energy_and_traffic_of_memory(void **state) {
    (void)state;
    add_row(RECORDING_ENERGY, 1, "package-0", (int64_t[]){[ENERGY_JOULES] = 30 * S});
    add_row(RECORDING_ENERGY, 1, "package-0 core", (int64_t[]){[ENERGY_JOULES] = 20 * S});
    add_row(RECORDING_ENERGY, 1, "package-0 dram", (int64_t[]){[ENERGY_JOULES] = 10 * S});
    add_row(RECORDING_ENERGY, 1, "psys", (int64_t[]){[ENERGY_JOULES] = 90 * S});
    add_row(RECORDING_BANDWIDTH, 1, "L3_00",
            (int64_t[]){[BANDWIDTH_TOTAL] = 4 * S, [BANDWIDTH_LOCAL] = 3 * S});
    add_row(RECORDING_BANDWIDTH, 1, "L3_01",
            (int64_t[]){[BANDWIDTH_TOTAL] = 4 * S, [BANDWIDTH_LOCAL] = S});
    expect(section_energy, "energy",
           "[{'host':'vm2','package_j':30,'memory_j':10,'mean_w':4,'iteration_j':13.33333333,'"
           "moved_gb':8,"
           "'moved_gb_per_s':0.8,'local_pct':50}]");
}

static void kernels_of_gpus(void **state) {
    (void)state;
    add_row(RECORDING_GPU_BURST, 1, "0[77]",
            (int64_t[]){[GPU_BURST_WATCHED] = S / 2,
                        [GPU_BURST_KERNEL] = S / 4,
                        [GPU_BURST_COPY] = S / 5,
                        [GPU_BURST_BOTH] = S / 10,
                        [GPU_BURST_KERNELS] = 4,
                        [GPU_BURST_COPIES] = 2,
                        [GPU_BURST_COPIED] = 6000000,
                        [GPU_BURST_STREAMS] = 2});
    add_row(RECORDING_GPU_KERNEL, 1, "pool[77]",
            (int64_t[]){[GPU_KERNEL_LAUNCHES] = 2, [GPU_KERNEL_BUSY] = 60000});
    add_row(RECORDING_GPU_KERNEL, 1, "pool[78]",
            (int64_t[]){[GPU_KERNEL_LAUNCHES] = 2, [GPU_KERNEL_BUSY] = 20000});
    add_row(RECORDING_GPU_KERNEL, 1, "gemm[77]",
            (int64_t[]){[GPU_KERNEL_LAUNCHES] = 1, [GPU_KERNEL_BUSY] = 20000});
    expect(section_gpu_bursts, "gpu_bursts",
           "[{'host':'vm2','pid':77,'gpu':'0','seconds':0.5,'kernel_pct':50,'copy_pct':40,"
           "'hidden_pct':50,'kernels_per_s':8,'copied_mb_per_s':12}]");
    expect(section_gpu_kernels, "gpu_kernels",
           "[{'host':'vm2','kernel':'pool','share_pct':80,'launches':4,'mean_us':20},"
           "{'host':'vm2','kernel':'gemm','share_pct':20,'launches':1,'mean_us':20}]");
}

static void alerts_of_hosts(void **state) {
    struct rate *busy = &model_hosts[2].metrics[METRIC_DISK_BUSY];
    (void)state;
    assert_int_equal(rate_init(busy, 4, 1), 0);
    for (size_t i = 0; i < 4; i++) {
        busy->t_ns[i] = (int64_t)(4 + i) * S;
        busy->dt_ns[i] = S;
        busy->base[i] = (double)S;
        busy->amount[i] = 95e9;
    }
    expect(section_alerts, "alerts",
           "[{'duration_s':4,'resource':'DISK','peak':95,'unit':'%','host':'vm3','start_s':3,"
           "'level':'critical'}]");
}

/* ---- what limits the run ---- */

static void the_verdict(void **state) {
    (void)state;
    report.verdict = (struct report_verdict){.state = VERDICT_SATURATED,
                                             .subject = "host",
                                             .host = 1,
                                             .rank = 2,
                                             .resource = T("cpu"),
                                             .cause = T("shared"),
                                             .cause_kind = "contention",
                                             .culprit = T("hog"),
                                             .culprit_pid = 3,
                                             .start_s = 4,
                                             .end_s = 5,
                                             .confidence = .6,
                                             .confidence_computed = .7,
                                             .gain_pct = 8,
                                             .gain_low_pct = 9,
                                             .gain_high_pct = 10,
                                             .gain_source = "replay",
                                             .summary = T("a summary"),
                                             .limit = T("a limit"),
                                             .worth = T("a worth"),
                                             .evidence = (char *[]){T("e")},
                                             .n_evidence = 1,
                                             .against = (char *[]){T("a"), T("b")},
                                             .n_against = 2,
                                             .ruled_out = (char *[]){T("r")},
                                             .n_ruled_out = 1,
                                             .next = (char *[]){T("n")},
                                             .n_next = 1};
    expect(section_verdict, "verdict.gain_pct",
           "{'source':'replay','estimate':8,'low':9,'high':10}");
    expect(section_verdict, "verdict.culprit", "{'process':'hog','pid':3,'host':'vm2'}");
    static const char *const members[][2] = {{"verdict.state", "'saturated'"},
                                             {"verdict.subject", "'host'"},
                                             {"verdict.host", "'vm2'"},
                                             {"verdict.rank", "2"},
                                             {"verdict.resource", "'cpu'"},
                                             {"verdict.cause", "'shared'"},
                                             {"verdict.cause_kind", "'contention'"},
                                             {"verdict.start_s", "4"},
                                             {"verdict.end_s", "5"},
                                             {"verdict.confidence", "0.6"},
                                             {"verdict.confidence_computed", "0.7"},
                                             {"verdict.limit", "'a limit'"},
                                             {"verdict.summary", "'a summary'"},
                                             {"verdict.evidence", "['e']"},
                                             {"verdict.against", "['a','b']"},
                                             {"verdict.ruled_out", "['r']"},
                                             {"verdict.next", "['n']"}};
    for (size_t i = 0; i < ARRAY_SIZE(members); i++)
        expect(section_verdict, members[i][0], members[i][1]);
}

static void the_verdict_of_each_phase(void **state) {
    struct verdict_phase phase = {.group = 1,
                                  .state = VERDICT_SUSPECTED,
                                  .host = 1,
                                  .rank = 2,
                                  .resource = RESOURCE_DISK,
                                  .kind = CAUSE_THROTTLE,
                                  .blocked = .03,
                                  .candidate = {.host = 1,
                                                .resource = RESOURCE_DISK,
                                                .cause = {.kind = remark_named("QUOTA_USED_UP")}}};
    (void)state;
    run.judgement.verdict.phases = &phase;
    run.judgement.verdict.n_phases = 1;
    expect(section_phase_verdicts, "verdict_by_phase",
           "[{'state':'suspected','phase':'training','host':'vm2','rank':2,'resource':'disk',"
           "'cause_kind':'throttle','blocked_pct':3,'summary':'vm2\\u0027s disk (its control group "
           "has used up its share of CPU): 3 % of the phase'}]");
    run.judgement.verdict.n_phases = 0;
}

static void the_ranking(void **state) {
    static struct candidate candidate = {.host = 1,
                                         .rank = 2,
                                         .kind = CAUSE_STEAL,
                                         .resource = RESOURCE_CPU,
                                         .gain = {.estimate = .03, .replayed = true},
                                         .run_share = .04};
    (void)state;
    run.judgement.candidates.items = &candidate;
    run.judgement.candidates.n = 1;
    expect(section_ranking, "ranking",
           "[{'host':'vm2','rank':2,'resource':'cpu','cause_kind':'steal','state':'suspected',"
           "'gain_pct':3,'blocked_pct':4}]");
}

/* ---- what a verdict rests on ---- */

static void evidence_of_the_verdict(void **state) {
    static double amount[] = {2.5}, base[] = {10}, more[] = {90};
    static int64_t t_ns[] = {40 * S}, dt_ns[] = {10 * S};
    static struct candidate candidate = {.host = 1,
                                         .rank = -1,
                                         .kind = CAUSE_THROTTLE,
                                         .resource = RESOURCE_DISK,
                                         .cause = {.code = REMARK_NONE},
                                         .gain = {.estimate = .03, .replayed = true},
                                         .run_share = .04};
    static struct remark said[] = {{.numbers = {25}}, {.numbers = {7}}};
    (void)state;
    said[0].kind = remark_named("PSI_IO");
    said[1].kind = remark_named("BLOCKED_ON_IO");
    model_hosts[1].metrics[METRIC_PSI_IO] = (struct rate){
        .n = 1, .t_ns = t_ns, .dt_ns = dt_ns, .amount = more, .base = base, .scale = 100};
    model_hosts[2].metrics[METRIC_PSI_IO] = (struct rate){
        .n = 1, .t_ns = t_ns, .dt_ns = dt_ns, .amount = amount, .base = base, .scale = 100};
    run.judgement.verdict.candidate = &candidate;
    run.judgement.verdict.evidence = (struct remarks){said, 2, 0};
    run.judgement.candidates.n = 0;
    report.run_id = 6;
    report.verdict.evidence = (char *[]){T("psi"), T("blocked")};
    report.verdict.n_evidence = 2;
    report.verdict.n_against = 0;
    expect(
        section_proofs, "evidence",
        "[{'id':'e1','of':'verdict.evidence[0]','text':'psi','basis':'observed',"
        "'figure':'psi_io','value':25,'unit':'%','host':'vm3','phase':'all',"
        "'source':{'run':6,'tables':['psi']},'no_sql':null,"
        "'sql':'WITH span(b, e) AS (VALUES (0.000000000, 50.000000000)), part AS (SELECT *, "
        "min(time_s, e) - max(time_s - interval_s, b) AS s FROM psi_rate, span WHERE run = 6 AND "
        "host = \\u0027vm3\\u0027 AND time_s > b AND time_s - interval_s < e) SELECT sum((some_pct)"
        " * s) / sum(s) FROM part WHERE resource = \\u0027io\\u0027'},"
        "{'id':'e2','of':'verdict.evidence[1]','text':'blocked','basis':'observed',"
        "'figure':'blocked, %','value':7,'unit':'%','host':'vm2','phase':'all',"
        "'source':{'run':6,'tables':['disk']},'sql':null,"
        "'no_sql':'it is computed from several rows of these tables at once'}]");
    run.judgement.verdict = (struct verdict){.candidate = NULL};
    model_hosts[1].metrics[METRIC_PSI_IO] = model_hosts[2].metrics[METRIC_PSI_IO] =
        (struct rate){0};
    report.verdict.n_evidence = 0;
}

/* A share of a process's time resolves to the table of budgets, if the stored row says the same. */
static void evidence_in_the_budgets(void **state) {
    static struct budget of_groups[2] = {{.wall_s = 50}};
    static struct rank_budget items[] = {
        {.host = 1, .rank = -1, .process = "it's[1]", .groups = of_groups}};
    struct store_budget_sum stored[] = {{.host = T("vm2"),
                                         .process = T("it's[1]"),
                                         .phase = T("all"),
                                         .wall_ns = 50 * S,
                                         .term_ns = {[BUDGET_IDLE] = 10 * S}},
                                        {.host = T("vm2"),
                                         .process = T("other[2]"),
                                         .phase = T("all"),
                                         .wall_ns = 50 * S,
                                         .term_ns = {[BUDGET_IDLE] = 10 * S}}};
    struct remark paused = {.kind = remark_named("BLOCKED_ON_IO"), .numbers = {20}};
    (void)state;
    of_groups[0].term_s[BUDGET_IDLE] = 10;
    run.model.budgets = (struct rank_budgets){.items = items, .n = 1};
    run.input.budgets = stored;
    run.input.n_budgets = 2;
    run.judgement.verdict.evidence = (struct remarks){&paused, 1, 0};
    report.verdict.evidence = (char *[]){T("paused")};
    report.verdict.n_evidence = 1;
    report.run_id = 6;
    expect(section_proofs, "evidence",
           "[{'id':'e1','of':'verdict.evidence[0]','text':'paused','basis':'observed',"
           "'figure':'idle','value':20,'unit':'% of the time','host':'vm2','phase':'all',"
           "'source':{'run':6,'tables':['budget']},'no_sql':null,"
           "'sql':'SELECT 100.0 * idle_ns / wall_ns FROM budget WHERE run = 6 AND iteration IS NULL"
           " AND host = \\u0027vm2\\u0027 AND process = \\u0027it\\u0027\\u0027s[1]\\u0027"
           " AND phase = \\u0027all\\u0027'}]");
    static const char none[] =
        "[{'id':'e1','of':'verdict.evidence[0]','text':'paused','basis':'observed',"
        "'figure':'blocked, %','value':20,'unit':'%','host':null,'phase':'training',"
        "'source':{'run':6,'tables':['process']},'sql':null,"
        "'no_sql':'it is computed from several rows of these tables at once'}]";
    run.model.main_group = 1;
    stored[0].term_ns[BUDGET_IDLE] = 11 * S; /* an older version judged otherwise */
    expect(section_proofs, "evidence", none);
    stored[0].term_ns[BUDGET_IDLE] = 10 * S;
    stored[1].process = stored[0].process; /* two of one name */
    expect(section_proofs, "evidence", none);
    run.input.n_budgets = 0;
    run.judgement.verdict = (struct verdict){.candidate = NULL};
    report.verdict.n_evidence = 0;
    run.model.budgets = (struct rank_budgets){.n = 0};
}

static void figures_of_the_ranking(void **state) {
    static double amount[] = {5}, base[] = {10};
    static int64_t t_ns[] = {40 * S}, dt_ns[] = {10 * S};
    static struct candidate candidate = {.host = 0,
                                         .rank = -1,
                                         .kind = CAUSE_STEAL,
                                         .resource = RESOURCE_NET_EGRESS,
                                         .gain = {.estimate = .03, .replayed = true},
                                         .run_share = .04};
    (void)state;
    candidate.cause = (struct remark){.kind = remark_named("QUOTA_USED_UP")};
    model_hosts[0].metrics[METRIC_NET_SEND] = (struct rate){
        .n = 1, .t_ns = t_ns, .dt_ns = dt_ns, .amount = amount, .base = base, .scale = 100};
    run.judgement.candidates.items = &candidate;
    run.judgement.candidates.n = 1;
    char *text = written(&format_json, section_proofs);
    json_t *document = json_loads(text, 0, NULL), *rows = json_object_get(document, "evidence");
    static const struct {
        const char *id, *basis;
        double value;
        bool asked;
    } should[] = {{"c1.gain_pct", "inferred", 3, false},
                  {"c1.blocked_pct", "inferred", 4, false},
                  {"c1.net_send", "observed", 50, true}};
    assert_int_equal(json_array_size(rows), ARRAY_SIZE(should));
    for (size_t i = 0; i < ARRAY_SIZE(should); i++) {
        json_t *row = json_array_get(rows, i);
        assert_string_equal(json_string_value(json_object_get(row, "id")), should[i].id);
        assert_string_equal(json_string_value(json_object_get(row, "of")), "ranking[0]");
        assert_string_equal(json_string_value(json_object_get(row, "basis")), should[i].basis);
        assert_float_equal(json_number_value(json_object_get(row, "value")), should[i].value, 1e-9);
        assert_int_equal(json_is_string(json_object_get(row, "sql")), should[i].asked);
        assert_int_equal(json_is_null(json_object_get(row, "no_sql")), should[i].asked);
    }
    json_decref(document);
    free(text);
    model_hosts[0].metrics[METRIC_NET_SEND] = (struct rate){0};
    run.judgement.candidates.n = 0;
}

static void what_was_ruled_out(void **state) {
    static struct candidate busy = {
        .host = 2, .rank = 3, .kind = CAUSE_STEAL, .resource = RESOURCE_STEAL};
    struct verdict_harmless harmless = {.candidate = &busy, .at_most = .05};
    struct remark free_memory = {.kind = remark_named("MEMORY_FREE"), .numbers = {90}};
    (void)state;
    run.judgement.verdict.harmless = &harmless;
    run.judgement.verdict.n_harmless = 1;
    run.judgement.verdict.ruled_out = (struct remarks){&free_memory, 1, 0};
    report.verdict.ruled_out = (char *[]){T("busy"), T("free")};
    report.verdict.n_ruled_out = 2;
    expect(section_ruled_out, "ruled_out",
           "[{'id':'r1','cause':'steal','resource':'steal','host':'vm3','rank':3,'reason':'busy',"
           "'figure':{'name':'at most','value':5,'unit':'% of the run','sql':null}},"
           "{'id':'r2','cause':null,'resource':'memory','host':null,'rank':null,'reason':'free',"
           "'figure':{'name':'free, %','value':90,'unit':'%','sql':null}}]");
    report.verdict.n_ruled_out = 1; /* the sentences are others */
    expect(section_ruled_out, "ruled_out",
           "[{'id':'r1','cause':null,'resource':null,'host':null,'rank':null,'reason':'busy',"
           "'figure':null}]");
    run.judgement.verdict = (struct verdict){.candidate = NULL};
    report.verdict.n_ruled_out = 0;
}

static void what_was_recorded(void **state) {
    static struct store_host stored[] = {{.frames = 5, .first_ns = 2 * S, .last_ns = 6 * S},
                                         {.frames = 0},
                                         {.frames = 1, .first_ns = 3 * S, .last_ns = 3 * S}};
    (void)state;
    run.input.hosts = stored;
    run.input.n_hosts = 3;
    run.input.run.n_hosts_expected = 4;
    run.model.observed.sources = 1u << SOURCE_PSI;
    expect(section_coverage, "coverage.hosts_expected", "4");
    expect(
        section_coverage, "coverage.hosts",
        "[{'host':'vm1','heard':true,'first_s':2,'last_s':6,'gaps':107,'clock_error_s':0.11,"
        "'samples':{'expected':103,'recorded':104,'missed':105},'resolution_s':1},"
        "{'host':'vm2','heard':false,'first_s':null,'last_s':null,'gaps':207,'clock_error_s':0.21,"
        "'samples':{'expected':203,'recorded':204,'missed':205},'resolution_s':null},"
        "{'host':'vm3','heard':true,'first_s':3,'last_s':3,'gaps':0,'clock_error_s':0,"
        "'samples':{'expected':0,'recorded':0,'missed':0},'resolution_s':null}]");
    char *text = written(&format_json, section_coverage);
    json_t *document = json_loads(text, 0, NULL), *row;
    json_t *sources = json_object_get(json_object_get(document, "coverage"), "sources");
    size_t i;
    assert_int_equal(json_array_size(sources), SOURCE_COUNT_);
    json_array_foreach(sources, i, row) {
        assert_int_equal(json_is_true(json_object_get(row, "recorded")), i == SOURCE_PSI);
        assert_int_equal(json_is_null(json_object_get(row, "why_not")), i == SOURCE_PSI);
        assert_true(json_is_string(json_object_get(row, "tells")));
    }
    json_decref(document);
    free(text);
    run.input.n_hosts = 0;
}

static struct changes asked;

static void put_asked(const struct report *of, struct page *page) {
    changes_put(&asked, of, page);
}

static void gains_of_changes(void **state) {
    static struct report_change changes[] = {{.change = T("a faster link"),
                                              .limit = T("the network"),
                                              .options = T("--link vm1=2x"),
                                              .gain_pct = 4,
                                              .low_pct = 3,
                                              .high_pct = 5,
                                              .source = "replay",
                                              .letter = 'A',
                                              .advised = true},
                                             {.change = T("a faster disk"),
                                              .limit = T("the disk"),
                                              .options = T("--without vm1:disk"),
                                              .gain_pct = 7,
                                              .low_pct = 6,
                                              .high_pct = 8,
                                              .source = "counters",
                                              .letter = 'B'}};
    static struct report_together together[] = {{.first = 1,
                                                 .second = 0,
                                                 .options = T("--both"),
                                                 .gain_pct = 10,
                                                 .low_pct = 9,
                                                 .high_pct = 11,
                                                 .source = "iterations"}};
    (void)state;
    asked = (struct changes){.single = changes, .n = 2, .together = together, .n_together = 1};
    asked.factors[0] = (struct report_factors){
        .what = T("link of vm1"), .points = {{2, 13, 12, 14, T("--link vm1=2x")}}, .n = 1};
    asked.n_factors = 1;
    expect(put_asked, "changes",
           "[{'letter':'A','change':'a faster link','source':'replay','limit':'the network',"
           "'scenario':'--link vm1=2x','advised':true,"
           "'gain_pct':{'estimate':4,'low':3,'high':5}},"
           "{'letter':'B','change':'a faster disk','source':'counters','limit':'the disk',"
           "'scenario':'--without vm1:disk','advised':false,"
           "'gain_pct':{'estimate':7,'low':6,'high':8}}]");
    expect(put_asked, "changes_together",
           "[{'letters':'B + A','changes':'a faster disk; a faster link','source':'iterations',"
           "'scenario':'--both','gain_pct':{'estimate':10,'low':9,'high':11}}]");
    expect(put_asked, "changes_by_factor",
           "[{'change':'link of vm1','factor':2,'scenario':'--link vm1=2x',"
           "'gain_pct':{'estimate':13,'low':12,'high':14}}]");
}

/* ---- of a run that goes on ---- */

static void the_live_picture(void **state) {
    struct live_process some = {.host = 0,
                                .pid = 1,
                                .rank = 2,
                                .job = true,
                                .name = "train",
                                .command = "./train",
                                .cpu_pct = 3,
                                .run_queue_pct = 4,
                                .memory_gb = 5,
                                .read_mb_s = 6,
                                .write_mb_s = 7,
                                .threads = 8};
    struct live_pair pair = {.host = 1,
                             .peer = 2,
                             .host_name = "vm2",
                             .peer_name = "vm3",
                             .send_mb_s = 3,
                             .receive_mb_s = 4,
                             .connections = 5};
    struct live_budget budget = {
        .host = 1, .rank = 2, .pid = 3, .process = "train[3]", .wall_s = 4, .unknown_s = 5};
    struct live_gpu gpu = {.name = "gpu0",
                           .model = "H",
                           .busy_pct = 1,
                           .sm_pct = 2,
                           .tensor_pct = 3,
                           .dram_pct = 4,
                           .to_mb_s = 5,
                           .from_mb_s = 6,
                           .memory_used_gb = 7,
                           .memory_gb = 8,
                           .watts = 9,
                           .watts_limit = 10,
                           .cap = LIVE_CAP_HEAT,
                           .lost = true,
                           .xid = 79};
    struct live_host host = {.name = "vm1",
                             .seen_s = 201,
                             .silent_s = 202,
                             .cpu_pct = 203,
                             .core_pct = (double[]){204, 205},
                             .core_number = (int[]){6, 7},
                             .n_cores = 2,
                             .gpus = &gpu,
                             .n_gpus = 1,
                             .memory_gb = 208,
                             .swap_gb = 209,
                             .swap_used_gb = 210,
                             .send_ceiling_mb_s = 211,
                             .receive_ceiling_mb_s = 212,
                             .read_ceiling_mb_s = 213,
                             .write_ceiling_mb_s = 214,
                             .load = {215, 216, 217},
                             .uptime_s = 218};
    struct live_snapshot s = {.number = 1,
                              .run_id = 2,
                              .run_name = "sync",
                              .command = "./train",
                              .state = LIVE_RUNNING,
                              .end = "",
                              .exit_status = -1,
                              .elapsed_s = 3,
                              .period_s = 0.4,
                              .started_wall_ns = 5 * NS_PER_S,
                              .n_hosts_expected = 6,
                              .n_silent = 7,
                              .hosts = &host,
                              .n_hosts = 1,
                              .processes = &some,
                              .n_processes = 1,
                              .pairs = &pair,
                              .n_pairs = 1,
                              .budgets = &budget,
                              .n_budgets = 1,
                              .limit = {.known = true,
                                        .at_s = 8,
                                        .state = VERDICT_SUSPECTED,
                                        .confidence = 0.9,
                                        .host = 1,
                                        .rank = 10,
                                        .what = "what",
                                        .summary = "summary",
                                        .gain = 0.11,
                                        .words = "limit",
                                        .worth = "worth",
                                        .action = "do"}};
    char json[2048], *text = NULL;
    size_t size, n = 0;
    (void)state;
    for (int m = 0; m < METRIC_JOB_CPU; m++)
        host.metrics[m] = 300 + m;
    for (int t = 0; t < LIVE_TASKS; t++)
        host.tasks[t] = 400 + t;
    for (int t = 0; t < BUDGET_TERMS; t++)
        budget.term_s[t] = 500 + t;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(live_write_json(&s, out), 0);
    fclose(out);
    expect_in(text, "pairs",
              "[{'host':1,'peer':2,'host_name':'vm2','peer_name':'vm3','send_mb_s':3,"
              "'receive_mb_s':4,'connections':5}]");
    expect_in(text, "processes",
              "[{'host':0,'pid':1,'rank':2,'job':true,'name':'train','command':'./train',"
              "'cpu_pct':3,'run_queue_pct':4,'memory_gb':5,'read_mb_s':6,'write_mb_s':7,"
              "'threads':8}]");
    expect_in(text, "limit",
              "{'known':true,'final':false,'too_short':false,'at_s':8,'state':'suspected',"
              "'confidence':0.9,'host':1,'rank':10,'what':'what','summary':'summary',"
              "'gain':0.11,'limit':'limit','worth':'worth','do':'do'}");
    for (int t = 0; t < BUDGET_TERMS; t++)
        n += (size_t)snprintf(json + n, sizeof json - n, "%s'%s':%d",
                              t ? ","
                                : "[{'host':1,'rank':2,'pid':3,'process':'train[3]',"
                                  "'wall_s':4,'terms_s':{",
                              budget_term_name(t), 500 + t);
    strcpy(json + n, ",'unknown':5}}]");
    expect_in(text, "budgets", json);
    n = (size_t)snprintf(json, sizeof json,
                         "[{'name':'vm1','silent':true,'silent_s':202,'seen_s':201,"
                         "'cpu_busy':203,'cores':[204,205],'core_numbers':[6,7],"
                         "'gpus':[{'name':'gpu0','model':'H','busy_pct':1,'sm_pct':2,"
                         "'tensor_pct':3,'dram_pct':4,'pcie_to_mb_s':5,'pcie_from_mb_s':6,"
                         "'memory_used_gb':7,'memory_gb':8,'watts':9,'watts_limit':10,"
                         "'cap':'heat','lost':true,'xid':79}],'memory_gb':208,"
                         "'swap_gb':209,'swap_used_gb':210,'send_ceiling_mb_s':211,"
                         "'receive_ceiling_mb_s':212,'read_ceiling_mb_s':213,"
                         "'write_ceiling_mb_s':214,'load':[215,216,217],'uptime_s':218");
    for (int m = 0; m < METRIC_JOB_CPU; m++)
        n += (size_t)snprintf(json + n, sizeof json - n, ",'%s':%d", metric_name(m), 300 + m);
    for (int t = 0; t < LIVE_TASKS; t++)
        n += (size_t)snprintf(json + n, sizeof json - n, "%s'%s':%d", t ? "," : ",'tasks':{",
                              live_task_name(t), 400 + t);
    strcpy(json + n, "}}]");
    expect_in(text, "hosts", json);
    expect_in(text, "number", "1");
    expect_in(text, "run", "2");
    expect_in(text, "elapsed_s", "3");
    expect_in(text, "period_s", "0.4");
    expect_in(text, "started_s", "5");
    expect_in(text, "hosts_expected", "6");
    expect_in(text, "hosts_silent", "7");
    expect_in(text, "exit_status", "null");
    free(text);
}

/* ---- the same for readers ---- */

/* The golden file shows names, units and scales of everything planted above. */
static void readers_see_the_same(void **state) {
    static report_section *const sections[] = {
        section_pairs,     section_arithmetic,  section_waits,   section_efficiency,
        section_budget,    section_iterations,  section_roles,   section_processes,
        section_operators, section_stragglers,  section_quality, section_loads,
        section_exports,   section_lustre,      section_beegfs,  section_fabric,
        section_alerts,    section_filesystems, section_gpus,    put_asked};
    char *text = NULL;
    size_t size;
    struct page page;
    (void)state;
    setenv("TZ", "UTC", 1);
    FILE *out = open_memstream(&text, &size);
    page_begin(&page, &format_text, out, "", "test");
    for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
        sections[i](&report, &page);
    assert_int_equal(page_end(&page), 0);
    fclose(out);
    expect_golden("columns.txt", text);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traffic_of_pairs),
        cmocka_unit_test(the_argument_by_arithmetic),
        cmocka_unit_test(waits_of_processes),
        cmocka_unit_test(parts_of_the_critical_path),
        cmocka_unit_test(ratios_of_efficiency),
        cmocka_unit_test(time_of_ranks),
        cmocka_unit_test(iterations_of_ranks),
        cmocka_unit_test(use_of_ranks),
        cmocka_unit_test(use_of_processes),
        cmocka_unit_test(operators_of_ranks),
        cmocka_unit_test(the_iteration_of_median_length),
        cmocka_unit_test(stragglers_and_causes),
        cmocka_unit_test(use_of_hosts),
        cmocka_unit_test(use_of_gpus),
        cmocka_unit_test(quality_of_the_recording),
        cmocka_unit_test(the_run_and_its_hosts),
        cmocka_unit_test(phases_of_the_run),
        cmocka_unit_test(load_of_hosts),
        cmocka_unit_test(file_systems_and_exports),
        cmocka_unit_test(calls_to_lustre),
        cmocka_unit_test(servers_of_beegfs),
        cmocka_unit_test(ports_of_fabrics),
        cmocka_unit_test(energy_and_traffic_of_memory),
        cmocka_unit_test(kernels_of_gpus),
        cmocka_unit_test(alerts_of_hosts),
        cmocka_unit_test(the_verdict),
        cmocka_unit_test(the_verdict_of_each_phase),
        cmocka_unit_test(the_ranking),
        cmocka_unit_test(gains_of_changes),
        cmocka_unit_test(the_live_picture),
        cmocka_unit_test(readers_see_the_same),
        cmocka_unit_test(evidence_of_the_verdict),
        cmocka_unit_test(evidence_in_the_budgets),
        cmocka_unit_test(figures_of_the_ranking),
        cmocka_unit_test(what_was_ruled_out),
        cmocka_unit_test(what_was_recorded),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
