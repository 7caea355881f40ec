#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_cycles.py BUILD: the objects of analysis/ and reports/ call from room to room one way only (nm): a line for each
cycle of rooms, with what is called; exit 1. A file beside the rooms is a room of its own."""
import collections, os, subprocess, sys

DEFINED, WANTED = "TDBRVW", "U"


def symbols(folder):
    """(object, kind, symbol)"""
    objects = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith(".o")]
    if not objects:
        return
    for line in subprocess.run(["nm", "-A", *objects], capture_output=True, text=True, check=True).stdout.splitlines():
        path, rest = line.split(":", 1)
        yield os.path.relpath(path, folder), *rest.split()[-2:]


def calls_of(folder):
    """{(room, other room): symbols that the first wants of the second}"""
    home, wants = {}, []
    for path, kind, symbol in symbols(folder):
        if kind in DEFINED:
            home[symbol] = path.split("/")[0]
        elif kind == WANTED:
            wants.append((path.split("/")[0], symbol))
    calls = collections.defaultdict(set)
    for room, symbol in wants:
        if home.get(symbol, room) != room:
            calls[room, home[symbol]].add(symbol)
    return calls


def reach(calls, room):
    seen, left = set(), [room]
    while left:
        at = left.pop()
        left += [b for a, b in calls if a == at and b not in seen]
        seen |= {b for a, b in calls if a == at}
    return seen


def main(build):
    found = []
    for layer in "analysis", "reports":
        folder = f"{build}/{layer}/CMakeFiles/chokepoint_{layer}.dir"
        calls = calls_of(folder)
        if not calls:
            found.append(f"{folder}: no objects")
        found += [f"{layer}: {a} and {b} call each other: {a} wants {', '.join(sorted(symbols_of)[:5])} of {b}"
                  for (a, b), symbols_of in sorted(calls.items()) if a in reach(calls, b)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
