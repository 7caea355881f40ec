#!/bin/bash
# SPDX-License-Identifier: MIT
# `chokepoint calibrate` without MPI, with wrong words, with a program that lies, and with one that fails: one line
# names the fault, only plausible figures are kept, and figures from before a failure are not lost.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1

calibrate() {
    "$work/bin/chokepoint" calibrate "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
}
refuses() {
    calibrate "$@"
    [ $status -eq 2 ] && [ "$(wc -l <"$work/err")" -eq 1 ] || fail "calibrate $*: exit status $status"
}
rows() { sqlite3 "$db" "SELECT count(*) FROM ceiling"; }
mkdir bin data
cp "$chokepoint" "$CHOKEPOINT_BIN/chokepoint-calibrate-alone" bin/

refuses --no-such-option
refuses --only net,nothing
refuses --format xml
refuses --disk "$work/nowhere"
refuses --hosts a --hostfile b
refuses --hosts "$work/nowhere"
refuses --hosts -x
refuses word
echo "not a database" >text
refuses --db text
refuses --hosts no-such-host.invalid # no chokepoint-calibrate beside it
[ ! -e chokepoint.db ] || fail "refused words made a database"

# This machine alone.
calibrate --db "$db" --quick --only cpu,disk --disk data --format json
[ $status -eq 0 ] || fail "alone: exit status $status"
host=$(uname -n)
for metric in cpu_core disk_write disk_read; do
    grep -q "\"metric\": \"$metric\"" out || grep -q O_DIRECT err || fail "no $metric"
    value=$(sql "SELECT value FROM ceiling WHERE host = '$host' AND metric = '$metric'")
    [ -n "$value" ] || grep -q O_DIRECT err || fail "$metric of $host is not kept"
done
[ -z "$(ls -A data)" ] || fail "the disk's file is still there: $(ls -A data)"
said 'left: cores' || fail "no progress"

# A program that lies, and then fails.
before=$(rows)
cat >bin/chokepoint-calibrate-alone <<LIES
#!/bin/sh
echo '{"host": "$host", "metric": "memory_copy", "unit": "MB/s", "value": 5000, "low": 4000, "high": 6000, "how": "told"}'
echo '{"host": "elsewhere", "metric": "memory_copy", "unit": "MB/s", "value": 5000, "low": 4000, "high": 6000, "how": "told"}'
echo '{"host": "$host", "metric": "cpu_core", "unit": "Msteps/s", "value": -5, "low": -6, "high": 6, "how": "told"}'
head -c 100000 /dev/zero | tr '\0' x
echo
echo '------' >&2
echo 'the reason of it' >&2
exit 7
LIES
calibrate --db "$db" --only memory
[ $status -eq 1 ] || fail "a program that fails: exit status $status"
said 'exit status 7' && said 'the reason of it' || fail "its reason is not told"
said '3 lines of output not used' || fail "lies are not counted"
[ $(($(rows) - before)) -eq 1 ] || fail "$(rows) figures are kept, of $before before"
grep -q 5000 out || fail "what was measured is not shown"

# One that prints nothing.
printf '#!/bin/sh\nexit 0\n' >bin/chokepoint-calibrate-alone
calibrate --db "$db"
[ $status -eq 1 ] && said 'nothing was measured' || fail "nothing measured: exit status $status"
