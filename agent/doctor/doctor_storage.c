/* SPDX-License-Identifier: MIT */
/* Checks of parallel file systems, and of ports of InfiniBand, RoCE and Omni-Path. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/source.h"
#include "agent/doctor/doctor.h"
#include "common/text.h"

/* Whether a file system of that type is mounted, by /proc/self/mounts. */
static bool is_mounted(const struct doctor_env *env, const char *type) {
    char path[PATH_MAX], *text = NULL;
    size_t room = 0;
    ssize_t size;
    bool found = false;
    struct span word;
    snprintf(path, sizeof path, "%s/self/mounts", env->proc);
    FILE *file = fopen(path, "re");
    while (file && !found && (size = getline(&text, &room, file)) > 0) {
        const char *p = text, *end = text + size;
        size_t words = 0;
        while (words < 3 && text_word(&p, end, &word))
            words++;
        found = words == 3 && span_equal(word, type); /* device, place, type */
    }
    free(text);
    if (file)
        fclose(file);
    return found;
}

/* Whether some directory of `path` has that file, and it may be read. */
static bool some_has(const char *path, const char *file) {
    DIR *directory = opendir(path);
    bool found = false;
    for (const struct dirent *entry; directory && !found && (entry = readdir(directory));) {
        char name[PATH_MAX];
        int n = snprintf(name, sizeof name, "%s/%s/%s", path, entry->d_name, file);
        found = entry->d_name[0] != '.' && n < (int)sizeof name && access(name, R_OK) == 0;
    }
    if (directory)
        closedir(directory);
    return found;
}

static void check_lustre(const struct doctor_env *env) {
    char old[PATH_MAX], new[PATH_MAX];
    if (!is_mounted(env, "lustre"))
        return;
    snprintf(old, sizeof old, "%s/fs/lustre/llite", env->proc);
    snprintf(new, sizeof new, "%s/kernel/debug/lustre/llite", env->sys);
    if (some_has(old, "stats") || some_has(new, "stats"))
        doctor_say(env, DOCTOR_OK, "lustre", "", "calls to Lustre are counted");
    else
        doctor_say(env, DOCTOR_NOTE, "lustre", "mount -o remount,mode=0711 /sys/kernel/debug",
                   "Lustre is mounted, and calls to it are counted for root alone (debugfs)");
}

static void check_beegfs(const struct doctor_env *env) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/fs/beegfs", env->proc);
    if (some_has(path, "storage_nodes"))
        doctor_say(
            env, DOCTOR_OK, "beegfs", "",
            "connections to BeeGFS are seen; its bytes and waits are counted at its servers");
}

enum port_counter { PORT_COUNTS, PORT_STUCK, PORT_LACKS };

/* A counter of 32 bits stops at its end; some drivers have none. */
static enum port_counter counter_of_port(const char *port) {
    char path[PATH_MAX + 64], text[32];
    snprintf(path, sizeof path, "%s/counters_ext/port_xmit_data_64", port);
    if (access(path, R_OK) == 0)
        return PORT_COUNTS;
    snprintf(path, sizeof path, "%s/counters/port_xmit_data", port);
    if (file_read_small(AT_FDCWD, path, text, sizeof text) <= 0 || text[0] < '0' || text[0] > '9')
        return PORT_LACKS;
    return strcmp(text, "4294967295") == 0 ? PORT_STUCK : PORT_COUNTS;
}

static void check_ports(const struct doctor_env *env, const char *ports, const char *device) {
    DIR *directory = opendir(ports);
    char port[PATH_MAX];
    for (const struct dirent *entry; directory && (entry = readdir(directory));) {
        if (entry->d_name[0] == '.' ||
            snprintf(port, sizeof port, "%s/%s", ports, entry->d_name) >= (int)sizeof port)
            continue;
        enum port_counter counter = counter_of_port(port);
        if (counter == PORT_STUCK)
            doctor_say(env, DOCTOR_NOTE, "fabric", "perfquery -R",
                       "port %s of %s counts bytes in 32 bits, and stopped at their end",
                       entry->d_name, device);
        else if (counter == PORT_LACKS)
            doctor_say(env, DOCTOR_NOTE, "fabric", "rdma statistic show",
                       "the driver of port %s of %s does not count its bytes where others do",
                       entry->d_name, device);
        else
            doctor_say(env, DOCTOR_OK, "fabric", "", "port %s of %s counts what passes it",
                       entry->d_name, device);
    }
    if (directory)
        closedir(directory);
}

static void check_fabric(const struct doctor_env *env) {
    char path[PATH_MAX], ports[PATH_MAX];
    snprintf(path, sizeof path, "%s/class/infiniband", env->sys);
    DIR *directory = opendir(path);
    for (const struct dirent *entry; directory && (entry = readdir(directory));)
        if (entry->d_name[0] != '.' &&
            snprintf(ports, sizeof ports, "%s/%s/ports", path, entry->d_name) < (int)sizeof ports)
            check_ports(env, ports, entry->d_name);
    if (directory)
        closedir(directory);
}

/* A host that has none of them needs no remark. */
void doctor_check_storage(const struct doctor_env *env) {
    check_lustre(env);
    check_beegfs(env);
    check_fabric(env);
}
