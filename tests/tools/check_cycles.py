#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_cycles.py BUILD: the objects of agent/, analysis/, reports/ and cli/ call from room to room one way only (nm): a line
for each cycle of rooms, with what is called; exit 1.
check_cycles.py BUILD --objects: the files of all programs that call each other in a circle, largest circle first, and how
many there are; exit 1 where they are more than OBJECTS_MOST, or one circle has more than CIRCLE_MOST."""
import collections, os, subprocess, sys

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
DEFINED, WANTED = "TDBRVW", "U"
OBJECTS_MOST, CIRCLE_MOST = 60, 6
PROGRAMS = "agent", "cli"  # whose files beside the rooms are one program; of other layers each is a room of its own


def objects_below(folder, room):
    """(path of an object, path of its source below `room`) of a target's folder, without those whose source has moved."""
    for at, _, names in os.walk(folder):
        for name in (name for name in names if name.endswith(".c.o")):
            path = os.path.join(at, name)
            source = os.path.relpath(path, folder)[:-len(".o")]
            if "__" in source or not source.startswith("..") and os.path.exists(f"{SOURCE}/{room}/{source}"):
                yield path, source


def targets_of(build, room):
    folder = f"{build}/{room}/CMakeFiles"
    return [f"{folder}/{name}" for name in os.listdir(folder) if name.endswith(".dir")] if os.path.isdir(folder) else []


def calls_of(folders, room, part_of):
    """{(part, other part): symbols that the first wants of the second}; part_of(path of a source below the room)"""
    sources = dict(pair for folder in folders for pair in objects_below(folder, room))
    home, wants = {}, []
    said = subprocess.run(["nm", "-A", *sources], capture_output=True, text=True, check=True).stdout if sources else ""
    for line in said.splitlines():
        path, rest = line.split(":", 1)
        kind, symbol = rest.split()[-2:]
        if kind in DEFINED:
            home[symbol] = part_of(sources[path])
        elif kind == WANTED:
            wants.append((part_of(sources[path]), symbol))
    calls = collections.defaultdict(set)
    for part, symbol in wants:
        if home.get(symbol, part) != part:
            calls[part, home[symbol]].add(symbol)
    return calls


def reach(calls, part):
    seen, left = set(), [part]
    while left:
        at = left.pop()
        left += [b for a, b in calls if a == at and b not in seen]
        seen |= {b for a, b in calls if a == at}
    return seen


def circles_of(calls):
    """Sets of parts that all reach each other."""
    parts = {a for a, _ in calls}
    reached = {a: reach(calls, a) for a in parts}
    return {frozenset(b for b in reached[a] if a in reached.get(b, ())) for a in parts if a in reached[a]}


def object_circles(build):
    """The circles of every program and library except tests; a file that is in several of them counts once."""
    found = set()
    for at, names, _ in os.walk(build):
        names[:] = [name for name in names if not (at == build and name == "tests")]
        for target in [name for name in names if name.endswith(".dir")]:
            room = os.path.relpath(at, build).replace("/CMakeFiles", "")
            found |= circles_of(calls_of([os.path.join(at, target)], room, lambda source: f"{room}/{source}"))
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
    for layer in "agent", "analysis", "reports", "cli":
        def room_of(source):
            return source.split("/")[0] if "/" in source or layer not in PROGRAMS else "program"
        calls = calls_of(targets_of(build, layer), layer, room_of)
        if not calls:
            found.append(f"{layer}: no objects")
        found += [f"{layer}: {a} and {b} call each other: {a} wants {', '.join(sorted(symbols_of)[:5])} of {b}"
                  for (a, b), symbols_of in sorted(calls.items()) if a in reach(calls, b)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit((objects if sys.argv[2:] == ["--objects"] else rooms)(sys.argv[1]))
