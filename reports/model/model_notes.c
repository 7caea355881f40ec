/* SPDX-License-Identifier: MIT */
/* Notes of quality: a note that several hosts share is said once, with the names of these hosts. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/model/model_private.h"

#define NAMED_MAX 4 /* hosts with names; of more hosts the note has the number */

int report_add_note(struct report *report, char *owned_text) {
    char **notes =
        owned_text ? realloc(report->quality.notes, (report->quality.n_notes + 1) * sizeof *notes)
                   : NULL;
    if (!notes) {
        free(owned_text);
        return -ENOMEM;
    }
    report->quality.notes = notes;
    report->quality.notes[report->quality.n_notes++] = owned_text;
    return 0;
}

int report_note_host(const struct report *report, const char *note) {
    for (size_t h = 0; h < report->n_hosts; h++) {
        size_t size = strlen(report->hosts[h].name);
        if (strncmp(note, report->hosts[h].name, size) == 0 && strncmp(note + size, ": ", 2) == 0)
            return (int)h;
    }
    return -1;
}

static const char *behind_host(const struct report *report, const char *note) {
    int host = report_note_host(report, note);
    return host < 0 ? NULL : note + strlen(report->hosts[host].name) + 2;
}

static bool is_alike(const struct report *report, const char *words, const char *note) {
    const char *others = behind_host(report, note);
    return words && others && strcmp(words, others) == 0;
}

/* "all 3 hosts", "vm1, vm2", "7 hosts". notes[first] is the first of the equal notes in [first,
 * end). */
static void put_hosts(FILE *out, const struct report *report, size_t first, size_t end, size_t n) {
    const char *words = behind_host(report, report->quality.notes[first]);
    bool any = false;
    if (n == report->n_hosts && n == 2)
        fputs("both hosts", out);
    else if (n == report->n_hosts)
        fprintf(out, "all %zu hosts", n);
    else if (n > NAMED_MAX)
        fprintf(out, "%zu hosts", n);
    for (size_t i = first; n < report->n_hosts && n <= NAMED_MAX && i < end; i++) {
        if (!is_alike(report, words, report->quality.notes[i]))
            continue;
        fprintf(out, "%s%s", any ? ", " : "",
                report->hosts[report_note_host(report, report->quality.notes[i])].name);
        any = true;
    }
}

/* Owned; NULL: no memory. */
static char *say_once(const struct report *report, size_t first, size_t end, size_t n) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    put_hosts(out, report, first, end, n);
    fprintf(out, ": %s", behind_host(report, report->quality.notes[first]));
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static void take_out(struct report *report, size_t at) {
    free(report->quality.notes[at]);
    memmove(report->quality.notes + at, report->quality.notes + at + 1,
            (report->quality.n_notes - at - 1) * sizeof *report->quality.notes);
    report->quality.n_notes--;
}

/* Merges equal notes of [first, *end) into one. */
static int merge_at(struct report *report, size_t first, size_t *end) {
    const char *words = behind_host(report, report->quality.notes[first]);
    size_t n = 1, from = *end;
    for (size_t i = first + 1; i < *end; i++)
        n += is_alike(report, words, report->quality.notes[i]);
    if (n < 2)
        return 0;
    char *text = say_once(report, first, *end, n);
    if (!text)
        return -ENOMEM;
    while (from-- > first + 1)
        if (is_alike(report, words, report->quality.notes[from])) {
            take_out(report, from);
            --*end;
        }
    free(report->quality.notes[first]);
    report->quality.notes[first] = text;
    return 0;
}

int report_merge_notes(struct report *report) {
    int result = 0;
    for (size_t i = 0; result == 0 && i < report->quality.n_amiss; i++)
        result = merge_at(report, i, &report->quality.n_amiss);
    size_t end = report->quality.n_notes;
    for (size_t i = report->quality.n_amiss; result == 0 && i < end; i++)
        result = merge_at(report, i, &end);
    return result;
}
