#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each test that the tables of tests/README.md name exists: the file, and the test's name in it. Prints a line for each that
does not; exit 1."""
import os, re, sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
NAMED = re.compile(r"`((?:unit|e2e|mpi|faults)/[\w.-]+)`(?:: ([\w, ]+))?")


def missing(path, names):
    if not os.path.exists(path):
        return [f"{path}: no such file"]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return [f"{path}: no {name}" for name in names if not re.search(rf"\b{re.escape(name)}\b", text)]


def main():
    named = 0
    found = []
    with open("README.md", encoding="utf-8") as page:
        for number, line in enumerate(page, 1):
            for path, names in NAMED.findall(line.split("|")[-2] if line.startswith("|") else ""):
                wanted = [name.strip() for name in names.split(",") if name.strip()]
                named += 1 + len(wanted)
                found += [f"tests/README.md:{number}: {trouble}" for trouble in missing(path, wanted)]
    if not named:
        found.append("tests/README.md: names no test")
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
