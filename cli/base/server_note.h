/* SPDX-License-Identifier: MIT */
/* After a run: whether it waited for a server of this machine that was not recorded. */
#ifndef CHOKEPOINT_CLI_SERVER_NOTE_H
#define CHOKEPOINT_CLI_SERVER_NOTE_H

#include <stdint.h>
#include <stdio.h>

#include "reports/model/model.h"

/* The sentence with the command that records the server, too. name: of the server; "": not known.
 * again: the words of the run's command; NULL: it had none. Owned; NULL: no memory. */
char *server_note_say(const struct report *report, const char *again, uint16_t port, double share,
                      const char *name);

/* Writes the line to `out`, if there is something to say. Failures are silent: it is an extra. */
void server_note_write(const struct report *report, const char *again, FILE *out);

#endif
