#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether a file is OpenMetrics 1.0 text, by the standard's grammar and its rules for families.

    check_openmetrics.py FILE [SAMPLE]

Prints one line of counts, or with SAMPLE the values of the last samples of that name: labels, value.
"""
import re
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"'
NUMBER = r"[-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?"
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)?\}})? ({NUMBER})(?: ({NUMBER}))?")
SUFFIXES = {"counter": "_total", "gauge": "", "info": "_info"}


def fail(number, text):
    sys.exit(f"check_openmetrics: line {number}: {text}")


class Family:
    def __init__(self, name):
        self.name, self.type, self.seen = name, None, set()
        self.last = self.time = None


def take_descriptor(number, line, family):
    match = re.fullmatch(rf"# (TYPE|UNIT|HELP) ({NAME}) (.*)", line)
    if not match or match[2] != family.name:
        fail(number, f"no descriptor of {family.name}: {line}")
    if family.seen & {match[1], "sample"}:
        fail(number, f"{match[1]} twice, or after a sample")
    family.seen.add(match[1])
    if match[1] == "TYPE":
        if match[3] not in SUFFIXES:
            fail(number, f"unknown type {match[3]}")
        family.type = match[3]
        if re.search(r"_(total|created|bucket|count|sum|info)$", family.name):
            fail(number, f"{family.name} ends as a sample does")
    if match[1] == "UNIT" and not family.name.endswith("_" + match[3]):
        fail(number, f"{family.name} does not end in its unit {match[3]}")
    if match[1] == "HELP" and not re.fullmatch(r'(?:[^\\]|\\[n\\"])*', match[3]):
        fail(number, "unknown escape")


def take_sample(number, line, family, samples):
    match = SAMPLE.fullmatch(line)
    if not match:
        fail(number, f"no sample: {line}")
    if match[1] != family.name + SUFFIXES[family.type]:
        fail(number, f"sample {match[1]} in family {family.name}")
    labels = [(name, value) for name, value in re.findall(LABEL, match[2] or "")]
    if len({name for name, _ in labels}) != len(labels):
        fail(number, "a label twice")
    value = match[match.re.groups - 1]
    if family.type == "counter" and float(value) < 0:
        fail(number, "a counter below zero")
    key = (match[1], tuple(sorted(labels)))
    time = match[match.re.groups]
    if key in samples:
        if key != family.last:
            fail(number, "samples of a series do not stand together")
        if time is None or float(time) <= family.time:
            fail(number, "a sample is not later than the one before it")
        if family.type == "counter" and float(value) < float(samples[key]):
            fail(number, "a counter steps back")
    if time is None:
        fail(number, "a sample without its time, which a reader would take for one of now")
    family.last, family.time = key, float(time)
    samples[key] = value
    family.seen.add("sample")


def check(path):
    with open(path, encoding="utf-8", errors="strict", newline="") as file:
        text = file.read()
    if not text.endswith("\n# EOF\n"):
        sys.exit("check_openmetrics: does not end in # EOF")
    families, samples, family = set(), {}, None
    for number, line in enumerate(text[: -len("# EOF\n")].splitlines(), 1):
        if line.startswith("# TYPE "):
            name = line.split(" ")[2]
            if name in families:
                fail(number, f"{name} is begun twice")
            families.add(name)
            family = Family(name)
        if family is None:
            fail(number, "before the first family")
        if line.startswith("#"):
            take_descriptor(number, line, family)
        else:
            take_sample(number, line, family, samples)
    return families, samples


def main():
    families, samples = check(sys.argv[1])
    if len(sys.argv) == 2:
        print(f"{len(families)} families, {len(samples)} series")
    for (name, labels), value in samples.items():
        if len(sys.argv) == 3 and name == sys.argv[2]:
            print(",".join(f"{label}={text}" for label, text in labels), value)


if __name__ == "__main__":
    main()
