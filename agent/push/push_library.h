/* SPDX-License-Identifier: MIT */
/*
 * libcurl, loaded when there is something to push. It brings thirty further libraries along (three
 * of cryptography, Kerberos, LDAP), and loading them costs several times what a whole start of the
 * agent does: the agent is also asked for its version, and the relay often only waits.
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

/* The process's own, which stays loaded. NULL: it is not here, or lacks something. From any
 * thread. */
const struct push_library *push_library(void);

#endif
