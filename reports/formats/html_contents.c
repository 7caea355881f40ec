/* SPDX-License-Identifier: MIT */
/*
 * The frame of a page: head, contents, parts and headings. A page loads nothing: its
 * Content-Security-Policy allows only its own script, known by its hash, and embedded pictures.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reports/formats/html_private.h"
#include "reports/formats/page_assets.h"

#define ENTRIES_MIN 3 /* with fewer entries there are no contents */

struct html_entry {
    char *title; /* owned */
    char id[32];
    bool below; /* within a part */
};

void html_begin(struct page *page, const char *title, const char *schema) {
    static _Thread_local struct html spare; /* without memory the page fails, but still ends in
                                               order */
    struct html *h = calloc(1, sizeof *h);
    FILE *body = h ? open_memstream(&h->body, &h->size) : NULL;
    (void)schema;
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
          "<meta name=\"color-scheme\" content=\"light dark\">"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
          "script-src '",
          page->out);
    fprintf(page->out, "%s'\"><meta name=\"referrer\" content=\"no-referrer\"><title>",
            page_script_hash);
    html_put(page->out, title);
    fprintf(page->out, "</title><style>%s</style></head>\n<body>\n", page_style);
    page->state = h ? h : &spare;
    if (!body) {
        page->error = -ENOMEM;
        return;
    }
    h->out = page->out;
    page->out = body;
}

/* ---- contents ---- */

static void add_entry(struct page *page, const char *id, const char *title, bool below) {
    struct html *h = page->state;
    struct html_entry *grown = realloc(h->entries, (h->n_entries + 1) * sizeof *grown);
    char *copy = strdup(title);
    if (grown)
        h->entries = grown;
    if (!grown || !copy) {
        free(copy);
        page->error = page->error ? page->error : -ENOMEM;
        return;
    }
    struct html_entry *entry = &grown[h->n_entries++];
    *entry = (struct html_entry){.title = copy, .below = below};
    snprintf(entry->id, sizeof entry->id, "%s", id);
}

static void put_contents(FILE *out, const struct html *h) {
    fputs("<nav aria-label=\"Contents\"><details open><summary>Contents</summary><ol>\n", out);
    for (size_t i = 0; i < h->n_entries; i++) {
        const struct html_entry *entry = &h->entries[i];
        fprintf(out, "<li%s><a href=\"#%s\">", entry->below ? " class=\"below\"" : "", entry->id);
        html_put(out, entry->title);
        fputs("</a></li>\n", out);
    }
    fputs("</ol></details></nav>\n", out);
}

static void release(struct html *h) {
    for (size_t i = 0; i < h->n_entries; i++)
        free(h->entries[i].title);
    free(h->entries);
    free(h->body);
    bool owned = h->out;
    *h = (struct html){0};
    if (owned)
        free(h);
}

void html_end(struct page *page) {
    struct html *h = page->state;
    html_close_part(page);
    fputs("<p class=\"note\">Written by chokepoint " CHOKEPOINT_VERSION
          ". Rates are decimal: 1 MB/s is 1,000,000 bytes a second.</p>\n</main>\n",
          page->out);
    if (h->out) {
        if (fclose(page->out) != 0)
            page->error = page->error ? page->error : -ENOMEM;
        page->out = h->out;
    }
    fputs("<main>\n", page->out);
    if (h->body) {
        size_t at = h->contents_at < h->size ? h->contents_at : 0;
        fwrite(h->body, 1, at, page->out);
        if (h->n_entries >= ENTRIES_MIN)
            put_contents(page->out, h);
        fwrite(h->body + at, 1, h->size - at, page->out);
    }
    fprintf(page->out, "<script>%s</script>\n</body></html>\n", page_script);
    release(h);
    page->state = NULL;
}

/* ---- parts and headings ---- */

void html_close_part(struct page *page) {
    struct html *h = page->state;
    if (page->open)
        fputs("</section>\n", page->out);
    page->open = h->in_part = false;
}

void html_part(struct page *page, const char *id, const char *title) {
    struct html *h = page->state;
    html_close_part(page);
    h->part_id = id;
    h->part_title = title;
    h->in_part = true;
    page->depth = 1;
}

/* The contents stand behind the first part, which should be read first. */
static void open_part(struct page *page) {
    struct html *h = page->state;
    if (h->n_entries == 1 && !h->contents_at)
        h->contents_at = (size_t)ftello(page->out);
    add_entry(page, h->part_id, h->part_title, false);
    fprintf(page->out, "<section id=\"%s\">", h->part_id);
    html_put_element(page->out, "h2", NULL, h->part_title);
    page->open = true;
}

void html_open_card(struct page *page) {
    struct html *h = page->state;
    if (page->open || !page->depth)
        return;
    if (h->in_part)
        open_part(page);
    else
        fputs("<section>\n", page->out);
    page->open = true;
}

static void put_html_heading(struct page *page, int level, const char *text, bool listed) {
    struct html *h = page->state;
    char id[32];
    if (!h->n_headings)
        h->raised = level - 1; /* the first heading is that of the document */
    level -= h->raised;
    snprintf(id, sizeof id, "h%zu", ++h->n_headings);
    fprintf(page->out, "<h%d id=\"%s\">", level, id);
    html_put(page->out, text);
    fprintf(page->out, "</h%d>\n", level);
    if (listed)
        add_entry(page, id, text, h->in_part);
}

void html_heading(struct page *page, int level, const char *text) {
    struct html *h = page->state;
    snprintf(h->title, sizeof h->title, "%s", text);
    if (h->in_part && level > 1) {
        html_open_card(page);
        if (*text && strcmp(text, h->part_title) != 0) /* otherwise it was already written */
            put_html_heading(page, level + 1, text, false);
        return;
    }
    page->depth = level > 1;
    if (level > 2)
        html_open_card(page);
    else
        html_close_part(page);
    if (*text)
        put_html_heading(page, level, text, level == 2);
}

void html_open_scroll(struct page *page, const char *what, const char *name) {
    struct html *h = page->state;
    fprintf(page->out, "<div class=\"scroll %s\" tabindex=\"0\" role=\"region\" aria-label=\"%zu. ",
            what, ++h->n_scrolls);
    html_put(page->out, *name ? name : what);
    fputs("\">", page->out);
}
