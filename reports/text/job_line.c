/* SPDX-License-Identifier: MIT */
/* The verdict as one line of JSON of at most REPORT_JOB_MAX bytes, for fields of batch systems that
 * hold little. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/text.h"
#include "reports/formats/json_text.h"
#include "reports/model/run_use.h"
#include "reports/writer.h"

#define TEXT_MOST 480 /* bytes of a text at first; halved until the line is short enough */
#define TEXT_LEAST 20

/* sacctmgr stores an apostrophe as a grave accent, and a capital as a small letter. They stand in
 * texts alone, where JSON has another way to write them, which it leaves as it is. */
static void put_line(FILE *to, const char *line) {
    for (const char *p = line; *p; p++)
        if (*p == '\'' || *p == '`' || (*p >= 'A' && *p <= 'Z'))
            fprintf(to, "\\u%04x", (unsigned)*p);
        else
            putc(*p, to);
}

static void put_text(FILE *to, const char *key, const char *text, size_t most) {
    char cut[TEXT_MOST + 1];
    text_sanitize(cut, most + 1, text ? text : "", text ? strlen(text) : 0);
    fprintf(to, ",\"%s\":", key);
    json_text_write(to, text && *text ? cut : NULL);
}

static void put_number(FILE *to, const char *key, double value) {
    if (isfinite(value))
        fprintf(to, ",\"%s\":%.4g", key, value);
}

static void put(FILE *to, const struct report *report, const struct run_use *use, size_t most) {
    const struct report_verdict *v = &report->verdict;
    fprintf(to, "{\"schema\":\"chokepoint.job/1\",\"run\":%lld,\"hosts\":%zu",
            (long long)report->run_id, report->n_hosts);
    put_text(to, "name", report->run_name, most);
    put_number(to, "duration_s", report->duration_s);
    put_text(to, "state", verdict_state_name(v->state), most);
    put_text(to, "limit", v->limit, most);
    put_number(to, "confidence", v->confidence);
    put_text(to, "worth", v->worth, most);
    put_text(to, "do", v->n_next ? v->next[0] : NULL, most);
    put_text(to, "note", report->quality.n_amiss ? report->quality.notes[0] : NULL, most);
    put_number(to, "cores", use->cores);
    put_number(to, "cores_used", use->cores_used);
    put_number(to, "memory_gb", use->memory_gb);
    put_number(to, "memory_peak_gb", use->memory_peak_gb);
    if (use->gpus > 0) {
        put_number(to, "gpus", use->gpus);
        put_number(to, "gpus_used", use->gpus_used);
    }
    fputs("}\n", to);
}

/* The line with texts of at most `most` bytes, owned, and its size. NULL: no memory. */
static char *make_line(const struct report *report, const struct run_use *use, size_t most,
                       size_t *ret_size) {
    char *plain = NULL, *line = NULL;
    size_t size;
    FILE *to = open_memstream(&plain, &size);
    if (!to)
        return NULL;
    put(to, report, use, most);
    bool made = fclose(to) == 0;
    to = made ? open_memstream(&line, ret_size) : NULL;
    if (to) {
        put_line(to, plain);
        made = fclose(to) == 0;
    }
    free(plain);
    if (made)
        return line;
    free(line);
    return NULL;
}

int report_write_job(const struct report *report, FILE *out) {
    struct run_use use;
    int result = run_use_of(report, &use);
    for (size_t most = TEXT_MOST; result == 0; most /= 2) {
        size_t size = 0;
        char *line = make_line(report, &use, most, &size);
        bool fits = size <= REPORT_JOB_MAX || most <= TEXT_LEAST;
        if (!line)
            return -ENOMEM;
        if (fits)
            fputs(line, out);
        free(line);
        if (fits)
            break;
    }
    return result == 0 && ferror(out) ? -EIO : result;
}
