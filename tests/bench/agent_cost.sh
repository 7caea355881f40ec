#!/bin/bash
# SPDX-License-Identifier: MIT
# CPU time per sample of the real agent, everything included (waiting, probes, encoding, spool), as
# its own `self` table tells it, beside sadc's CPU time per record in the same run; and how late its
# samples are.
#     tests/bench/agent_cost.sh BIN_DIR [SAMPLES]
set -eu
bin=${1:?say where the programs are: agent_cost.sh BIN_DIR [SAMPLES]}
samples=${2:-100}
sadc=$(command -v sadc || echo /usr/lib/sysstat/sadc)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
TIMEFORMAT='%3U %3S'

agent() { # HZ SAMPLES
    "$bin/chokepoint-agent" --no-push --spool "$work/spool$1" --rate "$1" --samples "$2" \
        --spool-limit 64m 2>/dev/null
    for segment in "$work/spool$1"/*.spool; do "$bin/frame-dump" "$segment"; done >"$work/dump"
    sed -n 's/^frame .*late_ns=\([0-9]*\).*/\1/p' "$work/dump" | sort -n >"$work/late"
    awk -v hz="$1" -v late="$work/late" '
        function value(name, i) {
            for (i = 3; i <= NF; i++)
                if (index($i, name "=") == 1) return substr($i, length(name) + 2) + 0
        }
        $1 == "frame" { frames++; missed = value("missed") }
        $1 == "row" && $3 == "self" {
            name = substr($4, 2, length($4) - 2)
            cpu = value("cpu_ns"); n = value("samples")
            if (!(name in first)) { first[name] = cpu; first_n[name] = n; order[++names] = name }
            last[name] = cpu; last_n[name] = n
        }
        END {
            printf "agent at %s Hz: %d samples, %d missed\n", hz, frames, missed
            for (i = 1; i <= names; i++) {
                name = order[i]
                if (last_n[name] > first_n[name])
                    printf "  %-10s %8.1f us a sample\n", name,
                           (last[name] - first[name]) / 1000 / (last_n[name] - first_n[name])
            }
            if ("process" in first) {
                all = last["agent"] - first["agent"] - (last["process"] - first["process"])
                printf "  %-10s %8.1f us a sample, all but the process table\n", "agent",
                       all / 1000 / (last_n["agent"] - first_n["agent"])
            }
            while ((getline line < late) > 0) lates[++k] = line / 1000
            printf "  late: median %.0f us, 99 %% within %.0f us, worst %.0f us\n",
                   lates[int((k + 1) / 2)], lates[int(k * 0.99 + 0.5)], lates[k]
        }' "$work/dump"
}

agent 10 "$samples"
agent 100 "$((samples * 3))"
[ -x "$sadc" ] || exit 0
one=$({ time "$sadc" -S ALL 1 1 "$work/sa1" >/dev/null; } 2>&1)
many=$({ time "$sadc" -S ALL 1 21 "$work/sa" >/dev/null; } 2>&1)
awk -v one="$one" -v many="$many" 'BEGIN {
    split(one, a); split(many, b)
    printf "sadc -S ALL: %.0f us a record\n", ((b[1] + b[2]) - (a[1] + a[2])) / 20 * 1e6 }'
