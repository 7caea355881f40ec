/* SPDX-License-Identifier: MIT */
/* `chokepoint serve --feed RUN`: the state of a run, a line of JSON each second. */
#ifndef CHOKEPOINT_CLI_SERVE_FEED_RUN_H
#define CHOKEPOINT_CLI_SERVE_FEED_RUN_H

/* Until the run has ended, or standard output is read no more. The exit status. */
int feed_run(const char *database, const char *run);

#endif
