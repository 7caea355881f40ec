# SPDX-License-Identifier: MIT
"""Made-up runs with known truth and scores."""
import truth


def label(host="vm2", resource="cpu", cause="contention", pid=None):
    return {"host": host, "resource": [resource], "cause": cause, "rank": None, "pid": pid, "start": None, "end": None}


def made(fault, loop_s, state="balanced", host=None, resource="none", labels=(), started=0, own_cores=True, confidence=.9, **verdict):
    v = dict({"state": state, "host": host, "resource": resource, "confidence": confidence, "gain_pct": {"estimate": None}}, **verdict)
    return {"id": f"{fault}-{started}", "half": "scored", "workload": "w", "fault": fault, "own_cores": own_cores, "others_cores": 0,
            "labels": list(labels), "loop_s": loop_s, "scale": 1, "started": started,
            "report": {"verdict": v, "ranking": [], "resources": [], "budget": []}}


def scored(*runs):
    runs = list(runs)
    truth.set_truth(runs)
    return runs


def beating(run, *cores):
    """The same run with a canary that took these milliseconds on each core."""
    return dict(run, canary={"period_ns": 1e9, "cores": {str(i): beats if isinstance(beats, list) else [beats] for i, beats in enumerate(cores)}})
