#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether the tables of one sweep agree, as a reader with a calculator would find.

    tests/tools/check_reference.py [--all-hosts] FILE.md...

Reads Markdown of `chokepoint sweep report` or `sweep reference` (docs/reference.md). Exit status 1 with a line for each
two figures that contradict each other beyond the rounding of what is printed, or where a file has nothing to check.
--all-hosts: tables by host have all hosts of each run, so that their sums must be the job's, not only at most that.
"""
import re
import sys

NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
ALIKE = .02  # relative difference of two sums of the same bytes, whose samples end at slightly different times
TITLES = {  # table: the begin of its title
    "grid": "By ", "hosts": "Averages of each host", "job": "The job as a whole", "arithmetic": "By arithmetic",
    "means": "Means over", "roles": "Roles", "pace": "Pace, ", "operators": "Operators", "way": "Accuracy on its way",
}


class Figure:
    """A printed number: its value, half a unit of its last digit, and the interval in brackets, if any."""

    def __init__(self, text):
        numbers = NUMBER.findall(text)
        self.value = float(numbers[0])
        self.half = .5 * 10.0 ** -len(numbers[0].partition(".")[2])
        self.low, self.high = [float(n) for n in numbers[1:3]] if "(" in text and len(numbers) > 2 else [self.value] * 2

    def __str__(self):
        return f"{self.value:g}"


def figure(text):
    return Figure(text) if re.match(r"[-+]?\d", text or "") else None


class Table:
    def __init__(self, title):
        self.title, self.columns, self.rows = title, [], []

    def row(self, name):
        return next((r for r in self.rows if r[0] == name), None)

    def get(self, name, column):
        row = self.row(name)
        return figure(row[self.columns.index(column)]) if row and column in self.columns else None


class Section:
    """The tables of one sweep, and the faults found in them."""

    def __init__(self, name):
        self.name, self.tables, self.wrong, self.checked, self.repeats = name, [], [], 0, False

    def of(self, kind):
        return [t for t in self.tables if t.title.startswith(TITLES[kind])]

    def first(self, kind):
        return next(iter(self.of(kind)), None)

    def claim(self, good, *words):
        self.checked += 1
        if not good:
            self.wrong.append(f"{self.name}: " + " ".join(str(w) for w in words))


def cells_of(line):
    return [c.strip().replace("\\", "") for c in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def read(path):
    sections, table = [Section(path)], None
    for line in open(path, encoding="utf-8"):
        if line.startswith("## "):
            sections.append(Section(line[3:].strip()))
        elif line.startswith("**") and line.rstrip().endswith("**"):
            table = Table(line.strip().strip("*"))
            sections[-1].tables.append(table)
        elif line.startswith("|") and table:
            cells = cells_of(line)
            if not table.columns:
                table.columns = cells
            elif cells[0].startswith("---") or cells[0].startswith("*reference"):
                continue
            else:
                table.rows.append(cells)
        elif line.strip():
            table = None
        sections[-1].repeats |= "figures are medians" in line
    return sections


def near(a, b, slack):
    return abs(a - b) <= slack


def check_arithmetic(s):
    """Bytes over the rate is the time that they need; that over the iteration is the share."""
    t = s.first("arithmetic")
    for row in t.rows if t else []:
        mb, rate, need, both, takes, share, both_share = map(figure, row[2:9])
        s.claim(near(mb.value / rate.value, need.value, need.half + mb.half / rate.value), row[0], "arithmetic:", mb, "MB at", rate, "MB/s need", need, "s")
        for part, percent in ((need, share), (both, both_share)):
            if part and percent:
                exact = 100 * part.value / takes.value
                slack = percent.half + exact * (part.half / max(part.value, part.half) + takes.half / takes.value)
                s.claim(near(exact, percent.value, slack), row[0], "arithmetic:", part, "of", takes, "s is", percent, "%")


SUMS = (("avg_nw_rec (MB/s)", "network read (MB/s)"), ("avg_nw_send (MB/s)", "network write (MB/s)"),
        ("avg_disk_read (MB/s)", "disk read (MB/s)"), ("avg_disk_write (MB/s)", "disk write (MB/s)"))


def check_hosts(s, all_hosts):
    """The bytes of the job are the sum over its hosts (T1 and T3)."""
    hosts = next((t for t in s.of("hosts") if " in phase " not in t.title), None)
    job = s.first("job")
    for row in job.rows if job and hosts else []:
        mine = [c for c in hosts.columns[1:] if c.rpartition(" ")[0] == row[0]]
        for of_host, of_job in SUMS:
            parts, whole = [f for f in (hosts.get(of_host, c) for c in mine) if f], job.get(row[0], of_job)
            if not parts or not whole:
                continue
            total, slack = sum(f.value for f in parts), whole.half + sum(f.half for f in parts)
            good = near(total, whole.value, slack) if all_hosts else total <= whole.value + slack
            s.claim(good, row[0], "hosts:", of_host, "add up to", f"{total:g},", of_job, "is", whole)


def check_roles(s):
    """The ranks' bytes are at most those of the hosts (T5 and the grid), unless ranks share a host: those reach each other
    without its network. Rates are not held against each other: a rank's is that of its iterations, the hosts' that of the run."""
    roles, grid = s.first("roles"), s.first("grid")
    for row in grid.rows if roles and grid else []:
        ranks = [r[0] for r in roles.rows if r[0].startswith(row[0] + ": ")]
        apart = len({name.rpartition(" on ")[2] for name in ranks}) == len(ranks)
        parts = [f for f in (roles.get(name, "sent (MB)") for name in ranks) if f]
        rate, time = grid.get(row[0], "network write (MB/s)"), grid.get(row[0], "run time (s)")
        if parts and rate and time and apart:
            total, most = sum(f.value for f in parts), (rate.high + rate.half) * (time.high + time.half)
            s.claim(total <= most * (1 + ALIKE) + sum(f.half for f in parts), row[0], "roles: sent (MB) add up to",
                    f"{total:g}, all hosts sent", f"{most:g}")


def check_means(s):
    """A mean lies between the lowest and the highest; of one or two runs it is the median."""
    means, grid = s.first("means"), s.first("grid")
    for row in means.rows if means and grid else []:
        for column in means.columns[2:]:
            mean, median = means.get(row[0], column), grid.get(row[0], column)
            if not mean or not median:
                continue
            few = float(row[1]) <= 2
            low, high = (median.value, median.value) if few else (median.low, median.high)
            s.claim(low - median.half - mean.half <= mean.value <= high + median.half + mean.half,
                    row[0], "means:", column, mean, "beside", median)


def grid_of(s, cell, title):
    """That figure of a cell, in the table of one parameter or of two."""
    if ", " in cell:
        row, column = cell.split(", ", 1)
        table = next((t for t in s.tables if t.title == title), None)
        return table.get(row, column) if table else None
    return s.first("grid").get(cell, title) if s.first("grid") else None


def check_pace(s):
    """The pace and the grid agree on each cell."""
    pace = s.first("pace")
    for row in pace.rows if pace else []:
        for column in ("updates a second (1/s)", "examples a second (1/s)"):
            mine, theirs = pace.get(row[0], column), grid_of(s, row[0], column)
            if mine and theirs:
                s.claim(theirs.low - theirs.half - mine.half <= mine.value <= theirs.high + theirs.half + mine.half,
                        row[0], "pace:", column, mine, "beside", theirs)


def check_way(s):
    """The last test on the way is the accuracy of the grid."""
    for table in s.of("way"):
        across = table.columns[0] != "test"
        for i, cell in enumerate([r[0] for r in table.rows] if across else table.columns[1:]):
            tests = table.rows[i][1:] if across else [r[i + 1] for r in table.rows]
            last, whole = figure(next((t for t in reversed(tests) if t), "")), grid_of(s, cell, "accuracy (%)")
            if last and whole:
                s.claim(whole.low - whole.half - last.half <= last.value <= whole.high + whole.half + last.half,
                        cell, "way: ends with", last, "%, accuracy is", whole)


def check_timelines(s):
    """An operator lies within its iteration, and the operators of a rank take at most as long as it does."""
    for table in s.tables:
        found = re.match(r"(.*): Timeline of iteration .*\((\d+(?:\.\d+)?) ms\)", table.title)
        if not found:
            continue
        length, sums = Figure(found[2]), {}
        for row in table.rows:
            begin, end, busy = map(figure, row[1:4])
            s.claim(busy.value <= end.value - begin.value + begin.half + end.half + busy.half and end.value <= length.value + length.half + end.half,
                    found[1], "timeline:", row[0], "from", begin, "to", end, "is busy", busy, "of", length, "ms")
            rank = row[0].partition(":")[0]
            sums[rank] = sums.get(rank, 0) + busy.value
        for rank, total in sums.items():
            s.claim(total <= length.value + length.half + .05, found[1], "timeline: operators of", rank, "take",
                    f"{total:g} of {length} ms")
        takes = grid_of(s, found[1], "iteration (s)")
        if takes and not s.repeats:
            s.claim(near(length.value, 1e3 * takes.value, max(1e3 * takes.half, .1 * length.value)), found[1],
                    "timeline: iteration of", length, "ms, grid", takes, "s")


def check_operators(s):
    """An operator that computes takes at most its iteration: each output is written once in it."""
    operators, grid = s.first("operators"), s.first("grid")
    for row in operators.rows if operators and grid and not s.repeats else []:
        for column, text in zip(operators.columns[1:], row[1:]):
            mean, takes = figure(text), grid.get(column, "iteration (s)")
            if mean and takes:
                s.claim(mean.value <= 1e3 * (takes.value + takes.half) * 1.1, column, "operators:", row[0], "takes", mean,
                        "ms, an iteration", takes, "s")


def check_differences(s):
    """A difference is that of the two medians; figures that the grid also has are the same."""
    same = {"duration (s)": "run time (s)", "examples (1/s)": "examples a second (1/s)", "staleness": "staleness"}
    for table in s.tables:
        if not re.match(r".* against .* runs", table.title):
            continue
        base, other = table.columns[1:3]
        for row in table.rows:
            a, b, d = figure(row[1]), figure(row[2]), figure(row[4])
            if a and b and d:
                s.claim(near(b.value - a.value, d.value, a.half + b.half + d.half), "differences:", row[0], a, "to", b, "is", d)
            for cell, value in ((base, a), (other, b)):
                whole = grid_of(s, cell, same.get(row[0], ""))
                if whole and value:
                    s.claim(near(value.value, whole.value, value.half + whole.half), cell, "differences:", row[0], value, "beside", whole)


def main():
    words = sys.argv[1:]
    all_hosts = "--all-hosts" in words
    files = [w for w in words if not w.startswith("--")]
    if not files:
        sys.exit(__doc__)
    wrong, status = [], 0
    for path in files:
        sections = read(path)
        for s in sections:
            check_hosts(s, all_hosts)
            for check in (check_arithmetic, check_roles, check_means, check_pace, check_way, check_timelines, check_operators,
                          check_differences):
                check(s)
            wrong += s.wrong
        checked = sum(s.checked for s in sections)
        print(f"{path}: {checked} figures held against others, {sum(len(s.wrong) for s in sections)} disagree")
        status |= not checked
    for line in wrong:
        print(line, file=sys.stderr)
    sys.exit(1 if wrong or status else 0)


if __name__ == "__main__":
    main()
