/* SPDX-License-Identifier: MIT */
#include "cli/base/moment.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/duration.h"
#include "common/text.h"

#define DAY_NS (86400 * NS_PER_S)
#define TEXT_MAX 64
#define YEAR_MIN 1970
#define YEAR_MAX 2200

static bool get_number(const char **p, size_t digits, int low, int high, int *ret) {
    int value = 0;
    for (size_t i = 0; i < digits; i++) {
        if ((*p)[i] < '0' || (*p)[i] > '9')
            return false;
        value = 10 * value + (*p)[i] - '0';
    }
    *p += digits;
    *ret = value;
    return value >= low && value <= high;
}

/* "14:05", "14:05:30", "14:05:30.25": up to ns, which are returned. */
static bool get_clock(const char **p, struct tm *tm, int64_t *ret_ns) {
    int64_t unit = NS_PER_S / 10;
    *ret_ns = 0;
    tm->tm_sec = 0;
    if (!get_number(p, 2, 0, 23, &tm->tm_hour) || *(*p)++ != ':' ||
        !get_number(p, 2, 0, 59, &tm->tm_min))
        return false;
    if (**p != ':')
        return true;
    ++*p;
    if (!get_number(p, 2, 0, 60, &tm->tm_sec))
        return false;
    if (**p != '.')
        return true;
    for (++*p; **p >= '0' && **p <= '9'; ++*p, unit /= 10)
        *ret_ns += unit * (**p - '0');
    return true;
}

static bool get_date(const char **p, struct tm *tm) {
    int year, month;
    if (!get_number(p, 4, YEAR_MIN, YEAR_MAX, &year) || *(*p)++ != '-' ||
        !get_number(p, 2, 1, 12, &month) || *(*p)++ != '-' ||
        !get_number(p, 2, 1, 31, &tm->tm_mday))
        return false;
    tm->tm_year = year - 1900;
    tm->tm_mon = month - 1;
    return true;
}

/* "Z", "+01:00", "-0530"; none: *ret_local. */
static bool get_zone(const char **p, bool *ret_local, int64_t *ret_ns) {
    int hours, minutes;
    *ret_local = **p == '\0';
    *ret_ns = 0;
    if (*ret_local)
        return true;
    if (**p == 'Z')
        return ++*p, **p == '\0';
    char sign = *(*p)++;
    if ((sign != '+' && sign != '-') || !get_number(p, 2, 0, 14, &hours))
        return false;
    if (**p == ':')
        ++*p;
    if (!get_number(p, 2, 0, 59, &minutes))
        return false;
    *ret_ns = (sign == '+' ? 1 : -1) * (hours * 60 + minutes) * 60 * NS_PER_S;
    return **p == '\0';
}

static int seconds_of(struct tm *tm, bool local, int64_t *ret_ns) {
    int day = tm->tm_mday;
    tm->tm_isdst = -1;
    time_t s = local ? mktime(tm) : timegm(tm);
    if (s == (time_t)-1 || tm->tm_mday != day) /* 30 February */
        return -EINVAL;
    *ret_ns = (int64_t)s * NS_PER_S;
    return 0;
}

static int parse_date(const char *text, int64_t *ret_ns) {
    struct tm tm = {0};
    int64_t part_ns = 0, zone_ns = 0, ns;
    bool local = true;
    if (!get_date(&text, &tm))
        return -EINVAL;
    if (*text == ' ' || *text == 'T') {
        text++;
        if (!get_clock(&text, &tm, &part_ns) || !get_zone(&text, &local, &zone_ns))
            return -EINVAL;
    }
    if (*text || seconds_of(&tm, local, &ns) < 0)
        return -EINVAL;
    *ret_ns = ns + part_ns - zone_ns;
    return 0;
}

static struct tm day_of(int64_t ns) {
    time_t s = (time_t)(ns / NS_PER_S);
    struct tm tm = {0};
    localtime_r(&s, &tm);
    tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
    return tm;
}

static int parse_clock(const char *text, int64_t now_ns, int64_t *ret_ns) {
    struct tm tm = day_of(now_ns);
    const char *p = text;
    int64_t part_ns, ns;
    if (!get_clock(&p, &tm, &part_ns) || *p || seconds_of(&tm, true, &ns) < 0)
        return -EINVAL;
    if (ns + part_ns > now_ns) {
        tm = day_of(now_ns - DAY_NS);
        p = text;
        get_clock(&p, &tm, &part_ns);
        if (seconds_of(&tm, true, &ns) < 0)
            return -EINVAL;
    }
    *ret_ns = ns + part_ns;
    return 0;
}

static int parse_day(int64_t ns, int64_t *ret_ns) {
    struct tm tm = day_of(ns);
    return seconds_of(&tm, true, ret_ns);
}

int moment_parse(const char *text, int64_t now_ns, int64_t *ret_ns) {
    uint64_t s;
    int64_t span_ns;
    if (strcmp(text, "now") == 0)
        return *ret_ns = now_ns, 0;
    if (strcmp(text, "today") == 0)
        return parse_day(now_ns, ret_ns);
    if (strcmp(text, "yesterday") == 0)
        return parse_day(now_ns - DAY_NS, ret_ns);
    if (*text == '@') {
        if (text_parse_u64(text + 1, &s) < 0 || s > INT64_MAX / NS_PER_S)
            return -EINVAL;
        return *ret_ns = (int64_t)s * NS_PER_S, 0;
    }
    if (*text == '-') {
        if (duration_parse(text + 1, &span_ns) < 0 || span_ns >= now_ns)
            return -EINVAL;
        return *ret_ns = now_ns - span_ns, 0;
    }
    return strchr(text, '-') ? parse_date(text, ret_ns) : parse_clock(text, now_ns, ret_ns);
}
