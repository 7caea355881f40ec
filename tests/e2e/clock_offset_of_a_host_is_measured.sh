#!/bin/bash
# SPDX-License-Identifier: MIT
# One host's monotonic clock is 5000 s ahead of the others' (a time namespace): the stored offset is
# the planted one within its stored bound, and samples of one instant on both hosts have the same
# time in the run.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
unshare --time --monotonic 5000 true 2>/dev/null || { echo "SKIPPED: no time namespaces here"; exit 77; }
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
need_testbed 2

rsh=$(inside printenv CHOKEPOINT_RSH)
cat >rsh <<END
#!/bin/bash
script=\${!#}
case " \$* " in *" vm2 "*) script="exec unshare --time --monotonic 5000 \${script#exec }" ;; esac
exec $rsh "\${@:1:\$#-1}" "\$script"
END
chmod +x rsh
mkfifo go
inside env CHOKEPOINT_RSH="$work/rsh" "$chokepoint" run $slow_start --db "$db" --rate 20 --hosts vm1,vm2 sh -c 'read x <go' >out 2>err &
pid=$!
pushes() { [ "$(sql "SELECT count(*) FROM clock JOIN host USING (host) WHERE name = 'vm2'" 2>/dev/null || echo 0)" -ge 3 ]; }
until_true test -e "$db"
until_true pushes
echo >go
wait $pid || fail "exit status $?"
"$chokepoint" report --db "$db" --format json -o report.json || fail "no report"
python3 - "$db" <<'END' || fail "see above"
import json, sqlite3, statistics, sys
db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
def check(good, *what):
    if not good:
        sys.exit("FAILED: " + " ".join(map(str, what)))
planted = {"vm1": 0, "vm2": -5_000_000_000_000}
apart = {}
for name, truth in planted.items():
    offset, bound = db.execute("SELECT clock_offset_ns, clock_error_ns FROM stream JOIN host USING (host) WHERE name = ?", [name]).fetchone()
    check(bound is not None and 0 <= bound < 1_000_000_000, name, "bound", bound)
    check(abs(offset - truth) <= bound, name, "offset", offset, "is not", truth, "within", bound, "ns")
    print(f"{name}: {(offset - truth) / 1e3:+.1f} us from the truth, bound {bound / 1e3:.1f} us")
    for mono, o, e in db.execute("SELECT mono_ns, offset_ns, error_ns FROM clock JOIN host USING (host) WHERE name = ?", [name]):
        check(abs(o - truth) <= e, name, "estimate", o, "+-", e, "at", mono)
    # All hosts here share one wall clock, which is read a moment before or after the monotonic one.
    apart[name] = [statistics.median(w - m - offset for w, m in db.execute(
        "SELECT wall_ns, mono_ns FROM frame JOIN stream USING (stream) JOIN host USING (host) WHERE name = ?", [name])), bound]
(a, a_bound), (b, b_bound) = apart.values()
check(abs(a - b) <= a_bound + b_bound + 1_000_000, "samples of one instant are", a - b, "ns apart")
(begin, end), = db.execute("SELECT 0, (ended_mono_ns - started_mono_ns) / 1e9 FROM run")
for host, first, last in db.execute("SELECT host, first_s, last_s FROM run_host"):
    check(-300 < first < end and 0 < last < end + 300, host, "is there from", first, "to", last, "of", end, "s")
for (t,) in db.execute("SELECT time_s FROM cpu_rate WHERE host = 'vm2'"):
    check(-300 < t < end + 300, "a sample of vm2 at", t, "s")
report = json.load(open("report.json"))
detail = {h["name"]: h for h in report["run"]["host_details"]}
check(abs(detail["vm2"]["clock_offset_s"] - detail["vm1"]["clock_offset_s"]) > 4999, "the report says", detail["vm2"]["clock_offset_s"])
values = {(r["host"], r["metric"]): r for r in report["resources"] if r["phase"] == "all"}
check(values["vm2", "cpu_idle"]["mean"] is not None, "the report has no values of vm2")
END
