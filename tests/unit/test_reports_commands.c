/* SPDX-License-Identifier: MIT */
/* Printed commands: the program's own path, the database, the run, and quotes where a shell needs
 * them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reports/says/commands.h"
#include "reports/says/remark_words.h"

static void expect(struct caller caller, const char *verb, const char *arguments,
                   const char *expected) {
    char *words = command_words(&caller, (struct command){verb, arguments});
    assert_string_equal(words, expected);
    free(words);
}

static void a_command_of_the_default_database_stays_as_it_is(void **state) {
    (void)state;
    expect((struct caller){0}, "list", "", "chokepoint list");
    expect((struct caller){.run = 3}, "whatif", "{run} --balanced",
           "chokepoint whatif 3 --balanced");
    expect((struct caller){0}, "report", "{run} -o run-{run}.html",
           "chokepoint report last -o run-last.html");
}

static void a_command_names_the_program_and_the_database(void **state) {
    const struct caller odd = {.program = "./build/bin/chokepoint", .database = "my runs/it's.db"};
    const struct caller plain = {.program = odd.program, .database = "a.db"};
    (void)state;
    expect(odd, "compare", "last~1 last",
           "./build/bin/chokepoint compare last~1 last --db 'my runs/it'\\''s.db'");
    expect(plain, "verify", "", "./build/bin/chokepoint verify a.db");
    expect(plain, "run", "COMMAND", "./build/bin/chokepoint run --db a.db COMMAND");
    expect(plain, "sweep", "report x", "./build/bin/chokepoint sweep report x --db a.db");
    expect(plain, "sweep", "-n x ...", "./build/bin/chokepoint sweep --db a.db -n x ...");
}

static void help_and_verbs_without_a_database_name_none(void **state) {
    const struct caller caller = {.database = "a.db"};
    (void)state;
    expect(caller, "list", "--help", "chokepoint list --help");
    expect(caller, "--help", "", "chokepoint --help");
    expect(caller, "testbed", "up 5", "chokepoint testbed up 5");
}

static void a_remark_has_its_command_completed(void **state) {
    const struct remark remark = {.kind = &remark_ADVISE_REPEAT};
    const struct caller caller = {.database = "a.db"};
    (void)state;
    char *words = remark_words_by(&remark, &caller);
    assert_non_null(strstr(words, ": `chokepoint compare last~1 last --db a.db` says"));
    free(words);
}

static void words_in_one_text_are_a_command_too(void **state) {
    const struct caller caller = {.run = 12, .database = "a.db"};
    static const char words[] = "report {run} --why` and more";
    (void)state;
    char *line = command_words_of(&caller, words, strcspn(words, "`"));
    assert_string_equal(line, "chokepoint report 12 --why --db a.db");
    free(line);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_of_the_default_database_stays_as_it_is),
        cmocka_unit_test(a_command_names_the_program_and_the_database),
        cmocka_unit_test(help_and_verbs_without_a_database_name_none),
        cmocka_unit_test(a_remark_has_its_command_completed),
        cmocka_unit_test(words_in_one_text_are_a_command_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
