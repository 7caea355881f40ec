# SPDX-License-Identifier: MIT
"""The worth of each rule, threshold and source of the judge: recorded runs judged again with a rule off, a threshold at
.7 and 1.4 times its value, a source taken away (`matrix ablate`), and the table of it in docs/rules.md.

Hardly any of 180 moves of a threshold changes the verdict of a given run. So all that are moved up, or down, are moved
together first; where the verdict stays, none of them is tried alone, else each half is tried in the same way. Two that
undo each other on a run are taken for two that do nothing there.

The judge is told by CHOKEPOINT_JUDGE: `-RULE`, `NAME*FACTOR`, `-source:NAME`. Answers are kept by program and setting, so an
interrupted ablation goes on where it stopped, and a change of the program begins anew."""
import hashlib
import json
import os
import subprocess
import sys
import time

import recordings
import scorer
import truth
from runner import report_of
from tables import share_text, table

FACTORS = (.7, 1.4)
RUNS_A_KEEP = 20 # number of answered runs after which answers are saved
VERDICT_KEYS = ("state", "subject", "host", "resource", "cause_kind") # a difference in one of these makes another verdict
BEGIN, END = "<!-- rules: begin, written by tests/faults/matrix ablate -->", "<!-- rules: end -->"
PAGE = "docs/rules.md"
HEAD = """# The rules of the judge

The ways in which a run may be limited, the evidence and the numbers of each rule, and its worth on recorded runs. `chokepoint rules` lists the same
of the program at hand.
"""


# ---- settings ----

class Setting:
    """One change of the judge. `resources`: what it bears on, None where that is everything."""
    def __init__(self, kind, name, words, resources=None, factor=None):
        self.kind, self.name, self.words, self.resources, self.factor = kind, name, words, resources, factor


def rules_of(binaries):
    done = subprocess.run([f"{binaries}/chokepoint", "rules", "--format", "json"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"chokepoint rules: {done.stderr.strip() or done.returncode}")
    return json.loads(done.stdout)


def factor_text(factor):
    return f"{factor:g}"


def threshold_owners(listing):
    """{threshold: its rules' resources}; a threshold without a rule concerns all resources."""
    owners = {row["name"]: None for row in listing.get("thresholds", [])}
    for rule in listing["rules"]:
        for row in rule["thresholds"]:
            owners.setdefault(row["name"], set()).add(rule["resource"])
    return owners


def settings_of(listing, rules=None, thresholds=None):
    """All of a listing, or the named rules and thresholds: None is all, () none."""
    chosen = lambda name, names: names is None or name in names
    result = [Setting("rule", rule["name"], f"-{rule['name']}", {rule["resource"]}) for rule in listing["rules"] if chosen(rule["name"], rules)]
    for name, resources in threshold_owners(listing).items():
        if chosen(name, thresholds):
            result += [Setting("threshold", name, f"{name}*{factor_text(factor)}", resources, factor) for factor in FACTORS]
    if rules is None and thresholds is None:
        result += [Setting("source", name, f"-source:{name}") for name in source_names(listing)]
    return result


def source_names(listing):
    return [source if isinstance(source, str) else source["name"] for source in listing.get("sources", [])]


# ---- cases ----

def resources_named(report):
    return {report["verdict"]["resource"], *(row["resource"] for row in report.get("ranking") or [])}


def bears_on(setting, run):
    """A rule can change the verdict if its resource is already named, or if no host should be blamed."""
    return setting.resources is None or run["right"] == "balanced" or bool(setting.resources & resources_named(run["report"])) \
        or any(setting.resources & set(label["resource"]) for label in run["labels"])


# ---- answers, kept ----

def print_of_file(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:16]


class Answers:
    """Answers of one program, with one file for each setting."""
    def __init__(self, folder, binaries):
        self.bin, self.folder = binaries, f"{folder}/{print_of_file(f'{binaries}/chokepoint')}"
        os.makedirs(self.folder, exist_ok=True)

    def path(self, words):
        return f"{self.folder}/{hashlib.sha256(words.encode()).hexdigest()[:16]}.json"

    def kept(self, words):
        if not os.path.exists(self.path(words)):
            return {}
        with open(self.path(words)) as file:
            return json.load(file)["answers"]

    def keep(self, words, answers):
        with open(f"{self.path(words)}.new", "w") as file:
            json.dump({"setting": words, "answers": answers}, file)
        os.rename(f"{self.path(words)}.new", self.path(words))

    def ask(self, words, runs):
        """{id: (verdict, ranking)} of the runs; None if the recording cannot be judged with these
        words."""
        answers = self.kept(words)
        missing = [run for run in runs if run["id"] not in answers]
        for run, answer in zip(missing, recordings.on_all_cores(lambda run: self.judged(words, run), missing)):
            answers[run["id"]] = answer
        if missing:
            self.keep(words, answers)
        return {run["id"]: answers[run["id"]] for run in runs}

    def ask_together(self, settings, runs):
        """Answers to each setting alone, for the runs that it concerns, found by halving; they are saved."""
        answers = {setting.words: self.kept(setting.words) for setting in settings}
        missing = lambda run: [s for s in settings if bears_on(s, run) and run["id"] not in answers[s.words]]
        runs = [run for run in runs if missing(run)]
        for begin in range(0, len(runs), RUNS_A_KEEP):
            part = runs[begin:begin + RUNS_A_KEEP]
            for run, found in zip(part, recordings.on_all_cores(lambda run: self.by_halves(missing(run), run), part)):
                for words, answer in found.items():
                    answers[words][run["id"]] = answer
            for words, kept in answers.items():
                self.keep(words, kept)

    def by_halves(self, settings, run):
        """{words: answer} for each setting."""
        answer = self.judged(";".join(setting.words for setting in settings), run)
        if len(settings) == 1:
            return {settings[0].words: answer}
        if answer and verdict_key(answer["verdict"]) == verdict_key(run["report"]["verdict"]):
            own = {"verdict": run["report"]["verdict"], "ranking": run["report"].get("ranking") or []}
            return {setting.words: own for setting in settings}
        middle = len(settings) // 2
        return self.by_halves(settings[:middle], run) | self.by_halves(settings[middle:], run)

    def judged(self, words, run):
        try:
            report = report_of(self.bin, f"{run['folder']}/recording.db", judge=words)
        except (RuntimeError, ValueError):
            return None
        return {"verdict": report["verdict"], "ranking": report.get("ranking") or []}


def judged_so(runs, answers):
    """The runs with these answers for their own; runs that were not asked keep theirs, and a run that cannot be judged
    has none."""
    silent = {"verdict": {"state": "insufficient", "host": None, "resource": "none", "confidence": 0}, "ranking": []}
    return [dict(run, report=dict(run["report"], **(answers[run["id"]] or silent))) if run["id"] in answers else run for run in runs]


# ---- what it earns ----

def verdict_key(verdict):
    return tuple(verdict.get(name) for name in VERDICT_KEYS)


def outcome(runs, base):
    m = scorer.measures(runs)
    key = lambda run: verdict_key(run["report"]["verdict"])
    return {"top1": m["top1"], "cause": m["cause"], "false_alarms": m["false_alarms"], "gain_error": m["slowdown_error"]["median"],
            "changed": sorted(now["id"] for now, was in zip(runs, base) if key(now) != key(was)),
            "lost": sorted(now["id"] for now, was in zip(runs, base) if scorer.is_scored(was) and scorer.is_right(was) and not scorer.is_right(now)),
            "won": sorted(now["id"] for now, was in zip(runs, base) if scorer.is_scored(was) and not scorer.is_right(was) and scorer.is_right(now))}


def earned_text(result, base):
    """A table cell about a change of the judge: the changed measures, if any."""
    if not result["changed"]:
        return "nothing changes"
    parts = [f"{name} {base[key]['right']} to {result[key]['right']}" for key, name in
             (("top1", "top-1"), ("cause", "cause"), ("false_alarms", "false alarms")) if result[key]["right"] != base[key]["right"]]
    return f"{len(result['changed'])} verdicts change; " + ("; ".join(parts) if parts else "as many are right")


def ablated(runs, settings, answers, say):
    """[(setting, outcome)], and the outcome of the unchanged judge."""
    base, began, result = outcome(runs, runs), time.time(), []
    for factor in FACTORS:
        moved = [setting for setting in settings if setting.factor == factor]
        answers.ask_together(moved, runs)
        if moved:
            say(f"{len(moved)} thresholds x {factor_text(factor)} after {(time.time() - began) / 60:.0f} min")
    for number, setting in enumerate(settings, 1):
        mine = [run for run in runs if bears_on(setting, run)]
        result.append((setting, outcome(judged_so(runs, answers.ask(setting.words, mine)), runs)))
        left = (time.time() - began) / number * (len(settings) - number)
        say(f"{number:4d} of {len(settings)}  {setting.words:44s} {len(mine):3d} runs: {earned_text(result[-1][1], base)}; left {left / 60:.0f} min")
    return base, result


# ---- the page ----

def outcome_row(name, one):
    return name, share_text(one["top1"]), share_text(one["cause"]), share_text(one["false_alarms"]), len(one["changed"])


OUTCOME_HEAD = ("judge", "top-1", "with cause", "false alarms", "verdicts that change")


def value_text(row):
    return f"{row['value']:g}{' ' + row['unit'] if row.get('unit') else ''}"


def threshold_cells(row, results, base):
    return [earned_text(results["threshold", row["name"], factor], base) if ("threshold", row["name"], factor) in results else "not tried" for factor in FACTORS]


def threshold_table(rows, results, base):
    return table(("threshold", "value", "what it is", *(f"x {factor_text(f)}" for f in FACTORS)),
                 [(row["name"], value_text(row), row.get("reason") or "-", *threshold_cells(row, results, base)) for row in rows]) if rows else ["No threshold."]


def rule_section(rule, results, base):
    off = results.get(("rule", rule["name"], None))
    subject = f", of {rule['subject']}" if rule.get("subject") else ""
    instead = f" Not asked where there is {', '.join(rule['instead'])}." if rule.get("instead") else ""
    lines = [f"### {rule['name']}", "", f"{rule['resource']}, cause {rule['cause']}{subject}. Needs: {', '.join(rule['needs']) or 'nothing'}.{instead}", "",
             rule["reason"], "", f"Without it: {earned_text(off, base) if off else 'not tried'}.", ""]
    return lines + threshold_table(rule["thresholds"], results, base) + [""]


def lines_of(folder):
    """Numbers of the sources in it, and of their lines."""
    paths = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith((".c", ".h", ".def"))]
    count = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            count += sum(1 for _ in file)
    return len(paths), count


def page_lines(listing, base, outcomes, n_runs, size=None):
    results = {(setting.kind, setting.name, setting.factor): one for setting, one in outcomes}
    n_thresholds = len(threshold_owners(listing))
    lines = [f"{len(listing['rules'])} rules, {n_thresholds} thresholds, on {n_runs} recorded runs.", ""]
    if size:
        lines[0] += f" The judge (analysis/) has {size[1]:,} lines in {size[0]} files."
    lines += table(OUTCOME_HEAD, [outcome_row("as it is", base)] + [outcome_row(f"without {name}", results["source", name, None])
                                                                    for name in source_names(listing) if ("source", name, None) in results])
    lines += ["", "## Rules", ""]
    for rule in listing["rules"]:
        lines += rule_section(rule, results, base)
    if listing.get("thresholds"):
        lines += ["## Thresholds of no single rule", ""] + threshold_table(listing["thresholds"], results, base) + [""]
    idle = [setting.name for setting, one in outcomes if setting.kind == "rule" and not one["changed"]]
    return lines + ([f"Rules that change no verdict of these runs: {', '.join(idle)}.", ""] if idle else [])


def with_lines(page, lines, begin=BEGIN, end=END):
    """The page with the text between its markers replaced; a page without markers gets them at its end."""
    before, _, rest = page.partition(begin)
    return "\n".join([before.rstrip("\n"), "", begin, "", *lines, end]) + (rest.partition(end)[2] or "\n")


def write_page(path, lines):
    page = HEAD
    if os.path.exists(path):
        with open(path) as file:
            page = file.read()
    with open(path, "w") as file:
        file.write(with_lines(page, lines))


# ---- the command ----

def names(words):
    return None if words is None else tuple(word for word in words.split(",") if word)


def chosen_names(options):
    """--rules alone tries no thresholds, and --thresholds alone no rules."""
    rules, thresholds = names(options.rules), names(options.thresholds)
    if rules is None and thresholds is None:
        return None, None
    return rules or (), thresholds or ()


def main(options, root):
    say = lambda text: print(text, file=sys.stderr, flush=True)
    try:
        listing = rules_of(options.bin)
    except (RuntimeError, OSError, ValueError) as error:
        say(f"matrix: {error}")
        return 2
    halves = ["tuning", "scored"] if options.half == "both" else [options.half]
    runs, lost = recordings.load(options.results, halves, options.bin, say)
    if not runs:
        say(f"matrix: nothing in {options.results}; `matrix run` first")
        return 2
    truth.set_truth(runs, options.tolerate)
    words = options.only.split(",") if options.only else []
    runs = [run for run in runs if not words or any(word in run["id"] for word in words)]
    settings = settings_of(listing, *chosen_names(options))
    if options.all:
        for setting in settings:
            setting.resources = None
    base, outcomes = ablated(runs, settings, Answers(f"{options.results}/ablation", options.bin), say)
    lines = page_lines(listing, base, outcomes, len(runs), lines_of(f"{root}/analysis"))
    with open(f"{options.results}/ablation.json", "w") as file:
        json.dump({setting.words: one for setting, one in outcomes} | {"": base}, file, indent=1)
    print("\n".join(lines))
    if options.page:
        write_page(f"{root}/{PAGE}", lines)
        print(f"{root}/{PAGE}")
    return 0
