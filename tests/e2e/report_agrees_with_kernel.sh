#!/bin/bash
# SPDX-License-Identifier: MIT
# T1 of a real run compared with the kernel's own counters, which the command itself reads at its
# begin and end: idle CPU within one point, bytes written to disks within 1 %.
. "$(dirname "$0")/run_lib.sh" || exit 1

cat >"$work/load" <<'LOAD'
#!/bin/bash
# Writes 300 MB past the page cache and keeps one core busy, between two readings of the counters.
# The ends of the run, which cut a sample in two, are quiet, since nothing is known within a sample.
look() {
    read -r _ user nice system idle iowait irq softirq steal _ </proc/stat
    echo "$((user + nice + system + idle + iowait + irq + softirq + steal)) $idle"
    for disk in /sys/block/*; do
        read -r _ _ _ _ _ _ sectors _ <"$disk/stat"
        echo "${disk##*/} $sectors"
    done
}
look >before
sleep 0.3
dd if=/dev/zero of=file bs=1M count=300 oflag=direct 2>/dev/null || dd if=/dev/zero of=file bs=1M count=300 conv=fsync 2>/dev/null
end=$((SECONDS + 6)) # so that the samples cut by the ends weigh little, whatever else the machine does then
while [ $SECONDS -lt $end ]; do :; done
sleep 0.3
look >after
rm -f file
LOAD
# agrees: idle CPU and bytes of the last run, compared with its own readings
agrees() {
    "$chokepoint" report --db "$db" --format csv -o "$work/report.csv" || fail "report"
    seconds=$(sql "SELECT (ended_mono_ns - started_mono_ns) / 1e9 FROM run ORDER BY run DESC LIMIT 1")
    paste -d ' ' "$work/before" "$work/after" | awk -v said="$(metric cpu_idle)" 'NR == 1 {
        idle = 100 * ($4 - $2) / ($3 - $1)
        printf "idle CPU: kernel %.2f %%, T1 %.2f %%\n", idle, said
        exit said - idle > 1 || idle - said > 1
    }' || return

    # The same devices as in the recording: whole ones only.
    devices=$(sql "SELECT DISTINCT device FROM disk_rate")
    [ -n "$devices" ] || { echo "no disk is recorded on this machine: its bytes are not checked"; return 0; }
    paste -d ' ' "$work/before" "$work/after" | awk -v devices=" ${devices//$'\n'/ } " -v s="$seconds" -v said="$(metric disk_write)" '
        NR > 1 && index(devices, " " $1 " ") { bytes += 512 * ($4 - $2) }
        END {
            if (bytes < 250e6) { print "the disk took only " bytes " bytes: not checked"; exit 0 }
            printf "written: kernel %.2f MB, T1 %.2f MB/s x %.2f s = %.2f MB\n", bytes / 1e6, said, s, said * s
            error = said * s * 1e6 / bytes - 1
            exit error > 0.01 || error < -0.01
        }'
}
metric() { awk -F, -v m="$1" '$3 == "\"all\"" && $4 == m { print $6 }' "$work/report.csv"; }
# T1 includes other programs' work at the ends of the run, before the first reading and after the last.
for _ in 1 2 3 4; do
    run -n load bash "$work/load"
    [ $status -eq 0 ] || fail "run exits with $status"
    agrees && exit 0
    echo "again:"
done
fail "T1 is not what the kernel counted"
