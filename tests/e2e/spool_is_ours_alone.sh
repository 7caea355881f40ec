#!/bin/bash
# SPDX-License-Identifier: MIT
# Damage to an agent's spool. Its directory is removed while the collector is stopped: no sample is lost. Its files are
# removed and the sampling process is killed: another stream begins, without gaps. A directory that is a link or
# another user's is refused, and what a killed agent left is delivered.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1

mkdir tmp
mkfifo go
TMPDIR=$work/tmp "$chokepoint" run $slow_start --no-report --db "$db" sh -c ': >started; read x <go; exit 5' >out 2>err &
pid=$!
until_true test -e started
spool=$(echo "$work"/tmp/chokepoint-*)
frames() { sql 'SELECT count(*) FROM frame'; }
grew() { [ "$(frames)" -gt $((n + 10)) ]; }
n=0
until_true grew
[ "$(stat -c %a "$spool" "$spool"/*.spool | tr '\n' ' ')" = '700 600 ' ] || fail "modes: $(stat -c '%a %n' "$spool" "$spool"/*)"

collector=$(pgrep -P $pid -f 'chokepoint collector') || fail "no collector"
kill -STOP "$collector"
spooled() { cat "$spool"/*.spool 2>/dev/null | wc -c; }
size=$(spooled)
spooled_on() { [ "$(spooled)" -gt $((size + 4000)) ]; }
until_true spooled_on
rm -rf "$spool"
made_anew() { [ "$(spooled)" -gt $((size + 8000)) ]; }
until_true made_anew
kill -CONT "$collector"
n=$(frames)
until_true grew
[ "$(sql 'SELECT count(DISTINCT stream), min(seq), max(seq) = count(*) FROM frame')" = '1|1|1' ] ||
    fail "not 1..N once: $(sql 'SELECT count(DISTINCT stream), min(seq), max(seq), count(*) FROM frame')"

agent=$(pgrep -P $pid -f chokepoint-agent) || fail "no agent"
sampler() { cat "/proc/$agent/task/$agent/children"; }
kill -STOP "$agent"
kill -9 $(sampler)
rm -f "$spool"/*.spool
kill -CONT "$agent"
n=$(frames)
until_true grew
[ "$(sql 'SELECT count(*), sum(most != n) FROM (SELECT max(seq) AS most, count(*) AS n FROM frame GROUP BY stream)')" = '2|0' ] ||
    fail "not two streams without gaps: $(sql 'SELECT stream, min(seq), max(seq), count(*) FROM frame GROUP BY stream')"

# The whole agent is killed with undelivered samples: the next one delivers them.
kill -STOP "$collector"
size=$(spooled)
until_true spooled_on
kill -STOP "$agent"
kill -9 $(sampler) "$agent"
other() { next=$(pgrep -P $pid -f chokepoint-agent) && [ "$next" != "$agent" ]; }
until_true other
kill -CONT "$collector"
n=$(frames)
until_true grew
echo >go
wait $pid
[ $? -eq 5 ] || fail "exit status"
[ "$(sql 'SELECT count(*), sum(most != n) FROM (SELECT max(seq) AS most, count(*) AS n FROM frame GROUP BY stream)')" = '2|0' ] ||
    fail "samples of a killed agent: $(sql 'SELECT stream, min(seq), max(seq), count(*) FROM frame GROUP BY stream')"
[ -z "$(ls tmp)" ] || fail "left: $(ls -R tmp)"

# Not ours.
refused() { # DIRECTORY, REASON
    timeout 100 "$CHOKEPOINT_BIN/chokepoint-agent" --no-push --samples 3 --host vm7 --spool "$1" >out 2>err
    [ $? -eq 1 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q "vm7: $1: $2" err || fail "$1: $(cat err)"
}
mkdir -m 700 theirs
ln -s theirs link
refused link 'is a symbolic link'
refused link/ 'is a symbolic link'
mkdir -m 777 open
refused open 'is not ours alone'
[ "$(id -u)" -ne 0 ] || { chown 65534 theirs && refused theirs 'is not ours alone'; }
[ -z "$(find theirs open -mindepth 1)" ] || fail "something was written there: $(find theirs open)"
exit 0

# If the directory is missing, or others may write to it, the spool is made in /tmp.
mkdir open
chmod 777 open
for place in "$work/open" "$work/missing"; do
    TMPDIR=$place timeout 10 "$CHOKEPOINT_BIN/chokepoint-agent" --no-push --samples 1 >out 2>err || [ $? -eq 3 ] || fail "with TMPDIR=$place: $(cat err)"
    spool=$(sed -n 's/^chokepoint-agent: spool //p' err)
    [[ $spool = /tmp/chokepoint-spool-* ]] || fail "the spool lies in $spool"
    rm -r "$spool"
    [ -z "$(ls open)" ] || fail "something is left: $(ls open)"
done
