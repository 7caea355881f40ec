#!/bin/bash
# SPDX-License-Identifier: MIT
# Updates/s of async dense training limited by the links of a separate server, with and without --prefetch, beside a bare TCP
# transfer over the same links just before, in turns; medians. The yardstick is payload: the rate of the slower direction alone,
# over the bytes of an update. Beside it stand the formula (the shaped rate minus the headers of full packets, 66 bytes of
# Ethernet, IP and TCP for MTU - 52 of payload), and the rate of the bare transfer when both directions are full, as both are
# here, and acknowledgements share them. The whole run counts, including its start, when the first weights come and no gradient
# goes back: ITERATIONS says how much that weighs. Without --prefetch a worker that pushes pulls nothing meanwhile, so each
# direction sometimes waits for the other; that figure is shown and not judged. Usage: sgd_async_rate.sh [BIN], the binaries of a
# release build; HOSTS, RATE_MBIT, MTU, TURNS, ITERATIONS, MODES in the environment (MODES: "prefetch plain"; one of them alone
# takes half the time). Exits 1 with --prefetch below 90 %.
set -u
bin=${1:-${CHOKEPOINT_BIN:?usage: sgd_async_rate.sh BIN}}
hosts=${HOSTS:-5} rate_mbit=${RATE_MBIT:-400} turns=${TURNS:-3} features=${FEATURES:-4000000} iterations=${ITERATIONS:-40}
modes=${MODES:-prefetch plain} mtu=${MTU:-9000} bytes=$((features * 4))
# shellcheck source-path=SCRIPTDIR source=sgd_lib.sh
. "$(dirname "$0")/sgd_lib.sh"
. "$(dirname "$0")/median.sh"
mpicc -O2 -D_GNU_SOURCE -o "$work/raw_link" "$here/raw_link.c" || fail "mpicc"
"$bin/chokepoint-sgd" generate --features "$features" --examples 20000 --files "$hosts" --out "$work/data" >/dev/null ||
    fail "generate"
testbed up "$hosts" --rate "${rate_mbit}mbit" --mtu "$mtu" || { echo "skipped: this machine cannot have a testbed"; exit 77; }
raw() { sed -n "s/^$1_bytes_per_s //p" "$work/raw"; }
# turn MODE: updates/s, mean and highest staleness, the link's capacity one way and both ways in updates/s
turn() {
    local words=()
    [ "$1" = prefetch ] && words=(--prefetch)
    over "$work/raw_link" eth0 $bytes >"$work/raw" || fail "raw transfer"
    over "$bin/chokepoint-sgd" --mode async --transfer dense --server apart --features "$features" --data "$work/data" \
        --preload --batch 100 --iterations "$iterations" --json "$work/summary" --quiet ${words[@]+"${words[@]}"} \
        >"$work/out" || fail "training"
    awk -v updates="$(json "$work/summary" updates)" -v s="$(json "$work/summary" duration_s)" -v bytes=$bytes \
        -v mean="$(json "$work/summary" staleness)" -v most="$(json "$work/summary" most_stale)" \
        -v out="$(raw out)" -v into="$(raw in)" -v both="$(raw both)" \
        'BEGIN { print updates / s, mean, most, (out < into ? out : into) / bytes, both / bytes }' >>"$work/$1"
}
for ((i = 0; i < turns; i++)); do
    for mode in $modes; do turn "$mode"; done
done
printf 'async dense, %d workers, %.1f MB an update each way, links of %d Mbit/s, MTU %d, %s; medians of %d (all runs):\n' \
    $((hosts - 1)) $((bytes / 100000))e-1 "$rate_mbit" "$mtu" "$(cat /proc/sys/net/ipv4/tcp_congestion_control)" "$turns"
bad=0
for mode in $modes; do
    awk -v mode="$mode" -v formula="$(awk "BEGIN { print $rate_mbit * 1e6 / 8 * ($mtu - 52) / ($mtu + 14) / $bytes }")" "$median_of"'
        { n++; rate[n] = $1; stale[n] = $2; most = $3 > most ? $3 : most; one[n] = $4; two[n] = $5
          share[n] = 100 * $1 / $4; of_two[n] = 100 * $1 / $5; all = all sprintf("%s%.1f", n > 1 ? ", " : "", share[n]) }
        END {
            goal = mode == "prefetch" ? 90 : 0
            m = median(share, n)
            printf "  %-8s %.2f updates/s; bare transfer one way %.2f: %.1f %% (%s)%s\n", mode, median(rate, n), median(one, n), m,
                all, goal ? ", at least 90" : ""
            printf "           both ways at once %.2f: %.1f %%; by formula %.2f: %.1f %%; staleness %.2f, %d at most\n",
                median(two, n), median(of_two, n), formula, 100 * median(rate, n) / formula, median(stale, n), most
            exit m < goal
        }' "$work/$mode" || bad=1
done
exit $bad
