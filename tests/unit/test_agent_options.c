/* SPDX-License-Identifier: MIT */
/* Each option of the agent sets what it names and nothing else; senseless values and missing
 * options are refused with the reason.
 */
#include "agent/options.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/error.h"

#define ARGS_MAX 8
#define PIN "sha256//0123456789012345678901234567890123456789012="

static char why[200];

/* Arguments end with NULL; there is no collector. */
static int parse(const char *const *more, struct agent_options *ret_options) {
    const char *args[ARGS_MAX + 8] = {"chokepoint-agent", "--spool", "/s",
                                      "--no-push",        "--host",  "vm1"};
    int n = 6;
    while (*more)
        args[n++] = *more++;
    args[n] = NULL;
    why[0] = '\0';
    return agent_options_read(n, (char **)args, ret_options, why, sizeof why);
}

#define SHOWN(text) ((text) ? (text) : "none")

/* All options as text, one a line. */
static char *all_of(const struct agent_options *o) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "collector=%s\npin=%s\ndelivered=%s\nlibrary=%s\nlibrary_size=%llu\nspool=%s\n",
            SHOWN(o->collector), SHOWN(o->pin), SHOWN(o->delivered), SHOWN(o->library),
            (unsigned long long)o->library_size, SHOWN(o->spool));
    fprintf(out, "proc=%s\nsys=%s\nhost=%s\nscope=%d\nperiod=%lld\nprocess_period=%lld\n", o->proc,
            o->sys, o->host, (int)o->scope, (long long)o->period_ns,
            (long long)o->process_period_ns);
    fprintf(out, "orphan=%lld\ndrain=%lld\ncall_drain=%lld\nspool_limit=%llu\ncall_limit=%llu\n",
            (long long)o->orphan_after_ns, (long long)o->drain_ns, (long long)o->call_drain_ns,
            (unsigned long long)o->spool_limit_bytes,
            (unsigned long long)o->call_spool_limit_bytes);
    fprintf(out, "frames=%llu\nforeign=%d\nchoices=%zu\nparent=%d\npeers=%s\n",
            (unsigned long long)o->max_frames, o->foreign_processes, o->n_choices, o->job_parent,
            SHOWN(o->peers));
    fprintf(out, "supervise=%d\npush=%d\nflows=%d\nclocks=%d\nno_lines=%d\ndoctor=%d\nstdin=%d\n",
            o->supervise, o->push, o->flows, o->wait_clocks, o->no_command_lines, o->doctor,
            o->token_stdin);
    fclose(out);
    return text;
}

/* The lines that an option changes, each followed by a space. */
static void expect_change(const char *const *args, const char *changed) {
    struct agent_options base, with;
    char found[400] = "";
    assert_int_equal(parse((const char *const[]){NULL}, &base), 0);
    if (parse(args, &with))
        fail_msg("%s: %s", args[0], why);
    char *a = all_of(&base), *b = all_of(&with), *save_a, *save_b;
    char *line_a = strtok_r(a, "\n", &save_a), *line_b = strtok_r(b, "\n", &save_b);
    for (; line_a && line_b;
         line_a = strtok_r(NULL, "\n", &save_a), line_b = strtok_r(NULL, "\n", &save_b))
        if (strcmp(line_a, line_b) != 0)
            snprintf(found + strlen(found), sizeof found - strlen(found), "%s ", line_b);
    assert_string_equal(found, changed);
    free(a);
    free(b);
}

static void without_options_there_are_defaults(void **state) {
    struct agent_options o;
    (void)state;
    assert_int_equal(parse((const char *const[]){NULL}, &o), 0);
    char *text = all_of(&o);
    assert_string_equal(text,
                        "collector=none\npin=none\ndelivered=none\nlibrary=none\nlibrary_size=0\n"
                        "spool=/s\nproc=/proc\nsys=/sys\nhost=vm1\nscope=0\n"
                        "period=100000000\nprocess_period=1000000000\n"
                        "orphan=3600000000000\ndrain=20000000000\ncall_drain=60000000000\n"
                        "spool_limit=67108864\ncall_limit=268435456\nframes=0\nforeign=5\n"
                        "choices=0\nparent=0\npeers=none\nsupervise=1\npush=0\nflows=0\n"
                        "clocks=0\nno_lines=0\ndoctor=0\nstdin=0\n");
    free(text);
}

static void each_option_sets_what_it_names(void **state) {
    static const struct {
        const char *args[3], *changed;
    } options[] = {{{"--collector", "https://h:1"}, "collector=https://h:1 "},
                   {{"--pin", PIN}, "pin=" PIN " "},
                   {{"--token-stdin"}, "stdin=1 "},
                   {{"--spool", "/other"}, "spool=/other "},
                   {{"--spool-limit", "32m"}, "spool_limit=33554432 "},
                   {{"--call-spool-limit", "48m"}, "call_limit=50331648 "},
                   {{"--call-drain", "1.5"}, "call_drain=1500000000 "},
                   {{"--host", "vm2"}, "host=vm2 "},
                   {{"--scope", "cgroup"}, "scope=1 "},
                   {{"--scope", "job"}, "scope=2 "},
                   {{"--rate", "4"}, "period=250000000 "},
                   {{"--process-rate", "0.5"}, "process_period=2000000000 "},
                   {{"--foreign-processes", "7"}, "foreign=7 "},
                   {{"--no-command-lines"}, "no_lines=1 "},
                   {{"--flows"}, "flows=1 "},
                   {{"--wait-clocks"}, "clocks=1 "},
                   {{"--samples", "9"}, "frames=9 "},
                   {{"--orphan-after", "11"}, "orphan=11000000000 "},
                   {{"--drain", "0"}, "drain=0 "},
                   {{"--delivered", "/d"}, "collector=the relay of the run delivered=/d "},
                   {{"--library", "/m"}, "library=/m "},
                   {{"--library-size", "13"}, "library_size=13 "},
                   {{"--proc", "/p"}, "proc=/p "},
                   {{"--sys", "/y"}, "sys=/y "},
                   {{"--job", "port=80"}, "choices=1 "},
                   {{"--job-parent", "15"}, "parent=15 "},
                   {{"--no-supervise"}, "supervise=0 "},
                   {{"--doctor"}, "doctor=1 "},
                   {{"--peers", "a,b"}, "peers=a,b "}};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(options); i++)
        expect_change(options[i].args, options[i].changed);
}

static void values_that_make_no_sense_are_refused(void **state) {
    static const char *const bad[][3] = {{"--collector", "ftp://h"},
                                         {"--pin", "sha256//short"},
                                         {"--spool", ""},
                                         {"--spool-limit", "1"},
                                         {"--spool-limit", "17t"},
                                         {"--call-drain", "-1"},
                                         {"--host", "a\tb"},
                                         {"--scope", "rack"},
                                         {"--rate", "1001"},
                                         {"--rate", "0"},
                                         {"--rate", "nan"},
                                         {"--foreign-processes", "1001"},
                                         {"--samples", "0"},
                                         {"--samples", "x"},
                                         {"--orphan-after", "31622401"},
                                         {"--delivered", "d"},
                                         {"--library", "m"},
                                         {"--proc", ""},
                                         {"--sys", ""},
                                         {"--job", "rack=1"},
                                         {"--job-parent", "2147483648"},
                                         {"--no-such"},
                                         {"--rate"},
                                         {"word"}};
    struct agent_options o;
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        if (parse(bad[i], &o) != -EINVAL)
            fail_msg("%s %s was taken", bad[i][0], bad[i][1] ? bad[i][1] : "");
        assert_non_null(strstr(why, bad[i][0]));
    }
}

static int parse_alone(const char *const *args, int n) {
    struct agent_options o;
    why[0] = '\0';
    return agent_options_read(n, (char **)args, &o, why, sizeof why);
}
#define ALONE(...)                                                                                 \
    parse_alone((const char *const[]){"chokepoint-agent", __VA_ARGS__, NULL},                      \
                (int)(sizeof((const char *const[]){"", __VA_ARGS__}) / sizeof(char *)))

static void what_is_missing_is_told(void **state) {
    (void)state;
    assert_int_equal(ALONE("--no-push"), 0); /* it makes a spool */
    assert_int_equal(ALONE("--spool", "/s"), -EINVAL);
    assert_non_null(strstr(why, "say where the collector is"));
    assert_int_equal(ALONE("--spool", "/s", "--collector", "http://h:1", "--pin", PIN), -EINVAL);
    assert_non_null(strstr(why, "by TLS only"));
    assert_int_equal(ALONE("--spool", "/s", "--collector", "https://h:1"), -EINVAL);
    assert_non_null(strstr(why, "--pin"));
    assert_int_equal(ALONE("--spool", "/s", "--no-push", "--process-rate", "11"), -EINVAL);
    assert_non_null(strstr(why, "may not be above"));
    assert_int_equal(ALONE("--spool", "/s", "--collector", "https://h:1", "--pin", PIN), 0);
    assert_int_equal(ALONE("--spool", "/s", "--delivered", "/d"), 0);
    assert_int_equal(ALONE("--spool", "/s", "--doctor"), 0);
    assert_int_equal(ALONE("--help"), OPTIONS_HELP);
    assert_int_equal(ALONE("--version"), OPTIONS_SHOW_VERSION);
    assert_int_equal(ALONE("--tables"), OPTIONS_SHOW_TABLES);
}

int main(void) {
    unsetenv("CHOKEPOINT_SCOPE");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_options_there_are_defaults),
        cmocka_unit_test(each_option_sets_what_it_names),
        cmocka_unit_test(values_that_make_no_sense_are_refused),
        cmocka_unit_test(what_is_missing_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
