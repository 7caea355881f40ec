/* SPDX-License-Identifier: MIT */
/* The verdict in five lines: the run, its limit, the gain of a change, what to do, and commands
 * that tell more. A run too short to judge has one line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/formats/terminal.h"
#include "reports/model/layout.h"
#include "reports/says/commands.h"
#include "reports/says/text_list.h"
#include "reports/writer.h"

#define LABEL_WIDTH 8
#define TEXT_LINES 3 /* of one label, at most */
#define NOTE_LINES 3 /* enough for a whole command that helps */
#define NAME_WIDTH 40

static char *say_recording(const struct report *report) {
    char missing[REPORT_MISSING_SIZE];
    if (*report_missing(report, missing))
        return text_format("%s", missing);
    return text_format(report->quality.n_amiss ? "see the note" : "recording complete");
}

/* Writes `text`, and `right` at the end of the line, or after `text` if the line is too short. */
static void put_ends(FILE *out, const char *text, const char *right) {
    size_t width = terminal_width(text), other = terminal_width(right);
    size_t columns = terminal_columns(out);
    terminal_put(out, text, 0);
    if (width + other + 2 > columns)
        fputs(", ", out);
    else
        fprintf(out, "%*s", (int)(columns - width - other), "");
    terminal_put(out, right, 0);
    fputc('\n', out);
}

/* "chokepoint: sync-dense, 60.2 s on 5 hosts" */
static char *say_run(const struct report *report) {
    char duration[LAYOUT_NUMBER_SIZE], end[64] = "";
    const char *name = report->run_name ? report->run_name : "?";
    bool cut = terminal_width(name) > NAME_WIDTH;
    if (strcmp(report->state, "done") != 0)
        snprintf(end, sizeof end, ", %.40s", report->state);
    if (report->exit_status > 0)
        snprintf(end + strlen(end), sizeof end - strlen(end), ", exit status %d",
                 report->exit_status);
    return text_format("chokepoint: %.*s%s, %s on %zu host%s%s", cut ? NAME_WIDTH : 256, name,
                       cut ? "..." : "", layout_duration(duration, report->duration_s),
                       report->n_hosts, report->n_hosts == 1 ? "" : "s", end);
}

static int print_lines_head(FILE *out, const struct report *report) {
    AUTO(text_free) char *run = say_run(report);
    AUTO(text_free) char *recording = say_recording(report);
    AUTO(text_free)
    char *right =
        recording ? text_format("run %lld, %s", (long long)report->run_id, recording) : NULL;
    if (!run || !right)
        return -ENOMEM;
    put_ends(out, run, right);
    return 0;
}

static const char *colour_of(enum verdict_state state) {
    static const char *const colours[] = {[VERDICT_SATURATED] = "\033[1;31m",
                                          [VERDICT_SUSPECTED] = "\033[1;33m",
                                          [VERDICT_BALANCED] = "\033[1;32m",
                                          [VERDICT_INSUFFICIENT] = "\033[1m",
                                          [VERDICT_IDLE] = "\033[1;32m"};
    return colours[state];
}

static void put_limit(FILE *out, const struct report_verdict *v, bool colour) {
    char sure[40] = "", label[LABEL_WIDTH + 1] = "limit   ";
    if (v->confidence > 0)
        snprintf(sure, sizeof sure, "confidence %.0f %%", 100 * v->confidence);
    size_t width = terminal_width(v->limit), other = strlen(sure);
    if (colour)
        fprintf(out, "%slimit\033[0m%*s", colour_of(v->state), LABEL_WIDTH - 5, "");
    else
        fputs(label, out);
    if (LABEL_WIDTH + width + other + 2 <= terminal_columns(out)) {
        terminal_put(out, v->limit, 0);
        fprintf(out, "%*s%s\n",
                other ? (int)(terminal_columns(out) - LABEL_WIDTH - width - other) : 0, "", sure);
        return;
    }
    size_t size = strlen(v->limit);
    int n = (int)size - (other && size && v->limit[size - 1] == '.'); /* no ".;" */
    AUTO(text_free) char *whole = text_format("%.*s%s%s", n, v->limit, other ? "; " : "", sure);
    terminal_hanging(out, LABEL_WIDTH, whole ? whole : v->limit, TEXT_LINES);
}

/* Commands are never broken, so that a whole line can be pasted. */
static int put_more(FILE *out, const struct caller *caller) {
    char *why = command_words(caller, (struct command){"report", "{run} --why"});
    char *page = command_words(caller, (struct command){"report", "{run} -o run-{run}.html"});
    if (why && page) {
        size_t used = LABEL_WIDTH + terminal_width(why) + 4 + 6 + terminal_width(page);
        fprintf(out, "more    %s%s%s\n", why,
                used <= terminal_columns(out) ? "    page: " : "\npage    ", page);
    }
    free(why);
    free(page);
    return why && page ? 0 : -ENOMEM;
}

/* All problems in one text. Owned; NULL: no memory. */
static char *say_amiss(const struct report *report) {
    char *text = text_format("%s", "");
    for (size_t i = 0; i < report->quality.n_amiss && text; i++) {
        char *longer = text_format("%s%s%s", text, *text ? "; " : "", report->quality.notes[i]);
        free(text);
        text = longer;
    }
    return text;
}

static int put_too_short(FILE *out, const struct report *report) {
    AUTO(text_free)
    char *text = text_format("run %lld, %.256s%s: %s", (long long)report->run_id,
                             report->run_name ? report->run_name : "?",
                             report->exit_status > 0 ? ", failed" : "", report->verdict.limit);
    if (!text)
        return -ENOMEM;
    terminal_paragraph(out, "chokepoint: ", text, TEXT_LINES);
    return ferror(out) ? -EIO : 0;
}

int report_write_limit(const struct report *report, bool colour, FILE *out) {
    const struct report_verdict *v = &report->verdict;
    put_limit(out, v, colour);
    if (*v->worth)
        terminal_paragraph(out, "worth   ", v->worth, TEXT_LINES);
    return ferror(out) ? -EIO : 0;
}

int report_write_lines(const struct report *report, bool colour, FILE *out) {
    const struct report_verdict *v = &report->verdict;
    if (v->too_short)
        return put_too_short(out, report);
    int result = print_lines_head(out, report);
    if (result == 0)
        result = report_write_limit(report, colour, out);
    if (result < 0)
        return result;
    if (v->n_next)
        terminal_paragraph(out, "do      ", v->next[0], TEXT_LINES);
    if (report->quality.n_amiss) {
        AUTO(text_free) char *amiss = say_amiss(report);
        if (!amiss)
            return -ENOMEM;
        terminal_paragraph(out, "note    ", amiss, NOTE_LINES);
    }
    result = put_more(out, &report->caller);
    return result == 0 && ferror(out) ? -EIO : result;
}
