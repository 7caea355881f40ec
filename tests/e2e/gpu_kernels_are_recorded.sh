#!/bin/bash
# SPDX-License-Identifier: MIT
# run --gpu-kernels: CUDA's driver, played, loads the library of Chokepoint into a program, whose kernels come into the recording
# and the report by its own CUPTI, played, too. The notes say what is not recorded. Nothing is named without the option, or beside another tool.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
unset CUDA_INJECTION64_PATH LD_PRELOAD
injected=$CHOKEPOINT_BIN/injected cuda=${CHOKEPOINT_BIN%/bin}/tests/cupti
# The program ends when its first burst is in its file.
cat >program <<'DONE'
mkfifo hold
"$1" "$2" <hold & pid=$!
exec 9>hold
for i in $(seq 600); do
    for file in "${CHOKEPOINT_MARKS%-*}"-*/"$pid".kernels; do
        [ "$(od -An -j 24 -N 8 -t d8 "$file" 2>/dev/null | tr -d ' ')" != 0 ] || continue
        [ -e "$file" ] && break 2
    done
    [ -z "$3" ] || break
    sleep .1
done
sleep 1.2
exec 9>&-
wait "$pid"
DONE
run --gpu-kernels --no-report bash program "$injected" "$cuda/libcudart.so.12" ''
got=$(sql "SELECT count(*) > 0, min(kernel_ns * 100 / watched_ns) BETWEEN 50 AND 60, min(both_ns * 100 / watched_ns) BETWEEN 8 AND 12 FROM gpu_burst")
[ "$got" = '1|1|1' ] || fail "bursts: $got"
got=$(sql "SELECT group_concat(DISTINCT substr(name, 1, instr(name, '[') - 1)) FROM gpu_kernel JOIN instance USING (instance)")
[ "$got" = 'at::native::pool,sgemm_128x64' ] || fail "kernels: $got"
"$chokepoint" report last --db "$db" --format json >report.json 2>err || fail "report: $(cat err)"
got=$(jq -r '[.gpu_kernels[0].kernel, (.gpu_kernels[0].share_pct | round), (.gpu_kernels[0].mean_us | round), (.gpu_bursts[0].hidden_pct | round)] | @csv' report.json)
[ "$got" = '"at::native::pool",91,100,40' ] || fail "report: $got"

# Why nothing is recorded is a note on quality.
CUPTI_PLAY=taken run --gpu-kernels --no-report bash program "$injected" "$cuda/libcudart.so.12" once
"$chokepoint" report last --db "$db" --format json | jq -r '.quality.notes[]' >notes
grep -q 'another tool uses CUPTI' notes || fail "notes: $(cat notes)"

# Without the option, and with another tool.
run --no-report bash -c 'echo "[$CUDA_INJECTION64_PATH]"'
[ "$(cat out)" = '[]' ] || fail "without the option: $(cat out)"
CUDA_INJECTION64_PATH=/x "$chokepoint" run --gpu-kernels true >out 2>err
[ $? = 2 ] && grep -q 'CUDA_INJECTION64_PATH is set' err || fail "beside another tool: $(cat err)"
"$chokepoint" run --gpu-kernels --no-shim true >out 2>err
[ $? = 2 ] || fail "with --no-shim: $(cat err)"
