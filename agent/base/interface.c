/* SPDX-License-Identifier: MIT */
#include "agent/base/interface.h"

#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>

bool interface_name(int socket_fd, int index, char ret_name[INTERFACE_NAME_SIZE]) {
    struct ifreq request = {.ifr_ifindex = index};
    if (ioctl(socket_fd, SIOCGIFNAME, &request) < 0)
        return false;
    _Static_assert(INTERFACE_NAME_SIZE == IFNAMSIZ, "the same size");
    memcpy(ret_name, request.ifr_name, IFNAMSIZ);
    ret_name[IFNAMSIZ - 1] = '\0';
    return true;
}
