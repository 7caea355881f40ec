#!/bin/bash
# SPDX-License-Identifier: MIT
# A rank that sleeps, one with twice the work, one whose threads do the work, one that writes files through MPI and one
# that is stopped, each for known amounts: each is in its own term of the budget, and not in others. The amounts hold on a
# busy machine. (More causes, with figures: tests/bench/planted_causes.sh.)
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/mpi_lib.sh" || exit 1
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }

# planted NAME OPTIONS...: rank 1's budget in NAME.json, the program's own figures in NAME.known
planted() {
    local what=$1
    shift
    rm -f "$EXPECT".*
    run --no-report "${mpi[@]}" -np 2 "$CHOKEPOINT_BIN/planted_causes" 20 --compute 50 "$@"
    [ $status -eq 0 ] || fail "$what: exits with $status"
    cat "$EXPECT".* >"$what.known"
    "$chokepoint" report --db "$db" last --format json >"$what.json" || fail "$what: no report"
}
planted sleep --sleep 75
planted skew --skew 2.5
planted threads --threads 2 40
planted write --write "$work/written" 4000000
planted stop --stop 300 # the state is sampled ten times a second: shorter stops are seen by chance
has_stops=$(sql "SELECT count(*) FROM pragma_table_info('process') WHERE name = 'stopped_ns'")
export has_stops
python3 - <<'END' || fail "see above"
import json, os, sys
def load(what):
    rows = [b for b in json.load(open(f"{what}.json"))["budget"] if b["rank"] == 1 and b["phase"] == "work"]
    known = {n: int(ns) / 1e9 for _, r, n, ns in map(str.split, open(f"{what}.known")) if r == "1"}
    if len(rows) != 1 or rows[0]["source"] != "events":
        sys.exit(f"FAILED: {what}: {rows}")
    return rows[0], known
failed = False
def within(what, value, low, high):
    global failed
    failed |= not low <= value <= high
    print(f"{what}: {value:.3f} s, from {low:.3f} to {high:.3f} s" + ("" if low <= value <= high else "   FAILED"))
budget, known = load("sleep")  # nominally 1.5 s; waiting for a core at its end is not idle
within("idle of who sleeps", budget["idle_s"], 1.2, 1.1 * known["slept"] + 0.3 * known["compute_away"] + 0.15)
within("computing of who sleeps", budget["cpu_s"], 0.9 * known["compute_cpu"], 1.1 * known["compute_cpu"] + 0.1)
budget, known = load("skew")
within("computing of who has more work", budget["cpu_s"], 0.9 * known["compute_cpu"], 1.1 * known["compute_cpu"] + 0.1)
within("idle of who has more work", budget["idle_s"], 0, 0.3 + 0.3 * known["compute_away"])
# The first thread waits for two others, which compute for 40 ms 20 times: at once, or one after the other.
budget, known = load("threads")
within("computing of whose threads do the work", budget["cpu_s"], 0.9 * (known["compute_cpu"] + 0.8),
       1.1 * (known["compute_cpu"] + 1.6) + 0.1)
within("computing, or without a core for it", budget["cpu_s"] + budget["runqueue_s"],
       0.9 * (known["compute_cpu"] + known["joined"]), 1.1 * (known["compute_cpu"] + known["joined"] + known["compute_away"]) + 0.1)
within("idle of whose threads do the work", budget["idle_s"], 0, 0.1 * known["joined"] + 0.05)
budget, known = load("write")
within("files and the disk of who writes them", budget["file_s"] + (budget["disk_s"] or 0) + budget["runqueue_s"],
       0.9 * known["writing"], 1.1 * known["writing"] + 1.1 * known["compute_away"] + 0.1)
within("transfer and overhead of who writes files", budget["transfer_s"] + budget["mpi_overhead_s"], 0,
       0.05 * known["wall"] + 0.1 * known["writing"])
budget, known = load("stop")
if os.environ["has_stops"] != "0":
    within("stopped of who is", budget["stopped_s"], 0.8 * known["stopped"] - 0.1, 1.1 * known["stopped"] + 0.1)
    within("idle of who is stopped", budget["idle_s"], 0, 0.2 * known["stopped"] + 0.1)
sys.exit(failed)
END
exit 0
