/* SPDX-License-Identifier: MIT */
/* Messages of `run` to the user. */
#include "cli/launch/run_session.h"
#include "common/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(const char *format, va_list values) {
    char line[1024], clean[1024]; /* names in it may be anybody's */
    vsnprintf(line, sizeof line, format, values);
    text_sanitize(clean, sizeof clean, line, strlen(line));
    fprintf(stderr, "chokepoint: %s\n", clean); /* stderr is unbuffered: each line is one write */
}

void session_tell(const struct run_session *s, const char *format, ...) {
    va_list values;
    va_start(values, format);
    if (!s->options->quiet)
        say(format, values);
    va_end(values);
}

void session_complain(const struct run_session *s, const char *format, ...) {
    va_list values;
    (void)s;
    va_start(values, format);
    say(format, values);
    va_end(values);
}

void session_refuse(struct run_session *s, const char *format, ...) {
    va_list values;
    va_start(values, format);
    char *text;
    int n = s->refusal ? -1 : vasprintf(&text, format, values);
    va_end(values);
    if (n < 0)
        return;
    s->refusal = text;
    session_complain(s, "%s: %s",
                     s->options->attached ? "nothing was recorded" : "the command was not started",
                     text);
}

void session_note(struct run_session *s, const char *format, ...) {
    char *text = NULL;
    va_list values;
    va_start(values, format);
    int n = vasprintf(&text, format, values);
    va_end(values);
    if (n < 0)
        return;
    session_tell(s, "%s", text);
    if (s->n_notes < RUN_NOTES_MAX)
        s->notes[s->n_notes++] = text;
    else
        free(text);
}
