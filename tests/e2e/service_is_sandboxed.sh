#!/bin/bash
# SPDX-License-Identifier: MIT
# The unit of the agent that always runs: systemd takes it, and rates what it may do at 3 of 10 at most. Its command line, started by hand
# as another user with the unit's capabilities alone, reads the io of a process of root, and its group may cut what it kept.
set -u
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
unit=$CHOKEPOINT_SOURCE/packaging/systemd/chokepoint-agent.service
agent=$CHOKEPOINT_BIN/chokepoint-agent
value() { sed -n "s/^$1=//p" "$unit"; }
if command -v systemd-analyze >/dev/null; then
    sed "s#/usr/bin/chokepoint-agent#$agent#; /^Documentation=/d" "$unit" >chokepoint-agent.service
    systemd-analyze verify ./chokepoint-agent.service >said 2>&1 && [ ! -s said ] || fail "verify: $(cat said)"
    systemd-analyze security --offline=true --threshold=30 ./chokepoint-agent.service >said 2>&1 || fail "security: $(grep -v '✓' said)"
    mkdir -p chokepoint-agent.service.d
    sed "s#/usr/bin/chokepoint-agent#$agent#" "${unit%/*}/wait-clocks.conf" >chokepoint-agent.service.d/wait-clocks.conf
    systemd-analyze verify ./chokepoint-agent.service >said 2>&1 && [ ! -s said ] || fail "verify with wait clocks: $(cat said)"
fi
[ "$(value AmbientCapabilities)" = "$(value CapabilityBoundingSet)" ] || fail "ambient and bounding capabilities differ"
[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || { echo "needs root and setpriv for the rest"; exit 77; }

chmod 755 "$work"
ring=$work/state/ring
install -d -o nobody -g nogroup -m 750 "$work/state"
caps=$(value AmbientCapabilities | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
words=$(value ExecStart | sed "s#/usr/bin/chokepoint-agent#$agent#; s#/var/lib/chokepoint-agent/ring#$ring#")
# shellcheck disable=SC2086 # the words of the unit
(umask "$(value UMask)" && exec setpriv --reuid nobody --regid nogroup --clear-groups --no-new-privs --inh-caps=$caps \
    --ambient-caps=$caps --bounding-set=-all,$caps $words) 2>agent &
started=$!
while :; do dd if=/dev/zero of=filled bs=64k count=100 oflag=dsync status=none; done &
fills=$!
has_tail() { ls "$ring"/*.spool >/dev/null 2>&1; }
until_true has_tail
sleep 6
[ "$(stat -c %a "$ring")" = 750 ] || fail "the ring has mode $(stat -c %a "$ring")"
setpriv --reuid 65533 --regid nogroup --clear-groups "$chokepoint" cut --ring "$ring" --last 5s --pid $fills --db "$work/state/no.db" >out 2>err &&
    fail "a database that may not be written"
mkdir -m 777 "$work/theirs"
(cd "$work/theirs" && setpriv --reuid 65533 --regid nogroup --clear-groups "$chokepoint" cut $slow_start --ring "$ring" --last 5s \
    --pid $fills --db runs.db --no-report) >out 2>err || fail "the group cannot cut"
db=$work/theirs/runs.db
[ "$(sql "SELECT sum(write_bytes_per_s) > 0 FROM process_rate WHERE job = 1")" = 1 ] || fail "the io of a process of root is not there"
setpriv --reuid 65533 --regid 65533 --clear-groups "$chokepoint" cut --ring "$ring" --last 5s --db runs2.db >out 2>err && fail "others read the ring"
kill $started && wait $started || fail "the agent ends with status $?"
