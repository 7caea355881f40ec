#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recipes.sh [--count]: adds a toy of each kind by the words of CONTRIBUTING.md alone, in a copy, builds it and runs it.
# --count builds nothing and prints how many files each toy touches, without those that programs make.
#
# With the right to mount, the copy lies over the source's folder and its build, seen by this script alone: only what the
# toys touch is built again. CHOKEPOINT_BIN and CHOKEPOINT_SOURCE are those of the tests.
set -euo pipefail
here=$(realpath "$0")
source_dir=${CHOKEPOINT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
kinds="probe column verb section cause library"
# Pages and lists that programs make of the rest.
made="man/chokepoint-metrics.7 man/chokepoint.1 docs/rules.md docs/schema"

fail() { echo "FAILED: $*" >&2; exit 1; }

# after FILE PATTERN TEXT: a line behind the first one that has PATTERN.
after() {
    grep -q -- "$2" "$1" || fail "$1 has no line with $2 any more"
    sed -i "0,/$2/{/$2/a\\
$3
}" "$1"
}
# listed FOLDER NEIGHBOUR FILE: FILE is compiled, named behind NEIGHBOUR in the list of its room.
listed() { after "$1/CMakeLists.txt" "^  ${2//\//\\/}\\b" "  $3"; }
spdx='/* SPDX-License-Identifier: MIT */'

# A probe is a file in agent/probes/, named in probes.[ch], and one of its table.
add_probe() {
    cat >agent/probes/toy.c <<END
$spdx
/* A table of one number that is known. */
#include <string.h>

#include "agent/probes/probes.h"

static int toy_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    (void)state, (void)env, (void)why, (void)why_size;
    return 0;
}

static int toy_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct row *row = rows_append(rows, "host", strlen("host"));
    (void)state, (void)env;
    if (row)
        row->values[TOY_ANSWER] = 42;
    return 0;
}

static size_t toy_max_rows(const void *state, const struct probe_env *env) {
    (void)state, (void)env;
    return 1;
}

const struct probe probe_toy = {
    .table = &all_tables[TABLE_TOY],
    .max_rows = toy_max_rows,
    .open = toy_open,
    .sample = toy_sample,
};
END
    cat >tables/toy.def <<END
$spdx
TABLE(TOY, "toy", "scope", SAMPLES, "a table of one number")
COLUMN(TOY_ANSWER, "toy_answer", EVENTS, LEVEL, "a number that is known")
UNREAD(TOY)
END(TOY)
END
    after tables/tables.def '^#include "tables.wakeup.def"' '#include "tables/toy.def"'
    after agent/probes/probes.c 'probe_list\[\] = {' '    \&probe_toy,'
    after agent/probes/probes.h 'probe probe_wakeup;' 'extern const struct probe probe_toy;'
    listed agent probes/rank_thread.c probes/toy.c
}
run_probe() {
    grep -q '^## toy (scope)' tables.txt || fail "no table toy in --tables"
    [ "$(sql 'SELECT DISTINCT toy_answer FROM toy')" = 42 ] || fail "the table toy has no rows of 42"
}

# A column is a line of its table, and the probe fills it.
add_column() {
    after tables/load.def '^COLUMN(LOAD_UPTIME' 'COLUMN(LOAD_TOY, "toy_uptimes", NS, LEVEL, "the same, twice")'
    after agent/probes/load.c 'values\[LOAD_UPTIME\] = ' '    row->values[LOAD_TOY] = 2 * uptime_ns;'
}
run_column() {
    grep -q '^| `toy_uptimes` ' tables.txt || fail "no column toy_uptimes in --tables"
    [ "$(sql 'SELECT count(*) > 0 AND min(toy_uptimes = 2 * uptime_ns) FROM load')" = 1 ] || fail "the column toy_uptimes is not what it should be"
}

# A verb is a file, a line in verbs.def, and a page.
add_verb() {
    cat >cli/verbs/toy.c <<END
$spdx
/* \`chokepoint toy\`: says one word. */
#include <stdio.h>

#include "cli/base/options.h"
#include "cli/base/verb.h"
#include "common/error.h"

static int toy_main(int argc, char **argv) {
    const char *word = "toy";
    const struct option_row rows[] = {{"--word WORD", "says WORD; default: toy", .text = &word}};
    const struct option_table table = {
        "usage: chokepoint toy [--word WORD]\\n\\n", rows, ARRAY_SIZE(rows), NULL, 2, 16, false};
    char **rest;
    int r = verb_words_read("toy", &table, argc, argv, &rest);
    return r ? verb_words_status(r) : puts(word) < 0;
}

const struct verb verb_toy = {.name = "toy", .help = "say one word", .main = toy_main};
END
    after cli/verbs.def '^VERB(list)' 'VERB(toy)'
    sed -e 's/verify/toy/g;s/VERIFY/TOY/g;s/check that a database is as it was written/say one word/' man/chokepoint-verify.1 >man/chokepoint-toy.1
}
run_verb() {
    "$chokepoint" --help | grep '^  toy ' >/dev/null || fail "toy is not in --help"
    [ "$("$chokepoint" toy --word ball)" = ball ] || fail "the verb says something else"
    "$chokepoint" completion bash | grep '\btoy\b' >/dev/null || fail "no shell completes toy"
    "$chokepoint" --help | awk -f man/verbs.awk - man/chokepoint.1 | grep 'Xr chokepoint-toy 1' >/dev/null || fail "the page of verbs lacks toy"
}

# A section is a file, a line in sections.def, and a test among those of the others.
add_section() {
    cat >reports/sections/toy.c <<END
$spdx
/* The hosts, by their names alone. */
#include "reports/sections/sections.h"

static const struct report_column columns[] = {
    {KIND_TEXT, "name", "plaything", FIELD(report_host, name)},
};

void section_toy(const struct report *report, struct page *page) {
    struct report_table table;
    TABLE_INIT(&table, "toys", report, columns);
    TABLE_ADD_ALL(&table, report->hosts, report->n_hosts);
    table_title(&table, "Toys");
    page_table(page, &table);
}
END
    after reports/sections/sections.def '^SECTION(job, ' 'SECTION(toy, PART_TABLES, 99)'
    sed -i '/^static void use_of_hosts/i\
static void toys_of_hosts(void **state) {\
    (void)state;\
    expect(section_toy, "toys", "[{'"'name':'vm1'},{'name':'vm2'},{'name':'vm3'}"']");\
}\
' tests/unit/test_reports_columns.c
    after tests/unit/test_reports_columns.c 'cmocka_unit_test(use_of_hosts),' '        cmocka_unit_test(toys_of_hosts),'
}
run_section() {
    "$chokepoint" report --db "$db" --format text >report.txt || fail "no report"
    "$build/bin/test_reports_columns" >test.txt 2>&1 || { cat test.txt; fail "the test of the section"; }
    grep -q '^Toys' report.txt || fail "no section Toys in the text"
    "$chokepoint" report --db "$db" --format json | jq -e '.toys[0].name' >/dev/null || fail "no toys in the JSON"
}

# A cause is a file, a line in causes.def, and its test.
add_cause() {
    cat >analysis/causes/toy.c <<END
$spdx
/* A cause that always limits. */
#include <errno.h>

#include "analysis/causes/causes_private.h"

#define OWN_REMARKS                                                                                \\
    REMARK(TOY_PLAYED, "somebody plays", SLOTS(), SLOTS())                                         \\
    REMARK(TOY_TIME, "it was played with %.0f %% of the time", SLOTS("played, %"), SLOTS())
#include "analysis/causes/own.h"

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    struct candidate c = candidate_of(0, group, RESOURCE_STEAL, CAUSE_STEAL);
    (void)model;
    c.blocked = 0.9;
    c.saturated = true;
    remark_set(&c.cause, TOY_PLAYED, NUMBERS(), NAMES());
    remarks_add(&c.evidence, TOY_TIME, NUMBERS(77), NAMES());
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

const struct cause cause_toy = {
    .name = "toy",
    .resource = RESOURCE_STEAL,
    .kind = CAUSE_STEAL,
    .reason = "toys are played with",
    .remarks = own_remarks,
    .detect = detect,
};
END
    after analysis/causes/causes.def '^CAUSE(steal)' 'CAUSE(toy)'
    cat >tests/unit/test_cause_toy.c <<END
$spdx
/* The cause toy finds what it always finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/judged.h"

static void it_always_limits(void **state) {
    const struct run_model model = {0};
    struct candidates found = {0};
    (void)state;
    assert_int_equal(cause_toy.detect(&model, 0, &found), 0);
    assert_int_equal(found.n, 1);
    assert_int_equal(found.items[0].resource, RESOURCE_STEAL);
    candidates_release(&found);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_always_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
END
}
run_cause() {
    "$chokepoint" rules | grep '^toy: ' >/dev/null || fail "toy is not among the rules"
    "$build/bin/test_cause_toy" >test.txt 2>&1 || { cat test.txt; fail "the test of the cause"; }
    "$chokepoint" report --db "$db" --format json | jq -e '.ranking[] | select(.resource == "steal" and .blocked_pct == 90)' >/dev/null ||
        fail "the cause does not fire"
}

# A launcher is a file, and a line in the list of them.
add_library() {
    cat >cli/launch/mpi/toy.c <<END
$spdx
/* A launcher that is told its hosts as Hydra is. */
#include "cli/launch/mpi/launcher.h"

static const struct launcher_option options[] = {{"toys", 1, ROLE_LIST}, {0}};
static const char *const names[] = {"toyrun", NULL};

const struct launcher launcher_toy = {
    .kind = COMMAND_HYDRA, .names = names, .options = options, .lists_all_options = true};
END
    after cli/launch/mpi/launcher.h '^extern const struct launcher ' 'extern const struct launcher launcher_toy;'
    sed -i 's/launchers\[\] = {/&\&launcher_toy, /' cli/launch/command_words.c
    listed cli launch/mpi/slurm.c launch/mpi/toy.c
}
run_library() {
    printf '#!/bin/sh\n' >toyrun
    chmod +x toyrun
    local PATH=$PWD:$PATH
    "$chokepoint" run --db launched.db toyrun -toys host.invalid true >launched.txt 2>&1 && fail "a host that is none is reached"
    grep -q 'host\.invalid cannot be reached' launched.txt || { cat launched.txt; fail "the launcher's list of hosts is not read"; }
}

# touched KIND: files that the toy of this kind touches.
touched() {
    "add_$1"
    git add -A
    git diff --cached --name-only | grep -vxF "$(tr ' ' '\n' <<<"$made")"
    git -c user.name=toy -c user.email=toy@localhost commit -q --no-verify -m "toys: a $1"
}
count() {
    local files
    git clone -q "$source_dir" "$work/copy"
    cd "$work/copy"
    for kind in $kinds; do
        files=$(touched "$kind")
        printf '%-8s %2d  %s\n' "$kind" "$(wc -l <<<"$files")" "$(tr '\n' ' ' <<<"$files")"
    done
}

# In a copy that lies over the source's folder, and nobody else sees.
inside() {
    cd "$source_dir"
    for kind in $kinds; do "add_$kind"; done
    export CCACHE_DISABLE=1 # a cache outside the copy learns nothing
    cmake --build "$build" -j "$(nproc)" --target bin/chokepoint bin/chokepoint-agent bin/test_cause_toy bin/test_reports_columns >"$work/log" 2>&1 || { tail -n 40 "$work/log"; fail "the toys do not build"; }
    chokepoint=$build/bin/chokepoint db=$work/runs.db
    sql() { sqlite3 "$db" "$1"; }
    cd "$work"
    cp -r "$source_dir/man" .
    "$build/bin/chokepoint-agent" --tables >tables.txt || fail "no tables"
    "$chokepoint" run -q --no-report --db "$db" sh -c 'end=$(($(date +%s) + 3)); while [ $(date +%s) -lt $end ]; do :; done' || fail "no run"
    for kind in $kinds; do
        "run_$kind"
        echo "a $kind is added by its recipe"
    done
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ "${1:-}" = --count ]; then
    count
elif [ -n "${CHOKEPOINT_COPY:-}" ]; then
    build=$CHOKEPOINT_COPY
    inside
else
    build=$(cd "${CHOKEPOINT_BIN:-$source_dir/build/dev/bin}/.." && pwd)
    [ -e "$build/CMakeCache.txt" ] || { echo "SKIPPED: nothing is built in $build"; exit 77; }
    unshare --mount true 2>/dev/null || { echo "SKIPPED: no right to mount a copy"; exit 77; }
    CHOKEPOINT_COPY=$build CHOKEPOINT_SOURCE=$source_dir unshare --mount --propagation private bash -euc '
        mount -t tmpfs tmpfs "$1" && mkdir "$1/upper" "$1/work"
        mount -t overlay overlay -o "lowerdir=$CHOKEPOINT_SOURCE,upperdir=$1/upper,workdir=$1/work" "$CHOKEPOINT_SOURCE" ||
            { echo "SKIPPED: no overlay here"; exit 77; }
        exec bash "$2"' mounting "$work" "$here"
fi
