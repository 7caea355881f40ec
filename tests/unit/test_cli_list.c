/* SPDX-License-Identifier: MIT */
/* The list of runs on a terminal and in a file: a line for each, columns that fit, notes below. */
#include "cli/list/list_text.h"
#include "common/clock.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

static struct listed_run plant(int64_t id, const char *name) {
    return (struct listed_run){.id = id,
                               .name = name,
                               .command = "./train",
                               .state = "done",
                               .started_wall_ns = 86400 * NS_PER_S,
                               .duration_s = 12.34,
                               .n_hosts = 2,
                               .n_hosts_expected = 2};
}

static const char *print(const struct listed_run *runs, size_t n, bool whole) {
    static char text[5000];
    FILE *to = tmpfile();
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    assert_true(kept >= 0 && dup2(fileno(to), STDOUT_FILENO) == STDOUT_FILENO);
    int r = list_print(runs, n, whole);
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    rewind(to);
    text[fread(text, 1, sizeof text - 1, to)] = '\0';
    fclose(to);
    assert_int_equal(r, 0);
    return text;
}

static const char *printed(const struct listed_run *runs, size_t n) {
    return print(runs, n, false);
}

#define HEAD "run  name   started              duration  hosts  end   command  limit\n"
#define LINE "  7  short  1970-01-02 00:00:00    12.3 s  2      done  train    -\n"

static void a_run_is_a_line_under_its_titles(void **state) {
    struct listed_run runs[] = {plant(7, "short"), plant(12, "xy")};
    (void)state;
    assert_string_equal(printed(runs, 0), "");
    assert_string_equal(printed(runs, 1), HEAD LINE);
    assert_string_equal(printed(runs, 2), HEAD LINE
                        " 12  xy     1970-01-02 00:00:00    12.3 s  2      done  train    -\n");
}

static void columns_are_as_wide_as_what_is_in_them(void **state) {
    struct listed_run runs[] = {plant(1234, "\xc3\xa4\xc3\xb6\xc3\xbcx"), plant(2, "a\033[2Jb")};
    (void)state;
    runs[1].command = "a\nb";
    runs[1].limit = "c\rd";
    assert_string_equal(printed(runs, 2),
                        " run  name    started              duration  hosts  end   command  limit\n"
                        "1234  \xc3\xa4\xc3\xb6\xc3\xbcx    1970-01-02 00:00:00    12.3 s  2      "
                        "done  train    -\n"
                        "   2  a?[2Jb  1970-01-02 00:00:00    12.3 s  2      done  a?b      c?d\n");
}

/* The cell that begins below this title, up to two spaces. */
static const char *cell(const struct listed_run *run, const char *title) {
    static char text[200];
    const char *all = printed(run, 1), *line = strchr(all, '\n') + 1;
    const char *at = line + (strstr(all, title) - all);
    snprintf(text, sizeof text, "%.*s", (int)(strstr(at, "  ") - at), at);
    return text;
}

/* Right-aligned: from the title of the column before. */
static const char *words_of_duration(double seconds) {
    static char text[60];
    struct listed_run run = plant(1, "short");
    run.duration_s = seconds;
    const char *all = printed(&run, 1), *line = strchr(all, '\n') + 1;
    const char *at = line + (strstr(all, "started") - all) + 19;
    at += strspn(at, " ");
    snprintf(text, sizeof text, "%.*s", (int)(strstr(at, "  ") - at), at);
    return text;
}

static void durations_have_units_that_fit(void **state) {
    (void)state;
    assert_string_equal(words_of_duration(0), "0.0 s");
    assert_string_equal(words_of_duration(59.94), "59.9 s");
    assert_string_equal(words_of_duration(60), "1:00 min");
    assert_string_equal(words_of_duration(3599.9), "59:59 min");
    assert_string_equal(words_of_duration(3600), "1:00:00 h");
    assert_string_equal(words_of_duration(7384), "2:03:04 h");
    assert_string_equal(words_of_duration(-1), "-");
    assert_string_equal(words_of_duration(NAN), "-");
    assert_string_equal(words_of_duration(1e12), "-");
}

static const char *end_of(const char *state, int status) {
    struct listed_run run = plant(1, "short");
    run.state = state;
    run.exit_status = status;
    return cell(&run, "end");
}

static void an_end_is_named_by_status_or_signal(void **state) {
    (void)state;
    assert_string_equal(end_of("done", 0), "done");
    assert_string_equal(end_of("failed", 3), "exit 3");
    assert_string_equal(end_of("failed", 130), "exit 130");
    assert_string_equal(end_of("killed", 137), "SIGKILL");
    assert_string_equal(end_of("killed", 128), "killed");
    assert_string_equal(end_of("killed", 255), "killed");
    assert_string_equal(end_of("interrupted", 130), "interrupted");
    assert_string_equal(end_of("not-started", -1), "not started");
    assert_string_equal(end_of("unfinished", -1), "unfinished");
}

static const char *hosts_of(size_t n, int expected) {
    struct listed_run run = plant(1, "short");
    run.n_hosts = n;
    run.n_hosts_expected = expected;
    return cell(&run, "hosts");
}

static void hosts_that_lack_are_told(void **state) {
    (void)state;
    assert_string_equal(hosts_of(3, 3), "3");
    assert_string_equal(hosts_of(3, 4), "3 of 4");
    assert_string_equal(hosts_of(0, 1), "0 of 1");
    assert_string_equal(hosts_of(3, -1), "3");
    assert_string_equal(hosts_of(0, 0), "0");
}

static void repeats_have_a_column_if_there_are_any(void **state) {
    struct listed_run runs[] = {plant(1, "short"), plant(2, "short")};
    (void)state;
    runs[1].repeat = 2;
    runs[1].repeats = 3;
    assert_string_equal(
        printed(runs, 2),
        "run  name   repeat  started              duration  hosts  end   command  limit\n"
        "  1  short          1970-01-02 00:00:00    12.3 s  2      done  train    -\n"
        "  2  short  2 of 3  1970-01-02 00:00:00    12.3 s  2      done  train    -\n");
}

static void notes_are_lines_below_their_run(void **state) {
    struct listed_run run = plant(7, "short");
    char *notes[] = {(char *)"vm2 was full", (char *)"a\rb"};
    (void)state;
    run.notes = notes;
    run.n_notes = 2;
    assert_string_equal(printed(&run, 1), HEAD LINE "     note: vm2 was full\n"
                                                    "     note: a?b\n");
}

static void a_command_is_short_and_the_limit_is_cut(void **state) {
    struct listed_run run = plant(7, "short");
    char limit[100];
    (void)state;
    memset(limit, 'x', sizeof limit - 1);
    limit[sizeof limit - 1] = '\0';
    run.command = "/usr/local/bin/mpirun -np 4 ./train --epochs 100";
    run.limit = limit;
    const char *text = printed(&run, 1);
    assert_non_null(strstr(text, "  done  mpirun -np 4 ./train --\xe2\x80\xa6  xxx"));
    assert_null(strstr(text, limit));
    text = print(&run, 1, true);
    assert_non_null(strstr(text, limit));
    assert_non_null(strstr(text, "\n     /usr/local/bin/mpirun -np 4 ./train --epochs 100\n"));
}

/* ---- on a terminal ---- */

/* The line of the run on a terminal with that many columns. */
static const char *shown_in(const struct listed_run *run, unsigned short columns) {
    static char text[1000];
    int master = posix_openpt(O_RDWR | O_NOCTTY), kept = dup(STDOUT_FILENO);
    struct winsize window = {.ws_row = 10, .ws_col = columns};
    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_int_equal(ioctl(terminal, TIOCSWINSZ, &window), 0);
    fflush(stdout);
    dup2(terminal, STDOUT_FILENO);
    list_print(run, 1, false);
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    ssize_t n = read(master, text, sizeof text - 1); /* two lines; all was written */
    close(terminal);
    close(master);
    text[n > 0 ? n : 0] = '\0';
    char *end = strrchr(text, '\r');
    assert_non_null(end);
    *end = '\0';
    return strrchr(text, '\n') + 1;
}

#define CELLS "  7  short  1970-01-02 00:00:00    12.3 s  2      done  train    "

static void the_limit_takes_what_is_left_of_a_terminal(void **state) {
    struct listed_run run = plant(7, "short");
    (void)state;
    run.limit = "0123456789";
    assert_string_equal(shown_in(&run, sizeof CELLS - 1 + 10), CELLS "0123456789");
    assert_string_equal(shown_in(&run, sizeof CELLS - 1 + 9), CELLS "01234567\xe2\x80\xa6");
    assert_string_equal(shown_in(&run, 20), CELLS "0123456\xe2\x80\xa6"); /* at least eight
                                                                             characters */
    run.limit = "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4";
    assert_string_equal(shown_in(&run, 20),
                        CELLS "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
                              "\xe2\x80\xa6");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_a_line_under_its_titles),
        cmocka_unit_test(columns_are_as_wide_as_what_is_in_them),
        cmocka_unit_test(durations_have_units_that_fit),
        cmocka_unit_test(an_end_is_named_by_status_or_signal),
        cmocka_unit_test(hosts_that_lack_are_told),
        cmocka_unit_test(repeats_have_a_column_if_there_are_any),
        cmocka_unit_test(notes_are_lines_below_their_run),
        cmocka_unit_test(a_command_is_short_and_the_limit_is_cut),
        cmocka_unit_test(the_limit_takes_what_is_left_of_a_terminal),
    };
    setenv("TZ", "UTC", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
