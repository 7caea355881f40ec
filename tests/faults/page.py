# SPDX-License-Identifier: MIT
"""Scores a folder of recordings, prints the scores, and writes docs/accuracy.md with its pictures."""
import datetime
import json
import os
import shutil
import subprocess
import sys

import against
import baselines
import cases
import estimates
import misses
import page_parts
import recordings
import scorer
import truth
import workloads as programs
from tables import (ERRORS, GOALS, RIVALS_HEAD, calibration_table, class_table, confusion_table, error_text, measures_table, misses_table, group_table, number, overhead_text,
                    period_errors, rival_row, rivals_table, share_text, spread_text, table, workload_table)

WHY = f"{os.path.dirname(os.path.abspath(__file__))}/misses.txt"
REMARKS = f"{os.path.dirname(os.path.abspath(__file__))}/remarks.txt" # written by hand: remarks on the figures


# ---- pictures ----

PICTURED = 10 # times slower

def gnuplot(text):
    if shutil.which("gnuplot"):
        subprocess.run(["gnuplot"], input=text, text=True, check=True)
        return True
    return False


def plot_calibration(m, path):
    points = "\n".join(f"{mean} {share} {n}" for _, _, mean, share, n in m["calibration"])
    steps = "\n".join(f"{low} {share}" for low, share in m["map"])
    return gnuplot(f"""set terminal svg size 480,400 font 'DejaVu Sans,11' background '#ffffff'
set output '{path}'
set xrange [0:1]; set yrange [0:1.02]; set key top left
set xlabel 'confidence said'; set ylabel 'share of answers that were right'
$points << EOD
{points}
EOD
$steps << EOD
{steps}
1 {m['map'][-1][1] if m['map'] else 0}
EOD
plot x with lines dashtype 2 lc rgb '#888888' title 'perfect', \\
 $points using 1:2:(0.4 + sqrt($3) / 6) with points pt 7 ps variable lc rgb '#1f77b4' title 'measured (size: runs)', \\
 $steps with steps lc rgb '#d62728' title 'fitted map'
""")


def slowdown_points(runs):
    """(true, estimated, beyond) of the right verdicts with an estimate: what lies beyond the picture is put on its edge."""
    pairs = [(scorer.whole_slowdown(r), scorer.slowdown_estimate(r)) for r in runs
             if r["right"] == "find" and scorer.is_scored(r) and scorer.is_top1(r) and scorer.slowdown_error(r) is not None]
    clipped = [tuple(min(max(x, 1), PICTURED) for x in pair) for pair in pairs]
    return [(*seen, seen != pair) for seen, pair in zip(clipped, pairs)]


def plot_slowdowns(runs, path):
    points = slowdown_points(runs)
    if not points:
        return False
    text = "\n".join(f"{true} {said} {int(beyond)}" for true, said, beyond in points)
    edge = any(beyond for *_, beyond in points)
    marked = ", $points using 1:($3 == 1 ? $2 : NaN) with points pt 4 ps 1 lc rgb '#d62728' title 'beyond the edge'" if edge else ""
    return gnuplot(f"""set terminal svg size 480,400 font 'DejaVu Sans,11' background '#ffffff'
set output '{path}'
set logscale xy; set key top left; set xlabel 'true slowdown'; set ylabel 'slowdown by the gain of the verdict'
$points << EOD
{text}
EOD
plot [1:{PICTURED}][1:{PICTURED}] x with lines dashtype 2 lc rgb '#888888' title 'perfect', $points using 1:2 with points pt 7 ps .5 lc rgb '#1f77b4' notitle{marked}
""")


# ---- the page ----

def remarks():
    if not os.path.exists(REMARKS):
        return []
    with open(REMARKS) as file:
        return [*file.read().splitlines(), ""]


def awake(runs):
    n = sum(bool(r.get("awake")) for r in runs)
    if not n:
        return ""
    return (f"{'Cores' if n == len(runs) else f'In {n} runs cores'} polled before they halted: a virtual core that halts is given to other machines and is slow when it wakes, "
            "up to a third, so that a rank which waits pays for it when it computes. A prediction cannot know that; where cores are given away it is off by as much. ")


def intro(m, runs, options):
    machine = f"{os.cpu_count()} cores, Linux {os.uname().release.split('-')[0]}"
    cleanly = sum(r["fault"] == "F0" or r["fault"][0] == "D" for r in runs)
    return ["# How often the verdict is right", "",
            "Written by `tests/faults/matrix score --page`; the recordings it scores were made by `tests/faults/matrix run`. Do not edit.", "",
            f"{len(runs)} runs with a known answer on emulated hosts ({machine}), {cleanly} of them clean or decoys, the last on "
            f"{datetime.datetime.fromtimestamp(max(r['started'] for r in runs), datetime.timezone.utc):%d %B %Y}; half: {options.half}. "
            f"{m['scored']} are scored, {m['grey']} are grey (the fault cost 3 to 8 %, or less than its truth is in doubt by, so either answer is right; or the truth says that it made the run 3 % faster, which no fault does; or a decoy cost 3 % or more), {m['disturbed']} disturbed by "
            "other programs of the machine and left out. "
            + ("The machine was not quiet: runs during which others used more than a tenth of a core are included, so take the CPU rows for a "
               "first impression. " if options.tolerate > .1 else "") + (f"{m['insufficient']} {'was' if m['insufficient'] == 1 else 'were'} answered \"insufficient\"." if m["insufficient"] else ""), "",
            "The truth: what the injector did (a label the analyzer never reads), and what it cost, against all other clean runs of its "
            "program (their geometric mean, the nearer in time the heavier, one far off hardly counted), for as much work, on cores as fast as they were during this run: the canary, a fixed piece of work "
            "on all cores at once twenty times a second while the program runs, says how fast. From 8 % on a fault must be found; below 3 % the right answer is that nobody is to blame. A fault that costs less than its truth is in doubt by "
            "is grey whatever it seems to cost: by what clean runs of its program differ from their own twins, nine of ten, and by a quarter of what its cores were slower or faster than theirs (the root of the "
            "sum of the squares). Clean runs are scored as fault F0. "
            + awake(runs) +
            "Hosts have cores of their own, but in the network workloads (`-net`) three share two cores: there no word about the CPU is scored on runs "
            "without a fault. Intervals are Wilson's, 95 %.", "", *remarks()]


def coverage(runs, lost, options):
    halves = {h: sorted({r["workload"] for r in runs if r["half"] == h}) for h in ("tuning", "scored")}
    lines = [f"Programs of this half: {', '.join(v)}." for h, v in halves.items() if v]
    absent = {name: programs.WORKLOADS[name].available(options.bin) for half in chosen(options) for name in cases.plan_of(half)}
    there = {r["workload"] for r in runs}
    lines += [f"Not run: {name}, {reason}." for name, reason in absent.items() if reason and name not in there]
    lines += [f"Not run: {name}, {text}." for name, text in cases.NOT_HERE.items()]
    absent = [name for name in cases.FAULTS if name not in {r["inner"] for r in runs}]
    lines += [f"Left out, as their recordings cannot be reported: {', '.join(lost)}."] if lost else []
    return lines + ([f"No run of: {', '.join(absent)}."] if absent else []) + [""]


DEFINITIONS = """\
Detection delay: iterations of the rank that was hit, from the one in which the fault began to the first after which the report of all recorded until then
(later samples, calls and marks taken out of a copy) names it, in the verdict or as a straggler; 1 is at once; who names it before it began is left out. Start: the one the verdict names,
against when the injector acted, or the rank began the first iteration of the fault. Profiling costs: time of the loop, clean runs under
`chokepoint run` against runs beside them that nobody profiled, in turn before and after, corrected by the canary; median of the pairs' ratios, its 95 % bootstrap interval, pairs.
Cores alike: the canary's work took less than a tenth longer on every core of the bed than on the fastest. A clean run on unlike cores has a rank that takes longer for the same work; the right answer for it is "balanced" all the same, and a
blame counts as a false alarm in the first of the three rows.
Slowdown estimate: the verdict's gain g is a share of the time the whole command took, its start and end included, that would be saved without what it names; 1 / (1 - g) is
held against the time of the whole command over that of its twin (as much of the loop's work, and start and end of clean runs). Two faults at once are left out, as no twin has one alone, and so is foreign
traffic on hosts without cores of their own, since its senders take those, too. A verdict that gives only
a bound has no estimate. Corrected by the canary: other machines that share the physical cores change their speed by a third within seconds, and that of their caches by several times. A clean run's time is multiplied by what
each of the canary's two pieces of work (sums; a walk from line to line in a core's caches) took in the run that is held against it over what it took in the clean run (CPU time during the loop, on the slower core at each beat; where hosts share cores, at their mean speed), to the power of what the program feels of
that: the exponents by which its clean runs take longer where the canary does (least squares, reweighted so that one far off hardly counts: Holland and Welsch 1977), drawn where these are few or alike towards what is
expected: 1 of the sums, or less of a program that computes for a set CPU time or in one chain of products, and a tenth of that of the walk. A run with less of the same work is held against as much of a clean one's: all but what a loop takes once, by how much its
first iteration is longer than those after it. That is known of programs that mark their iterations; of others it is counted as nothing, which makes a fault with less work seem to cost a little more than it did."""


def make_page(runs, lost, overheads, options, root):
    m = scorer.measures(runs)
    why = misses.reasons(WHY)
    docs = f"{root}/docs"
    lines = intro(m, runs, options) + coverage(runs, lost, options) + ["## Measures", ""] + measures_table(m)
    lines += [f"| time that profiling adds, all programs: median, pairs | {overhead_text(overheads[None])} | 1 % | 0.4 % |", "", DEFINITIONS, ""]
    lines += ["## By program", ""] + workload_table(scorer.by_workload(runs), overheads) + ["", "## By fault", ""]
    lines += class_table(scorer.by_class(runs)) + ["", "## Answers", "",
             "Rows: what was done. Columns: the resource blamed; \"elsewhere\": on a host where it was not.", ""]
    lines += confusion_table(scorer.confusion(runs)) + ["", "## Does 90 % mean 90 %?", ""] + calibration_table(m) + [""]
    if plot_calibration(m, f"{docs}/accuracy-calibration.svg"):
        lines += ["![confidence against share right](accuracy-calibration.svg)", ""]
    if plot_slowdowns(runs, f"{docs}/accuracy-slowdown.svg"):
        lines += ["![slowdown by the verdict's gain against the true one](accuracy-slowdown.svg)", ""]
    lines += ["## Simpler rules on the same recordings", ""]
    lines += rivals_table(runs, "the verdict", [(n, lambda r, f=f: baselines.as_report(f, r["report"])) for n, f in baselines.BASELINES.items()])
    lines += ["", "## Without one of the sources", "", "The same recordings with tables taken out.", ""]
    copies = {name: recordings.on_all_cores(lambda r, s=s: recordings.ablated(r, options.bin, s), runs) for name, s in recordings.ABLATIONS.items()}
    lines += table(RIVALS_HEAD, [rival_row("everything", runs)] + [
        rival_row(name, [dict(r, report=c) for r, c in zip(runs, reports) if c is not None]) for name, reports in copies.items()])
    lines += ["", "Iteration time of each rank against the marks it sets itself; an asynchronous server's rank, which trains on between its calls, is left out:", ""]
    known = (("MPI calls, no marks", "no marks"), ("counters alone", "no marks, no shim"))
    lines += table(("known", "relative error"), [(name, error_text(period_errors(runs, copies[key]))) for name, key in known])
    lines += ["", "Counters alone tell a pace, not single iterations, and only one that is slow beside the samples (ten a second here); iterations of these programs are shorter. `tests/bench/iteration_period.sh` has some that are not."]
    lines += ["", "## Every miss", ""] + (misses_table(runs, why) if scorer.misses(runs) else ["None."]) + [""]
    lines += [line for part in page_parts.kept_in(f"{docs}/accuracy.md") for line in (part, "")]
    with open(f"{docs}/accuracy.md", "w") as file:
        file.write("\n".join(lines))
    return f"{docs}/accuracy.md"


# ---- what is printed ----

def print_scores(runs, overheads, options):
    m = scorer.measures(runs)
    print(f"{m['runs']} runs, {m['scored']} scored, {m['classes']} classes, {m['grey']} grey, {m['disturbed']} disturbed, {m['insufficient']} insufficient")
    for key, name, goal, _ in GOALS:
        print(f"  {name:44s} {share_text(m[key]):36s} goal {goal or '-'}")
    for key, name, goal in ERRORS:
        e = m[key]
        print(f"  {name:44s} median {number(e['median'], digits=3)} p90 {number(e['p90'], digits=3)} worst {number(e['worst'], digits=3)} of {e['n']}, "
              f"bias {number(e['bias'], digits=3)}  goal {goal or '-'}")
    print(f"  {'calibration error':44s} {number(m['calibration_error'], digits=3)}")
    print(f"  {'time that profiling adds: median, pairs':44s} {overhead_text(overheads[None])}  goal 1 %")
    for fault, c in scorer.by_class(runs).items():
        print(f"  {fault:5s} {cases.NAMES.get(fault, ''):34s} found {c['find']['right']:3d} of {c['find']['n']:3d}, with cause {c['cause']['right']:3d}, "
              f"quiet {c['quiet']['right']:3d} of {c['quiet']['n']:3d}, grey {c['grey']:2d}")
    for name, w in scorer.by_workload(runs).items():
        print(f"  {name:12s} {w['runs']:3d} runs, clean {number(w['clean_s'], digits=2)} s, differing by {spread_text(w):>7s}, found {w['find']['right']:3d} of "
              f"{w['find']['n']:3d}, quiet {w['quiet']['right']:3d} of {w['quiet']['n']:3d}, grey {w['grey']:2d}, profiling {overhead_text(overheads.get(name))}")
    print("\n".join(group_lines(runs) + clean_lines(runs)))
    if options.whatif:
        print("\n".join(estimates.all_lines(runs)))
    if options.misses:
        print("\n".join(misses.all_lines(scorer.misses(runs), misses.reasons(WHY), [half[0] for half in chosen(options)])))


def group_lines(runs):
    """The groups of programs separately, including those without a run: the headline is that of the strange ones."""
    found = scorer.by_group(runs)
    told = lambda m: (f"top-1 {share_text(m['top1'])}; with cause {share_text(m['cause'])}; false alarms {share_text(m['false_alarms'])}; "
                      f"balanced though {scorer.SLOWED:g} times slower {share_text(m['slowed_but_balanced'])}")
    return [f"  {group + ' programs':18s} {found[group]['runs']} runs: {told(found[group])}" if group in found else f"  {group + ' programs':18s} no run"
            for group in reversed(programs.GROUPS)]


def clean_lines(runs):
    said = sorted(scorer.said_of_clean(runs).items(), key=lambda item: (-item[1], item[0]))
    return ["  said of clean runs, of no single host: " + ", ".join(f"{resource} of {subject} {n}" for (subject, resource), n in said)] if said else []


def compared(runs, options):
    """The output that --save and --against ask for."""
    score = against.score_of(runs, os.path.basename(options.save) if options.save else "now")
    if options.save:
        against.save(score, options.save)
    return against.lines_of(against.read(options.against), score) if options.against else []


def chosen(options):
    return ["tuning", "scored"] if options.half == "both" else [options.half]


def main(options, root):
    runs, lost = recordings.load(options.results, chosen(options), options.bin, lambda text: print(text, file=sys.stderr))
    if not runs:
        sys.exit(f"matrix: nothing in {options.results}; `matrix run` first")
    truth.set_truth(runs, options.tolerate)
    overheads = truth.overheads(runs, recordings.plain_runs(options.results, chosen(options)), options.tolerate)
    words, everything = options.only.split(",") if options.only else [], runs
    runs = [r for r in runs if not words or any(w in r["id"] for w in words)]
    for run in runs:
        run["whatif_asked"] = run["right"] == "find" and scorer.is_of_one(run) and recordings.what_if_words(run) is not None
    asked, part = [r for r in runs if r["whatif_asked"]], [r for r in runs if r["right"] == "find" and r["fault"] == "F15"]
    for run, (error, answer) in zip(asked, recordings.on_all_cores(lambda r: recordings.what_if(r, options.bin), asked)):
        run["whatif_error"], run["whatif_answer"] = error, answer
    capped = [r for r in runs if r["right"] == "find" and recordings.cap_words(r)]
    for run, (error, answer) in zip(capped, recordings.on_all_cores(lambda r: recordings.what_if_capped(r, everything, options.bin), capped)):
        run["cap_asked"], run["cap_error"], run["cap_answer"] = True, error, answer
    for run, delay in zip(part, recordings.on_all_cores(lambda r: recordings.delay(r, options.bin), part)):
        run["delay"] = delay
    print_scores(runs, overheads, options)
    print(*compared(runs, options), sep="\n", end="\n" if options.against else "")
    if lost:
        print(f"  left out, as their recordings cannot be reported: {', '.join(lost)}")
    with open(f"{options.results}/scores.json", "w") as file:
        json.dump(dict(scorer.measures(runs), overheads={str(k): v for k, v in overheads.items()}), file, indent=1)
    if options.page:
        print(make_page(runs, lost, overheads, options, root))
    return 0
