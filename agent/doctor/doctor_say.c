/* SPDX-License-Identifier: MIT */
/* Reads for the checks, and prints their lines. */
#include "agent/doctor/doctor.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "common/text.h"

#define LINE_SIZE 900 /* the reader accepts lines up to a KiB */

/* Bars separate fields, so fields must not contain any. */
static void put_field(FILE *out, const char *text) {
    char clean[LINE_SIZE / 2];
    text_sanitize(clean, sizeof clean, text, strlen(text));
    for (char *at = clean; (at = strchr(at, '|')); at++)
        *at = '/';
    fprintf(out, " | %s", clean);
}

void doctor_say(const struct doctor_env *env, enum doctor_level level, const char *check,
                const char *mend, const char *format, ...) {
    static const char *const levels[] = {"ok", "note", "hinders"};
    char text[LINE_SIZE / 2];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    fputs("chokepoint-agent: doctor", env->out);
    put_field(env->out, levels[level]);
    put_field(env->out, check);
    put_field(env->out, text);
    put_field(env->out, mend);
    fputc('\n', env->out);
}

void doctor_fact(const struct doctor_env *env, const char *name, const char *format, ...) {
    char text[LINE_SIZE / 2];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    fputs("chokepoint-agent: fact", env->out);
    put_field(env->out, name);
    put_field(env->out, text);
    fputc('\n', env->out);
}

bool doctor_read(const char *root, const char *path, char *to, size_t size) {
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s/%s", root, path);
    int fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, to, size - 1);
    if (fd >= 0)
        close(fd);
    if (n < 0)
        return false;
    to[n] = '\0';
    to[strcspn(to, "\n")] = '\0';
    return true;
}
