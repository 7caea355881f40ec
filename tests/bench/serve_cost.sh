#!/bin/bash
# SPDX-License-Identifier: MIT
# CPU time of the live view in a browser (`run --live`, with one reader), beside that of the recording itself: the server
# and the process that reads the run for it, on a testbed of HOSTS emulated hosts for SECONDS. Goals: 5 % of one core where
# 20 hosts are shown, and .3 % of a core for each host.
#     tests/bench/serve_cost.sh BIN_DIR [HOSTS] [SECONDS]       needs root
set -u
bin=${1:?say where the programs are: serve_cost.sh BIN_DIR [HOSTS] [SECONDS]}
hosts=${2:-20} seconds=${3:-30}
export CHOKEPOINT_BIN=$bin CHOKEPOINT_SOURCE=${CHOKEPOINT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
. "$CHOKEPOINT_SOURCE/tests/e2e/run_lib.sh"
need_testbed "$hosts"
hostfile=$(inside printenv CHOKEPOINT_HOSTFILE)
# ids of the processes whose command line begins like this.
processes() { pgrep -f "^[^ ]*$1"; }
# CPU time so far, in ticks, of the processes with these ids and of the children that they have
# waited for.
ticks() {
    local pid sum=0
    for pid; do
        read -r -a fields < <(sed 's/^.*) //' "/proc/$pid/stat")
        sum=$((sum + fields[11] + fields[12] + fields[13] + fields[14]))
    done
    echo $sum
}
inside "$chokepoint" run $slow_start --live --no-report --db "$db" --hosts "$hostfile" sleep $((seconds + 60)) >out 2>err &
until_true said 'http://'
url=$(grep -o 'http://[^ ]*' err)
inside curl -sSN "$url/events" >events &
pictures() { [ "$(grep -c '^event: snapshot' events)" -ge 5 ]; }
until_true pictures
server=$(processes "chokepoint serve [0-9]* --db $db")
feed=$(processes "chokepoint top [0-9]* --db $db")
collector=$(processes "chokepoint collector --db $db")
size=$(grep '^data: {' events | tail -1 | wc -c)
before=($(ticks $server) $(ticks $feed) $(ticks $collector)) began=${EPOCHREALTIME/./}
seen=$(grep -c '^event: snapshot' events)
sleep "$seconds" # the measured window
after=($(ticks $server) $(ticks $feed) $(ticks $collector)) ended=${EPOCHREALTIME/./}
awk -v hosts="$hosts" -v us=$((ended - began)) -v hz="$(getconf CLK_TCK)" -v size="$size" -v n=$(($(grep -c '^event: snapshot' events) - seen)) \
    -v server=$((after[0] - before[0])) -v feed=$((after[1] - before[1])) -v collector=$((after[2] - before[2])) 'BEGIN {
    all = us / 1e6 * hz / 100
    printf "%d hosts, %.0f s, %d pictures of %.0f kB: server %.2f %% of a core, its reader of the run %.2f %%, together %.2f %% (%.2f %% a host); collector %.2f %%\n",
        hosts, us / 1e6, n, size / 1000, server / all, feed / all, (server + feed) / all, (server + feed) / all / hosts, collector / all }'
kill %1 2>/dev/null
exit 0
