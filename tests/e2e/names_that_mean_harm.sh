#!/bin/bash
# SPDX-License-Identifier: MIT
# Hostile names of a process, of marks, of the run, and hostile words of its command (tags, quotes,
# formulas, escape sequences, newlines, shell and gnuplot commands, a thousand bytes) appear in
# every report as harmless text.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }

long=$(head -c 1000 /dev/zero | tr '\0' 'x')
bad_name=$'=1+1|<script>alert(1)</script>"\'&\e[31m\nred`touch pwned`\xff'"$long"
run -n "$bad_name" --rate 20 --process-rate 10 "$CHOKEPOINT_BIN/harmful-names" \
    '<img src=x onerror=alert(2)>' $'\e]0;title\a|\n| b |' '=cmd()' '`id`<b>' "$long"
[ $status -eq 0 ] || fail "exit status $status"
[ "$(sql "SELECT count(*) > 10 FROM mark")" = 1 ] || fail "no marks were recorded"
"$chokepoint" run $slow_start -q --db "$db" -n plain true || fail "a plain run"
for f in text md html csv json; do
    "$chokepoint" report 1 --db "$db" --format $f -o report.$f || fail "no report as $f"
    "$chokepoint" compare 1 2 --db "$db" --format $f -o compare.$f || fail "no comparison as $f"
done
if command -v gnuplot >/dev/null; then
    for f in svg png pdf; do
        "$chokepoint" report 1 --db "$db" -o pictures.$f || fail "no pictures as $f"
    done
fi
"$chokepoint" report 2 --db "$db" --format html -o plain.html || fail "no plain report"
"$chokepoint" report 1 --db "$db" >screen || fail "no screen"
"$chokepoint" list --db "$db" >list || fail "no list"
[ -z "$(find . -name 'pwned*')" ] || fail "a name was executed"
python3 - "$db" <<'END' || fail "see above"
import csv, html.parser, io, json, os, re, sqlite3, sys, xml.etree.ElementTree
def check(good, *what):
    if not good:
        sys.exit("FAILED: " + " ".join(map(str, what)))
def read(name):
    return open(name, "rb").read().decode("utf-8", "strict")

# Everywhere: valid UTF-8 and no control characters but the newlines of the format.
for name in "report.text", "report.md", "report.html", "report.csv", "report.json", "compare.text", "compare.md", "compare.html", \
        "compare.csv", "compare.json", "screen", "list", "err":
    text = read(name)
    bad = re.search(r"[^\x20-\x7e\n\u00a0-\uffff]" if not name.endswith("csv") else r"[^\x20-\x7e\r\n\u00a0-\uffff]", text)
    check(not bad, name, "has", bad and repr(text[max(0, bad.start() - 30):bad.end() + 10]))
    print(f"{name}: {len(text)} characters")

class page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.sources, self.text = {}, set(), [], ""
        self.feed(text)
        self.close()
    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.attributes |= {name for name, _ in attrs}
        self.sources += [value for name, value in attrs if name in ("src", "href", "xlink:href", "data")]
    def handle_data(self, data):
        self.text += data
plain = page(read("plain.html"))
for name in "report.html", "compare.html":
    p = page(read(name))
    drawn = {"svg", "g", "path", "text", "tspan", "use", "defs", "circle", "rect", "polygon", "filter", "feflood", "fecomposite", "image"}
    strange = p.tags.keys() - plain.tags.keys() - drawn - {"figure", "figcaption", "strong", "details", "summary", "ul", "li", "h3", "h4", "nav", "ol", "code"}
    check(not strange, name, "tags", strange)
    check(p.tags.get("script", 0) <= plain.tags.get("script", 0), name, "has a script more")
    check(not any(a.startswith("on") for a in p.attributes), name, "attributes", p.attributes)
    check("<script>alert(1)</script>" in p.text, name, "does not show the name")
    check(not re.search(r"<script>alert|<img src=x", read(name)), name, "has a raw tag")
    for source in p.sources:
        check(source.startswith(("data:image/png;base64,", "#")), name, "refers to", source[:80])

if os.path.exists("pictures.svg"):
    picture = xml.etree.ElementTree.fromstring(read("pictures.svg"))
    check(not any(e.tag.endswith(("script", "foreignObject")) for e in picture.iter()), "a script in pictures.svg")
    check(open("pictures.png", "rb").read(8) == b"\x89PNG\r\n\x1a\n", "pictures.png is none")
    check(open("pictures.pdf", "rb").read(5) == b"%PDF-", "pictures.pdf is none")

for name in "report.csv", "compare.csv":
    rows = list(csv.reader(io.StringIO(read(name), newline=""), strict=True))
    check(len(rows) > 5 and all(len(r) == len(rows[0]) for r in rows), name, "rows of", {len(r) for r in rows})
    for r in rows:
        for cell in r:
            check(not re.match(r"[=+@\t\r]|-(?![0-9.])", cell), name, "has a formula", cell)

for name in "report.md", "compare.md":
    text, columns = read(name), None
    for line in text.split("\n"):
        n = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else None
        check(n is None or columns is None or n == columns, name, "has a broken table at", line[:200])
        columns = n
    text = re.sub(r"(?<![\\`])(`+) .*? \1(?!`)", "", text)  # code
    check(not re.search(r"<(script|img|b)\b", text), name, "has a raw tag")

report = json.loads(read("report.json"))
json.loads(read("compare.json"))
names = {p["name"] for p in report["phases"]}
check(any("<script>" in n for n in names) and any(n.startswith("=1+1") for n in names), "phases", names)
check(len(names) >= 8, "phases", names)
check(any(n.startswith("<b>") for n, in sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True).execute(
    "SELECT instance.name FROM instance JOIN table_info USING (table_id) WHERE table_info.name = 'process'")), "the process is not there")
END
