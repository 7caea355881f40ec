# SPDX-License-Identifier: MIT
"""Two verdicts on the same run compared: whom they blame for what, and how sure they are."""
import json
import os
import subprocess

from scorer import names_a_limit

SURE = .8 # another blame from this confidence on is a wrong one, in one of two verdicts


def verdict_of(program, database, number=1, judge=""):
    """The verdict, or None where the run cannot be reported. judge: rules, thresholds and sources changed (ablate.py)."""
    environment = dict(os.environ, CHOKEPOINT_JUDGE=judge) if judge else None
    done = subprocess.run([program, "report", str(number), "--db", database, "--format", "json"], capture_output=True, text=True, env=environment)
    return json.loads(done.stdout)["verdict"] if done.returncode == 0 else None


def key(verdict, names=None):
    """The content of a verdict: its state where nothing is blamed; else subject, host, rank, resource and cause. names: {name of a
    host: the one it is compared with}."""
    if verdict is None:
        return ("none",)
    if not names_a_limit(verdict):
        return (verdict["state"],)
    host = verdict.get("host")
    return (verdict.get("subject"), (names or {}).get(host, host), verdict.get("rank"), verdict["resource"], verdict.get("cause_kind"))


def band(verdict):
    confidence = verdict["confidence"] if verdict else 0
    return 2 if confidence >= SURE else 1 if confidence >= .5 else 0


def place(verdict, names=None):
    """Host and resource that a verdict blames; a core or a process is its host. None: nobody is blamed."""
    if verdict is None or not names_a_limit(verdict):
        return None
    host = verdict.get("host")
    return ((names or {}).get(host, host) or verdict.get("subject"), verdict["resource"])


def is_other_blame(before, after, names=None):
    """The second verdict is sure of somebody, or of a resource, that the first one does not blame."""
    return place(after, names) is not None and after["confidence"] >= SURE and place(before) != place(after, names)


def text(verdict, names=None):
    return "no report" if verdict is None else f"{' '.join(str(word) for word in key(verdict, names) if word not in (None, 'none'))} {verdict['confidence']:.2f}"
