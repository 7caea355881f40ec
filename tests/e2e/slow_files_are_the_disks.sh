#!/bin/bash
# SPDX-License-Identifier: MIT
# Files that a rank writes through MPI onto a throttled disk: the time counts as disk, not as transfer or overhead,
# whether the kernel counts the rank's own waits (kernel.task_delayacct) or only its host's (PSI).
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/mpi_lib.sh" || exit 1
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
group=/sys/fs/cgroup/blkio/chokepoint-files$$ loop='' delays=''
restore() {
    local end=$?
    umount "$work/disk" 2>/dev/null
    [ -z "$loop" ] || losetup -d "$loop"
    rmdir "$group" 2>/dev/null
    [ -z "$delays" ] || echo "$delays" >/proc/sys/kernel/task_delayacct
    return $end
}
trap 'restore; leave' EXIT
[ "$(id -u)" = 0 ] && [ -e /proc/pressure/io ] && mkdir "$group" 2>/dev/null &&
    [ -e "$group/blkio.throttle.write_bps_device" ] && truncate -s 64M "$work/image" && mkfs.ext4 -qF "$work/image" &&
    loop=$(losetup --show -f "$work/image") && mkdir "$work/disk" && mount "$loop" "$work/disk" ||
    { echo "skipped: no disk that could be throttled"; exit 77; }
echo "$(cat "/sys/block/${loop#/dev/}/dev") 10485760" >"$group/blkio.throttle.write_bps_device"

# written SWITCH: rank 1 in the group, with the kernel's count of waits switched on or off
written() {
    rm -f "$EXPECT".*
    echo "$1" >/proc/sys/kernel/task_delayacct 2>/dev/null || return 0
    # shellcheck disable=SC2016 # for the shell of the rank
    run --no-report "${mpi[@]}" -np 2 sh -c '[ "$OMPI_COMM_WORLD_RANK" = 0 ] || echo $$ >'"$group"'/tasks; exec "$@"' sh \
        "$CHOKEPOINT_BIN/planted_causes" 10 --compute 20 --write "$work/disk/written" 2097152
    [ $status -eq 0 ] || fail "exits with $status"
    cat "$EXPECT".* >"$1.known"
    "$chokepoint" report --db "$db" last --format json >"$1.json" || fail "no report"
}
[ ! -e /proc/sys/kernel/task_delayacct ] || delays=$(cat /proc/sys/kernel/task_delayacct)
written 0
written 1
python3 - <<'END2' || fail "see above"
import glob, json, sys
failed = False
def within(what, value, low, high):
    global failed
    failed |= not low <= value <= high
    print(f"{what}: {value:.3f} s, from {low:.3f} to {high:.3f} s" + ("" if low <= value <= high else "   FAILED"))
for path in sorted(glob.glob("?.json")):
    rows = [b for b in json.load(open(path))["budget"] if b["rank"] == 1 and b["phase"] == "work"]
    known = {n: int(ns) / 1e9 for _, r, n, ns in map(str.split, open(path.replace("json", "known"))) if r == "1"}
    if len(rows) != 1 or rows[0]["source"] != "events":
        sys.exit(f"FAILED: {path}: {rows}")
    b, what = rows[0], "waits counted" if path[0] == "1" else "pressure of the host"
    # in an fsync the kernel does not count the wait for the journal as a disk wait
    within(f"{what}: disk", b["disk_s"] or 0, 0.35 * known["writing"], 1.05 * known["writing"] + 0.1)
    within(f"{what}: disk, files, and no core for them", (b["disk_s"] or 0) + b["file_s"] + b["runqueue_s"],
           0.85 * known["writing"], 1.05 * known["writing"] + 1.1 * known["compute_away"] + 0.1)
    within(f"{what}: transfer and overhead", b["transfer_s"] + b["mpi_overhead_s"], 0, 0.05 * known["wall"] + 0.1)
sys.exit(failed)
END2
exit 0
