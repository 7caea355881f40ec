/* SPDX-License-Identifier: MIT */
#include "cli/base/server_note.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/evidence/unrecorded_server.h"
#include "cli/base/listener.h"
#include "common/error.h"
#include "reports/formats/terminal.h"
#include "reports/model/layout.h"
#include "reports/model/reported.h"
#include "reports/says/commands.h"
#include "reports/says/text_list.h"

#define SHARE_MIN 0.1 /* of the run: a shorter wait is not what the run is about */
#define NOTE_LINES 3

/* "`chokepoint run --job port=6379 make`"; a run that was attached had other words. */
static char *say_command(const struct report *report, const char *again, uint16_t port) {
    if (!again)
        return text_format("add `--job port=%u`", (unsigned)port);
    AUTO(text_free) char *words = text_format("--job port=%u %s", (unsigned)port, again);
    AUTO(text_free)
    char *command = words ? command_words(&report->caller, (struct command){"run", words}) : NULL;
    return command ? text_format("`%s`", command) : NULL;
}

char *server_note_say(const struct report *report, const char *again, uint16_t port, double share,
                      const char *name) {
    AUTO(text_free) char *command = say_command(report, again, port);
    if (!command)
        return NULL;
    const char *kind = report->verdict.cause_kind; /* the verdict has said how long */
    if (kind && strcmp(kind, "server") == 0)
        return text_format("port %u of this machine is that of %s. Record the server, too: %s",
                           (unsigned)port, *name ? name : "a program that is not known", command);
    return text_format(
        "the job waited %.0f %% of the time for %s%sport %u of this machine%s, which "
        "is not recorded. Record the server, too: %s",
        100 * share, name, *name ? " (" : "", (unsigned)port, *name ? ")" : "", command);
}

/* Whether the recording's host is this machine. */
static bool is_here(const struct report *report, int host) {
    char own[256] = "";
    if (report->n_hosts == 1)
        return true;
    gethostname(own, sizeof own - 1);
    return strcmp(own, report->hosts[host].name) == 0;
}

void server_note_write(const struct report *report, const char *again, FILE *out) {
    struct unrecorded_server server;
    char name[LISTENER_NAME_SIZE];
    if (unrecorded_server_find(&report->run->model, &server) <= 0 || server.share < SHARE_MIN ||
        !is_here(report, server.host) || !listener_find("/proc", server.port, name))
        return;
    AUTO(text_free) char *text = server_note_say(report, again, server.port, server.share, name);
    if (text)
        terminal_paragraph(out, "note    ", text, NOTE_LINES);
}
