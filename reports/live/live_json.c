/* SPDX-License-Identifier: MIT */
/* A picture for programs: docs/live-json.md. Made with jansson, which escapes. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "common/error.h"
#include "reports/formats/json_value.h"
#include "reports/live/live.h"

/* An index, an id or a count: null if not known. */
static json_t *whole(int64_t value) {
    return value < 0 ? json_null() : json_integer(value);
}

static void put(json_t *object, const char *key, double value) {
    json_object_set_new(object, key, json_number(value));
}

static json_t *core_numbers(const struct live_host *host) {
    json_t *array = json_array();
    for (size_t i = 0; i < host->n_cores; i++)
        json_array_append_new(array, json_integer(host->core_number[i]));
    return array;
}

static json_t *gpus(const struct live_host *host) {
    json_t *array = json_array();
    for (size_t i = 0; i < host->n_gpus; i++) {
        const struct live_gpu *gpu = &host->gpus[i];
        json_t *to = json_object();
        json_object_set_new(to, "name", json_text(gpu->name));
        json_object_set_new(to, "model", *gpu->model ? json_text(gpu->model) : json_null());
        put(to, "busy_pct", gpu->busy_pct);
        put(to, "sm_pct", gpu->sm_pct);
        put(to, "tensor_pct", gpu->tensor_pct);
        put(to, "dram_pct", gpu->dram_pct);
        put(to, "pcie_to_mb_s", gpu->to_mb_s);
        put(to, "pcie_from_mb_s", gpu->from_mb_s);
        put(to, "memory_used_gb", gpu->memory_used_gb);
        put(to, "memory_gb", gpu->memory_gb);
        put(to, "watts", gpu->watts);
        put(to, "watts_limit", gpu->watts_limit);
        json_object_set_new(to, "cap",
                            gpu->cap == LIVE_CAP_UNKNOWN ? json_null()
                                                         : json_string(live_cap_name(gpu->cap)));
        json_object_set_new(to, "lost", json_boolean(gpu->lost));
        json_object_set_new(to, "xid", whole(gpu->xid));
        json_array_append_new(array, to);
    }
    return array;
}

static void put_host_figures(json_t *to, const struct live_host *host) {
    json_t *tasks = json_object();
    for (int m = 0; m < METRIC_JOB_CPU; m++)
        put(to, metric_name((enum metric)m), host->metrics[m]);
    put(to, "cpu_busy", host->cpu_pct);
    json_object_set_new(to, "cores", json_numbers(host->core_pct, host->n_cores));
    json_object_set_new(to, "core_numbers", core_numbers(host));
    json_object_set_new(to, "gpus", gpus(host));
    put(to, "memory_gb", host->memory_gb);
    put(to, "swap_gb", host->swap_gb);
    put(to, "swap_used_gb", host->swap_used_gb);
    put(to, "send_ceiling_mb_s", host->send_ceiling_mb_s);
    put(to, "receive_ceiling_mb_s", host->receive_ceiling_mb_s);
    put(to, "read_ceiling_mb_s", host->read_ceiling_mb_s);
    put(to, "write_ceiling_mb_s", host->write_ceiling_mb_s);
    json_object_set_new(to, "load", json_numbers(host->load, 3));
    put(to, "uptime_s", host->uptime_s);
    for (int t = 0; t < LIVE_TASKS; t++)
        json_object_set_new(tasks, live_task_name((enum live_task)t), whole(host->tasks[t]));
    json_object_set_new(to, "tasks", tasks);
}

static json_t *hosts(const struct live_snapshot *s) {
    json_t *array = json_array();
    for (size_t h = 0; h < s->n_hosts; h++) {
        const struct live_host *host = &s->hosts[h];
        json_t *to = json_object();
        json_object_set_new(to, "name", json_text(host->name));
        json_object_set_new(to, "silent", json_boolean(host->silent_s > 0));
        put(to, "silent_s", host->silent_s);
        put(to, "seen_s", host->seen_s);
        put_host_figures(to, host);
        json_array_append_new(array, to);
    }
    return array;
}

static json_t *processes(const struct live_snapshot *s) {
    json_t *array = json_array();
    for (size_t i = 0; i < s->n_processes; i++) {
        const struct live_process *p = &s->processes[i];
        json_t *to = json_object();
        json_object_set_new(to, "host", whole(p->host));
        json_object_set_new(to, "pid", whole(p->pid));
        json_object_set_new(to, "rank", whole(p->rank));
        json_object_set_new(to, "job", json_boolean(p->job));
        json_object_set_new(to, "name", json_text(p->name));
        json_object_set_new(to, "command", json_text(p->command));
        put(to, "cpu_pct", p->cpu_pct);
        put(to, "run_queue_pct", p->run_queue_pct);
        put(to, "memory_gb", p->memory_gb);
        put(to, "read_mb_s", p->read_mb_s);
        put(to, "write_mb_s", p->write_mb_s);
        json_object_set_new(to, "threads", whole(p->threads));
        json_array_append_new(array, to);
    }
    return array;
}

static json_t *pairs(const struct live_snapshot *s) {
    json_t *array = json_array();
    for (size_t i = 0; i < s->n_pairs; i++) {
        const struct live_pair *p = &s->pairs[i];
        json_t *to = json_object();
        json_object_set_new(to, "host", whole(p->host));
        json_object_set_new(to, "peer", whole(p->peer));
        json_object_set_new(to, "host_name", json_text(p->host_name));
        json_object_set_new(to, "peer_name", json_text(p->peer_name));
        put(to, "send_mb_s", p->send_mb_s);
        put(to, "receive_mb_s", p->receive_mb_s);
        json_object_set_new(to, "connections", json_integer((json_int_t)p->connections));
        json_array_append_new(array, to);
    }
    return array;
}

static json_t *budgets(const struct live_snapshot *s) {
    json_t *array = json_array();
    for (size_t i = 0; i < s->n_budgets; i++) {
        const struct live_budget *b = &s->budgets[i];
        json_t *to = json_object(), *terms = json_object();
        json_object_set_new(to, "host", whole(b->host));
        json_object_set_new(to, "rank", whole(b->rank));
        json_object_set_new(to, "pid", whole(b->pid));
        json_object_set_new(to, "process", json_text(b->process));
        put(to, "wall_s", b->wall_s);
        for (int t = 0; t < BUDGET_TERMS; t++)
            put(terms, budget_term_name((enum budget_term)t), b->term_s[t]);
        put(terms, "unknown", b->unknown_s);
        json_object_set_new(to, "terms_s", terms);
        json_array_append_new(array, to);
    }
    return array;
}

static json_t *limit(const struct live_limit *from) {
    json_t *to = json_object();
    json_object_set_new(to, "known", json_boolean(from->known));
    json_object_set_new(to, "final", json_boolean(from->final));
    json_object_set_new(to, "too_short", json_boolean(from->too_short));
    put(to, "at_s", from->known ? from->at_s : NAN);
    json_object_set_new(to, "state",
                        json_text(from->known ? verdict_state_name(from->state) : NULL));
    put(to, "confidence", from->known ? from->confidence : NAN);
    json_object_set_new(to, "host", whole(from->host));
    json_object_set_new(to, "rank", whole(from->rank));
    json_object_set_new(to, "what", json_text(from->what));
    json_object_set_new(to, "summary", json_text(from->summary));
    put(to, "gain", from->gain);
    json_object_set_new(to, "limit", json_text(from->words));
    json_object_set_new(to, "worth", json_text(from->worth));
    json_object_set_new(to, "do", json_text(from->action));
    return to;
}

/* Whole per cents: it comes with each picture. */
static json_t *past(const struct live_past *from) {
    json_t *to = from ? json_object() : json_null();
    if (!from)
        return to;
    put(to, "step_s", from->step_s);
    for (int r = 0; r < LIVE_RESOURCES; r++) {
        json_t *array = json_array();
        for (size_t i = 0; i < from->n; i++) {
            double pct = (double)from->pct[r][i];
            json_array_append_new(array, isnan(pct) ? json_null() : json_integer(lround(pct)));
        }
        json_object_set_new(to, live_resource_name((enum live_resource)r), array);
    }
    return to;
}

static json_t *document(const struct live_snapshot *s) {
    json_t *to = json_object();
    json_object_set_new(to, "schema", json_string("chokepoint.live/1"));
    json_object_set_new(to, "number", json_integer((json_int_t)s->number));
    json_object_set_new(to, "run", json_integer(s->run_id));
    json_object_set_new(to, "name", json_text(s->run_name));
    json_object_set_new(to, "command", json_text(s->command));
    json_object_set_new(to, "state", json_string(live_state_name(s->state)));
    json_object_set_new(to, "end", json_text(s->state == LIVE_ENDED ? s->end : NULL));
    json_object_set_new(to, "exit_status", whole(s->exit_status));
    put(to, "elapsed_s", s->elapsed_s);
    put(to, "at_s", s->at_s);
    put(to, "period_s", s->period_s);
    json_object_set_new(to, "started_s", json_integer(s->started_wall_ns / 1000000000));
    json_object_set_new(to, "hosts_expected", whole(s->n_hosts_expected));
    json_object_set_new(to, "hosts_silent", json_integer((json_int_t)s->n_silent));
    json_object_set_new(to, "trouble", json_text(s->trouble));
    json_object_set_new(to, "limit", limit(&s->limit));
    json_object_set_new(to, "past", past(s->past));
    json_object_set_new(to, "hosts", hosts(s));
    json_object_set_new(to, "processes", processes(s));
    json_object_set_new(to, "pairs", pairs(s));
    json_object_set_new(to, "budgets", budgets(s));
    return to;
}

int live_write_json(const struct live_snapshot *snapshot, FILE *out) {
    json_t *root = document(snapshot);
    char *text = root ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;
    json_decref(root);
    if (!text)
        return -ENOMEM;
    bool good = fputs(text, out) >= 0 && fputc('\n', out) != EOF;
    free(text);
    return good ? 0 : -EIO;
}
