/* SPDX-License-Identifier: MIT */
/* The page: its frame, gnuplot's SVG in it, and the data of its plots. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>

#include "reports/formats/formats.h"
#include "reports/formats/page_assets.h"
#include "reports/plot/finding.h"
#include "reports/plot/map_private.h"
#include "reports/plot/runs.h"
#include "reports/plot/thin.h"
#include "reports/sections/sections.h"

#define HAS(text, part)                                                                            \
    do {                                                                                           \
        if (!strstr(text, part))                                                                   \
            fail_msg("no '%s' in:\n%s", part, text);                                               \
    } while (0)
#define LACKS(text, part)                                                                          \
    do {                                                                                           \
        if (strstr(text, part))                                                                    \
            fail_msg("there is '%s' in:\n%s", part, text);                                         \
    } while (0)

/* ---- the frame ---- */

struct written {
    struct page page;
    char *text;
    size_t size;
};

static void begin(struct written *w) {
    *w = (struct written){0};
    page_begin(&w->page, &format_html, open_memstream(&w->text, &w->size), "a <title>", "");
}

/* The page without style and script, which are ours. */
static char *end(struct written *w) {
    assert_int_equal(page_end(&w->page), 0);
    fclose(w->page.out);
    HAS(w->text, "<script>");
    *strstr(w->text, "<script>") = '\0';
    char *body = strstr(w->text, "<main>");
    assert_non_null(body);
    return body;
}

static void commands_in_sentences_are_code_and_nothing_is_markup(void **state) {
    struct written w;
    (void)state;
    begin(&w);
    page_paragraph(&w.page, STYLE_PLAIN, "do `tc -s <x>` & see `it`; a ` alone");
    char *body = end(&w);
    HAS(body, "do <code>tc -s &lt;x&gt;</code> &amp; see <code>it</code>; a ` alone");
    HAS(w.text, "<title>a &lt;title&gt;</title>");
    free(w.text);
}

static void only_the_script_of_the_page_may_run(void **state) {
    struct written w;
    (void)state;
    begin(&w);
    end(&w);
    HAS(w.text, "default-src 'none'");
    HAS(w.text, page_script_hash);
    LACKS(w.text, "script-src 'unsafe-inline'");
    assert_int_equal(strlen(page_script_hash), strlen("sha256-") + 44);
    LACKS(page_script, "</script");
    LACKS(page_script, "sourceMappingURL");
    LACKS(page_style, "</style");
    LACKS(page_style, "url(");
    free(w.text);
}

static void a_part_without_anything_in_it_is_none(void **state) {
    static const char *const ids[] = {"first", "empty", "second", "third"};
    struct written w;
    (void)state;
    begin(&w);
    page_heading(&w.page, 1, "all");
    for (size_t i = 0; i < 4; i++) {
        page_part(&w.page, ids[i], ids[i]);
        if (i != 1) {
            page_heading(&w.page, 2, "what is below %s", ids[i]);
            page_paragraph(&w.page, STYLE_PLAIN, "words");
        }
    }
    char *body = end(&w);
    HAS(body, "<section id=\"first\"><h2>first</h2>");
    HAS(body, "<h3 id=\"h2\">what is below first</h3>");
    LACKS(body, "empty");
    HAS(body, "<a href=\"#third\">third</a>");
    assert_true(strstr(body, "<nav") > strstr(body, "id=\"first\""));
    assert_true(strstr(body, "<nav") < strstr(body, "id=\"second\""));
    free(w.text);
}

/* ---- gnuplot's SVG ---- */

static char *drawn(struct written *w, const char *svg) {
    begin(w);
    page_drawn(&w->page, &(struct page_picture){.svg = svg, .name = "cpu", .caption = "CPU"});
    return end(w);
}

#define SVG(inner) "<?xml version=\"1.0\"?>\n<svg \n viewBox=\"0 0 9 9\"\n>\n" inner "</svg>\n"

static void a_picture_brings_no_ids_titles_or_ground_along(void **state) {
    struct written w;
    (void)state;
    char *body = drawn(
        &w, SVG("<title>Gnuplot</title>\n<desc>Produced</desc>\n<g id=\"gnuplot_canvas\">\n"
                "<rect x=\"0\" y=\"0\" width=\"9\" height=\"9\" fill=\"#ffffff\"/>\n"
                "<g fill=\"none\" color=\"black\">\n</g>\n"
                "<g id=\"gnuplot_plot_1\" ><title>x</title><text fill=\"rgb(51, 51,51)\">rgb(1,2,3)"
                " a\tb</text></g></g>"));
    HAS(body, "<figure data-plot=\"cpu\">");
    HAS(body, "viewBox=\"0 0 9 9\"");
    HAS(body, "<g><g ><text fill=\"#333333\">rgb(1,2,3) a b</text></g></g></g></svg>");
    LACKS(body, "Gnuplot");
    LACKS(body, "<rect");
    free(w.text);
}

static void the_keys_of_a_picture_are_a_legend_in_words(void **state) {
    struct written w;
    (void)state;
    char *body = drawn(
        &w,
        SVG("<title>Gnuplot</title>\n<g id=\"gnuplot_plot_1a\" ><title>gnuplot_plot_1a</title></g>"
            "<g id=\"gnuplot_plot_1b\" ><title>a &lt; b</title><path stroke='rgb( 61, 133, "
            "198)'/></g>"
            "<g id=\"gnuplot_plot_2b\" ><title>c</title><path stroke='rgb(1,2,3)'/></g>"
            "<g id=\"gnuplot_plot_1c\" ><title>c</title><path stroke='rgb(1,2,3)'/></g>"));
    HAS(body, "<ul class=\"legend narrow\"><li><i style=\"background:#3d85c6\"></i>a &lt; b</li>"
              "<li><i style=\"background:#010203\"></i>c</li></ul>");
    free(w.text);
}

static void bars_of_one_colour_become_one_path(void **state) {
    struct written w;
    (void)state;
    char *body = drawn(
        &w, SVG("<polygon fill = 'rgb( 61, 133, 198)' points = '1.00,5.00 3.00,5.00 3.00,1.50 "
                "1.00,1.50 '/>\n\t\t<polygon fill = 'rgb( 61, 133, 198)' points = '4.04,5.00 "
                "6.00,5.00 6.00,2.00 '/>\n<polygon fill = 'rgb(1,2,3)' points = '1,1 2,2 3,1 '/>"));
    HAS(body, "<path fill='#3d85c6' d='M1 5h2v-3.5h-2zM4 5h2v-3z'/>"
              "<path fill='#010203' d='M1 1l1 1 1-1z'/>");
    free(w.text);
}

/* A thousand steps of .04 are 40, though each is below the written precision. */
static void steps_add_up_to_where_a_line_ends(void **state) {
    struct written w;
    char *svg = NULL;
    size_t size;
    (void)state;
    FILE *out = open_memstream(&svg, &size);
    fputs("<svg viewBox=\"0 0 9 9\"><path stroke='x'  d='M0.00,2.00", out);
    for (int i = 1; i <= 1000; i++)
        fprintf(out, " L%.2f,2.00", i * .04);
    fputs("  '/></svg>", out);
    fclose(out);
    char *body = drawn(&w, svg), *at = strstr(body, "d='M0 2h");
    double sum = 0;
    assert_non_null(at);
    for (at += strlen("d='M0 2h"); *at != '\'';)
        sum += strtod(at, &at);
    assert_float_equal(sum, 40, 1e-9);
    free(svg);
    free(w.text);
}

static void what_is_no_path_of_gnuplots_stays_as_it_is(void **state) {
    struct written w;
    (void)state;
    char *body = drawn(&w, SVG("<path d='M1,2 C3,4 5,6 7,8'/><polygon points='1,1'/>"
                               "<polygon fill = 'a' points = 'none'/>"));
    HAS(body, "<path d='M1,2 C3,4 5,6 7,8'/><polygon points='1,1'/>"
              "<polygon fill = 'a' points = 'none'/>");
    free(w.text);
}

/* ---- data ---- */

#define N 6000

struct planted {
    double t[N], zero[N], values[N], used[N], left[N], idle[N];
    struct report_host hosts[30];
    struct report_host_series series[30];
    struct report_value values_of[30 * METRIC_COUNT_];
    struct report_resources all;
    struct report report;
    struct limit_levels levels;
};

/* Hosts that send 10 MB/s, except one sample of 95 in the middle, and unknown times; a quarter of
 * the memory is in use.
 */
static struct planted *plant(size_t n_hosts, const char *name) {
    struct planted *p = calloc(1, sizeof *p);
    assert_non_null(p);
    for (int i = 0; i < N; i++) {
        p->t[i] = .1 * (i + 1);
        p->values[i] = i == N / 2 ? 95 : i > N / 4 && i < N / 3 ? NAN : 10;
        p->used[i] = 1;
        p->left[i] = 3;
        p->idle[i] = 100;
    }
    for (size_t h = 0; h < n_hosts; h++) {
        struct report_series *metrics = p->series[h].metrics;
        p->hosts[h] = (struct report_host){.name = (char *)name, .n_cpus = 1};
        for (int m = 0; m < METRIC_COUNT_; m++)
            metrics[m] = (struct report_series){NULL, N, p->t, p->zero};
        metrics[METRIC_CPU_IDLE].value = p->idle;
        metrics[METRIC_NET_SEND].value = p->values;
        metrics[METRIC_MEM_USED].value = p->used;
        metrics[METRIC_MEM_FREE].value = p->left;
    }
    p->all = (struct report_resources){(char *)"all", N / 10, p->values_of};
    p->report = (struct report){.run_name = (char *)"x",
                                .hosts = p->hosts,
                                .n_hosts = n_hosts,
                                .series = p->series,
                                .resources = &p->all,
                                .n_resources = 1,
                                .duration_s = N / 10,
                                .period_s = .1};
    return p;
}

static json_t *data_of(const struct report *report, struct written *w) {
    begin(w);
    page_data(&w->page, report);
    char *body = end(w), *from = strstr(body, "id=\"run-data\">"), *to;
    assert_non_null(from);
    from += strlen("id=\"run-data\">");
    to = strstr(from, "</script>");
    assert_non_null(to);
    *to = '\0';
    LACKS(from, "<");
    json_t *data = json_loads(from, 0, NULL);
    assert_non_null(data);
    return data;
}

static const json_t *line_of(const json_t *data, const char *name, size_t line) {
    const json_t *plots = json_object_get(data, "plots");
    for (size_t i = 0; i < json_array_size(plots); i++) {
        const json_t *plot = json_array_get(plots, i);
        if (strcmp(json_string_value(json_object_get(plot, "name")), name) == 0)
            return json_array_get(
                json_object_get(json_array_get(json_object_get(plot, "panels"), 0), "lines"), line);
    }
    fail();
    return NULL;
}

static void the_highest_and_the_lowest_of_each_moment_are_kept(void **state) {
    struct planted *p = plant(1, "</script><b>");
    struct written w;
    (void)state;
    json_t *data = data_of(&p->report, &w);
    const json_t *line = line_of(data, "network", 0);
    const char *value = json_string_value(json_object_get(line, "v"));
    double scale = json_number_value(json_object_get(line, "s")), high = 0, low = INFINITY;
    size_t unknown = 0, n = strlen(value) / 2;
    long most = 0;
    assert_int_equal(n, 2 * json_integer_value(json_object_get(data, "pairs")));
    assert_true(n < N);
    for (; *value; value += 2) {
        char digits[3] = {value[0], value[1], '\0'}, *after;
        long steps = strtol(digits, &after, 32);
        unknown += strcmp(digits, "--") == 0;
        if (*after)
            continue;
        high = fmax(high, scale * (double)steps);
        low = fmin(low, scale * (double)steps);
        most = steps > most ? steps : most;
    }
    assert_int_equal(most, 1000); /* the page's axis ends there */
    assert_float_equal(high, 95, .1);
    assert_float_equal(low, 10, .1);
    assert_true(unknown > n / 14 && unknown < n / 10); /* a twelfth */
    assert_string_equal(json_string_value(json_array_get(json_object_get(data, "hosts"), 0)),
                        "</script><b>");
    json_decref(data);
    free(w.text);
    free(p);
}

static void a_ceiling_is_told_with_how_it_is_known(void **state) {
    struct planted *p = plant(1, "vm1");
    struct written w;
    (void)state;
    p->series[0].ceilings[METRIC_NET_SEND] = (struct report_ceiling){100, ARITHMETIC_MEASURED};
    json_t *data = data_of(&p->report, &w);
    const json_t *line = line_of(data, "network", 0);
    assert_float_equal(json_number_value(json_object_get(line, "c")), 100, 1e-9);
    assert_string_equal(json_string_value(json_object_get(line, "k")), "measured");
    assert_null(json_object_get(line_of(data, "network", 1), "c"));
    json_decref(data);
    free(w.text);
    free(p);
}

static void thinning_keeps_order_and_gaps(void **state) {
    double t[] = {1, 2, 3, 4, 5, 6}, values[] = {5, 9, 1, NAN, 7, 7};
    struct report_series series = {NULL, 6, t, values};
    struct thin_point points[6];
    (void)state;
    assert_int_equal(series_thin(&series, 10, 1, points), 4);
    assert_true(points[0].value == 9 && points[1].value == 1);
    assert_true(isnan(points[2].value) && points[3].value == 7);
    assert_int_equal(series_thin(&series, 7, 7, points), 6);
    assert_int_equal(points[5].bin, 6);
}

/* ---- who was full ---- */

enum { NETWORK = 2, MEMORY = 4 };

static void a_link_is_full_at_its_ceiling_unless_that_was_only_seen(void **state) {
    struct planted *p = plant(1, "vm1");
    double values[40];
    (void)state;
    map_fill(&p->report, 0, NETWORK, values, 40);
    assert_true(isnan(values[0])); /* no ceiling */
    p->series[0].ceilings[METRIC_NET_SEND] = (struct report_ceiling){10, ARITHMETIC_SET};
    map_fill(&p->report, 0, NETWORK, values, 40);
    assert_float_equal(values[0], 1, 1e-9);
    assert_true(isnan(values[11])); /* a gap is not full */
    p->series[0].ceilings[METRIC_NET_SEND].known = ARITHMETIC_SEEN;
    map_fill(&p->report, 0, NETWORK, values, 40);
    assert_true(values[0] < MAP_FULL && values[0] > .8);
    map_fill(&p->report, 0, MEMORY, values, 40);
    assert_float_equal(values[0], .25, 1e-9);
    free(p);
}

static void the_map_names_what_was_full_and_escapes_names(void **state) {
    struct planted *p = plant(2, "a<b>&");
    struct map_drawing map;
    (void)state;
    p->hosts[1].name = (char *)"vm2";
    p->series[1].ceilings[METRIC_NET_SEND] = (struct report_ceiling){10, ARITHMETIC_SET};
    assert_int_equal(map_draw(&p->report, &p->levels, &map), 0);
    HAS(map.svg, "a&lt;b&gt;&amp;");
    HAS(map.svg, "class=\"full l4\"");
    HAS(map.finding, "Only vm2's network was full: 100 % of the time.");
    free(map.svg);
    free(map.finding);
    p->report.n_hosts = 0;
    assert_int_equal(map_draw(&p->report, &p->levels, &map), -ENODATA);
    free(p);
}

static void many_hosts_have_a_row_each(void **state) {
    struct planted *p = plant(30, "vm");
    struct map_drawing map;
    size_t rows = 0;
    (void)state;
    assert_int_equal(map_draw(&p->report, &p->levels, &map), 0);
    for (const char *at = map.svg; (at = strstr(at, "class=\"ground\"")); at++)
        rows++;
    assert_int_equal(rows, 30);
    HAS(map.finding,
        "Nothing was full for long. The fullest was vm's memory, used 25 % on average.");
    assert_null(strstr(map.finding, "top row"));
    free(map.svg);
    free(map.finding);
    free(p);
}

/* A link that is full in bursts makes no cell red, but the time that it took is shown. */
static void the_limit_has_a_row_of_the_time_that_it_took(void **state) {
    struct planted *p = plant(2, "vm");
    struct map_drawing map;
    static char egress[] = "net-egress";
    (void)state;
    p->report.verdict = (struct report_verdict){.resource = egress, .host = 1};
    p->levels = (struct limit_levels){.share = {[0] = .5, [1] = NAN}, .known = true};
    assert_int_equal(map_draw(&p->report, &p->levels, &map), 0);
    HAS(map.svg, "data-h=\"-1\" data-w=\"time that the limit took\"");
    HAS(map.svg, "<path class=\"full\" d=\"M150.0 12.0H170.5v12.0H150.0z\"/>"); /* half of 24 */
    char *first = strstr(map.svg, "is-limit\"");
    assert_non_null(first);
    assert_null(strstr(first + 1, "is-limit"));
    assert_true(first > strstr(map.svg, "data-h=\"1\"")); /* of the second host */
    assert_ptr_equal(strchr(first, '>'), strstr(first, ">network<"));
    HAS(map.finding, "The top row shows the time that the limit took."); /* with an unknown rate */
    free(map.svg);
    free(map.finding);
    p->levels.known = false;
    assert_int_equal(map_draw(&p->report, &p->levels, &map), 0);
    assert_null(strstr(map.svg, "is-limit"));
    assert_null(strstr(map.svg, "data-h=\"-1\""));
    free(map.svg);
    free(map.finding);
    free(p);
}

/* A host has a row for each of its GPUs, or one for all if they are many; one without has none. */
static void each_gpu_has_a_row(void **state) {
    struct planted *p = plant(2, "vm");
    static double t[] = {25, 50}, work[] = {100, 50};
    static struct report_series gpus[] = {{(char *)"gpu0", 2, t, work},
                                          {(char *)"gpu1", 2, t, work}};
    struct map_drawing map;
    double values[2];
    static char resource[] = "gpu";
    (void)state;
    p->series[1].gpus = gpus;
    p->series[1].n_gpus = 2;
    p->report.duration_s = 50;
    p->report.verdict = (struct report_verdict){.resource = resource, .host = 1};
    p->levels.known = true;
    map_fill(&p->report, 1, MEMORY + 2, values, 2);
    assert_float_equal(values[1], .75, 1e-9);
    assert_int_equal(map_draw(&p->report, &p->levels, &map), 0);
    HAS(map.svg, ">gpu0<");
    HAS(map.svg, "data-h=\"1\" data-w=\"gpu1\"");
    HAS(map.svg, "<path class=\"gpu l");
    assert_null(strstr(map.svg, "data-h=\"0\" data-w=\"gpu"));
    assert_null(strstr(map.svg, "is-limit")); /* the verdict does not say which of them */
    free(map.svg);
    free(map.finding);
    p->series[1].n_gpus = 1;
    assert_int_equal(map_draw(&p->report, &p->levels, &map), 0);
    char *first = strstr(map.svg, "is-limit\"");
    assert_non_null(first);
    assert_ptr_equal(strchr(first, '>'), strstr(first, ">GPU<"));
    free(map.svg);
    free(map.finding);
    free(p);
}

/* Two hosts on one machine of two cores, of which each uses a part: the sum may be full. */
static void hosts_that_share_a_machine_have_a_row_of_it(void **state) {
    struct planted *p = plant(3, "vm");
    struct map_drawing map;
    double values[40], one[40];
    size_t rows = 0;
    (void)state;
    for (int i = 0; i < N; i++)
        p->idle[i] = 20;
    p->hosts[1].n_cpus = p->hosts[2].n_cpus = 2;
    p->hosts[2].n_cpus = 1; /* of the two cores, by its cpuset */
    p->hosts[1].machine = p->hosts[2].machine = 2;
    map_fill(&p->report, 1, 0, one, 40);
    map_fill_machine(&p->report, 2, values, 40);
    assert_float_equal(one[0], .8, 1e-9);
    assert_float_equal(values[0], 1, 1e-9); /* .8 of two cores and .8 of one */
    for (int i = 0; i < N; i++)
        p->idle[i] = 80;
    map_fill_machine(&p->report, 2, values, 40);
    assert_float_equal(values[0], .3, 1e-9);
    assert_int_equal(map_draw(&p->report, &p->levels, &map), 0);
    for (const char *at = map.svg; (at = strstr(at, ">shared machine<")); at++)
        rows++;
    assert_int_equal(rows, 1);
    free(map.svg);
    free(map.finding);
    free(p);
}

/* A host whose limit is full in bursts is named though nothing was full for a whole sample. */
static void a_limit_that_comes_in_bursts_is_named(void **state) {
    struct planted *p = plant(2, "vm");
    struct map_drawing map;
    static char egress[] = "net-egress";
    (void)state;
    p->hosts[1].name = (char *)"vm2";
    p->series[1].ceilings[METRIC_NET_SEND] = (struct report_ceiling){40, ARITHMETIC_SET};
    p->report.verdict = (struct report_verdict){.resource = egress, .host = 1};
    p->levels = (struct limit_levels){.share = {.5}, .known = true};
    assert_int_equal(map_draw(&p->report, &p->levels, &map), 0);
    HAS(map.finding, "The limit, vm2's network, was used 25 % on average: it was full for less "
                     "than a sample at a time.");
    free(map.svg);
    free(map.finding);
    p->report.verdict.host = -1; /* all hosts, or a rank */
    assert_int_equal(map_draw(&p->report, &p->levels, &map), 0);
    HAS(map.finding, "The limit is no resource of one host");
    free(map.svg);
    free(map.finding);
    free(p);
}

/* The limit of a control group counts, not the size of its host; the machine has all of its cores.
 */
static void a_quota_is_full_when_it_is_used_up(void **state) {
    struct planted *p = plant(2, "vm");
    struct map_drawing map;
    double values[40], full[N];
    (void)state;
    for (int i = 0; i < N; i++)
        full[i] = i < N / 2 - 1 ? 1 : NAN; /* the last one at the end of the half */
    for (int i = 0; i < N; i++)
        p->idle[i] = 60;
    p->hosts[0].machine = p->hosts[1].machine = 1;
    p->series[1].allowances[ALLOWANCE_CPU] = (struct report_series){NULL, N, p->t, full};
    map_fill(&p->report, 1, 0, values, 40);
    assert_float_equal(values[0], 1, 1e-9);
    assert_float_equal(values[39], .4, 1e-9); /* without a quota then */
    map_fill(&p->report, 0, 0, values, 40);
    assert_float_equal(values[0], .4, 1e-9);
    map_fill_machine(&p->report, 1, values, 40);
    assert_float_equal(values[0], .8, 1e-9);
    assert_int_equal(map_draw(&p->report, &p->levels, &map), 0);
    assert_true(map.limited);
    HAS(map.svg, ">CPU quota</text>");
    HAS(map.finding, "Only vm's CPU quota was full: 50 % of the time.");
    free(map.svg);
    free(map.finding);
    free(p);
}

/* ---- runs side by side ---- */

static void run_times_are_bars_of_their_parts_with_a_point_a_run(void **state) {
    struct runs_part fast[] = {{"computing", "#00ff00", 5}, {"transfer", "#0000ff", 5}},
                     slow[] = {{"computing", "#00ff00", 20}, {"transfer", "#0000ff", .01}};
    const double fast_runs[] = {9, 11}, slow_runs[] = {20};
    const struct runs_row rows[] = {{"a<b>", fast, 2, fast_runs, 2},
                                    {"slow", slow, 2, slow_runs, 1}};
    size_t dots = 0;
    (void)state;
    char *svg = runs_draw(rows, 2);
    HAS(svg, "a&lt;b&gt;");
    HAS(svg, "width=\"177.5\" height=\"22\" style=\"fill:#00ff00\""); /* 5 of 20 s */
    HAS(svg, "width=\"710.0\" height=\"22\" style=\"fill:#00ff00\"");
    HAS(svg, ">10 s</text>"); /* the mean */
    for (const char *at = svg; (at = strstr(at, "class=\"dot\"")); at++)
        dots++;
    assert_int_equal(dots, 3);
    assert_non_null(strstr(svg, "class=\"span\""));
    assert_null(strstr(strstr(svg, "class=\"span\"") + 1, "class=\"span\"")); /* none for a single
                                                                                 run */
    free(svg);
    assert_null(runs_draw(rows, 0));
    assert_int_equal(errno, ENODATA);
}

static void captions_say_who_is_first(void **state) {
    struct planted *p = plant(2, "vm1");
    (void)state;
    p->hosts[1].name = (char *)"vm2";
    p->values_of[METRIC_COUNT_ + METRIC_NET_RECV] = (struct report_value){40, 50, 55.5};
    p->values_of[METRIC_PSI_IO] = (struct report_value){7, 8, 9};
    char *network = picture_finding(&p->report, "network"),
         *pressure = picture_finding(&p->report, "pressure"),
         *disk = picture_finding(&p->report, "disk");
    assert_string_equal(network, "vm2 receives most: 40 MB/s on average, 55.5 at most.");
    assert_string_equal(pressure, "Tasks waited most on vm1: for I/O, 7 % of the time.");
    HAS(disk, "Hardly any");
    assert_null(picture_finding(&p->report, "nothing of these"));
    assert_null(picture_finding(&p->report, NULL));
    free(network);
    free(pressure);
    free(disk);
    free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_in_sentences_are_code_and_nothing_is_markup),
        cmocka_unit_test(only_the_script_of_the_page_may_run),
        cmocka_unit_test(a_part_without_anything_in_it_is_none),
        cmocka_unit_test(a_picture_brings_no_ids_titles_or_ground_along),
        cmocka_unit_test(the_keys_of_a_picture_are_a_legend_in_words),
        cmocka_unit_test(bars_of_one_colour_become_one_path),
        cmocka_unit_test(steps_add_up_to_where_a_line_ends),
        cmocka_unit_test(what_is_no_path_of_gnuplots_stays_as_it_is),
        cmocka_unit_test(the_highest_and_the_lowest_of_each_moment_are_kept),
        cmocka_unit_test(a_ceiling_is_told_with_how_it_is_known),
        cmocka_unit_test(thinning_keeps_order_and_gaps),
        cmocka_unit_test(a_link_is_full_at_its_ceiling_unless_that_was_only_seen),
        cmocka_unit_test(the_map_names_what_was_full_and_escapes_names),
        cmocka_unit_test(many_hosts_have_a_row_each),
        cmocka_unit_test(the_limit_has_a_row_of_the_time_that_it_took),
        cmocka_unit_test(each_gpu_has_a_row),
        cmocka_unit_test(hosts_that_share_a_machine_have_a_row_of_it),
        cmocka_unit_test(a_limit_that_comes_in_bursts_is_named),
        cmocka_unit_test(a_quota_is_full_when_it_is_used_up),
        cmocka_unit_test(run_times_are_bars_of_their_parts_with_a_point_a_run),
        cmocka_unit_test(captions_say_who_is_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
