#!/bin/bash
# SPDX-License-Identifier: MIT
# An assistant's questions through `chokepoint mcp`, on stored recordings of everyday commands and on a fresh run: each
# claim resolves. The SQL of each evidence gives its value, each run, host and process that is named is in the
# database, what was ruled out is not the verdict, answers and descriptions are as short as promised, pages add up to
# the document, and hostile requests get errors and end nothing.
# shellcheck source=tests/e2e/run_lib.sh
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
command -v python3 >/dev/null && command -v jq >/dev/null || { echo "skipped: no python3 or no jq here"; exit 77; }
export ASAN_OPTIONS=detect_leaks=1

# The skill is short, and has no verb, option or section that is not there.
skill=$CHOKEPOINT_SOURCE/docs/SKILL.md
[ "$(wc -l <"$skill")" -lt 150 ] || fail "SKILL.md has $(wc -l <"$skill") lines"
grep -oE '`chokepoint [a-z]+[^`]*' "$skill" | cut -c 2- | while read -r _ verb words; do
    "$chokepoint" "$verb" --help >help 2>/dev/null || fail "SKILL.md has '$verb', which is no verb"
    for option in $(grep -oE -- '--[a-z][a-z-]+' <<<"$words"); do
        [ "$option" = --help ] || grep -q -- "$option" help || fail "SKILL.md has $verb $option, which is not there"
    done
done || exit 1
for section in $(grep -oE 'sections? `[^;|]*' "$skill" | grep -oE '`[a-z_]+`' | tr -d '`'); do
    jq -e "has(\"$section\")" "$CHOKEPOINT_SOURCE/tests/golden/report.json" >/dev/null || fail "SKILL.md has $section, which is no section"
done

run -q -n busy python3 -c 'import time
end = time.time() + 6
while time.time() < end: pass'
[ $status -eq 0 ] || fail "no recording"
run -q --no-report -n busy sh -c "dd if=/dev/zero of=$work/file bs=1M count=200 conv=fsync 2>/dev/null; sleep 2"
[ $status -eq 0 ] || fail "no second recording"
for packed in "$CHOKEPOINT_SOURCE"/tests/golden/everyday/*.db.gz; do
    gzip -dc "$packed" >"$(basename "$packed" .gz)" || fail "$packed cannot be unpacked"
done
claims "$chokepoint" runs.db ./*.db <<'PYTHON' || fail "a claim does not resolve"
import json
import os
import sqlite3
import subprocess
import sys
from claims import done, hold

CHOKEPOINT, FRESH, *RECORDINGS = sys.argv[1:]
LEAST = 2000                         # bytes of the smallest page
ANSWER, DESCRIPTIONS = 16000, 8000   # bytes: 4000 and 2000 tokens


class Server:
    def __init__(self, database):
        self.process = subprocess.Popen([CHOKEPOINT, "mcp", "--db", database], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.n, self.longest = 0, 0

    def send(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        self.longest = max(self.longest, len(line))
        return json.loads(line)

    def ask(self, method, params=None):
        self.n += 1
        request = {"jsonrpc": "2.0", "id": self.n, "method": method}
        self.send(json.dumps(request if params is None else {**request, "params": params}).encode())
        answer = self.receive()
        assert answer["jsonrpc"] == "2.0" and answer["id"] == self.n, answer
        return answer

    def call(self, tool, **arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def pages(self, tool, **arguments):
        """The whole document of a tool, put together again, and the words above its first page."""
        document, words, cursor, n = {}, None, None, 0
        while n < 500:
            answer = self.call(tool, **arguments, **({"cursor": cursor} if cursor else {}))
            texts = [block["text"] for block in answer["result"]["content"]]
            assert not answer["result"]["isError"], texts
            words = texts[0] if len(texts) > 1 else words
            page, n = json.loads(texts[-1]), n + 1
            cursor = page["cursor"]
            add_page(document, page)
            if not cursor:
                return document, words, n
        raise AssertionError("pages without an end")

    def end(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        return self.process.wait(60), rest


def add_page(document, page):
    path = (page["page"]["from"] or "").split("/")
    for name in ("schema", "page", "cursor"):
        del page[name]
    add(document, page, path)


def add(into, part, path):
    """path: where the part goes on within `into`."""
    if isinstance(into, dict):
        for name, value in part.items():
            into[name] = add(into[name], value, path[1:] if path[:1] == [name] else []) if name in into else value
    elif isinstance(into, list) and len(path) > 1:
        into[-1] = add(into[-1], part[0], path[1:])
        into += part[1:]
    elif isinstance(into, list):
        into += part
    return into


def is_near(is_, should):
    return is_ is not None and should is not None and abs(is_ - should) <= 0.005 * max(abs(should), 0.02)


def sql_of(server, query):
    document, _, _ = server.pages("sql", query=query)
    return document


def one(server, query):
    rows = sql_of(server, query)["rows"]
    return rows[0][0] if rows else None


def resolves(server, report, where):
    """Each evidence of a report; the number of those with a query."""
    asked, wrong, bare = 0, [], []
    ruled_out = [{"id": r["id"], "no_sql": "", **r["figure"]} for r in report["ruled_out"] if r["figure"]]
    for piece in report["evidence"] + ruled_out:
        if piece["sql"]:
            asked += 1
            gives = one(server, piece["sql"])
            if not is_near(gives, piece["value"]):
                wrong.append((piece["id"], piece["value"], gives))
        elif piece["no_sql"] is None:
            bare.append(piece["id"])
    hold(f"{where}: the SQL of each evidence gives its value", not wrong, wrong or f"{asked} queries")
    hold(f"{where}: where no SQL gives a figure a reason stands", not bare, bare)
    return asked


def tables_exist(server, report):
    there = {row[0] for row in sql_of(server, "SELECT name FROM sqlite_schema WHERE type = 'table'")["rows"]}
    return {t for e in report["evidence"] for t in e["source"]["tables"]} - there - {"gpu", "call", "wait", "connection", "cgroup"}


# ---- every stored recording: verdict, evidence, names ----
queries = 0
for path in RECORDINGS:
    where, server = os.path.basename(path), Server(path)
    server.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
    server.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    report, words, _ = server.pages("verdict")
    verdict = report["verdict"]
    queries += resolves(server, report, where)
    hosts = {row[0] for row in sql_of(server, "SELECT name FROM host")["rows"]}
    named = {e["host"] for e in report["evidence"]} | {r["host"] for r in report["ruled_out"]} | {verdict["host"]}
    hold(f"{where}: each host that is named was recorded", named - {None} <= hosts, named)
    hold(f"{where}: the run is there", one(server, f"SELECT count(*) FROM run WHERE run = {report['run']['id']}") == 1, report["run"]["id"])
    hold(f"{where}: a verdict that blames says what it blames", (verdict["state"] in ("saturated", "suspected")) == (verdict["resource"] != "none"),
         (verdict["state"], verdict["resource"]))
    same = [r["id"] for r in report["ruled_out"] if verdict["state"] in ("saturated", "suspected")
            and r["resource"] == verdict["resource"] and r["cause"] == verdict["cause_kind"] and r["host"] == verdict["host"]]
    hold(f"{where}: what was ruled out is not the verdict", not same, same)
    hold(f"{where}: ids are different", len({e["id"] for e in report["evidence"]}) == len(report["evidence"]), len(report["evidence"]))
    hold(f"{where}: tables that are named exist", not tables_exist(server, report), tables_exist(server, report))
    hold(f"{where}: five lines stand above", words and words.startswith("chokepoint: "), (words or "")[:60])
    hold(f"{where}: each answer has at most {ANSWER} bytes", server.longest <= ANSWER, server.longest)
    status, rest = server.end()
    hold(f"{where}: the server ends with its input, and says nothing more", status == 0 and not rest, (status, rest[:80]))
hold("the stored recordings have evidence with queries", queries >= 20, queries)

# ---- twenty questions about one database ----
server = Server(FRESH)
start = server.ask("initialize", {"protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
hold("1. Which protocol? An unknown revision is answered with ours", start["result"]["protocolVersion"] == "2025-06-18", start["result"]["protocolVersion"])
tools = server.ask("tools/list")["result"]["tools"]
hold("2. What can you do? At most five tools", 1 <= len(tools) <= 5, [t["name"] for t in tools])
hold("   their descriptions have at most 2000 tokens", len(json.dumps(tools)) <= DESCRIPTIONS, len(json.dumps(tools)))
runs, _, _ = server.pages("list_runs")
known = {row[0]: row[1] for row in sql_of(server, "SELECT run, name FROM run")["rows"]}
hold("3. Which runs are there? Those of the database, the newest first",
     [r["id"] for r in runs["runs"]] == sorted(known, reverse=True) and all(known[r["id"]] == r["name"] for r in runs["runs"]), known)
first, second = sorted(known)
report, words, _ = server.pages("verdict", run=first)
verdict = report["verdict"]
hold("4. What limits run 1? A core: a program that counts", verdict["resource"] == "cpu", verdict["limit"])
hold("5. How sure are you? Between 0 and 1", 0 < verdict["confidence"] <= 1, verdict["confidence"])
hold("6. What does that rest on?", resolves(server, report, "run 1") >= 2, [e["id"] for e in report["evidence"]])
hold("7. Which figures were observed? Each is said to be observed or inferred", {e["basis"] for e in report["evidence"]} <= {"observed", "inferred"} and
     all(e["basis"] == "inferred" for e in report["evidence"] if e["id"].endswith(("gain_pct", "blocked_pct"))),
     [(e["id"], e["basis"]) for e in report["evidence"]])
hold("8. Is it something else? What is ruled out has its reason", report["ruled_out"] and all(r["reason"] for r in report["ruled_out"]),
     [r["reason"] for r in report["ruled_out"]])
heard = report["coverage"]["hosts"]
hold("9. Which hosts were heard, and until when?", heard and all(h["heard"] and h["first_s"] < h["last_s"] for h in heard) and
     is_near(one(server, f"SELECT last_s FROM run_host WHERE run = {first}"), heard[0]["last_s"]), heard)
hold("10. How fine is it?", all(0 < h["resolution_s"] < 2 and h["samples"]["recorded"] > 0 for h in heard), heard[0]["resolution_s"])
lacking = [s for s in report["coverage"]["sources"] if not s["recorded"]]
hold("11. Which sources are missing? MPI calls, and each with its reason",
     "calls" in {s["source"] for s in lacking} and all(s["why_not"] for s in lacking), [s["source"] for s in lacking])
second_report, _, _ = server.pages("verdict", run="last")
hold("12. And the last run? Run 2", second_report["run"]["id"] == second, second_report["verdict"]["limit"])
resolves(server, second_report, "run 2")
whole = json.loads(subprocess.run([CHOKEPOINT, "report", str(first), "--db", FRESH, "--format", "json"], capture_output=True, check=True).stdout)
resources, _, _ = server.pages("section", run=first, section="resources")
hold("13. How busy was everything? As the report says", resources["resources"] == whole["resources"], len(resources["resources"]))
processes, _, _ = server.pages("section", run=first, section="processes,budget")
names = {row[0] for row in sql_of(server, "SELECT DISTINCT process FROM process_rate UNION SELECT process FROM budget")["rows"]}
shown = {p["process"] for p in processes["processes"] + processes["budget"]}
hold("14. Which processes used the CPU? Those that are in the database", {p for p in shown if "[" in p} <= names, sorted(shown)[:5])
system = next(r for r in resources["resources"] if r["metric"] == "psi_cpu" and r["phase"] == "all")
own = one(server, "SELECT sum(some_pct * interval_s) / sum(interval_s) FROM psi_rate WHERE resource = 'cpu' AND time_s - interval_s >= 0"
          f" AND time_s <= {whole['run']['duration_s']} AND run = {first}")
hold("15. Did anybody wait for a core? As a query of one's own says", abs(own - system["mean"]) < 8, (own, system["mean"]))
compared, words, _ = server.pages("compare", runs=[first, second])
hold("16. Which run is faster? As their durations say", {r["run"]["id"] for r in compared["runs"]} == {first, second} and
     all(is_near(r["run"]["duration_s"], one(server, f"SELECT (ended_mono_ns - started_mono_ns) / 1e9 FROM run WHERE run = {r['run']['id']}"))
         for r in compared["runs"]), words and words.splitlines()[0])
meaning = sql_of(server, "SELECT c.help FROM column_info c JOIN table_info t USING (table_id) WHERE t.name = 'psi' AND c.name = 'some_ns'")
hold("17. What does some_ns mean?", meaning["rows"] == [["time at least one task waited for it"]], meaning["rows"])
many = sql_of(server, "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t LIMIT 4000) SELECT x, 'row ' || x AS text FROM t")
hold("18. All rows of a long answer? By cursors, each once", [row[0] for row in many["rows"]] == list(range(1, 4001)), len(many["rows"]))
nothing = server.call("verdict", run="never")
hold("19. And a run that is not there? A sentence that says so", nothing["result"]["isError"] and "never" in nothing["result"]["content"][0]["text"],
     nothing["result"]["content"][0]["text"])
page = json.loads(server.call("section", run=first, section="resources,processes,evidence,coverage")["result"]["content"][-1]["text"])
if page["cursor"]:
    other = server.call("section", run=second, section="resources,processes,evidence,coverage", cursor=page["cursor"])
else:
    other = server.call("verdict", run=second, cursor=f"{first}-0-0")
hold("20. May a cursor of one run be used for another? No", other["error"]["code"] == -32602, other["error"])

# ---- hostile ----
HOSTILE_SQL = ["DELETE FROM run", "UPDATE run SET name = 'x'", "INSERT INTO run_note VALUES (1, 1, 'x')", "DROP TABLE run",
               "CREATE TABLE x(y)", "CREATE TEMP TABLE x(y)", "ATTACH 'other.db' AS other", "DETACH main", "VACUUM INTO 'copy.db'",
               "PRAGMA query_only=OFF", "PRAGMA table_info(run)", "SELECT load_extension('x')", "SELECT readfile('/etc/passwd')",
               "SELECT writefile('x', 'y')", "SELECT 1; DELETE FROM run", "SELECT 1; SELECT 2", "", "--", "SELECT", "SELECT zeroblob(1000000000)",
               "SELECT randomblob(100000000)", "BEGIN", "SAVEPOINT x", "REINDEX", "ANALYZE",
               "SELECT * FROM nothing", "SELECT fts3_tokenizer('x')", "WITH t AS (SELECT 1) DELETE FROM run", "EXPLAIN DELETE FROM run",
               "SELECT " + ",".join(["1"] * 500), "SELECT " + "(" * 1000 + "1" + ")" * 1000, "SELECT '" + "x" * 30000 + "'",
               "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT max(x) FROM t",
               "WITH RECURSIVE t(x) AS (SELECT 'x' UNION ALL SELECT x || x FROM t) SELECT count(*) FROM (SELECT x FROM t ORDER BY x)"]
before = (os.path.getsize(FRESH), sorted(os.listdir(".")), known)
answers = {query[:50]: server.call("sql", query=query) for query in HOSTILE_SQL}
bad = [q for q, a in answers.items() if not a.get("result", {}).get("isError")]
hold("SQL that does more than read is refused", not bad, bad)
sys_after = (os.path.getsize(FRESH), sorted(os.listdir(".")), {r[0]: r[1] for r in sql_of(server, "SELECT run, name FROM run")["rows"]})
hold("nothing was written", before == sys_after, sys_after[:2])

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
for line, code in [(b"{", -32700), (b"[]", -32600), (b"[" + PING + b"]", -32600), (b"null", -32600), (b'"x"', -32600), (b"[" * 50000, -32700),
                   (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700), (b"\xff\xfe", -32700), (b'{"a":"\\u0000"}', -32700),
                   (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600), (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', -32600),
                   (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600), (b'{"jsonrpc":"2.0","id":"%s","method":"ping"}' % (b"x" * 100000), -32600),
                   (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600), (b'{"jsonrpc":"2.0","id":1}', -32600), (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600),
                   (b'{"jsonrpc":"2.0","id":1,"method":"resources/list"}', -32601), (b'{"jsonrpc":"2.0","id":"a","method":"exit"}', -32601),
                   (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', -32602), (b'{"jsonrpc":"2.0","id":1,"method":"initialize"}', -32602),
                   (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}}', -32602),
                   (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"verdict","arguments":[]}}', -32602),
                   (b"x" * 3000000, -32600)]:
    server.send(line)
    answer = server.receive()
    hold(f"{line[:60]!r} is an error", answer["error"]["code"] == code, answer["error"])
for tool, arguments in [("verdict", {"run": "-o/tmp/x"}), ("verdict", {"run": "--alerts"}), ("verdict", {"run": ""}), ("verdict", {"run": {}}), ("verdict", {"run": -1}),
                        ("verdict", {"run": "x\n"}), ("verdict", {"runs": 1}), ("verdict", {"cursor": 1}), ("verdict", {"cursor": "x"}), ("verdict", {"cursor": ""}),
                        ("verdict", {"cursor": "1-0-" + "9" * 60}), ("section", {}), ("section", {"section": "-x"}), ("section", {"section": "nothing"}),
                        ("section", {"section": 1}), ("compare", {"runs": [1]}), ("compare", {"runs": "1"}), ("compare", {"runs": [1] * 100}),
                        ("compare", {"runs": [1, "--gate"]}), ("sql", {}), ("sql", {"query": 1})]:
    answer = server.call(tool, **arguments)
    hold(f"{tool} {str(arguments)[:60]} is refused", answer.get("error", {}).get("code") == -32602, answer.get("error", answer))
for quiet in (b"", b"   ", b'{"jsonrpc":"2.0","method":"ping"}', b'{"jsonrpc":"2.0","method":"nothing"}', b'{"jsonrpc":"2.0","id":1,"result":{}}'):
    server.send(quiet)
hold("what wants no answer gets none", server.ask("ping")["result"] == {}, "ping")
hold("an id is given back as it was", all((server.send(b'{"jsonrpc":"2.0","id":%s,"method":"ping"}' % i), server.receive()["id"] == json.loads(i))[1]
                                         for i in (b'"x"', b"0", b"-5", b"1.5", b'""', b"9007199254740993")), "")
hold(f"each answer has at most {ANSWER} bytes", server.longest <= ANSWER, server.longest)
status, rest = server.end()
hold("the server ends with its input alone", status == 0 and not rest, (status, rest[:80]))
late = subprocess.run([CHOKEPOINT, "mcp", "--db", "not-there.db"], input=PING + b"\n" + PING.replace(b"ping", b"tools/call").replace(b'"}', b'","params":{"name":"list_runs"}}'),
                      capture_output=True)
answers = [json.loads(line) for line in late.stdout.splitlines()]
hold("a database that is not there is told, and a last line needs no line feed", late.returncode == 0 and len(answers) == 2 and
     answers[1]["result"]["isError"], answers)

# ---- pages of the command line ----
for least in (LEAST, 5000, 10**7):
    document, cursor, longest, n = {}, [], 0, 0
    while True:
        made = subprocess.run([CHOKEPOINT, "report", str(first), "--db", FRESH, "--format", "json", "--max-bytes", str(least)] + cursor,
                              capture_output=True, check=True).stdout
        page = json.loads(made)
        longest, n, cursor = max(longest, len(made)), n + 1, ["--cursor", page["cursor"]]
        add_page(document, page)
        if not cursor[1]:
            break
    hold(f"pages of {least} bytes are the document", document == {k: v for k, v in whole.items() if k != "schema"} and longest <= least, (n, longest))
for cursor, status in (("x", 2), (f"{second}-0-0", 2), ("", 2)):
    refused = subprocess.run([CHOKEPOINT, "report", str(first), "--db", FRESH, "--format", "json", "--max-bytes", "5000", "--cursor", cursor], capture_output=True)
    hold(f"the cursor '{cursor}' is refused in one line", refused.returncode == status and refused.stderr.count(b"\n") == 1 and not refused.stdout, refused.stderr)
done()
PYTHON
exit 0
