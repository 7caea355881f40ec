# SPDX-License-Identifier: MIT
"""The laws of the verdict as properties of one report. Pure: no files, no programs; laws.py gathers the facts.

Each check takes Facts and yields a sentence for each violation. The numbers are those of the laws themselves; what the
judge decides by its own thresholds (law 9) is read from its listing of rules."""
import dataclasses
import math
import re

LEAST_GAIN_PCT = 5 # law 1: a smaller gain is not reported
ROUNDING_PCT = .5 # a gain is printed in whole percents
FULL_PCT = 80 # law 2: of a known ceiling
UNEXPLAINED_PCT = 20 # law 4: of the ranks' time
FIT_PCT = 5 # law 6: the error that the replay of the unchanged run may have
PATH_PCT = 10 # law 6: a larger cause must show in the replay
NOTHING_PCT = 1 # law 6: "about nothing"
BLIND_CONFIDENCE = .5 # law 7
BLIND_S = 60 # law 7: a minute
SURE_CONFIDENCE = .9 # law 9
SHORT_S = 2 # law 9

SUBJECTS = ("host", "all-hosts", "machine", "core", "rank", "process", "messages", "outside")
OF_A_HOST = ("host", "core", "rank", "process")
BLAMES = ("saturated", "suspected")
# Terms of the budget in which the job loses time to a resource.
LOSS = {"cpu": ("runqueue",), "cpu-quota": ("quota",), "steal": ("steal",), "memory": ("memory",), "disk": ("disk",), "disk-throttle": ("disk",),
        "net-egress": ("transfer", "peer_wait"), "net-ingress": ("transfer", "peer_wait"), "imbalance": ("cpu",), "latency": ("transfer", "peer_wait", "mpi_overhead"),
        "application": ("idle", "cpu", "transfer", "peer_wait", "mpi_overhead")}
CAUSE_OF_TERM = {"runqueue": "contention", "quota": "quota", "steal": "steal", "disk": "disk", "memory": "memory", "idle": "sleep"}
COMPUTING = ("cpu", "runqueue") # time in which a process has work, with or without a core
# Tables of the recording that can rule a resource out, one of each group.
SOURCES = {"cpu": ("cpu", "rank", "process"), "steal": ("cpu",), "memory": ("memory",), "network": ("connection", "qdisc"), "net-egress": ("connection", "qdisc"),
           "net-ingress": ("connection", "qdisc"), "disk": ("disk", "rank"), "disk-throttle": ("cgroup",), "cpu-quota": ("cgroup",),
           "imbalance": ("rank", "process"), "application": ("rank", "process")}
LAUNCHERS = ("mpirun", "mpiexec", "orted", "orterun", "prted", "prterun", "hydra_pmi_proxy", "hydra_bstrap_pr", "srun", "slurmstepd", "ssh", "sshd")
SHELLS = ("sh", "bash", "dash")


@dataclasses.dataclass
class Facts:
    """The report, the answers and the truth of one recording."""
    name: str
    report: dict
    advised: list = dataclasses.field(default_factory=list) # (command under next, its answer or None, why it has none)
    asked: list = dataclasses.field(default_factory=list) # answers to this test's own questions; each with measured_s
    differing: list = dataclasses.field(default_factory=list) # formats whose second report differed
    tables: set = dataclasses.field(default_factory=set) # tables of the recording with at least one row
    held_back: set = dataclasses.field(default_factory=set) # hosts whose queueing discipline throttled packets
    absent_ranks: list = dataclasses.field(default_factory=list) # ranks of the MPI world without any record
    sweep: list = dataclasses.field(default_factory=list) # law 12: answers for every resource of every host
    ended: dict = dataclasses.field(default_factory=dict) # law 13: exit_status, oom_kills, full (mounts without room)
    notes: list = dataclasses.field(default_factory=list) # law 15: remarks of agents and the collector
    disk_counted: bool = False # law 15: the kernel counted waits for disks
    parents: bool = True # parents of processes were recorded: otherwise launchers cannot be told
    thresholds: dict = dataclasses.field(default_factory=dict) # name: value, from the listing of rules
    clean_ratio: float = None # the clean twin's share of its time, and the uncertainty of that
    clean_doubt: float = 0
    fault_words: str = None # the scenario that removes the fault

    @property
    def verdict(self):
        return self.report["verdict"]


# ---- what several laws ask of a report ----

def rows_of(report, phase="all", host=None):
    return [row for row in report.get("budget") or [] if row["phase"] == phase and (row["wall_s"] or 0) > 0 and host in (None, row["host"])]


def share_pct(rows, *terms):
    """The share of the time of all these rows together, in percent."""
    wall = sum(row["wall_s"] for row in rows)
    return 100 * sum(row.get(f"{term}_s") or 0 for row in rows for term in terms) / wall if wall else 0


def subject_of(verdict):
    return verdict.get("subject") or ("host" if verdict.get("host") else "all-hosts")


def blames(verdict):
    return verdict["state"] in BLAMES


def loss_terms(verdict):
    """The terms of the budget in which the job pays for the limit. A process that others wait for pays by computing."""
    if verdict["resource"] == "cpu" and (subject_of(verdict) in ("all-hosts", "core", "rank", "process") or verdict.get("cause_kind") == "serial"):
        return COMPUTING
    return LOSS.get(verdict["resource"], ())


def is_felt_by_peers(verdict):
    return verdict["resource"].startswith("net-") or verdict["resource"] == "application"


def loss_pct(report):
    """The share of the job's own time that was lost to the blamed resource. Where all hosts are blamed, all processes count together;
    else the one that lost most on the blamed host, or on any host where peers feel it or none is named."""
    verdict, rows = report["verdict"], working_rows(report)
    if subject_of(verdict) == "all-hosts":
        return share_pct(rows, *loss_terms(verdict))
    of_one = subject_of(verdict) in OF_A_HOST and not is_felt_by_peers(verdict)
    return max((share_pct([row], *loss_terms(verdict)) for row in rows if not of_one or row["host"] == verdict.get("host")), default=0)


def process_name(row):
    return row["process"].rsplit("[", 1)[0]


def is_launcher(row, rows):
    """By name, or a shell that only waits for processes of the job. (A test may use names; the judge has no such list.)"""
    shell = process_name(row) in SHELLS or process_name(row).endswith(".sh")
    waits = shell and len(rows) > 1 and share_pct([row], "idle") >= 100 - LEAST_GAIN_PCT
    return process_name(row) in LAUNCHERS or waits


def working_rows(report):
    """The budgets of all processes except launchers, for the whole run."""
    rows = rows_of(report)
    return [row for row in rows if not is_launcher(row, rows)]


def first_sentence(text):
    return text.split(". ")[0]


def gain_text(gain):
    return "no estimate" if gain.get("estimate") is None else f"{gain['estimate']:.1f} % ({gain['low']:.1f} to {gain['high']:.1f})"


def named(row):
    return f"{row['host']} {row['process']}"


# ---- 1: one source for gains ----

WIDER = re.compile(r"Without (?:any sleep on |that in both directions|that on any host)|% (?:sending|receiving)")


def whole_run_pct(answer, duration_s):
    """A what-if refers to a phase, a verdict to the whole run."""
    told = (answer.get("run_gain_pct") or {}).get("estimate")
    return told if told is not None else answer["gain_pct"]["estimate"] * answer["measured_s"] / duration_s


def law_1(facts):
    """The verdict's gain must be the answer of the scenario whose command is printed under next."""
    for command, answer, trouble in facts.advised:
        if answer is None or answer["predicted_s"] is None:
            yield f"`{command}` stands under next and has no answer: {trouble or (answer or {}).get('refused')}"
    verdict = facts.verdict
    gain = verdict.get("gain_pct") or {}
    if verdict["state"] == "saturated":
        if gain.get("estimate") is None or gain["estimate"] < LEAST_GAIN_PCT:
            yield f"saturated, and the gain is {gain_text(gain)}: less than {LEAST_GAIN_PCT} %"
        elif not facts.advised:
            yield f"saturated with a gain of {gain_text(gain)}, and no `chokepoint whatif` under next says so"
    if not blames(verdict) or gain.get("estimate") is None or not facts.advised:
        return
    command, answer, _ = facts.advised[0]
    if answer and answer["predicted_s"] is not None:
        told = whole_run_pct(answer, facts.report["run"]["duration_s"])
        if abs(told - gain["estimate"]) > ROUNDING_PCT:
            yield f"the verdict's gain is {gain['estimate']:.1f} %, `{command}` answers {told:.1f} %"
    share = told_share_pct(facts.report)
    least = gain["low"] if gain.get("low") is not None else gain["estimate"] # an interval that contains the share does not contradict it
    if gain.get("source") == "counters" and share is not None and least > share + 2 and not WIDER.search(verdict["summary"]):
        yield f"the verdict's gain is {gain['estimate']:.1f} %, its limit takes {share:.1f} % of the run, and nothing says that the change concerns more"


def told_share_pct(report):
    """The share of the run in the first sentence: the last one before the gain."""
    shares = re.findall(r"([0-9.]+) %(?: of the (?:time|whole run)|\))", report["verdict"]["summary"].split(" Without")[0])
    return float(shares[-1]) if shares else None


# ---- 2: saturated means saturated ----

def is_full(facts):
    """Whether the verdict's resource was used up: a known ceiling was reached, or the kernel counted throttling."""
    report, verdict = facts.report, facts.verdict
    resource, host = verdict["resource"], verdict.get("host")
    if not resource.startswith("net-"):
        return loss_pct(report) >= (FULL_PCT if resource == "cpu" and subject_of(verdict) in ("all-hosts", "core") else LEAST_GAIN_PCT)
    direction = "send" if resource == "net-egress" else "receive"
    metric = {"send": "net_send", "receive": "net_recv"}[direction]
    ceilings = [100 * row["p95"] / row["ceiling"] for row in report.get("resources") or []
                if (row["host"], row["metric"]) == (host, metric) and row.get("ceiling") and row.get("p95") is not None]
    rates = [row["share_pct"] for row in report.get("arithmetic") or [] if (row["host"], row["direction"]) == (host, direction) and row["share_pct"] is not None]
    routes = [row.get("path_limited_pct") or 0 for row in rows_of(report)]
    return max(ceilings + rates + routes, default=0) >= FULL_PCT or (direction == "send" and host in facts.held_back)


def law_2(facts):
    """Saturated requires that a resource was used up while the job waited for it, and that the gain's interval
    excludes 0."""
    verdict = facts.verdict
    if verdict["state"] != "saturated":
        return
    if not is_full(facts):
        yield f"saturated, and nothing shows that {verdict['resource']} of {verdict.get('host') or subject_of(verdict)} was full"
    gain = verdict.get("gain_pct") or {}
    if gain.get("low") is None or gain["low"] <= 0:
        yield f"saturated, and the interval of the gain does not exclude 0: {gain_text(gain)}"


# ---- 3: only the job's own tasks accuse ----

def law_3(facts):
    """Blame needs a loss of the job's own tasks, connections or group."""
    verdict = facts.verdict
    lost = loss_pct(facts.report) if blames(verdict) else LEAST_GAIN_PCT
    if lost < LEAST_GAIN_PCT:
        culprit = (verdict.get("culprit") or {}).get("process")
        yield (f"{verdict['state']} {verdict['resource']} of {verdict.get('host') or subject_of(verdict)}{f', by {culprit}' if culprit else ''}: "
               f"the job lost {lost:.1f} % of its time to it")


# ---- 4: balanced is earned ----

def unexplained_pct(report):
    """The share of the ranks' time that has no cause: asleep or blocked, in MPI for no known reason, in no term. Waits for others
    count where no critical path says for what. Launchers are left to law 8."""
    followed = any(row["phase"] == "all" and row["host"] for row in report.get("critical_path") or [])
    return share_pct(working_rows(report), "idle", "mpi_unsplit", "unknown", *(() if followed else ("peer_wait",)))


def ruled_out_names(verdict):
    """Entries are sentences "RESOURCE: why", or objects with a resource."""
    return [entry.split(":")[0] if isinstance(entry, str) else entry["resource"] for entry in verdict.get("ruled_out") or []]


def law_4(facts):
    """Balanced requires that little is unexplained; nothing may be ruled out that was not recorded."""
    if facts.verdict["state"] == "balanced":
        share = unexplained_pct(facts.report)
        if share > UNEXPLAINED_PCT:
            yield f"balanced, though {share:.0f} % of the ranks' time is asleep, blocked or unexplained"
        if not rows_of(facts.report):
            yield "balanced, though no budget of any process is known"
    for name in ruled_out_names(facts.verdict):
        needed = SOURCES.get(name)
        if needed is not None and not facts.tables.intersection(needed):
            yield f"{name} is ruled out, and no {' or '.join(needed)} was recorded"


# ---- 5: the limit need not be one host ----

def law_5(facts):
    """Each limit has its subject; a run that always computes, or that one change would shorten, is not balanced."""
    verdict = facts.verdict
    subject = verdict.get("subject")
    if blames(verdict):
        if subject not in SUBJECTS:
            yield f"{verdict['state']} without a subject ({subject})"
        elif (subject in OF_A_HOST) != bool(verdict.get("host")):
            yield f"the subject is {subject}, the host {verdict.get('host')}"
    if verdict["state"] != "balanced":
        return
    rows = working_rows(facts.report)
    computing = share_pct(rows, *COMPUTING)
    # Ranks without recorded calls may spin, so their computing is not known.
    may_spin = "mpi" not in facts.tables and any(row["rank"] is not None for row in rows)
    if computing >= FULL_PCT and not may_spin:
        yield f"balanced, though all processes compute, or wait for a core, {computing:.0f} % of the time"
    for answer in facts.asked:
        gain = answer["gain_pct"]
        if answer["scenario"].startswith("--without all:") and (gain["estimate"] or 0) >= LEAST_GAIN_PCT and gain["low"] > 0:
            yield f"balanced, though {answer['scenario']} would bring {gain_text(gain)}"


# ---- 6: the replay is tested before it is believed ----

def removes_nothing(answer, report):
    """Whether the removed loss is known to be zero."""
    cause = answer["scenario"].rsplit(":", 1)[-1]
    term = next((term for term, name in CAUSE_OF_TERM.items() if name == cause), None)
    return answer["scenario"].startswith("--without ") and term is not None and answer["gain_pct"]["estimate"] == 0 and share_pct(rows_of(report), term) < NOTHING_PCT


def path_question(row):
    """(the scenario in which a part of the critical path is gone or half as long, the share of it that is saved)."""
    if row["term"] == "cpu":
        return f"--cpu {row['host']}=2x", row["share_pct"] / 2
    cause = CAUSE_OF_TERM.get(row["term"])
    return (f"--without {row['host']}:{cause}", row["share_pct"]) if cause else (None, 0)


def waited_pct(report, phase, host):
    """The largest share of its time that a rank elsewhere waited for others. Where ranks compute side by side for as
    long, the path runs through one of them, and another takes its place as soon as that one is faster."""
    return max((share_pct([row], "peer_wait") for row in rows_of(report, phase) if row["host"] != host), default=100)


def is_passed_over(row, answer, waited):
    """The path spends much on it, others waited long enough for that, and yet the replay predicts hardly any
    gain."""
    saved = path_question(row)[1]
    return (answer["predicted_s"] is not None and min(saved, waited) >= LEAST_GAIN_PCT and min(row["share_pct"], waited) >= PATH_PCT
            and abs(answer["gain_pct"]["estimate"]) < NOTHING_PCT)


def everywhere(rows):
    """Parts of the path that one change can take from all hosts: one row for each term, with host "all"."""
    terms = {row["term"] for row in rows if row["term"] in CAUSE_OF_TERM}
    return [{"host": "all", "term": term, "share_pct": sum(row["share_pct"] for row in rows if row["term"] == term)} for term in sorted(terms)]


def law_6(facts):
    """The replay fits the run, and reacts to parts of the critical path; no interval has zero width; no clean run beats a bound."""
    answers = {answer["scenario"]: answer for answer in facts.asked + [answer for _, answer, _ in facts.advised if answer]}
    for scenario, answer in answers.items():
        interval = answer["interval_s"]
        if answer["predicted_s"] is not None and interval["low"] >= interval["high"] and not removes_nothing(answer, facts.report):
            yield f"{scenario}: predicted {answer['predicted_s']:.3f} s by an interval without width"
        off = 100 * abs(answer["replay_s"] / answer["measured_s"] - 1) if answer.get("replayed") and answer.get("replay_s") else 0
        if answer["predicted_s"] is not None and off > FIT_PCT:
            yield f"{scenario}: predicted by a replay that is {off:.0f} % off"
    phase = facts.asked[0]["phase"] if facts.asked else None
    parts = [row for row in facts.report.get("critical_path") or [] if row["phase"] == phase and row["host"]]
    for row in [row for row in parts if row["share_pct"] >= PATH_PCT] + everywhere(parts):
        scenario, _ = path_question(row)
        answer = answers.get(scenario)
        waited = 100 if row["host"] == "all" else waited_pct(facts.report, phase, row["host"])
        if answer and is_passed_over(row, answer, waited):
            yield f"{scenario}: {answer['gain_pct']['estimate']:.1f} %, though {row['share_pct']:.0f} % of the critical path is {row['term']} of {row['host']}"
    yield from more_than_the_path(parts, answers)
    yield from beaten_bound(facts, answers)


def more_than_the_path(parts, answers):
    """With chains of waits no change saves more of the run than the path spends on it."""
    for row in parts:
        scenario, saved = path_question(row)
        answer = answers.get(scenario)
        if row.get("source") == "waits" and answer and answer["predicted_s"] is not None and answer["gain_pct"]["estimate"] > saved + ROUNDING_PCT:
            yield f"{scenario}: {answer['gain_pct']['estimate']:.1f} %, though {saved:.0f} % of the critical path is what it takes away"


def beaten_bound(facts, answers):
    answer = answers.get(facts.fault_words)
    if answer and answer["bound_s"] is not None and facts.clean_ratio is not None:
        bound = answer["bound_s"] / answer["measured_s"]
        if facts.clean_ratio * math.exp(facts.clean_doubt) < bound:
            yield (f"{facts.fault_words}: at least {100 * bound:.0f} % of the time, and the clean run took {100 * facts.clean_ratio:.0f} % "
                   f"(known to within {100 * facts.clean_doubt:.0f} %)")


# ---- 7: what nobody recorded is loud ----

def blind_names(facts):
    """Hosts and ranks without records, or with less than a minute of a longer run."""
    run = facts.report["run"]
    hosts = [host["name"] for host in run.get("host_details") or []
             if host["missing"] or host["samples"]["missed"] * run["period_s"] >= BLIND_S or not host["samples"]["recorded"]]
    return hosts + [f"rank {rank}" for rank in facts.absent_ranks]


def law_7(facts):
    """A host or rank without data caps the confidence, and is named in the first sentence."""
    blind = blind_names(facts)
    if blind and facts.verdict["confidence"] > BLIND_CONFIDENCE:
        yield f"confidence {facts.verdict['confidence']:.2f}, though nothing is known of {', '.join(blind)}"
    for name in blind:
        if name not in first_sentence(facts.verdict["summary"]):
            yield f"the first sentence does not name {name}, of which nothing is known"


# ---- 8: all threads of all processes of the job count ----

def law_8(facts):
    """Launchers are no ranks; a process whose main thread sleeps while others compute does not sleep."""
    rows = rows_of(facts.report)
    for row in rows:
        if facts.parents and is_launcher(row, rows):
            yield f"{named(row)}, which only launches others, has a budget"
        asleep, others = share_pct([row], "idle"), share_pct([row], "other_threads_cpu")
        if min(asleep, others) > UNEXPLAINED_PCT:
            yield f"{named(row)} is told to be asleep {asleep:.0f} % of the time, while its other threads computed for {others:.0f} %"


# ---- 9: duration speaks ----

SURE = {"SURE_S": "seconds", "SURE_SAMPLES": "samples"} # thresholds in the listing that allow a higher confidence


def law_9(facts):
    """Confidence above .9 needs enough samples and seconds; a run of under 2 s gets one line."""
    run, verdict = facts.report["run"], facts.verdict
    samples = min((host["samples"]["recorded"] for host in run.get("host_details") or []), default=0)
    for name, had in (("SURE_S", run["duration_s"]), ("SURE_SAMPLES", samples)):
        needed = facts.thresholds.get(name)
        if needed is not None and had < needed and verdict["confidence"] > SURE_CONFIDENCE:
            yield f"confidence {verdict['confidence']:.2f} of {had:.3g} {SURE[name]}, and {needed:g} are needed for more than {SURE_CONFIDENCE:g}"
    if run["duration_s"] < SHORT_S:
        if verdict["confidence"] > SURE_CONFIDENCE:
            yield f"confidence {verdict['confidence']:.2f} of a run of {run['duration_s']:.2f} s"
        if verdict.get("ruled_out") or len(verdict.get("next") or []) > 1:
            yield f"a run of {run['duration_s']:.2f} s says more than one line"


# ---- 10: deterministic ----

def law_10(facts):
    """The same recording gives the same bytes."""
    for what in facts.differing:
        yield f"{what} is another the second time"


LAWS = {1: law_1, 2: law_2, 3: law_3, 4: law_4, 5: law_5, 6: law_6, 7: law_7, 8: law_8, 9: law_9, 10: law_10}
