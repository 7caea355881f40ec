/* SPDX-License-Identifier: MIT */
/*
 * Written by hand and not by the JSON library, because a recording may hold millions of events and
 * none is worth a tree of its own. Readers in use are narrower than JSON, and the file keeps to
 * what they all take:
 *   - traceEvents comes first: Perfetto's older tokenizers stop at a key they do not know, and take
 *     displayTimeUnit "ns" for the unit of ts, so that is left out;
 *   - no escape but \" and \\: the same tokenizers refuse \u, so text is cleaned instead;
 *   - ts and dur survive double x 1000, cut to whole ns: see put_us.
 */
#include "reports/export/export_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"

#define TEXT_MAX 4096

static void put_string(FILE *out, const char *text) {
    char clean[TEXT_MAX];
    text_sanitize(clean, sizeof clean, text, strlen(text));
    fputc('"', out);
    for (const char *p = clean; *p; p++) {
        if (*p == '"' || *p == '\\')
            fputc('\\', out);
        fputc(*p, out);
    }
    fputc('"', out);
}

/* Whether readers get the same ns. They parse the number, or only its fraction, as a double, and
 * truncate to ns: 0.57 * 1000 is 569.99...
 */
static bool survives(const char *text, int64_t ns) {
    const char *point = strchr(text, '.');
    return (int64_t)(strtod(text, NULL) * 1000.0) == ns &&
           (int64_t)(strtod(point, NULL) * 1000.0) == ns % 1000;
}

/* If a number would lose its last ns, a tenth of one is added: two adjacent iterations must not
 * overlap, or a reader drops the second.
 */
static void put_us(FILE *out, int64_t ns) {
    char text[32];
    snprintf(text, sizeof text, "%" PRId64 ".%03" PRId64, ns / 1000, ns % 1000);
    fputs(text, out);
    if (!survives(text, ns))
        fputc('1', out);
}

static void begin_event(struct trace *trace, char phase) {
    fprintf(trace->out, "%s{\"ph\":\"%c\"", trace->any ? ",\n" : "\n", phase);
    trace->any = true;
}

static void put_event_time(FILE *out, const char *name, int64_t ns) {
    fprintf(out, ",\"%s\":", name);
    put_us(out, ns);
}

static void put_arguments(FILE *out, const struct trace_argument *arguments, size_t n) {
    fputc('{', out);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "%s\"%s\":", i ? "," : "", arguments[i].name);
        if (arguments[i].text)
            put_string(out, arguments[i].text);
        else
            fprintf(out, "%" PRId64, arguments[i].number);
    }
    fputc('}', out);
}

void trace_begin(struct trace *trace, FILE *out) {
    *trace = (struct trace){.out = out};
    fputs("{\"traceEvents\":[", out);
}

static void put_metadata(struct trace *trace, unsigned pid, unsigned tid, const char *what) {
    begin_event(trace, 'M');
    fprintf(trace->out, ",\"pid\":%u", pid);
    if (tid)
        fprintf(trace->out, ",\"tid\":%u", tid);
    fprintf(trace->out, ",\"name\":\"%s_%s\",\"args\":{", tid ? "thread" : "process", what);
}

void trace_put_name(struct trace *trace, unsigned pid, unsigned tid, const char *name,
                    unsigned order) {
    put_metadata(trace, pid, tid, "name");
    fputs("\"name\":", trace->out);
    put_string(trace->out, *name ? name : "?");
    fputs("}}", trace->out);
    put_metadata(trace, pid, tid, "sort_index");
    fprintf(trace->out, "\"sort_index\":%u}}", order);
}

void trace_put_slice(struct trace *trace, const struct trace_slice *slice) {
    FILE *out = trace->out;
    begin_event(trace, 'X');
    put_event_time(out, "ts", slice->start_ns);
    put_event_time(out, "dur", slice->end_ns - slice->start_ns);
    fprintf(out, ",\"pid\":%u,\"tid\":%u,\"cat\":\"%s\",\"name\":", slice->pid, slice->tid,
            slice->category);
    put_string(out, *slice->name ? slice->name : "?");
    if (slice->n_arguments) {
        fputs(",\"args\":", out);
        put_arguments(out, slice->arguments, slice->n_arguments);
    }
    fputc('}', out);
}

static void put_arrow_end(struct trace *trace, char phase, uint64_t number, const char *name,
                          const struct trace_end *at) {
    begin_event(trace, phase);
    fprintf(trace->out, ",\"id\":%" PRIu64 "%s", number, phase == 'f' ? ",\"bp\":\"e\"" : "");
    put_event_time(trace->out, "ts", at->t_ns);
    fprintf(trace->out, ",\"pid\":%u,\"tid\":%u,\"cat\":\"message\",\"name\":", at->pid, at->tid);
    put_string(trace->out, name);
    fputc('}', trace->out);
}

void trace_put_arrow(struct trace *trace, uint64_t number, const char *name,
                     const struct trace_end *from, const struct trace_end *to) {
    put_arrow_end(trace, 's', number, name, from);
    put_arrow_end(trace, 'f', number, name, to);
}

/* Nine digits and never an exponent, which not every reader of traces accepts. */
static void put_number(FILE *out, double value) {
    char text[32];
    snprintf(text, sizeof text, "%.9g", value);
    if (strchr(text, 'e'))
        fprintf(out, "%.9f", value);
    else
        fputs(text, out);
}

void trace_put_counter(struct trace *trace, unsigned pid, int64_t start_ns, const char *name,
                       const char *unit, double value) {
    if (!isfinite(value))
        return;
    begin_event(trace, 'C');
    put_event_time(trace->out, "ts", start_ns);
    fprintf(trace->out, ",\"pid\":%u,\"name\":", pid);
    put_string(trace->out, name);
    fputs(",\"args\":{", trace->out);
    put_string(trace->out, unit);
    fputc(':', trace->out);
    put_number(trace->out, value);
    fputs("}}", trace->out);
}

int trace_end(struct trace *trace, const struct trace_argument *facts, size_t n) {
    fputs("\n],\n\"otherData\":", trace->out);
    put_arguments(trace->out, facts, n);
    fputs("}\n", trace->out);
    return ferror(trace->out) ? -EIO : 0;
}
