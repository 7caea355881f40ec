#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_cycles.py BUILD: the objects of analysis/ and reports/ call from room to room one way only (nm): a line for each
cycle of rooms, with what is called; exit 1. A file beside the rooms is a room of its own.
check_cycles.py BUILD --objects: the files of all programs that call each other in a circle, largest circle first, and how
many there are; exit 1 where they are more than OBJECTS_MOST, or one circle has more than CIRCLE_MOST."""
import collections, os, subprocess, sys

DEFINED, WANTED = "TDBRVW", "U"
OBJECTS_MOST, CIRCLE_MOST = 60, 6


def symbols(folder):
    """(object, kind, symbol)"""
    objects = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith(".o")]
    if not objects:
        return
    for line in subprocess.run(["nm", "-A", *objects], capture_output=True, text=True, check=True).stdout.splitlines():
        path, rest = line.split(":", 1)
        yield os.path.relpath(path, folder), *rest.split()[-2:]


def calls_of(folder, part_of):
    """{(part, other part): symbols that the first wants of the second}; part_of(path of an object)"""
    home, wants = {}, []
    for path, kind, symbol in symbols(folder):
        if kind in DEFINED:
            home[symbol] = part_of(path)
        elif kind == WANTED:
            wants.append((part_of(path), symbol))
    calls = collections.defaultdict(set)
    for part, symbol in wants:
        if home.get(symbol, part) != part:
            calls[part, home[symbol]].add(symbol)
    return calls


def reach(calls, part):
    after = collections.defaultdict(set)
    for a, b in calls:
        after[a].add(b)
    seen, left = set(), [part]
    while left:
        new = after[left.pop()] - seen
        seen |= new
        left += new
    return seen


def circles_of(calls):
    """Sets of parts that all reach each other."""
    parts = {a for a, _ in calls}
    reached = {a: reach(calls, a) for a in parts}
    return {frozenset(b for b in reached[a] if a in reached.get(b, ())) for a in parts if a in reached[a]}


def object_circles(build):
    """Those of every program and library but tests; a file that is in several of them counts once."""
    found = set()
    for at, names, _ in os.walk(build):
        names[:] = [name for name in names if not (at == build and name == "tests")]
        for target in [name for name in names if name.endswith(".dir")]:
            folder, room = os.path.join(at, target), os.path.relpath(at, build).replace("/CMakeFiles", "")
            found |= circles_of(calls_of(folder, lambda path: f"{room}/{path[:-2]}"))
    return sorted(found, key=lambda circle: (-len(circle), sorted(circle)))


def objects(build):
    circles = object_circles(build)
    for circle in circles:
        print(f"{len(circle)}: {' '.join(sorted(circle))}")
    n, largest = len(frozenset().union(*circles)), max(map(len, circles), default=0)
    print(f"objects in call cycles: {n}, largest {largest}")
    return 1 if n > OBJECTS_MOST or largest > CIRCLE_MOST else 0


def rooms(build):
    found = []
    for layer in "analysis", "reports":
        folder = f"{build}/{layer}/CMakeFiles/chokepoint_{layer}.dir"
        calls = calls_of(folder, lambda path: path.split("/")[0])
        if not calls:
            found.append(f"{folder}: no objects")
        found += [f"{layer}: {a} and {b} call each other: {a} wants {', '.join(sorted(symbols_of)[:5])} of {b}"
                  for (a, b), symbols_of in sorted(calls.items()) if a in reach(calls, b)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit((objects if "--objects" in sys.argv[2:] else rooms)(sys.argv[1]))
