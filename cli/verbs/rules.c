/* SPDX-License-Identifier: MIT */
/*
 * `chokepoint rules`: what the judge looks for, why it holds up a run, what it needs to see, and
 * its thresholds. The list is the table that judges, so it cannot be out of date; with
 * CHOKEPOINT_JUDGE it is that of the changed judge.
 */
#include "analysis/causes/causes.h"
#include "cli/base/options.h"
#include "cli/base/verb.h"
#include "common/error.h"
#include "reports/model/input.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: chokepoint rules [--format text|json]\n"
    "\n"
    "Lists the rules of the verdict: what each looks for, why that holds up a run, which\n"
    "sources it needs, and its thresholds.\n"
    "\n"
    "CHOKEPOINT_JUDGE in the environment changes them for one command, to see what each of\n"
    "them earns: a list such as '-quota;SKEW_RATIO*1.4;GAIN_MIN=0.08;-source:calls' leaves out\n"
    "a rule, scales and sets a threshold, and leaves out a source.\n"
    "\n";

static bool is_off(size_t cause) {
    const struct judge *judge = report_judge();
    return judge && judge->causes_off >> cause & 1;
}

static unsigned all_sources(void) {
    const struct judge *judge = report_judge();
    return ((1u << SOURCE_COUNT_) - 1) & ~(judge ? judge->sources_off : 0);
}

static json_t *sources_of(unsigned bits) {
    json_t *list = json_array();
    for (int s = 0; s < SOURCE_COUNT_; s++)
        if (bits >> s & 1)
            json_array_append_new(list, json_string(observed_source_name((enum observed_source)s)));
    return list;
}

/* The numbers of a cause ("all": of no single one); its own first. */
typedef void look(const struct number *number, void *ctx);

static void each_number(const char *name, const struct number *const *own, look *look_at,
                        void *ctx) {
    for (; own && *own; own++)
        look_at(*own, ctx);
    for (const struct number *const *at = numbers_shared; *at; at++)
        if (strcmp((*at)->cause, name) == 0)
            look_at(*at, ctx);
}

static void append_number(const struct number *n, void *list) {
    json_array_append_new(list, json_pack("{s:s, s:f, s:s, s:s}", "name", n->name, "value",
                                          judge_number(report_judge(), n), "unit", n->unit,
                                          "reason", n->reason));
}

static json_t *thresholds_of(const char *name, const struct number *const *own) {
    json_t *list = json_array();
    each_number(name, own, append_number, list);
    return list;
}

static json_t *json_of(void) {
    json_t *list = json_array();
    size_t n;
    const struct cause *const *causes = causes_all(&n);
    for (size_t r = 0; r < n; r++) {
        if (is_off(r))
            continue;
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:o, s:o, s:s, s:o}", "name", causes[r]->name,
                            "resource", resource_name(causes[r]->resource), "cause",
                            cause_name(causes[r]->kind), "needs", sources_of(causes[r]->needs),
                            "instead", sources_of(causes[r]->instead), "reason", causes[r]->reason,
                            "thresholds", thresholds_of(causes[r]->name, causes[r]->numbers)));
    }
    return json_pack("{s:s, s:o, s:o, s:o}", "schema", "chokepoint.rules/1", "rules", list,
                     "thresholds", thresholds_of("all", NULL), "sources",
                     sources_of(all_sources()));
}

static void print_sources(const char *words, unsigned bits) {
    const char *between = words;
    for (int s = 0; s < SOURCE_COUNT_; s++)
        if (bits >> s & 1) {
            printf("%s%s", between, observed_source_name((enum observed_source)s));
            between = ", ";
        }
    if (bits)
        putchar('\n');
}

static void print_number(const struct number *n, void *ctx) {
    (void)ctx;
    printf("    %-24s %-8.6g %s: %s\n", n->name, judge_number(report_judge(), n), n->unit,
           n->reason);
}

static void print_text(void) {
    size_t n;
    const struct cause *const *causes = causes_all(&n);
    for (size_t r = 0; r < n; r++) {
        if (is_off(r))
            continue;
        printf("%s: %s, %s\n    %s\n", causes[r]->name, resource_name(causes[r]->resource),
               cause_name(causes[r]->kind), causes[r]->reason);
        print_sources("    needs ", causes[r]->needs);
        print_sources("    not asked where there is ", causes[r]->instead);
        each_number(causes[r]->name, causes[r]->numbers, print_number, NULL);
    }
    puts("all rules:");
    each_number("all", NULL, print_number, NULL);
}

static int rules_main(int argc, char **argv) {
    const char *format = "text";
    const struct option_row rows[] = {
        {"--format FORMAT", "text or json; default: text", .text = &format},
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), NULL, 2, 20, false};
    char **rest;
    int result = verb_words_read("rules", &table, argc, argv, &rest);
    if (result)
        return verb_words_status(result);
    if (*rest)
        return verb_refuse("rules", "takes no", *rest, "see `chokepoint rules --help`"), EXIT_USAGE;
    if (strcmp(format, "json") != 0 && strcmp(format, "text") != 0)
        return verb_refuse("rules", "unknown format", format, "text or json"), EXIT_USAGE;
    if (*format == 't') {
        print_text();
        return ferror(stdout) ? 1 : 0;
    }
    json_t *json = json_of();
    result = json ? json_dumpf(json, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER) : -1;
    putchar('\n');
    json_decref(json);
    return result ? 1 : 0;
}

const struct verb verb_rules = {
    .name = "rules", .help = "list what the verdict is made by", .main = rules_main};
