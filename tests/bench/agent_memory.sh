#!/bin/bash
# SPDX-License-Identifier: MIT
# Resident memory of an agent that samples and pushes over TLS to a collector that answers, both of its processes, without and
# with wait clocks (root), beside sadc's, in the same run; a second agent without clocks is the A/A row. PSS counts pages that
# several processes share by their share. With --maps the largest mappings of the samplers are told, too.
#     tests/bench/agent_memory.sh BIN_DIR [SECONDS] [--maps]
set -eu
bin=$(cd "${1:?say where the programs are: agent_memory.sh BIN_DIR [SECONDS] [--maps]}" && pwd)
seconds=${2:-10}
sadc=$(command -v sadc || echo /usr/lib/sysstat/sadc)
work=$(mktemp -d)
started=()
finish() {
    [ -z "${stop:-}" ] || exec {stop}>&- # the collector ends with its standard input
    for id in "${started[@]}"; do
        ! kill -0 "$id" 2>/dev/null || kill "$id"
    done
    wait
    rm -rf "$work"
}
trap finish EXIT
sum() { awk -v key="$1:" '$1 == key { kb += $2 } END { print kb * 1024 / 1e6 }' "${@:2}"; }
sampler_of() { tr -d ' ' <"/proc/$1/task/$1/children"; }
mkfifo "$work/in"
touch "$work/told"
export CHOKEPOINT_TOKEN=0123456789abcdef0123456789abcdef
"$bin/chokepoint" collector --db "$work/db" --run "$("$bin/new-run" "$work/db")" --listen 127.0.0.1:0 <"$work/in" >"$work/told" 2>/dev/null &
collector=$!
started+=("$collector")
exec {stop}>"$work/in"
until grep -q ^pin "$work/told" && grep -q ^listening "$work/told"; do
    kill -0 "$collector" 2>/dev/null || { echo "FAILED: the collector ended" >&2; exit 1; }
    sleep .05
done
address=$(awk '$1 == "listening" { print $2 }' "$work/told") pin=$(awk '$1 == "pin" { print $2 }' "$work/told")
names=(plain again clocks)
for name in "${names[@]}"; do
    options=()
    [ "$name" != clocks ] || options=(--wait-clocks)
    CHOKEPOINT_TOKEN=$("$bin/chokepoint" collector --key-of "$name") CHOKEPOINT_MARKS="$work/marks-$name" CHOKEPOINT_RUN=memory CHOKEPOINT_AGENT=memory \
        "$bin/chokepoint-agent" --collector "https://$address" --pin "$pin" --host "$name" --rate 10 --drain 0 --spool "$work/spool-$name" "${options[@]}" 2>"$work/$name" &
    started+=($!)
    declare "agent_$name=$!"
done
if [ -x "$sadc" ]; then
    "$sadc" -S ALL 1 "$work/sa" &
    sadc_id=$!
    started+=("$sadc_id")
fi
sleep "$seconds"
show() { # LABEL SUPERVISOR
    local child
    child=$(sampler_of "$2")
    printf '%-28s supervisor %4.1f MB + sampler %4.1f MB = %4.1f MB resident; PSS %4.1f MB\n' "$1:" \
        "$(sum VmRSS "/proc/$2/status")" "$(sum VmRSS "/proc/$child/status")" "$(sum VmRSS "/proc/$2/status" "/proc/$child/status")" \
        "$(sum Pss "/proc/$2/smaps_rollup" "/proc/$child/smaps_rollup")"
    [ "${maps:-}" ] || return 0
    awk '/^[0-9a-f]+-[0-9a-f]+ / { name = $6 ? $6 : "anonymous"; size = $1 } /^Rss:/ { rss[name] += $2 } /^Private_(Clean|Dirty):/ { own[name] += $2 }
         END { for (n in rss) if (rss[n] >= 100) printf "    %7d kB, %7d kB its own  %s\n", rss[n], own[n], n }' "/proc/$child/smaps" | sort -rn
}
[ "${3:-}" != --maps ] || maps=1
show "agent, pushes over TLS" "$agent_plain"
show "A/A: another one" "$agent_again"
if grep -q bpf-map "/proc/$(sampler_of "$agent_clocks")/maps"; then
    show "with wait clocks" "$agent_clocks"
else
    echo "wait clocks do not run here: they need root and a kernel that describes itself"
fi
echo "wanted: 8 MB resident, with wait clocks 12 MB"
[ -z "${sadc_id:-}" ] || printf '%-28s %.1f MB resident\n' "sadc:" "$(sum VmRSS "/proc/$sadc_id/status")"
