/* SPDX-License-Identifier: MIT */
/*
 * A page has as much of the document as fits: members whole, then rows of the next one, and parts
 * of a row only if it alone is larger than a page. A place in the document is a list of indexes,
 * one for each level. A cursor is the run, a checksum of the document and a place: it fits no other
 * document, nor this one when the run has changed.
 */
#include "reports/formats/json_page.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"

#define COMPACT (JSON_COMPACT | JSON_REAL_PRECISION(10) | JSON_ENCODE_ANY)
#define DEPTH_MAX 12
#define HEAD_ROOM 600 /* bytes for what is around the members, the cursor included */
#define CURSOR_SIZE 200
#define CUT " [cut]"

/* The members that a reader needs first. Others follow in the order of the document. */
static const char *const important[] = {
    "verdict",          "evidence",   "coverage",      "ruled_out", "ranking",  "run",
    "changes",          "quality",    "phases",        "headline",  "summary",  "stragglers",
    "verdict_by_phase", "iterations", "critical_path", "waits",     "resources"};

struct place {
    size_t at[DEPTH_MAX];
    size_t n; /* 0: the beginning */
};

/* ---- sizes ---- */

static size_t size_of(const json_t *value) {
    return json_dumpb(value, NULL, 0, COMPACT);
}

/* A name with its quotes, the colon and the comma before it. */
static size_t name_size(const char *name) {
    json_t *text = name ? json_string(name) : NULL;
    size_t size = text ? size_of(text) + 2 : 1;
    json_decref(text);
    return size;
}

/* ---- children by number ---- */

static size_t count(const json_t *value) {
    return json_is_object(value) ? json_object_size(value) : json_array_size(value);
}

static bool is_container(const json_t *value) {
    return json_is_object(value) || json_is_array(value);
}

struct children {
    json_t *of;
    void *iterator; /* of an object */
    size_t i;
};

static struct children children_from(json_t *of, size_t first) {
    struct children c = {of, json_is_object(of) ? json_object_iter(of) : NULL, 0};
    for (; c.i < first; c.i++)
        if (c.iterator)
            c.iterator = json_object_iter_next(of, c.iterator);
    return c;
}

/* The next child and its name (NULL in an array); NULL: there is none. */
static json_t *next_child(struct children *c, const char **ret_name) {
    json_t *value = NULL;
    *ret_name = NULL;
    if (json_is_array(c->of)) {
        value = json_array_get(c->of, c->i);
    } else if (c->iterator) {
        *ret_name = json_object_iter_key(c->iterator);
        value = json_object_iter_value(c->iterator);
        c->iterator = json_object_iter_next(c->of, c->iterator);
    }
    c->i++;
    return value;
}

/* ---- taking what fits ---- */

struct taking {
    size_t room;       /* left on the page */
    bool any;          /* the page has something */
    bool stopped;      /* before `stop` */
    struct place stop; /* the innermost index first, until it is turned round */
};

static json_t *stop_here(struct taking *taking) {
    taking->stopped = true;
    taking->stop.n = 0;
    return NULL;
}

/* As much of a text as fits, with a mark. */
static json_t *cut_text(const json_t *text, struct taking *taking) {
    const char *whole = json_string_value(text);
    size_t n = json_string_length(text);
    json_t *cut = NULL;
    do {
        json_decref(cut);
        for (n = n / 2; n && ((unsigned char)whole[n] & 0xc0) == 0x80;)
            n--;
        char *copy = malloc(n + sizeof CUT);
        if (!copy)
            return NULL;
        memcpy(copy, whole, n);
        memcpy(copy + n, CUT, sizeof CUT);
        cut = json_string(copy);
        free(copy);
    } while (n && cut && size_of(cut) > taking->room);
    if (!cut || size_of(cut) > taking->room) {
        json_decref(cut);
        return stop_here(taking);
    }
    taking->room -= size_of(cut);
    taking->any = true;
    return cut;
}

static json_t *take(json_t *value, const size_t *from, size_t n_from, size_t depth,
                    struct taking *taking);

static void note_stop(struct taking *taking, size_t index) {
    if (taking->stop.n < DEPTH_MAX)
        taking->stop.at[taking->stop.n++] = index;
}

/* The children from a place on. */
static json_t *take_children(json_t *value, const size_t *from, size_t n_from, size_t depth,
                             struct taking *taking) {
    json_t *part = json_is_object(value) ? json_object() : json_array(), *child;
    const char *name;
    struct children children = children_from(value, n_from ? from[0] : 0);
    if (taking->room < 2)
        return json_decref(part), stop_here(taking);
    taking->room -= 2;
    while (part && !taking->stopped && (child = next_child(&children, &name))) {
        bool first = n_from && children.i == from[0] + 1;
        size_t around = name_size(name), had = taking->room;
        if (around < taking->room) {
            taking->room -= around;
            child = take(child, from + 1, first ? n_from - 1 : 0, depth + 1, taking);
        } else {
            child = stop_here(taking);
        }
        if (!child)
            taking->room = had;
        else if (name)
            json_object_set_new(part, name, child);
        else
            json_array_append_new(part, child);
        if (taking->stopped)
            note_stop(taking, children.i - 1);
    }
    return part;
}

/* A new reference; NULL: nothing of it fits, or no memory. */
static json_t *take(json_t *value, const size_t *from, size_t n_from, size_t depth,
                    struct taking *taking) {
    size_t size = size_of(value);
    if (!n_from && size <= taking->room) {
        taking->room -= size;
        taking->any = true;
        return json_incref(value);
    }
    bool alone = !taking->any;
    if (json_is_string(value) && alone)
        return cut_text(value, taking);
    /* rows are parted only if a page has no room for one */
    if (!is_container(value) || depth >= DEPTH_MAX || (depth > 1 && !alone && !n_from))
        return stop_here(taking);
    json_t *part = take_children(value, from, n_from, depth, taking);
    if (part && count(part) == 0 && count(value) > 0) {
        json_decref(part);
        return NULL;
    }
    return part;
}

/* ---- the document ---- */

static bool is_wanted(const char *only, const char *name) {
    size_t n = strlen(name);
    for (const char *p = only; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (strncmp(p, name, n) == 0 && (p[n] == ',' || !p[n]))
            return true;
    return !only;
}

/* The wanted members, the important ones first. */
static json_t *in_order(json_t *document, const char *only) {
    json_t *ordered = json_object(), *value;
    const char *name;
    for (size_t i = 0; i < ARRAY_SIZE(important); i++)
        if ((value = json_object_get(document, important[i])) && is_wanted(only, important[i]))
            json_object_set(ordered, important[i], value);
    json_object_foreach(document, name,
                        value) if (strcmp(name, "schema") != 0 && is_wanted(only, name))
        json_object_set(ordered, name, value);
    return ordered;
}

/* FNV-1a. */
static uint64_t checksum(const char *text, size_t size, uint64_t sum) {
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    return sum;
}

static uint64_t checksum_of(const struct json_page *page) {
    uint64_t sum = checksum(page->document, page->size, UINT64_C(14695981039346656037));
    return page->only ? checksum(page->only, strlen(page->only), sum) : sum;
}

/* ---- cursors: RUN-CHECKSUM-INDEX.INDEX ---- */

static int read_number(const char **p, uint64_t *ret_number, int base) {
    char *end;
    /* strtoull would take blanks, a sign and 0x as well */
    if (!strchr("0123456789abcdef", **p) || !**p || (*p)[1] == 'x')
        return -EINVAL;
    errno = 0;
    *ret_number = strtoull(*p, &end, base);
    if (errno || end == *p)
        return -EINVAL;
    *p = end;
    return 0;
}

static int read_cursor(const struct json_page *page, struct place *ret_place) {
    const char *p = page->cursor;
    uint64_t run, sum, index;
    ret_place->n = 0;
    if (!p)
        return 0;
    if (read_number(&p, &run, 10) || *p++ != '-' || read_number(&p, &sum, 16) || *p++ != '-')
        return -EINVAL;
    do {
        if (ret_place->n == DEPTH_MAX || read_number(&p, &index, 10))
            return -EINVAL;
        ret_place->at[ret_place->n++] = (size_t)index;
    } while (*p == '.' && p++);
    if (*p)
        return -EINVAL;
    return (int64_t)run == page->run && sum == checksum_of(page) ? 0 : -ESTALE;
}

static void write_cursor(const struct json_page *page, const struct place *stop,
                         char text[CURSOR_SIZE]) {
    int n = snprintf(text, CURSOR_SIZE, "%" PRId64 "-%" PRIx64 "-", page->run, checksum_of(page));
    for (size_t i = stop->n; i-- > 0 && n < CURSOR_SIZE;)
        n += snprintf(text + n, (size_t)(CURSOR_SIZE - n), "%zu%s", stop->at[i], i ? "." : "");
}

/* The names and numbers that lead to a place: "resources/12"; false: there is no such place. */
static bool name_place(json_t *ordered, const struct place *place, char *text, size_t size) {
    json_t *value = ordered;
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < place->n; i++) {
        const char *name;
        if (place->at[i] >= count(value))
            return false;
        struct children children = children_from(value, place->at[i]);
        value = next_child(&children, &name);
        if (used < size)
            used += (size_t)(name ? snprintf(text + used, size - used, "%s%s", i ? "/" : "", name)
                                  : snprintf(text + used, size - used, "%s%zu", i ? "/" : "",
                                             place->at[i]));
    }
    return true;
}

/* ---- the page ---- */

static json_t *page_head(const struct json_page *page, json_t *document, const char *from) {
    const char *schema = json_string_value(json_object_get(document, "schema"));
    json_t *head = json_object(), *where = json_object();
    json_object_set_new(head, "schema", json_string("chokepoint.page/1"));
    json_object_set_new(where, "of", schema ? json_string(schema) : json_null());
    json_object_set_new(where, "run", page->run ? json_integer(page->run) : json_null());
    json_object_set_new(where, "from", *from ? json_string(from) : json_null());
    json_object_set_new(where, "document_bytes", json_integer((json_int_t)page->size));
    json_object_set_new(head, "page", where);
    return head;
}

static int put_page(const struct json_page *page, json_t *head, FILE *out) {
    if (size_of(head) + 1 > page->max_bytes)
        return -E2BIG;
    if (json_dumpf(head, out, COMPACT) < 0 || fputc('\n', out) == EOF)
        return -EIO;
    return 0;
}

static int write_part(const struct json_page *page, json_t *document, json_t *ordered,
                      const struct place *place, FILE *out) {
    char from[160], cursor[CURSOR_SIZE];
    if (!name_place(ordered, place, from, sizeof from))
        return -EINVAL;
    json_t *head = page_head(page, document, from);
    struct taking taking = {.room = page->max_bytes - HEAD_ROOM};
    json_t *part = take(ordered, place->at, place->n, 0, &taking);
    int result = !part ? (count(ordered) ? -E2BIG : 0) : json_object_update(head, part);
    write_cursor(page, &taking.stop, cursor);
    json_object_set_new(head, "cursor", taking.stopped ? json_string(cursor) : json_null());
    if (result == 0)
        result = put_page(page, head, out);
    json_decref(part);
    json_decref(head);
    return result;
}

int json_page_write(const struct json_page *page, FILE *out) {
    struct place place;
    json_error_t error;
    if (page->max_bytes < JSON_PAGE_LEAST)
        return -E2BIG;
    int result = read_cursor(page, &place);
    if (result < 0)
        return result;
    json_t *document = json_loadb(page->document, page->size, 0, &error);
    json_t *ordered = json_is_object(document) ? in_order(document, page->only) : NULL;
    if (!ordered)
        result = -EBADMSG;
    else if (page->only && !count(ordered))
        result = -ENOENT;
    else
        result = write_part(page, document, ordered, &place, out);
    json_decref(ordered);
    json_decref(document);
    return result;
}
