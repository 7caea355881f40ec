#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# check.sh OUT [--bin DIR] [--phases A,B] [--whole A,B] [--seconds S] [--budget S] [--work FILE] [--no-wait-clocks]: on a
# machine with a GPU, records each phase of labelled_work.py and prints truth and verdict side by side, medians of what was
# recorded, and the cost of the agent. Needs the built programs, Python with PyTorch ($PYTHON, or python3), and a driver.
# Phases are recorded under `chokepoint attach`, so that PyTorch starts once; those of --whole also under `chokepoint run`.
#
# OUT keeps everything: runs.db, the report of each run, what each run said, and how the driver answered each call
# (doctor.txt), so that a failure can be understood afterwards. --bin is the folder that pack.sh made, or that of a build.
# Ends within --budget seconds (290): phases without time left are named and left out.
set -u
here=$(cd "$(dirname "$0")" && pwd)
case ${1--} in -*) sed -n '3,6s/^# //p' "$0"; exit 2 ;; esac
out=$1
shift
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
bin=
for place in "$here/../../bin" "$here/bin" "$here/../../build/release/bin"; do
    [ -x "$place/chokepoint" ] && bin=$place && break
done
options=()
while [ $# -gt 0 ]; do
    case $1 in
        --bin) bin=$2; shift 2 ;;
        *) options+=("$1"); shift ;;
    esac
done
[ -x "$bin/chokepoint" ] || { echo "no chokepoint found: name its folder with --bin"; exit 1; }

# Facts of the machine, each of which may be missing.
{
    date; uname -a; nproc; id -u; cat /etc/os-release; ls -l /sys/kernel/btf/vmlinux /dev/nvidia*
    cat /proc/driver/nvidia/version /proc/driver/nvidia/params; "${PYTHON:-python3}" -V
    for program in chokepoint chokepoint-agent; do ldd "$bin/$program"; done
    ldconfig -p | grep -E 'libnvidia-ml|libcuda|libbpf'
} >"$out/machine.txt" 2>&1
timeout 20 nvidia-smi -q >"$out/nvidia-smi.txt" 2>&1
timeout 30 "$bin/chokepoint-agent" --doctor >"$out/doctor.txt" 2>&1
echo "doctor ended with $?" >>"$out/doctor.txt"
grep -E '\| (gpu|nvml) \|' "$out/doctor.txt" | sed 's/^chokepoint-agent: doctor | //' ||
    { echo "the agent says nothing about GPUs:"; tail -n 5 "$out/doctor.txt"; }
exec "${PYTHON:-python3}" "$here/check_phases.py" "$out" "$bin" ${options[@]+"${options[@]}"}
