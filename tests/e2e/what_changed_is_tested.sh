#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# For a file that changed, `./check --quick` builds and runs the unit tests that have an object of it inside, by whatever
# header or generated file, the programs that link it and the tests that read it; and it names what it leaves out.
set -u
command -v ninja readelf >/dev/null || { echo "skipped: no ninja"; exit 77; }
build=$(realpath --relative-to "${CHOKEPOINT_SOURCE:?}" "${CHOKEPOINT_BIN:?}/..")
cd "${CHOKEPOINT_SOURCE:?}" || exit 1
[ -x "$build/bin/test_common_wire" ] && [ -e "$build/.ninja_deps" ] || { echo "skipped: no unit tests, or not built by ninja"; exit 77; }
fail() { echo "FAILED: $*"; echo "$plan"; exit 1; }
# touched SECONDS FILES...: the plan, in $plan
touched() { plan=$(tests/tools/touched.py tests "$build" "$@") || fail "no plan"; }
has() { grep -qxF "$1" <<<"$plan" || fail "no $1"; }
lacks() { ! grep -qF "$1" <<<"$plan" || fail "$1 is touched"; }

touched 1000 collector/gate.c
has "test test_collector_gate"
has "target bin/test_collector_gate"
has "target bin/chokepoint"
lacks test_common_wire # links another library
lacks test_collector_clock # links that library, but nothing of this file
touched 1000 common/job_choice.h
has "test test_common_job_choice"
lacks test_common_wire
touched 1000 reports/formats/page/page.css # a program embeds it
has "test test_reports_html"
touched 1000 tests/golden/export-perfetto.json
has "test test_reports_export"
touched 1000 cli/main.c tests/e2e/verbs.sh
has "target bin/chokepoint"
has "left other tests that changed: verbs"
has "left files that no unit test links: cli/main.c"
touched 0 common/job_choice.c
grep -q '^left unit tests that take long: .*\btest_common_job_choice\b' <<<"$plan" || fail "what takes too long is not named"
! grep -q '^test ' <<<"$plan" || fail "a test is run without time for it"
lacks "target bin/test_"
