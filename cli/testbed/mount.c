/* SPDX-License-Identifier: MIT */
/*
 * The file system for a process inside a host is the machine's, with two exceptions. /etc/hosts
 * names the hosts of the testbed, and /sys shows the interfaces of the host's network namespace,
 * with the cgroup tree still in it (which `ip netns exec` loses).
 */
#include "cli/base/file.h"
#include "cli/testbed/testbed.h"
#include "common/error.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

/* Inside a chroot "/" is no mount point, so its propagation can only be changed from the true root,
 * which is reached by entering the process's own mount namespace. */
static int make_slave_from_chroot(int root_fd, int here_fd) {
    int ns_fd = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
    if (ns_fd < 0)
        return negative_errno();
    int r = setns(ns_fd, CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0
                ? negative_errno()
                : 0;
    if (fchdir(root_fd) < 0 || chroot(".") < 0 || (here_fd >= 0 && fchdir(here_fd) < 0))
        r = r ? r : negative_errno();
    close(ns_fd);
    return r;
}

/* Slave, not private: an unmount on the machine must happen here too, or dead namespaces would
 * survive as hidden mounts. */
static int make_slave(void) {
    if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0)
        return 0;
    if (errno != EINVAL)
        return negative_errno();
    int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int here_fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int r = root_fd < 0 ? negative_errno() : make_slave_from_chroot(root_fd, here_fd);
    if (root_fd >= 0)
        close(root_fd);
    if (here_fd >= 0)
        close(here_fd);
    return r;
}

/* Best effort: a container may forbid it, and then /sys shows the machine's interfaces. */
static void mount_sys(void) {
    char old[64];
    int fd = open("/sys/fs/cgroup", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    snprintf(old, sizeof old, "/proc/self/fd/%d", fd);
    if (mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0 &&
        mount(old, "/sys/fs/cgroup", NULL, MS_BIND | MS_REC, NULL) < 0)
        umount2("/sys", MNT_DETACH);
    close(fd);
}

/* A minimal root file system lacks /etc/hosts; an empty file means the same and can be mounted
 * over. */
static int mount_hosts(const struct testbed *t) {
    char from[128];
    int r = path_format(from, sizeof from, "%s/hosts", t->directory);
    if (r < 0)
        return r;
    int fd = open("/etc/hosts", O_RDONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return negative_errno();
    close(fd);
    return mount(from, "/etc/hosts", NULL, MS_BIND, NULL) < 0 ? negative_errno() : 0;
}

int testbed_mount_private(struct testbed *t) {
    int r = unshare(CLONE_NEWNS) < 0 ? negative_errno() : make_slave();
    if (r < 0)
        return testbed_trouble(t, TESTBED_UNABLE, "cannot have a mount namespace: %s",
                               strerror(-r));
    mount_sys();
    r = mount_hosts(t);
    return r < 0 ? testbed_trouble(t, TESTBED_FAILED, "cannot mount over /etc/hosts: %s",
                                   strerror(-r))
                 : 0;
}
