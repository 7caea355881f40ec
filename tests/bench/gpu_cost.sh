#!/bin/bash
# SPDX-License-Identifier: MIT
# CPU time of the agent with GPUs from its sixth second on (all is asked once at first), by its own `self` table: none, one recorded card and eight, at 1 and 10 Hz. The driver
# is played (tests/gpu/nvml_player.c), and spins in each call for as long as a real one did. tests/gpu/check.sh measures the
# same where there is a card.
#     tests/bench/gpu_cost.sh BIN_DIR PLAYER_DIR [SECONDS]
set -eu
bin=${1:?say where the programs are: gpu_cost.sh BIN_DIR PLAYER_DIR}
player=${2:?say where the played libnvidia-ml.so.1 is: BUILD/tests/nvml-player}
seconds=${3:-20}
plays=$(cd "$(dirname "$0")/../gpu/plays" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# CPU time of each call in us, as `chokepoint-agent --doctor` measured it on one H200.
slow="spin nvmlDeviceGetUtilizationRates 234
spin nvmlDeviceGetMemoryInfo_v2 51
spin nvmlDeviceGetClockInfo 28
spin nvmlDeviceGetPowerUsage 3
spin nvmlDeviceGetTemperature 49
spin nvmlDeviceGetCurrentClocksEventReasons 43
spin nvmlDeviceGetTotalEnergyConsumption 4021
spin nvmlDeviceGetFieldValues 2578
spin nvmlDeviceGetComputeRunningProcesses_v3 32
spin nvmlDeviceGetProcessUtilization 2984
spin nvmlGpmSampleGet 276
spin nvmlGpmMetricsGet 2375"

agent() { # WHAT HZ PLAY
    local library=''
    rm -rf "$work/spool"
    if [ -n "$3" ]; then
        library=$player
        { cat "$plays/$3"; echo "$slow"; } >"$work/play"
    fi
    LD_LIBRARY_PATH=$library CHOKEPOINT_NVML_PLAY=$work/play "$bin/chokepoint-agent" --no-push --spool "$work/spool" \
        --rate "$2" --process-rate 1 --samples $((seconds * $2 + 1)) 2>/dev/null
    for segment in "$work"/spool/*.spool; do "$bin/frame-dump" "$segment"; done >"$work/dump"
    awk -v what="$1" -v hz="$2" '
        function value(name, i) {
            for (i = 3; i <= NF; i++)
                if (index($i, name "=") == 1) return substr($i, length(name) + 2) + 0
        }
        $1 == "frame" { at = value("mono_ns") }
        $1 == "row" && $3 == "self" {
            name = substr($4, 2, length($4) - 2)
            if (!begun) begun = at
            if (at - begun < 5e9) next
            if (!(name in first)) { first[name] = value("cpu_ns"); since[name] = at }
            last[name] = value("cpu_ns"); till[name] = at
        }
        function cost(name) {
            return name in first && till[name] > since[name] ? 1000 * (last[name] - first[name]) / (till[name] - since[name]) : 0
        }
        END {
            printf "%-14s %2s Hz: agent %6.2f ms/s; tables gpu %.2f, gpu_process %.2f, gpu_device %.2f ms/s\n", what, hz,
                   cost("agent"), cost("gpu"), cost("gpu_process"), cost("gpu_device")
        }' "$work/dump"
}

for hz in 1 10; do
    agent "no GPU" "$hz" ''
    agent "one H200" "$hz" h200.play
    agent "eight H100" "$hz" eight.play
done
