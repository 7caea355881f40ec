/* SPDX-License-Identifier: MIT */
/* Slurm's node lists, expanded here because not every machine with mpirun has `scontrol`. */
#include "cli/launch/hosts.h"
#include "common/error.h"
#include "common/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct nodelist {
    struct hosts *hosts;
    size_t n_steps; /* "[1,1][1,1]..." names one host in 2^n ways */
    char *why;
    size_t why_size;
};

static int refuse(const struct nodelist *list, const char *text) {
    char shown[64];
    text_sanitize(shown, sizeof shown, text, strnlen(text, sizeof shown - 1));
    snprintf(list->why, list->why_size, "'%s' is no node list", shown);
    return -EINVAL;
}

static int expand(struct nodelist *list, const char *name);

/* A range counts up with the leading zeros of its start; the texts around the brackets are
 * `before`..`after`. */
static int expand_range(struct nodelist *list, struct span before, struct span range,
                        const char *after) {
    const char *p = range.data, *end = p + range.size;
    uint64_t first, last;
    if (p == end || *p < '0' || *p > '9' || !text_u64(&p, end, &first))
        return refuse(list, range.data);
    int width = (int)(p - range.data);
    last = first;
    if (p < end && *p == '-' && (++p == end || *p < '0' || *p > '9' || !text_u64(&p, end, &last)))
        return refuse(list, range.data);
    if (p != end || last < first || width > 20)
        return refuse(list, range.data);
    for (uint64_t i = first;; i++) {
        char name[2 * HOST_NAME_LENGTH_MAX];
        int n = snprintf(name, sizeof name, "%.*s%0*ju%s", (int)before.size, before.data, width,
                         (uintmax_t)i, after);
        int r = (size_t)n < sizeof name ? expand(list, name) : refuse(list, before.data);
        if (r < 0 || i == last)
            return r;
    }
}

/* Expands each bracket for each number of the earlier ones: "r[1-2]n[01-04]". */
static int expand(struct nodelist *list, const char *name) {
    const char *open = strchr(name, '['), *close = open ? strchr(open, ']') : NULL;
    if ((!open && strchr(name, ']')) || ++list->n_steps > 16 * HOSTS_MAX)
        return refuse(list, name);
    if (!open)
        return hosts_add(list->hosts, name, strlen(name), list->why, list->why_size);
    if (!close)
        return refuse(list, name);
    for (const char *p = open + 1; p <= close; p++) {
        size_t size = strcspn(p, ",]");
        int r = expand_range(list, (struct span){name, (size_t)(open - name)},
                             (struct span){p, size}, close + 1);
        if (r < 0)
            return r;
        p += size;
    }
    return 0;
}

/* Commas inside brackets do not end an entry. */
static size_t entry_size(const char *text) {
    size_t size = 0;
    for (bool inside = false; text[size] && (inside || text[size] != ','); size++)
        inside = text[size] == '[' || (inside && text[size] != ']');
    return size;
}

int hosts_add_nodelist(struct hosts *hosts, const char *text, char *why, size_t why_size) {
    struct nodelist list = {.hosts = hosts, .why = why, .why_size = why_size};
    while (*text) {
        char entry[2 * HOST_NAME_LENGTH_MAX];
        size_t size = entry_size(text);
        if (size == 0 || size >= sizeof entry)
            return refuse(&list, text);
        memcpy(entry, text, size);
        entry[size] = '\0';
        int r = expand(&list, entry);
        if (r < 0)
            return r;
        text += size + (text[size] == ',');
    }
    return 0;
}
