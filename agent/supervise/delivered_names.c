/* SPDX-License-Identifier: MIT */
/* A static program must not load the host C library's modules for name lookups: it finds users and
 * hosts in their files alone. */
#include <nss.h>

__attribute__((constructor)) static void look_names_up_in_files(void) {
    __nss_configure_lookup("passwd", "files");
    __nss_configure_lookup("group", "files");
    __nss_configure_lookup("hosts", "files dns");
}
