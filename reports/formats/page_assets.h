/* SPDX-License-Identifier: MIT */
/*
 * Style and script of a page, which page/embed.cmake makes from page/NAME.css, page/NAME.js and
 * dygraphs at build time. They need only each other and load nothing.
 */
#ifndef CHOKEPOINT_REPORTS_PAGE_ASSETS_H
#define CHOKEPOINT_REPORTS_PAGE_ASSETS_H

extern const char page_style[], page_script[];
/* "sha256-..." of page_script as it stands in its element, for a Content-Security-Policy. */
extern const char page_script_hash[];

#endif
