/* SPDX-License-Identifier: MIT */
/* The marks of the program: nested slices a process, values as counters. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/export/export_perfetto.h"

/* A mark with a beginning and an end. */
struct stretch {
    const struct mark *mark;
    int64_t start_ns, end_ns;
    bool open; /* it had not ended when the recording did */
};

/* An iteration of unknown length has no beginning; a phase may still go on. */
static bool is_stretch(const struct mark *mark) {
    return mark->kind == MARK_PHASE || perfetto_mark_may_go(mark);
}

static int64_t last_ns(const struct perfetto *p, int host) {
    int64_t run = p->input->run.duration_ns, frames = p->input->hosts[host].last_ns;
    return run > 0 ? run : frames > 0 && time_is_sane(frames) ? frames : 0;
}

static struct stretch stretch_of(const struct perfetto *p, const struct mark *mark) {
    struct stretch s = {.mark = mark, .open = mark->duration_ns == VALUE_ABSENT};
    s.end_ns = s.open ? last_ns(p, mark->host) : mark->start_ns + mark->duration_ns;
    s.start_ns = mark->start_ns < 0 && s.end_ns >= 0 ? 0 : mark->start_ns;
    s.end_ns = s.end_ns < s.start_ns ? s.start_ns : s.end_ns;
    return s;
}

#define ORDER(x, y) (((x) > (y)) - ((x) < (y)))

/* By process, then by time; if two begin together, the one that holds the other is first. */
static int compare(const void *a, const void *b) {
    const struct stretch *x = a, *y = b;
    int order[] = {
        ORDER(x->mark->rank, y->mark->rank), ORDER(x->mark->host, y->mark->host),
        ORDER(x->mark->pid, y->mark->pid),   ORDER(x->start_ns, y->start_ns),
        ORDER(y->end_ns, x->end_ns),         ORDER(x->mark->kind, y->mark->kind),
    };
    for (size_t i = 0; i < ARRAY_SIZE(order); i++)
        if (order[i])
            return order[i];
    return 0;
}

static bool same_process(const struct mark *a, const struct mark *b) {
    return a->host == b->host && a->pid == b->pid && a->rank == b->rank;
}

/* A phase is sent when it begins and again when it has ended; the two start at one instant. */
static bool is_told_again(const struct stretch *items, size_t n, size_t at) {
    const struct mark *mark = items[at].mark;
    for (size_t i = at + 1; items[at].open && i < n; i++) {
        const struct mark *other = items[i].mark;
        if (!same_process(mark, other) || items[i].start_ns != items[at].start_ns)
            break;
        if (other->kind == MARK_PHASE && !items[i].open && strcmp(other->name, mark->name) == 0)
            return true;
    }
    return false;
}

static int put_stretch(struct perfetto *p, const struct stretch *s) {
    static const char *const categories[] = {
        [MARK_PHASE] = "phase", [MARK_ITERATION] = "iteration", [MARK_OPERATOR] = "operator"};
    const struct mark *m = s->mark;
    struct trace_argument arguments[3];
    size_t n = 0;
    if (m->kind != MARK_PHASE && m->number != VALUE_ABSENT)
        arguments[n++] = (struct trace_argument){
            m->kind == MARK_ITERATION ? "number" : "after_iteration", m->number, NULL};
    if (m->output_bytes != VALUE_ABSENT)
        arguments[n++] = (struct trace_argument){"output_bytes", m->output_bytes, NULL};
    if (s->open)
        arguments[n++] = (struct trace_argument){"unfinished", 1, NULL};
    return perfetto_put_slice(p, m->host, m->pid, -1, m->rank,
                              (struct trace_slice){.start_ns = s->start_ns,
                                                   .end_ns = s->end_ns,
                                                   .category = categories[m->kind],
                                                   .name = m->name,
                                                   .arguments = arguments,
                                                   .n_arguments = n});
}

static int put_stretches(struct perfetto *p) {
    const struct recording *recording = &p->input->recording;
    struct stretch *items = malloc((recording->n_marks + 1) * sizeof *items);
    size_t n = 0;
    int64_t short_ns = perfetto_short_mark_ns(p);
    int result = items ? 0 : -ENOMEM;
    for (size_t i = 0; items && i < recording->n_marks; i++) {
        const struct mark *mark = &recording->marks[i];
        if (perfetto_mark_may_go(mark) && mark->duration_ns < short_ns)
            p->marks_left_out++;
        else if (is_stretch(mark))
            items[n++] = stretch_of(p, mark);
    }
    if (n)
        qsort(items, n, sizeof *items, compare);
    for (size_t i = 0; result == 0 && i < n; i++)
        if (!is_told_again(items, n, i))
            result = put_stretch(p, &items[i]);
    free(items);
    return result;
}

static void put_values(struct perfetto *p) {
    const struct recording *recording = &p->input->recording;
    for (size_t i = 0; i < recording->n_marks; i++) {
        const struct mark *m = &recording->marks[i];
        char process[PERFETTO_NAME_SIZE], name[PERFETTO_NAME_SIZE + MARK_NAME_SIZE + 1];
        if (m->kind != MARK_VALUE || m->value_nano == VALUE_ABSENT || m->start_ns < 0)
            continue;
        if (m->rank >= 0)
            snprintf(process, sizeof process, "rank %d", m->rank);
        else
            perfetto_process_name(p, m->host, m->pid, -1, process);
        snprintf(name, sizeof name, "%s %s", process, m->name);
        trace_put_counter(&p->trace, perfetto_pid(m->host), m->start_ns, name, "value",
                          (double)m->value_nano / 1e9);
    }
}

int perfetto_put_marks(struct perfetto *p) {
    put_values(p);
    return put_stretches(p);
}
