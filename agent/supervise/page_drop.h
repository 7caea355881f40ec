/* SPDX-License-Identifier: MIT */
/*
 * Loading the libraries of an HTTP client touches 6 MB of their files, which a process that only
 * waits, or has pushed once, hardly needs again. These functions give those pages back.
 */
#ifndef CHOKEPOINT_AGENT_PAGE_DROP_H
#define CHOKEPOINT_AGENT_PAGE_DROP_H

/* Drops the unmodified, read-only pages of files from this process (found in <proc>/self/smaps).
 * Pages that are needed again come from the page cache, in other threads, too. No thread may load a
 * library meanwhile. Best effort. */
void page_drop_files(const char *proc);

#endif
