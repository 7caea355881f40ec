#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# failed_beside.sh BUILD COUNTS CTEST-OPTIONS...: runs tests beside each other, and those that fail once more, alone. A test
# that passes alone is counted in the file COUNTS, "NAME TIMES" a line, which outlives the build; the third time it has
# failed. Its line is removed by hand when the test is mended.
set -euo pipefail
build=$1 counts=$2
shift 2

failed() { sed 's/^[0-9]*://' "$build/Testing/Temporary/LastTestsFailed.log" 2>/dev/null | sort; }
rm -f "$build/Testing/Temporary/LastTestsFailed.log"
status=0
ctest --test-dir "$build" --output-on-failure --no-tests=error "$@" || status=$?
[ $status != 0 ] || exit 0
beside=$(failed)
[ -n "$beside" ] || exit $status # no test ran

printf '\n== tests that failed beside others, alone\n'
# --rerun-failed without -j: one after another
status=0
ctest --test-dir "$build" --output-on-failure --rerun-failed || status=$?
alone=$([ $status = 0 ] || failed)
mkdir -p "$(dirname "$counts")"
touch "$counts"
printf '\n== failed beside others and passed alone (%s)\n' "$counts"
for name in $(comm -23 <(echo "$beside") <(echo "$alone")); do
    times=$(($(sed -n "s/^$name //p" "$counts") + 1))
    sed -i "/^$name /d" "$counts"
    echo "$name $times" | tee -a "$counts"
    [ $times -lt 3 ] || status=1
done
exit $status
