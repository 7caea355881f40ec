/* SPDX-License-Identifier: MIT */
/* Printed commands: the program's own path, the database, the run, and quotes where a shell needs
 * them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "reports/says/commands.h"

static void expect_complete(const char *text, int64_t run, const char *expected) {
    char *completed = commands_complete(text, run);
    assert_string_equal(completed, expected);
    free(completed);
}

static void forget(void) {
    commands_call_program(NULL);
    commands_use_database(NULL);
}

static void a_command_of_the_default_database_stays_as_it_is(void **state) {
    (void)state;
    forget();
    expect_complete("see `chokepoint list`", 0, "see `chokepoint list`");
    expect_complete("`chokepoint whatif {run} --balanced` says", 3,
                    "`chokepoint whatif 3 --balanced` says");
    expect_complete("`chokepoint report {run} -o run-{run}.html`", 0,
                    "`chokepoint report last -o run-last.html`");
}

static void a_command_names_the_program_and_the_database(void **state) {
    (void)state;
    commands_call_program("./build/bin/chokepoint");
    commands_use_database("my runs/it's.db");
    expect_complete("a `chokepoint compare last~1 last` b", 0,
                    "a `./build/bin/chokepoint compare last~1 last --db 'my runs/it'\\''s.db'` b");
    commands_use_database("a.db");
    expect_complete("`chokepoint verify`", 0, "`./build/bin/chokepoint verify a.db`");
    expect_complete("`chokepoint run COMMAND`", 0,
                    "`./build/bin/chokepoint run --db a.db COMMAND`");
    expect_complete("`chokepoint sweep report x`", 0,
                    "`./build/bin/chokepoint sweep report x --db a.db`");
    expect_complete("`chokepoint sweep -n x ...`", 0,
                    "`./build/bin/chokepoint sweep --db a.db -n x ...`");
    forget();
}

/* Help and verbs without a database; another program's command; a single backtick. */
static void nothing_else_is_changed(void **state) {
    (void)state;
    commands_use_database("a.db");
    expect_complete("`chokepoint list --help`", 0, "`chokepoint list --help`");
    expect_complete("`chokepoint testbed up 5`", 0, "`chokepoint testbed up 5`");
    expect_complete("`perf top` and `chokepoint-agent`", 0, "`perf top` and `chokepoint-agent`");
    expect_complete("a ` and `chokepoint list", 0, "a ` and `chokepoint list");
    forget();
}

static void one_command_alone_has_no_backticks(void **state) {
    char *line;
    (void)state;
    commands_use_database("a.db");
    line = commands_line("report {run} --why", 12);
    assert_string_equal(line, "chokepoint report 12 --why --db a.db");
    free(line);
    forget();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_of_the_default_database_stays_as_it_is),
        cmocka_unit_test(a_command_names_the_program_and_the_database),
        cmocka_unit_test(nothing_else_is_changed),
        cmocka_unit_test(one_command_alone_has_no_backticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
