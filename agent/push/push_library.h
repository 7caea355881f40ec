/* SPDX-License-Identifier: MIT */
/*
 * libcurl, loaded when there is something to push. It needs thirty further libraries (three for
 * cryptography, Kerberos, LDAP), and loading them takes several times as long as the rest of the
 * agent's start. Many agents never push: they only print their version, or wait as a relay.
 */
#ifndef CHOKEPOINT_AGENT_PUSH_LIBRARY_H
#define CHOKEPOINT_AGENT_PUSH_LIBRARY_H

#include <curl/curl.h>

/* The functions of libcurl that are used, as declared in its headers. */
struct push_library {
    __typeof__(curl_global_init) *global_init;
    __typeof__(curl_global_cleanup) *global_cleanup;
    __typeof__(curl_easy_init) *easy_init;
    __typeof__(curl_easy_cleanup) *easy_cleanup;
    __typeof__(curl_easy_setopt) *easy_setopt;
    __typeof__(curl_easy_getinfo) *easy_getinfo;
    __typeof__(curl_easy_strerror) *easy_strerror;
    __typeof__(curl_multi_init) *multi_init;
    __typeof__(curl_multi_cleanup) *multi_cleanup;
    __typeof__(curl_multi_setopt) *multi_setopt;
    __typeof__(curl_multi_add_handle) *multi_add_handle;
    __typeof__(curl_multi_remove_handle) *multi_remove_handle;
    __typeof__(curl_multi_perform) *multi_perform;
    __typeof__(curl_multi_poll) *multi_poll;
    __typeof__(curl_multi_wakeup) *multi_wakeup;
    __typeof__(curl_multi_info_read) *multi_info_read;
};

/* The library, which stays loaded in the process. NULL: it is missing, or lacks a function. From
 * any thread. */
const struct push_library *push_library(void);

#endif
