#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_lists.py [--fix]: lists of sources in CMake have one file a line, sorted, so that two additions to a list seldom
meet. A line for each list that has not; exit 1. --fix writes them so."""
import os
import re
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

LISTS = ["agent/delivered.cmake"] + [f"{room}/CMakeLists.txt" for room in
         ("agent", "agent/mark", "agent/shim", "agent/relay", "analysis", "cli", "collector", "common", "reports", "workloads")]
CALL = re.compile(r"^( *)(add_library|add_executable|target_sources)\(([^()]*)\)", re.M)
SOURCE = re.compile(r"\S+\.c|\$\{[a-z_]+\}")


def sorted_call(call):
    indent, command, words = call.group(1), call.group(2), call.group(3).split()
    sources = [word for word in words if SOURCE.fullmatch(word)]
    if len(sources) < 2:
        return call.group()
    head = " ".join(word for word in words if word not in sources)
    made = sorted(set(sources), key=lambda source: (source.startswith("$"), source))
    return f"{indent}{command}({head}\n" + "\n".join(f"{indent}  {source}" for source in made) + ")"


def main(fix):
    found = []
    for path in filter(os.path.exists, LISTS):
        text = open(path, encoding="utf-8").read()
        found += [f"{path}:{text.count(chr(10), 0, call.start()) + 1}: one source a line, sorted (check_lists.py --fix)"
                  for call in CALL.finditer(text) if sorted_call(call) != call.group()]
        if fix:
            open(path, "w", encoding="utf-8").write(CALL.sub(sorted_call, text))
    if not fix:
        print("\n".join(found), end="\n" if found else "")
    return 1 if found and not fix else 0


if __name__ == "__main__":
    sys.exit(main("--fix" in sys.argv[1:]))
