# SPDX-License-Identifier: MIT
# clock_judge.py DB ORIGIN_NS HOST:SHIFT_S:PPM...: compares a recording's clocks with a planted truth: each host's
# monotonic clock is ahead of the collector's by SHIFT_S and gains PPM from ORIGIN_NS (of its own) on. Prints a line
# for each host; fails if at any sample the error exceeds the stored bound.
import bisect, sqlite3, sys
db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
origin = int(sys.argv[2])
bad = 0
print(f"{'host':8}{'offset (s)':>14}{'drift (ppm)':>13}{'measured':>10}{'error':>9}{'bound (us)':>12}{'exchanges':>11}{'pieces':>8}")
for plant in sys.argv[3:]:
    host, shift, ppm = plant.split(":")
    shift, rate = round(float(shift) * 1e9), float(ppm) / 1e6
    frames = [m for m, in db.execute("SELECT mono_ns FROM frame JOIN stream USING (stream) JOIN host USING (host) WHERE name = ? ORDER BY mono_ns", [host])]
    pieces = db.execute("""SELECT from_ns, until_ns, at_ns, offset_ns, error_ns, drift_ppm FROM clock_piece JOIN stream USING (stream)
                           JOIN host USING (host) WHERE name = ? ORDER BY from_ns""", [host]).fetchall()
    exchanges, = db.execute("SELECT count(*) FROM clock JOIN host USING (host) WHERE name = ?", [host]).fetchone()
    if not frames or not pieces:
        sys.exit(f"{host}: {len(frames)} samples, {len(pieces)} pieces")
    def measured(m):
        p = pieces[max(0, bisect.bisect_right(pieces, (m, 1 << 62)) - 1)]
        beyond = max(0, m - p[1], p[0] - m)
        return p[3] + round((m - p[2]) * p[5] / 1e6), p[4] + beyond * (200e-6 + abs(p[5]) / 1e6)
    def truth(m):  # in integers where it matters: doubles are too coarse for a clock
        return -shift - round((m - origin) * rate / (1 + rate))
    worst = bound = 0
    for m in frames:
        offset, error_bound = measured(m)
        error = abs(offset - truth(m))
        worst, bound = max(worst, error), max(bound, error_bound)
        bad += error > error_bound
    drift = (measured(frames[-1])[0] - measured(frames[0])[0]) / (frames[-1] - frames[0]) * 1e6
    true_drift = (truth(frames[-1]) - truth(frames[0])) / (frames[-1] - frames[0]) * 1e6
    print(f"{host:8}{truth(frames[0]) / 1e9:14.6f}{true_drift:13.2f}{drift:10.2f}{worst / 1e3:9.1f}{bound / 1e3:12.1f}{exchanges:11}{len(pieces):8}")
    if worst > 200e3:
        print(f"{host}: the error is above 0.2 ms")
        bad += 1
sys.exit(f"{bad} samples outside their bound" if bad else 0)
