/* SPDX-License-Identifier: MIT */
#include "cli/doctor/examination.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/text.h"
#include "reports/findings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEPARATOR " | "
#define CLOCK_TOLERANCE_S 1.0 /* s; recordings measure clocks: only the order of files needs it */

/* Owns its texts, which follow the finding in memory. */
static struct finding *make(const char *host, const char *level, const char *check,
                            const char *text, const char *mend) {
    size_t sizes[] = {strlen(level) + 1, strlen(check) + 1, strlen(text) + 1, strlen(mend) + 1};
    struct finding *f = malloc(sizeof *f + sizes[0] + sizes[1] + sizes[2] + sizes[3]);
    if (!f)
        return NULL;
    char *to = (char *)(f + 1);
    f->host = host;
    f->level = memcpy(to, level, sizes[0]);
    f->check = memcpy(to += sizes[0], check, sizes[1]);
    f->text = memcpy(to += sizes[1], text, sizes[2]);
    memcpy(to += sizes[2], mend, sizes[3]);
    f->mend = *mend ? to : NULL;
    return f;
}

static void add(struct examined *host, const char *level, const char *check, const char *text,
                const char *mend) {
    if (host->n_findings == EXAMINED_FINDINGS_MAX)
        return;
    struct finding *finding = make(host->host, level, check, text, mend);
    if (finding)
        host->findings[host->n_findings++] = finding;
}

void examined_add(struct examined *host, const char *level, const char *check, const char *mend,
                  const char *format, ...) {
    char text[1024], clean[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    text_sanitize(clean, sizeof clean, text, strlen(text));
    add(host, level, check, clean, mend);
}

void examined_release(struct examined *host) {
    for (size_t i = 0; i < host->n_findings; i++)
        free(host->findings[i]);
    host->n_findings = 0;
}

/* ---- lines of an agent ---- */

static void hear_fact(struct examined *host, const char *name, const char *value,
                      int64_t now_wall_ns) {
    uint64_t number;
    if (strcmp(name, "version") == 0)
        snprintf(host->version, sizeof host->version, "%s", value);
    else if (strcmp(name, "end") == 0)
        host->complete = true;
    else if (strcmp(name, "mtu") == 0 && host->mtu == 0) {
        size_t n = strcspn(value, " ");
        snprintf(host->interface, sizeof host->interface, "%.*s", (int)n, value);
        if (value[n] && text_parse_u64(value + n + 1, &number) == 0 && number < 1 << 20)
            host->mtu = (int64_t)number;
    } else if (strcmp(name, "wall_ns") == 0 && text_parse_u64(value, &number) == 0 &&
               number < INT64_MAX) {
        host->wall_ns = (int64_t)number;
        host->heard_wall_ns = now_wall_ns;
    }
}

static bool is_level(const char *text) {
    return strcmp(text, "ok") == 0 || strcmp(text, "note") == 0 || strcmp(text, "hinders") == 0;
}

void examined_hear(struct examined *host, const char *line, int64_t now_wall_ns) {
    char copy[1024], *fields[5] = {NULL};
    size_t n = 0;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *at = copy; at && n < ARRAY_SIZE(fields);) {
        fields[n++] = at;
        at = strstr(at, SEPARATOR);
        if (at) {
            *at = '\0';
            at += strlen(SEPARATOR);
        }
    }
    if (n == 3 && strcmp(fields[0], "fact") == 0)
        hear_fact(host, fields[1], fields[2], now_wall_ns);
    else if (n == 5 && strcmp(fields[0], "doctor") == 0 && is_level(fields[1]))
        add(host, fields[1], fields[2], fields[3], fields[4]);
}

/* ---- comparisons of hosts ---- */

static void compare_version(struct examined *host, const char *version) {
    char mend[700];
    snprintf(mend, sizeof mend, "scp $(command -v chokepoint-agent) %.255s:/usr/local/bin/",
             host->host);
    if (strcmp(host->version, version) != 0)
        examined_add(host, "hinders", "version", mend,
                     "the agent is version %s, chokepoint here is %s", host->version, version);
}

/* A packet that is too large for one end is fragmented or silently lost. */
static void compare_mtu(struct examined *host, const struct examined *largest) {
    char mend[120];
    snprintf(mend, sizeof mend, "ip link set dev %s mtu %" PRId64, host->interface, largest->mtu);
    if (host->mtu && host->mtu < largest->mtu)
        examined_add(host, "hinders", "mtu", mend,
                     "packets of %s are at most %" PRId64 " bytes, on %s %" PRId64
                     ": large ones are cut, or lost",
                     host->interface, host->mtu, largest->host, largest->mtu);
}

/* The clock was read between the question and the answer. */
static void compare_clock(struct examined *host) {
    double behind_s = (double)(host->asked_wall_ns - host->wall_ns) / NS_PER_S,
           ahead_s = (double)(host->wall_ns - host->heard_wall_ns) / NS_PER_S;
    double off_s = behind_s > ahead_s ? behind_s : ahead_s;
    if (host->wall_ns && off_s > CLOCK_TOLERANCE_S)
        examined_add(host, "note", "clock", "timedatectl set-ntp true",
                     "the wall clock is %.3g s %s this machine's", off_s,
                     behind_s > ahead_s ? "behind" : "ahead of");
}

void examined_compare(struct examined *hosts, size_t n, const char *version) {
    const struct examined *largest = NULL;
    for (size_t i = 0; i < n; i++)
        if (hosts[i].complete && !hosts[i].only_collects &&
            (!largest || hosts[i].mtu > largest->mtu))
            largest = &hosts[i];
    for (size_t i = 0; i < n; i++) {
        if (!hosts[i].complete)
            continue;
        compare_version(&hosts[i], version);
        if (!hosts[i].only_collects)
            compare_mtu(&hosts[i], largest);
        compare_clock(&hosts[i]);
    }
}
