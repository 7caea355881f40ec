/* SPDX-License-Identifier: MIT */
#include "cli/launch/hosts.h"
#include "common/error.h"
#include "common/text.h"

#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int compare_names(const void *a, const void *b) {
    return strcmp(a, b);
}

static void keep_name(void *name) {
    (void)name; /* the array owns it */
}

void hosts_release(struct hosts *hosts) {
    tdestroy(hosts->index, keep_name);
    for (size_t i = 0; i < hosts->n; i++)
        free(hosts->names[i]);
    free(hosts->names);
    *hosts = (struct hosts){0};
}

bool hosts_contain(const struct hosts *hosts, const char *name) {
    return tfind(name, &hosts->index, compare_names) != NULL;
}

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("._-:", c));
}

static bool is_host_name(const char *name, size_t size) {
    if (size == 0 || size > HOST_NAME_LENGTH_MAX || name[0] == '-')
        return false;
    for (size_t i = 0; i < size; i++)
        if (!is_name_char(name[i]))
            return false;
    return true;
}

/* "vm1:4", "vm1:*" -> "vm1"; an IPv6 address has more than one colon and keeps them. */
static size_t without_slots(const char *name, size_t size) {
    const char *colon = memchr(name, ':', size);
    if (!colon || memchr(colon + 1, ':', size - (size_t)(colon + 1 - name)))
        return size;
    return (size_t)(colon - name);
}

static struct span bare_name(const char *name, size_t size) {
    const char *at = memchr(name, '@', size);
    if (at) {
        size -= (size_t)(at + 1 - name);
        name = at + 1;
    }
    return (struct span){name, without_slots(name, size)};
}

static int refuse_name(const char *name, size_t size, char *why, size_t why_size) {
    char shown[64];
    text_sanitize(shown, sizeof shown, name, size < sizeof shown - 1 ? size : sizeof shown - 1);
    snprintf(why, why_size, "'%s' is no host name", shown);
    return -EINVAL;
}

static int append_name(struct hosts *hosts, char *name) {
    if ((hosts->n & (hosts->n - 1)) == 0) { /* grows at powers of two */
        char **names = reallocarray(hosts->names, hosts->n ? 2 * hosts->n : 1, sizeof *names);
        if (!names)
            return -ENOMEM;
        hosts->names = names;
    }
    if (!tsearch(name, &hosts->index, compare_names))
        return -ENOMEM;
    hosts->names[hosts->n++] = name;
    return 0;
}

int hosts_add(struct hosts *hosts, const char *name, size_t size, char *why, size_t why_size) {
    struct span bare = bare_name(name, size);
    char text[HOST_NAME_LENGTH_MAX + 1];
    if (!is_host_name(bare.data, bare.size))
        return refuse_name(name, size, why, why_size);
    memcpy(text, bare.data, bare.size);
    text[bare.size] = '\0';
    if (hosts_contain(hosts, text))
        return 0;
    if (hosts->n >= HOSTS_MAX) {
        snprintf(why, why_size, "more than %d hosts", HOSTS_MAX);
        return -E2BIG;
    }
    char *copy = strdup(text);
    int r = copy ? append_name(hosts, copy) : -ENOMEM;
    if (r < 0) {
        free(copy);
        snprintf(why, why_size, "out of memory");
    }
    return r;
}

int hosts_add_list(struct hosts *hosts, const char *text, char *why, size_t why_size) {
    while (*text) {
        size_t size = strcspn(text, ",");
        int r = size ? hosts_add(hosts, text, size, why, why_size) : 0;
        if (r < 0)
            return r;
        text += size + (text[size] == ',');
    }
    return 0;
}

static void take_out(struct hosts *hosts, const char *name, size_t size) {
    struct span bare = bare_name(name, size);
    for (size_t i = 0; i < hosts->n; i++) {
        if (!span_equal(bare, hosts->names[i]))
            continue;
        tdelete(hosts->names[i], &hosts->index, compare_names);
        free(hosts->names[i]);
        memmove(&hosts->names[i], &hosts->names[i + 1], (hosts->n - i - 1) * sizeof *hosts->names);
        hosts->n--;
        return;
    }
}

static int add_hostfile_line(struct hosts *hosts, struct span line, char *why, size_t why_size) {
    const char *comment = memchr(line.data, '#', line.size);
    size_t size = comment ? (size_t)(comment - line.data) : line.size;
    while (size && line.data[size - 1] == '\r')
        size--;
    const char *p = line.data;
    struct span word;
    if (!text_word(&p, line.data + size, &word))
        return 0;
    if (word.data[0] == '^')
        return take_out(hosts, word.data + 1, word.size - 1), 0;
    return hosts_add(hosts, word.data, word.size, why, why_size);
}

int hosts_add_hostfile_text(struct hosts *hosts, const char *text, size_t size, char *why,
                            size_t why_size) {
    const char *p = text;
    struct span line;
    for (size_t number = 1; text_line(&p, text + size, &line); number++) {
        char reason[128];
        int r = add_hostfile_line(hosts, line, reason, sizeof reason);
        if (r < 0) {
            snprintf(why, why_size, "line %zu: %s", number, reason);
            return r;
        }
    }
    return 0;
}

/* Plain files only: the command could not read a pipe a second time. */
static int read_plain_file(const char *path, char **ret_text, size_t *ret_size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    if (fd < 0)
        return negative_errno();
    int r = fstat(fd, &status) < 0               ? negative_errno()
            : S_ISDIR(status.st_mode)            ? -EISDIR
            : !S_ISREG(status.st_mode)           ? -ESPIPE
            : status.st_size > HOSTFILE_SIZE_MAX ? -EFBIG
                                                 : 0;
    char *text = r == 0 ? malloc((size_t)status.st_size + 1) : NULL;
    ssize_t n = text ? read(fd, text, (size_t)status.st_size) : -1;
    if (r == 0 && n < 0)
        r = text ? negative_errno() : -ENOMEM;
    close(fd);
    if (r < 0)
        return free(text), r;
    *ret_text = text;
    *ret_size = (size_t)n;
    return 0;
}

int hosts_add_hostfile(struct hosts *hosts, const char *path, char *why, size_t why_size) {
    char *text, reason[192];
    size_t size, n_before = hosts->n;
    int r = read_plain_file(path, &text, &size);
    if (r < 0) {
        snprintf(why, why_size, "hostfile %s: %s", path,
                 r == -ESPIPE ? "not a plain file; name the hosts with --hosts a,b,c"
                              : strerror(-r));
        return r;
    }
    r = hosts_add_hostfile_text(hosts, text, size, reason, sizeof reason);
    free(text);
    if (r == 0 && hosts->n == n_before) {
        r = -ENODATA;
        snprintf(reason, sizeof reason, "it names no host");
    }
    if (r < 0)
        snprintf(why, why_size, "hostfile %s: %s", path, reason);
    return r;
}
