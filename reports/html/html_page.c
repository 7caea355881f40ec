/* SPDX-License-Identifier: MIT */
/* One file, works offline, prints well: style inline, pictures as data URIs, nothing to load. */
#include "reports/html/html_page.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char style[] =
    "body{font:15px/1.5 system-ui,'DejaVu Sans',sans-serif;color:#222;background:#f5f6f8;margin:0}"
    "main{max-width:1180px;margin:0 auto;padding:24px 20px 60px}"
    "h1{font-size:25px;margin:6px 0 2px}h2{font-size:19px;margin:34px 0 8px}"
    "h3{font-size:15px;margin:16px 0 4px;color:#555}"
    "section,.card{background:#fff;border:1px solid #dfe2e7;border-radius:8px;padding:14px 18px;"
    "margin:12px 0;overflow-x:auto}"
    "code{font:13px/1.4 'DejaVu Sans Mono',monospace;background:#eef0f3;padding:1px 5px;"
    "border-radius:4px;overflow-wrap:anywhere}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:6px 0}"
    "th,td{padding:3px 9px;text-align:right;border-bottom:1px solid #eceef1;white-space:nowrap}"
    "th{font-weight:600;color:#555;white-space:normal;vertical-align:bottom}th:first-child,td:"
    "first-child,td.t,th.t{text-align:left}"
    "tr.group td{background:#f1f3f6;font-weight:600;text-align:left}"
    "td.wrap{white-space:normal;text-align:left}"
    ".muted{color:#6a7078}.small{font-size:13px}"
    ".badge{display:inline-block;padding:2px 10px;border-radius:12px;color:#fff;font-size:13px;"
    "font-weight:600;margin-right:8px}"
    ".saturated{background:#b3261e}.suspected{background:#b26a00}.balanced{background:#2e7d32}"
    ".insufficient{background:#5f6670}.CRITICAL{color:#b3261e;font-weight:600}"
    ".WARNING{color:#b26a00;font-weight:600}"
    ".verdict{font-size:18px;margin:8px 0}table.phases td{vertical-align:top}"
    "ul{margin:4px 0 8px;padding-left:22px}"
    "figure{margin:10px 0}figure img{width:100%;height:auto;display:block}"
    "figcaption{font-size:14px;font-weight:600;color:#444}"
    "details>summary{cursor:pointer;font-weight:600;padding:6px 0}"
    "@media print{body{background:#fff}section,.card{break-inside:avoid;border:0}}";

void html_put(FILE *out, const char *text) {
    for (; text && *text; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\'':
            fputs("&#39;", out);
            break;
        default:
            fputc(*text, out);
        }
    }
}

void html_begin(FILE *out, const char *title) {
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'; img-src data:\"><title>",
          out);
    html_put(out, title);
    fprintf(out, "</title><style>%s</style></head>\n<body><main>\n", style);
}

void html_end(FILE *out) {
    fputs("<p class=\"muted small\">Written by chokepoint " CHOKEPOINT_VERSION
          ". Rates are decimal: 1 MB/s is 1,000,000 bytes a second.</p>\n</main></body></html>\n",
          out);
}

void html_element(FILE *out, const char *tag, const char *class, const char *text) {
    fprintf(out, "<%s", tag);
    if (class)
        fprintf(out, " class=\"%s\"", class);
    fputc('>', out);
    html_put(out, text);
    fprintf(out, "</%s>\n", tag);
}

void html_list(FILE *out, const char *heading, char *const *items, size_t n) {
    if (!n)
        return;
    html_element(out, "h3", NULL, heading);
    fputs("<ul>\n", out);
    for (size_t i = 0; i < n; i++)
        html_element(out, "li", NULL, items[i]);
    fputs("</ul>\n", out);
}

static void put_base64(FILE *out, const uint8_t *data, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t word = (uint32_t)data[i] << 16 | (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
                        (left > 2 ? data[i + 2] : 0);
        fputc(digits[word >> 18], out);
        fputc(digits[word >> 12 & 63], out);
        fputc(left > 1 ? digits[word >> 6 & 63] : '=', out);
        fputc(left > 2 ? digits[word & 63] : '=', out);
    }
}

void html_picture(FILE *out, char *svg, const char *caption) {
    int why = errno;
    if (!svg && why == ENODATA)
        return;
    fputs("<figure><figcaption>", out);
    html_put(out, caption);
    if (!svg)
        fputs(why == ENOENT ? ": no picture, since gnuplot is not installed here (package "
                              "gnuplot-nox)"
                            : ": gnuplot failed to draw it",
              out);
    fputs("</figcaption>", out);
    if (svg) {
        fputs("<img alt=\"", out);
        html_put(out, caption);
        fputs("\" src=\"data:image/svg+xml;base64,", out);
        put_base64(out, (const uint8_t *)svg, strlen(svg));
        fputs("\">", out);
    }
    fputs("</figure>\n", out);
    free(svg);
}
