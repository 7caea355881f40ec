#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each GPU has its place wherever a run is shown: `top` on screens of two sizes, the report as text, JSON and page, exports, a
# comparison with a run without any, which has none of these. Unknown figures are dashes, and no zeros.
# shellcheck source=tests/e2e/run_lib.sh
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
# shellcheck source=tests/e2e/top_lib.sh
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/top_lib.sh" || exit 1
player=$(cd "$CHOKEPOINT_BIN/../tests/nvml-player" && pwd) || fail "no player"
plays=$CHOKEPOINT_SOURCE/tests/gpu/plays
host=$(hostname)
with_gpu() { # PLAY COMMAND...
    LD_LIBRARY_PATH=$player CHOKEPOINT_NVML_PLAY=$plays/$1 "${@:2}"
}
played() { screen_env="LD_LIBRARY_PATH=$player CHOKEPOINT_NVML_PLAY=$plays/$1"; }

# ---- live, by the view's own agents
export TMPDIR=$work
played eight.play
open_screen 80 24
until_true shows "1.$host +[0-9]"
until_true shows "GPU \([2-9] of 8\) +SM% BUSY% +60 s +MEMORY/of +WATTS/of +CAPPED BY"
until_true shows "gpu0 H100 80GB[ H]+(8[5-9]|9[0-9]|100) +(9[0-9]|100) +[▁▂▃▄▅▆▇█]+ +60.0G/85.5G +650/700 +power"
press Enter
until_true shows "^ gpu0 H100"
press q
press q
until_true shows "^status 0"
played virtual.play
open_screen 120 40
until_true shows "gpu0 GRID T4[^ ]* +- +[0-9]+ .*G/8.6G +- +-$"
press C-c
until_true shows "^status 0"
screen_env=
open_screen 80 24
until_true shows "1.$host +[0-9]"
shows "SM%" && fail "a GPU where there is none"
press C-c
until_true shows "^status 0"
export TMPDIR=/tmp

# ---- a run with GPUs, and one without
with_gpu eight.play "$chokepoint" run $slow_start -q --no-report --db "$db" -n eight -- sleep 4 >out 2>err || fail "run: $(cat err)"
run --no-report -n none -- sleep 2
[ $status -eq 0 ] || fail "run"
open_screen 120 40 --db "$db" 1
until_true shows "gpu7 H100 80GB HBM3 .*60.0G/85.5G +650/700"
press C-c
until_true shows "^status 0"
"$chokepoint" top --db "$db" -b -n 1 1 --format json >live || fail "top --format json"
jq -e '.hosts[0].gpus | length == 8 and .[3].cap == "heat" and .[0].watts_limit == 700 and .[0].xid == null' live >/dev/null || fail "live: $(cat live)"

report() { "$chokepoint" report "$1" --db "$db" --format "$2" >report 2>err || fail "report $*"; }
report 1 json
jq -e '.gpus | length == 8 and .[3].heat_cap_pct > 90 and .[0].power_cap_pct > 90 and .[0].model == "NVIDIA H100 80GB HBM3"
    and ([.[] | .sm_pct > 50 and .watts == 650 and .memory_gb > 85 and .joules > 1000] | all)' report >/dev/null || fail "json: $(jq .gpus report)"
jq -e '[.resources[] | select(.metric == "gpu_watts" and .phase == "all")] | length == 1 and .[0].mean == 5200' report >/dev/null ||
    fail "the watts of eight: $(jq '.resources[] | select(.metric == "gpu_watts")' report)"
report 1 text
grep -q '^GPUs: means of the whole run' report || fail "text"
grep -q 'avg_gpu_power (W) *5200' report || fail "averages"
report 1 html
for part in '>gpu7<' 'How full each GPU was' 'PCIe of GPUs' '"name":"gpu-power"'; do
    grep -q -- "$part" report || fail "the page has no $part"
done
report 2 json
jq -e '.gpus == [] and ([.resources[] | select(.metric | startswith("gpu"))] == [])' report >/dev/null || fail "a GPU in a run without"
for format in text html; do
    report 2 $format
    grep -v 'command\|run-data' report | grep -qi 'gpu0\|avg_gpu\|GPUs:' && fail "a GPU in a run without: $(grep -i gpu report | head -3)"
done
"$chokepoint" compare 2 1 --db "$db" --format json >compared 2>err || fail "compare"
jq -e '[.. | strings | select(. == "power of GPUs")] | length > 0' compared >/dev/null || fail "no power beside a run without"
"$chokepoint" compare 2 2 --db "$db" --format json >compared 2>err
grep -q 'GPU' compared && fail "GPUs in a comparison without any"

# ---- exports
tools=$CHOKEPOINT_SOURCE/tests/tools
for format in openmetrics perfetto; do
    "$chokepoint" export 1 --db "$db" --format $format >exported.$format 2>err || fail "export $format: $(cat err)"
done
python3 "$tools/check_openmetrics.py" exported.openmetrics >out || fail "openmetrics: $(tail -3 out)"
python3 "$tools/check_trace.py" exported.perfetto >out || fail "perfetto: $(tail -3 out)"
for family in sm_seconds watts joules sm_clock_hertz celsius pcie_receive_bytes memory_used_bytes; do
    grep -q "^# HELP chokepoint_gpu_$family ." exported.openmetrics || fail "no help of $family"
    grep -q "^# UNIT chokepoint_gpu_$family ${family##*_}$" exported.openmetrics || fail "no unit of $family"
    grep -q "^chokepoint_gpu_$family\(_total\)\?{host=\"$host\",gpu=\"gpu7\"} [0-9]" exported.openmetrics || fail "no $family of gpu7"
done
jq -e '[.traceEvents[] | select(.ph == "C") | .name] | unique | contains(["gpu0 sm", "gpu7 watts", "gpu3 sm_clock", "gpu0 memory_used"])' \
    exported.perfetto >/dev/null || fail "tracks: $(jq -c '[.traceEvents[] | select(.ph == "C") | .name] | unique' exported.perfetto | head -c 2000)"
"$chokepoint" export 1 --db "$db" --format csv --table gpu >csv 2>err || fail "csv"
head -1 csv | grep -q 'gpu,time_s,.*sm_pct,.*watts,' || fail "csv: $(head -1 csv)"
[ "$(grep -c ',"gpu7",' csv)" -gt 10 ] || fail "csv has few rows of gpu7"
