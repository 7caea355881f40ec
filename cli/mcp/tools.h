/* SPDX-License-Identifier: MIT */
/* The tools of the server. */
#ifndef CHOKEPOINT_CLI_MCP_TOOLS_H
#define CHOKEPOINT_CLI_MCP_TOOLS_H

#include <jansson.h>

#include "cli/mcp/mcp.h"

/* The result of a call: a document, of which a page is shown, or a sentence that says why not. */
struct tool_result {
    char *words;    /* owned; shown above the first page; NULL: none */
    char *document; /* owned JSON; NULL: `refused` or `failed` */
    size_t size;
    int64_t run;        /* the run that the document is of; 0: of none */
    const char *only;   /* members of the document that are wanted; NULL: all */
    char *owned_only;   /* owned, or NULL */
    const char *cursor; /* borrowed of the arguments; NULL */
    char *refused;      /* owned: the arguments are wrong */
    char *failed;       /* owned: the call could not be done */
};

void tool_result_release(struct tool_result *result);

/* The list of tools, as tools/list gives it; a new reference. NULL: no memory. */
json_t *tools_list(void);

/* Whether there is a tool of that name. */
bool tools_has(const char *name);

/* Calls a tool. arguments: an object, or NULL. -ENOMEM. */
int tools_call(const struct mcp *mcp, const char *name, const json_t *arguments,
               struct tool_result *ret_result);

/* Writes a page of the document, of at most so many bytes; owned. NULL with *ret_refused set
 * (owned): the cursor is wrong; NULL without it: no memory. */
char *tool_page(const struct tool_result *result, size_t max_bytes, char **ret_refused);

#endif
