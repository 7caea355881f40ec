#!/bin/bash
# SPDX-License-Identifier: MIT
# During a run the wall clock of one host is set an hour ahead, two hours back, and right again. Only
# its agent sees that (by a preloaded library; the machine's clock must not be set, and its monotonic
# clock continues, as in a real step). A load with a known rate must show that rate.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
library=$(find /usr/lib /lib -name libfaketime.so.1 2>/dev/null | head -n 1)
[ -n "$library" ] || { echo "SKIPPED: libfaketime is not here (package faketime)"; exit 77; }
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
need_testbed 2

set_clock() { echo "$1" >clock.new && mv clock.new clock; }
set_clock +0
rsh=$(inside printenv CHOKEPOINT_RSH)
cat >rsh <<END
#!/bin/bash
script=\${!#}
case " \$* " in *" vm2 "*) script="export LD_PRELOAD=$library FAKETIME_TIMESTAMP_FILE=$work/clock FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1 \
DONT_FAKE_MONOTONIC=1 FAKETIME_DISABLE_SHM=1 NO_FAKE_STAT=1 ASAN_OPTIONS=verify_asan_link_order=0; \$script" ;; esac
exec $rsh "\${@:1:\$#-1}" "\$script"
END
chmod +x rsh
# The load: 2 kB every hundredth of a second from vm2 to itself; it records what it sent when.
cat >load.py <<'END'
import os, socket, time
s, sink = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
sink.bind(("127.0.0.1", 0))  # never read: packets without room are dropped, and no error is returned
log, start, n = open("sent", "w", 1), time.monotonic_ns(), 0
while not os.path.exists("enough"):
    while n < (time.monotonic_ns() - start) // 10_000_000:
        n += s.sendto(b"x" * 2020, sink.getsockname()) // 2020
        log.write(f"{time.monotonic_ns()} {n * 2048}\n")
    time.sleep(0.01)
END
printf '#!/bin/sh\n%s vm2 "cd %s && python3 load.py" &\n: >started\nread x <go\n: >enough\nwait\n' "$rsh" "$work" >job
chmod +x job
mkfifo go
inside env CHOKEPOINT_RSH="$work/rsh" "$chokepoint" run $slow_start --db "$db" --rate 20 --hosts vm1,vm2 ./job >out 2>err &
pid=$!
until_true test -s sent
frames() { sql "SELECT coalesce(max(seq), 0) FROM frame JOIN stream USING (stream) JOIN host USING (host) WHERE name = 'vm2'"; }
pass_frames() { # N: that many more arrive
    local n
    n=$(($(frames) + $1))
    passed() { [ "$(frames)" -ge "$n" ]; }
    until_true passed
}
ahead() { sql "SELECT (wall_ns - mono_ns) / 1000000000 FROM frame JOIN stream USING (stream) JOIN host USING (host) WHERE name = 'vm2' ORDER BY seq DESC LIMIT 1"; }
stepped() { local s=$(($(ahead) - before)); [ ${s#-} -gt 1800 ]; }
pass_frames 20
for step in +3600 -3600 +0; do
    before=$(ahead)
    set_clock $step
    until_true stepped
    pass_frames 20
done
echo >go
wait $pid || fail "exit status $?"
"$chokepoint" report --db "$db" --format json -o report.json || fail "no report"
python3 - "$db" <<'END' || fail "see above"
import bisect, json, sqlite3, sys
db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
def check(good, *what):
    if not good:
        sys.exit("FAILED: " + " ".join(map(str, what)))
sent = [tuple(map(int, line.split())) for line in open("sent")]
times = [t for t, _ in sent]
def sent_until(t):
    i = bisect.bisect_right(times, t)
    return sent[i - 1][1] if i else 0

heads = db.execute("""SELECT mono_ns, wall_ns FROM frame JOIN stream USING (stream) JOIN host USING (host)
                      WHERE name = 'vm2' ORDER BY seq""").fetchall()
steps = [b[0] for a, b in zip(heads, heads[1:]) if abs((b[1] - a[1]) - (b[0] - a[0])) > 1_800_000_000_000]
check(len(steps) == 3, "the agent saw", len(steps), "of 3 steps, so this test tests nothing")

# Every interval is the real one, and every rate is possible; across each step it is the true one.
rows = db.execute("""SELECT f.mono_ns, d.interval_ns, d.receive_bytes FROM net d JOIN instance i USING (instance)
                     JOIN host h USING (host) JOIN frame f USING (frame) WHERE h.name = 'vm2' AND i.name = 'lo'
                     ORDER BY f.seq""").fetchall()
rows = [r for r in rows if r[1] is not None]
check(len(rows) > 70, "only", len(rows), "samples")
# The view has the same rows in the same order. (Rows cannot be found by time: the run's clock is not the host's.)
rates = db.execute("""SELECT receive_bytes_per_s, interval_s FROM net_rate WHERE host = 'vm2' AND interface = 'lo'
                      AND interval_s IS NOT NULL ORDER BY time_s""").fetchall()
check(len(rates) == len(rows), len(rates), "rates of", len(rows), "samples")
for mono, interval, got in rows:
    check(0 < interval < 300_000_000_000 and got >= 0, "interval", interval, "ns with", got, "bytes")
for a, b in zip(rows, rows[1:]):
    check(b[0] - a[0] == b[1], "a seam between intervals at", b[0])
for step in steps:
    # Eight on either side, even if a busy machine took long for them; between two steps there are twenty.
    at = bisect.bisect_left([r[0] for r in rows], step)
    near = rows[at - 8:at + 8]
    check(at >= 8 and len(near) == 16, "only", len(near), "samples around a step")
    elapsed, got = sum(r[1] for r in near), sum(r[2] for r in near)
    truth = sent_until(near[-1][0]) - sent_until(near[0][0] - near[0][1])
    check(abs(got - truth) < 0.5 * truth, "across a step", got, "bytes were received of", truth)
    i = rows.index(near[0])
    of_rate = rates[i:i + len(near)]
    shown = sum(rate * interval for rate, interval in of_rate) / sum(interval for _, interval in of_rate)
    check(abs(shown - got / elapsed * 1e9) < 1, "net_rate says", shown, "B/s where", got / elapsed * 1e9, "were")
    print(f"across a step {shown / 1e3:.1f} kB/s, sent {truth / elapsed * 1e6:.1f} kB/s")
for table in "cpu", "disk", "net", "vmstat":
    bad = db.execute(f"SELECT count(*) FROM {table} WHERE interval_ns <= 0 OR interval_ns > 300000000000").fetchone()[0]
    check(bad == 0, bad, "absurd intervals of", table)

# Slots are counted by elapsed time: neither the hour nor a backward step makes thousands of them.
n, missed, first, last = db.execute("""SELECT frames, missed_slots, first_mono_ns, last_mono_ns FROM stream JOIN host USING (host)
                                       WHERE name = 'vm2'""").fetchone()
slots = (last - first) / 50_000_000
check(abs(n + missed - slots) <= 60, n, "samples and", missed, "missed of", slots, "slots")
check(db.execute("SELECT sum(gaps) + sum(restarts) + sum(lost_frames) FROM stream").fetchone()[0] == 0, "gaps")

report = json.load(open("report.json"))["run"]
check(report["duration_s"] < 600, "it took", report["duration_s"], "s")
detail = {h["name"]: h for h in report["host_details"]}
check(detail["vm2"]["samples"]["expected"] < slots + 100, "expected", detail["vm2"]["samples"])
check(abs(detail["vm2"]["clock_offset_s"]) < 1, "clock offset", detail["vm2"]["clock_offset_s"])
END
