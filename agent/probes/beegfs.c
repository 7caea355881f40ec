/* SPDX-License-Identifier: MIT */
/*
 * Servers of BeeGFS, from the files that its client has below /proc/fs/beegfs for each mount. They
 * tell how many connections lead to each server, by which way, and which targets are in order. The
 * client counts neither bytes nor calls nor waits: its servers do.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "agent/base/counter.h"
#include "agent/base/dirents.h"
#include "agent/base/source.h"
#include "agent/probes/probes.h"
#include "common/error.h"

#define SERVERS_MAX 256
#define TEXT_SIZE ((size_t)64 << 10)
#define BEEGFS "fs/beegfs"

struct beegfs {
    char text[TEXT_SIZE];
};

static const struct {
    const char *nodes, *states, *kind;
} server_files[] = {{"meta_nodes", "meta_target_state", "meta"},
                    {"storage_nodes", "storage_target_state", "storage"}};

/* The word before " [ID:", which ends the name of a server: "beegfs-storage storage01 [ID: 2]". */
static bool parse_server(struct span text, struct span *ret_name) {
    static const char mark[] = " [ID:";
    const char *at = memmem(text.data, text.size, mark, sizeof mark - 1);
    const char *begin = at;
    while (begin && begin > text.data && begin[-1] != ' ')
        begin--;
    if (!begin || begin == at)
        return false;
    *ret_name = (struct span){begin, (size_t)(at - begin)};
    return true;
}

static bool has_text(struct span line, const char *text) {
    return memmem(line.data, line.size, text, strlen(text)) != NULL;
}

/* The row of a server, with zeros; that of an earlier mount if it has the same name. */
static struct row *server_row(struct rows *rows, const char *kind, struct span server) {
    char name[INSTANCE_MAX + 1], clean[INSTANCE_MAX - 15];
    text_sanitize(clean, sizeof clean, server.data, server.size);
    int size = snprintf(name, sizeof name, "%s %s", kind, clean);
    for (size_t i = 0; i < rows->n; i++)
        if (strcmp(rows->items[i].name, name) == 0)
            return &rows->items[i];
    struct row *row = rows_append(rows, name, (size_t)size);
    for (size_t c = 0; row && c < rows->table->n_columns; c++)
        row->values[c] = 0;
    return row;
}

/* "   Connections: TCP: 4 (10.0.0.1:8003); RDMA: 2 (10.1.0.1:8003 [fallback route]); " */
static void take_connections(struct span line, struct row *row) {
    static const struct {
        const char *word;
        int column;
    } kinds[] = {{" TCP: ", BEEGFS_TCP}, {" RDMA: ", BEEGFS_RDMA}};
    const char *end = line.data + line.size;
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        const char *p = memmem(line.data, line.size, kinds[i].word, strlen(kinds[i].word));
        uint64_t number;
        if (!p)
            continue;
        p += strlen(kinds[i].word);
        if (text_u64(&p, end, &number))
            row->values[kinds[i].column] =
                counter_add(row->values[kinds[i].column], counter_value(number, 1));
    }
    if (has_text(line, "[fallback route]"))
        row->values[BEEGFS_FALLBACK] = 1;
}

static struct span read_client_file(struct beegfs *beegfs, const char *mount, const char *file) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", mount, file);
    int n = file_read_lines(path, beegfs->text, sizeof beegfs->text);
    return (struct span){beegfs->text, n > 0 ? (size_t)n : 0};
}

static void read_nodes(struct beegfs *beegfs, const char *mount, const char *file, const char *kind,
                       struct rows *rows) {
    struct span text = read_client_file(beegfs, mount, file), line, server;
    const char *p = text.data, *end = p + text.size;
    struct row *row = NULL;
    while (text_line(&p, end, &line))
        if (has_text(line, "   Connections: ")) {
            if (row)
                take_connections(line, row);
        } else if (line.size && line.data[0] != ' ' && parse_server(line, &server)) {
            row = server_row(rows, kind, server);
        }
}

/* "[Target ID: 101] @ beegfs-storage storage01 [ID: 2]: Online / Good " */
static void read_states(struct beegfs *beegfs, const char *mount, const char *file,
                        const char *kind, struct rows *rows) {
    struct span text = read_client_file(beegfs, mount, file), line, server;
    const char *p = text.data, *end = p + text.size;
    while (text_line(&p, end, &line)) {
        struct row *row = span_starts(line, "[Target ID: ") && parse_server(line, &server)
                              ? server_row(rows, kind, server)
                              : NULL;
        if (!row)
            continue;
        row->values[BEEGFS_TARGETS]++;
        row->values[BEEGFS_OFFLINE] += !has_text(line, "]: Online / Good");
    }
}

static void read_client(struct beegfs *beegfs, const char *mount, struct rows *rows) {
    for (size_t i = 0; i < ARRAY_SIZE(server_files); i++) {
        read_nodes(beegfs, mount, server_files[i].nodes, server_files[i].kind, rows);
        read_states(beegfs, mount, server_files[i].states, server_files[i].kind, rows);
    }
}

static int beegfs_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct listing mounts;
    char root[PATH_MAX - NAME_MAX - 2], path[PATH_MAX];
    snprintf(root, sizeof root, "%s/" BEEGFS, env->proc);
    int r = listing_open(&mounts, root);
    if (r < 0)
        return r == -ENOENT ? 0 : r; /* its module was unloaded */
    for (const struct dirents_entry *entry; (entry = dirents_next(&mounts.list));) {
        snprintf(path, sizeof path, "%s/%s", root, entry->name);
        if (entry->name[0] != '.')
            read_client(state, path, rows);
    }
    listing_close(&mounts);
    return 0;
}

static int beegfs_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct listing mounts;
    char path[PATH_MAX];
    (void)state;
    (void)why; /* few hosts have it */
    (void)why_size;
    snprintf(path, sizeof path, "%s/" BEEGFS, env->proc);
    if (listing_open(&mounts, path) < 0)
        return PROBE_ABSENT;
    listing_close(&mounts);
    return 0;
}

static size_t beegfs_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return SERVERS_MAX;
}

const struct probe probe_beegfs = {
    .table = &all_tables[TABLE_BEEGFS],
    .pace = PACE_PROCESS,
    .state_size = sizeof(struct beegfs),
    .max_rows = beegfs_max_rows,
    .open = beegfs_open,
    .sample = beegfs_sample,
};
