#!/bin/bash
# SPDX-License-Identifier: MIT
# start_of_hosts.sh [HOSTS [ROUNDS]]: the time before the command of `run --hosts`, with agents that are installed and with
# agents that are sent, beside what its launcher takes to reach all hosts at once and do nothing. Hosts are emulated, and
# share this machine's cores. Medians of rounds that take turns, in ms.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/bench/median.sh" || exit 1
hosts=${1:-5}
rounds=${2:-5}
need_testbed "$hosts"
names=$(seq -s, -f vm%g 1 "$hosts")
for way in installed sent; do
    cat >rsh.$way <<END
#!/bin/bash
while [[ \$1 == -* ]]; do [[ \$1 != -o ]] || shift; shift; done
host=\$1
shift
exec "$chokepoint" testbed --name "$name" exec "\$host" -- unshare -m sh -c \
    '[ $way = installed ] || mount -t tmpfs none "\$0"; exec sh -c "\$1"' "$CHOKEPOINT_BIN" "\$*"
END
    chmod +x rsh.$way
done
median() { awk "$median_of"'{ v[NR] = $1 } END { print median(v, NR) }' "$1.ms"; }
ms_since() { echo $(((${2:-$(date +%s%N)} - $1) / 1000000)); }
alone() {
    local begun i
    begun=$(date +%s%N)
    for ((i = 2; i <= hosts; i++)); do inside "$work/rsh.installed" vm$i true & done
    wait
    ms_since "$begun"
}
# The command alone says when it starts, so that the end of the run does not count.
before_command() { # WAY
    local begun
    begun=$(date +%s%N)
    inside env CHOKEPOINT_RSH="$work/rsh.$1" "$chokepoint" run --no-report --db "$db" --hosts "$names" \
        sh -c 'date +%s%N >began' >out 2>err || fail "exit status $?"
    ms_since "$begun" "$(cat began)"
}
for ((round = 0; round < rounds; round++)); do
    alone >>alone.ms
    for way in installed sent; do before_command $way >>$way.ms; done
done
echo "$hosts hosts, $rounds rounds: launcher alone $(median alone) ms, installed $(median installed) ms, sent $(median sent) ms"
