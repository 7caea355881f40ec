/* SPDX-License-Identifier: MIT */
/*
 * What to do about a verdict: the knob by the name it has on that host, with the value it was seen
 * to have, and how to see whether turning it helped. Where the recording does not know the knob the
 * sentence says where to look, never merely "try more".
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/verdict/verdict_private.h"
#include "reports/words/remark_words.h"

#define NO_LIMIT 1e11 /* bytes/s: set by whoever wanted none */

struct advised {
    const struct run_model *model;
    const struct candidate *c;
    const char *host;
    struct windows windows;
    struct text_list *next;
};

/* ---- knobs that were recorded ---- */

/* Of a table's series on the host the one whose column grew most, or is highest (levels). */
static const struct series *most(const struct advised *a, enum recording_table table, size_t column,
                                 bool level, const char *not_named) {
    const struct series_set *set = &a->model->recording->tables[table];
    const struct series *best = NULL;
    double most = 0;
    for (size_t s = 0; s < set->n; s++) {
        const struct series *one = &set->items[s];
        if (one->host != a->c->host || series_last(set, one, column) == VALUE_ABSENT ||
            strncmp(one->name, not_named, strlen(not_named)) == 0)
            continue;
        double value = level ? (double)series_last(set, one, column)
                             : series_growth(set, one, column, a->windows, NULL);
        if (value > most) {
            most = value;
            best = one;
        }
    }
    return best;
}

static double level_of(const struct advised *a, enum recording_table table,
                       const struct series *series, size_t column) {
    return (double)series_last(&a->model->recording->tables[table], series, column);
}

static bool is_in_group(const struct series *group) {
    return group && strcmp(group->name, "/") != 0;
}

/* ---- by kind ---- */

static void about_culprit(const struct advised *a) {
    text_list_add(a->next,
                  "stop %s on %s, or keep it away from the job (another host, cores of its own)",
                  a->c->culprit.process, a->host);
}

static void about_shaped(const struct advised *a, const struct series *queue) {
    double rate = level_of(a, RECORDING_QDISC, queue, QDISC_RATE);
    int name = (int)strcspn(queue->name, " ");
    text_list_add(a->next,
                  "on %s, %.*s may send %.4g Mbit/s (`tc qdisc show dev %.*s`): raise that rate, "
                  "or send fewer bytes an iteration",
                  a->host, name, queue->name, rate * 8e-6, name, queue->name);
}

static void about_link(const struct advised *a) {
    bool send = a->c->resource == RESOURCE_NET_EGRESS;
    struct queues queues = link_queues(a->model, a->c->group, a->c->host);
    bool shaped = send && queues.fullest && queues.rate_mb_s > 0 &&
                  (a->c->supply || link_is_backed_up(&queues));
    const struct series *interface =
        most(a, RECORDING_NET, send ? NET_SEND_BYTES : NET_RECEIVE_BYTES, false, "lo");
    const char *name = interface ? interface->name : "its interface";
    if (a->c->culprit.process)
        about_culprit(a);
    if (shaped)
        about_shaped(a, queues.fullest);
    else if (a->c->reached > 0)
        text_list_add(a->next,
                      "give %s a faster link than the %.4g Mbit/s of %s, or move fewer "
                      "bytes an iteration through it",
                      a->host, a->c->ceiling * 8e-3, name);
    else
        text_list_add(a->next,
                      "`chokepoint calibrate --only net` on these hosts tells what %s's %s can "
                      "carry; if more than it did: a limit on the way to it (switch port%s%s%s)",
                      a->host, name, interface ? ", `tc filter show dev " : "",
                      interface ? interface->name : "", interface ? " ingress`" : "");
}

static void about_contention(const struct advised *a) {
    if (a->c->culprit.process)
        about_culprit(a);
    else if (!a->c->next)
        text_list_add(a->next,
                      "give %s fewer ranks or threads than its %u cores (OMP_NUM_THREADS, "
                      "mpirun -N)",
                      a->host, a->model->hosts[a->c->host].n_cpus);
}

static void about_quota(const struct advised *a) {
    const struct series *group = most(a, RECORDING_CGROUP, CGROUP_THROTTLED, false, "//");
    double quota = group ? level_of(a, RECORDING_CGROUP, group, CGROUP_QUOTA) : 0;
    double period = group ? level_of(a, RECORDING_CGROUP, group, CGROUP_PERIOD) : 0;
    if (quota > 0 && period > 0)
        text_list_add(a->next,
                      "on %s, raise cpu.max of the control group %s: it is %.0f %.0f, %.3g of a "
                      "core (--cpus of a container, the CPUs asked of the batch system)",
                      a->host, group->name, quota / 1e3, period / 1e3, quota / period);
    else
        text_list_add(a->next,
                      "raise the CPU quota of the job on %s (--cpus of a container, the CPUs "
                      "asked of the batch system)",
                      a->host);
}

static void about_steal(const struct advised *a) {
    text_list_add(a->next,
                  "have %s moved to a less crowded machine, or ask for cores of its own: the "
                  "hypervisor's side decides",
                  a->host);
}

static void about_disk(const struct advised *a) {
    const struct series *disk = most(a, RECORDING_DISK, DISK_BUSY, false, "//");
    const struct series *group = most(a, RECORDING_CGROUP, CGROUP_READ_BYTES, false, "//");
    double limit = group ? level_of(a, RECORDING_CGROUP, group, CGROUP_READ_LIMIT) : 0;
    bool idle = a->c->resource == RESOURCE_DISK_THROTTLE;
    if (a->c->culprit.process)
        about_culprit(a);
    else if (idle && limit > 0 && limit < NO_LIMIT)
        text_list_add(a->next, "on %s, raise io.max of the control group %s: it may read %.4g MB/s",
                      a->host, group->name, limit / 1e6);
    else if (idle)
        text_list_add(a->next,
                      "see on %s what the job's files lie on (`findmnt -T DIR`): a network file "
                      "system or a volume with a limit of its own; copy them to a local disk",
                      a->host);
    else if (!a->c->next)
        text_list_add(a->next,
                      "give %s a faster disk than %s, or read less of it: keep data in memory, "
                      "read ahead",
                      a->host, disk ? disk->name : "its own");
}

static void about_memory(const struct advised *a) {
    const struct series *group = most(a, RECORDING_CGROUP, CGROUP_LIMIT_HITS, false, "//");
    double limit = group ? level_of(a, RECORDING_CGROUP, group, CGROUP_MEMORY_LIMIT) : 0;
    if (limit > 0 && is_in_group(group))
        text_list_add(a->next,
                      "on %s, raise memory.max of the control group %s (it is %.4g MB), or give "
                      "that host a smaller part of the data",
                      a->host, group->name, limit / 1e6);
    else
        text_list_add(a->next, "run fewer ranks on %s, or give it more memory than its %.3g GB",
                      a->host, a->model->hosts[a->c->host].memory_gb);
}

static void about_skew(const struct advised *a) {
    if (a->c->rank < 0) {
        text_list_add(a->next, "give %s less of the work, or look whether its cores are slower",
                      a->host);
        return;
    }
    text_list_add(a->next, "give rank %d less of the work", a->c->rank);
}

static void about_serial(const struct advised *a) {
    if (a->c->rank >= 0)
        text_list_add(a->next,
                      "divide what rank %d does alone (threads, a share for each rank), or give it "
                      "a faster core",
                      a->c->rank);
    else
        text_list_add(a->next, "divide what one process on %s does alone", a->host);
}

static void about_sleep(const struct advised *a) {
    if (a->c->rank < 0) {
        text_list_add(a->next,
                      "look what that process on %s waits for: `strace -f -p PID` there shows a "
                      "sleep, a lock or a pipe",
                      a->host);
        return;
    }
    text_list_add(a->next,
                  "look what rank %d on %s does between its calls of MPI: `strace -f -p PID` "
                  "there shows a sleep, a lock or a pipe",
                  a->c->rank, a->host);
}

static void about_receiver(const struct advised *a) {
    text_list_add(a->next,
                  "on %s, larger receive buffers (net.ipv4.tcp_rmem; SO_RCVBUF, if the program "
                  "sets it), or a program that receives while it computes",
                  a->host);
}

static void about_send_buffer(const struct advised *a) {
    text_list_add(a->next,
                  "on %s, larger send buffers (net.ipv4.tcp_wmem; SO_SNDBUF, if the program sets "
                  "it)",
                  a->host);
}

static void about_own_end(const struct advised *a) {
    text_list_add(a->next,
                  "look how rank %d on %s sends and receives: buffers that its program sets "
                  "(SO_SNDBUF, SO_RCVBUF, of Open MPI btl_tcp_sndbuf), and whether it looks after "
                  "its transfers while it computes",
                  a->c->rank, a->host);
}

static void about_machine(const struct advised *a) {
    char *cause = remark_words(&a->c->cause);
    text_list_add(a->next, "give each host cores of its own, or run on fewer hosts: %s",
                  cause ? cause : "");
    free(cause);
}

static void about_single_thread(const struct advised *a) {
    text_list_add(a->next,
                  "divide the work among threads or processes: %s has %u cores. What one core does "
                  "shows `perf top` there",
                  a->host, a->model->hosts[a->c->host].n_cpus);
}

static void about_latency(const struct advised *a) {
    text_list_add(a->next,
                  "send fewer and larger messages (a larger batch, several values in one), "
                  "or compute while they are on their way; `chokepoint calibrate --only "
                  "net` measures what a message takes on these hosts");
}

static void about_computing(const struct advised *a) {
    text_list_add(a->next, "see what the program computes (`perf top` on a host), or compute on "
                           "more or faster cores");
}

/* By the resource, and by the kind where one resource has several answers. */
static const struct {
    enum resource resource;
    enum cause kind; /* CAUSE_NONE: any */
    void (*say)(const struct advised *a);
} advice[] = {
    {RESOURCE_NET_EGRESS, CAUSE_NONE, about_link},
    {RESOURCE_NET_INGRESS, CAUSE_NONE, about_link},
    {RESOURCE_CPU, CAUSE_SERIAL, about_serial},
    {RESOURCE_CPU, CAUSE_MACHINE_FULL, about_machine},
    {RESOURCE_CPU, CAUSE_SINGLE_THREAD, about_single_thread},
    {RESOURCE_CPU, CAUSE_COMPUTE_BOUND, about_computing},
    {RESOURCE_CPU, CAUSE_NONE, about_contention},
    {RESOURCE_CPU_QUOTA, CAUSE_NONE, about_quota},
    {RESOURCE_STEAL, CAUSE_NONE, about_steal},
    {RESOURCE_DISK, CAUSE_NONE, about_disk},
    {RESOURCE_DISK_THROTTLE, CAUSE_NONE, about_disk},
    {RESOURCE_MEMORY, CAUSE_NONE, about_memory},
    {RESOURCE_IMBALANCE, CAUSE_NONE, about_skew},
    {RESOURCE_APPLICATION, CAUSE_LATENCY, about_latency},
    {RESOURCE_APPLICATION, CAUSE_SLEEP, about_sleep},
    {RESOURCE_APPLICATION, CAUSE_RECEIVER, about_receiver},
    {RESOURCE_APPLICATION, CAUSE_SNDBUF, about_send_buffer},
    {RESOURCE_APPLICATION, CAUSE_UNKNOWN, about_own_end},
};

/* ---- the question that the gain is the answer to ---- */

static const char *term_option(enum budget_term term) {
    switch (term) {
    case BUDGET_RUN_QUEUE:
        return "contention";
    case BUDGET_QUOTA:
        return "quota";
    case BUDGET_STEAL:
        return "steal";
    case BUDGET_DISK:
        return "disk";
    case BUDGET_MEMORY:
        return "memory";
    case BUDGET_IDLE:
        return "sleep";
    default:
        return NULL;
    }
}

/* As options of `chokepoint whatif`: owned; NULL: it cannot be asked so, or no memory. */
static char *question_of(const struct run_model *model, const struct whatif_scenario *s) {
    static const char *const ways[] = {
        [WHATIF_BOTH] = "", [WHATIF_SEND] = ":egress", [WHATIF_RECEIVE] = ":ingress"};
    const char *host = s->host < 0 ? "all" : model->hosts[s->host].name;
    const char *term = s->kind == WHATIF_WITHOUT ? term_option(s->term) : NULL;
    switch (s->kind) {
    case WHATIF_LINK:
        return text_format("--link %s%s=%.4gx", host, ways[s->direction], s->factor);
    case WHATIF_LATENCY:
        return text_format("--latency %.4gx", s->factor);
    case WHATIF_CPU:
        return text_format("--cpu %s=%.4gx", host, s->factor);
    case WHATIF_WITHOUT:
        return term ? text_format("--without %s:%s", host, term) : NULL;
    case WHATIF_LIKE_PEERS:
        return s->rank >= 0 ? text_format("--without-straggler %d", s->rank)
                            : text_format("--without-straggler %s", host);
    default:
        return NULL;
    }
}

/* Only where the gain that was said is its answer. */
static void add_question(const struct advised *a) {
    const struct candidate *c = a->c;
    char *question = c->answered ? question_of(a->model, &c->remove) : NULL;
    if (question)
        text_list_add(a->next, "ask what else it would bring: `chokepoint whatif %s`", question);
    free(question);
}

void verdict_next_for(const struct run_model *model, const struct candidate *c, struct verdict *v) {
    struct advised a = {.model = model,
                        .c = c,
                        .host = model->hosts[c->host].name,
                        .windows = phase_windows(&model->groups[c->group]),
                        .next = &v->next};
    if (c->next)
        remarks_say(&(struct remarks){&(struct remark){.code = c->next}, 1, 0}, &v->next);
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++)
        if (advice[i].resource == c->resource && (!advice[i].kind || advice[i].kind == c->kind)) {
            advice[i].say(&a);
            break;
        }
    add_question(&a);
    text_list_add(&v->next,
                  "then run it again: `chokepoint compare last~1 last` says whether it helped");
}
