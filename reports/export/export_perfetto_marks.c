/* SPDX-License-Identifier: MIT */
/*
 * The program's marks: nested slices for each process, values as counters. If a run has more values
 * than viewers can show, a step of a counter is the mean of several.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/export/export_perfetto.h"

#define VALUES_A_MINUTE 10000

/* A mark with a begin and an end. */
struct stretch {
    const struct mark *mark;
    int64_t start_ns, end_ns;
    bool open; /* it had not ended when the recording did */
};

/* An iteration of unknown length has no begin; a phase may still go on. */
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

/* By process, then by time; if two begin together, the outer one is first. */
static int compare_stretches(const void *a, const void *b) {
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

/* A phase is sent at its begin and again at its end; both records have the same start. */
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
        qsort(items, n, sizeof *items, compare_stretches);
    for (size_t i = 0; result == 0 && i < n; i++)
        if (!is_told_again(items, n, i))
            result = put_stretch(p, &items[i]);
    free(items);
    return result;
}

/* ---- values ---- */

static bool is_value(const struct mark *mark) {
    return mark->kind == MARK_VALUE && mark->value_nano != VALUE_ABSENT && mark->start_ns >= 0;
}

/* By process, then by name, then by time. */
static int compare_values(const void *a, const void *b) {
    const struct mark *x = *(const struct mark *const *)a, *y = *(const struct mark *const *)b;
    int order[] = {
        ORDER(x->rank, y->rank),  ORDER(x->host, y->host),         ORDER(x->pid, y->pid),
        strcmp(x->name, y->name), ORDER(x->start_ns, y->start_ns),
    };
    for (size_t i = 0; i < ARRAY_SIZE(order); i++)
        if (order[i])
            return order[i];
    return 0;
}

static bool same_track(const struct mark *a, const struct mark *b) {
    return same_process(a, b) && strcmp(a->name, b->name) == 0;
}

/* Writes one value of a track at the first of n marks: their mean. */
static void put_mean(struct perfetto *p, const struct mark *const *marks, size_t n) {
    const struct mark *first = marks[0];
    char process[PERFETTO_NAME_SIZE], name[PERFETTO_NAME_SIZE + MARK_NAME_SIZE + 1];
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)marks[i]->value_nano;
    if (first->rank >= 0)
        snprintf(process, sizeof process, "rank %d", first->rank);
    else
        perfetto_process_name(p, first->host, first->pid, -1, process);
    snprintf(name, sizeof name, "%s %s", process, first->name);
    trace_put_counter(&p->trace, perfetto_pid(first->host), first->start_ns, name, "value",
                      sum / (double)n / 1e9);
}

/* The length of a step of n values, by track, with which all stay within their share; 0: each value
 * is its own step.
 */
static int64_t value_step_ns(const struct perfetto *p, const struct mark *const *values, size_t n) {
    size_t most = perfetto_share(p, VALUES_A_MINUTE), n_tracks = 0;
    int64_t end_ns = 0; /* a run that died has no recorded end */
    if (n <= most)
        return 0;
    for (size_t i = 0; i < n; i++) {
        n_tracks += i == 0 || !same_track(values[i - 1], values[i]);
        end_ns = values[i]->start_ns > end_ns ? values[i]->start_ns : end_ns;
    }
    return end_ns / (int64_t)(most > n_tracks ? most / n_tracks : 1);
}

static int put_values(struct perfetto *p) {
    const struct recording *recording = &p->input->recording;
    const struct mark **values = malloc((recording->n_marks + 1) * sizeof(const struct mark *));
    size_t n = 0;
    if (!values)
        return -ENOMEM;
    for (size_t i = 0; i < recording->n_marks; i++)
        if (is_value(&recording->marks[i]))
            values[n++] = &recording->marks[i];
    qsort(values, n, sizeof(const struct mark *), compare_values);
    int64_t step_ns = value_step_ns(p, values, n);
    for (size_t first = 0, next; first < n; first = next) {
        for (next = first + 1; next < n && same_track(values[first], values[next]) &&
                               values[next]->start_ns - values[first]->start_ns < step_ns;)
            next++;
        put_mean(p, values + first, next - first);
        p->values_joined += next - first - 1;
    }
    free(values);
    return 0;
}

int perfetto_put_marks(struct perfetto *p) {
    int result = put_values(p);
    return result < 0 ? result : put_stretches(p);
}
