#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A test that fails beside others and passes alone is named with how often it did so; the third time the run fails. A test
# that fails alone, too, fails the run at once.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; cat "$work/out"; exit 1; }
mkdir "$work/build"
cat >"$work/build/CTestTestfile.cmake" <<END
add_test(passes true)
add_test(fails_first sh -c "[ -e '$work/ran' ] || { touch '$work/ran'; exit 1; }")
add_test(fails_always sh -c "[ ! -e '$work/broken' ]")
END

# together: its status, with what it said in $work/out
together() {
    rm -f "$work/ran"
    "${CHOKEPOINT_SOURCE:?}/tests/tools/failed_beside.sh" "$work/build" "$work/cache/counts" -j3 >"$work/out" 2>&1
}
counted() { sed '1,/^== failed beside others and passed alone/d' "$work/out"; }

for times in 1 2; do
    together || fail "the run failed the $times. time"
    [ "$(counted)" = "fails_first $times" ] || fail "not counted $times times"
done
together && fail "the third time was let pass"
[ "$(cat "$work/cache/counts")" = "fails_first 3" ] || fail "counts: $(cat "$work/cache/counts")"

rm "$work/cache/counts"
touch "$work/broken"
together && fail "a test that fails alone was let pass"
[ "$(counted)" = "fails_first 1" ] || fail "a test that fails alone is counted as one that passes there"
rm "$work/broken"
touch "$work/ran"
"$CHOKEPOINT_SOURCE/tests/tools/failed_beside.sh" "$work/build" "$work/cache/counts" -j3 >"$work/out" 2>&1 || fail "no test failed, but the run did"
[ -z "$(counted)" ] || fail "no test failed, and one was counted"
"$CHOKEPOINT_SOURCE/tests/tools/failed_beside.sh" "$work/build" "$work/cache/counts" -R nothing >"$work/out" 2>&1 && fail "no test ran, and that is well"
exit 0
