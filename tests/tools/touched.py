#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""touched.py files BASE | tests BUILD SECONDS [FILE...]
files: the files that differ from the commit BASE, uncommitted ones included, a line each.
tests: the parts of BUILD that a change of these files touches, a line each: "target PROGRAM" to build, "test NAME" of a
unit test to run, "left TEXT" for tests that are not run. SECONDS bound the sum of the tests' earlier times: the shortest run.

ninja tells which object is made of which file, headers and generated files among them, and which program links which
library. A library's object is in a program only if the program needed it: its table of symbols names the sources inside."""
import json, os, re, subprocess, sys
from collections import defaultdict

DATA = ("tests/golden/", "tests/fixtures/")  # unit tests read these and name them in their sources


def lines_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def changed_files(base):
    return sorted({*lines_of("git", "diff", "--name-only", "--no-renames", base), *lines_of("git", "ls-files", "-o", "--exclude-standard")})


def users_of_files(build):
    """{file: what is made of it}, by paths from the root; what only has to be there first is left out."""
    def plain(name):
        path = name if os.path.isabs(name) else os.path.join(build, name)
        return os.path.relpath(os.path.realpath(os.path.dirname(path)) + "/" + os.path.basename(path))

    users = defaultdict(set)
    for line in open(f"{build}/build.ninja", encoding="utf-8"):
        edge = re.match(r"build (.*?)(?: \| .*?)?: (?!phony)\S+ (.*)", line.strip())
        if edge:
            for name in re.split(r" \|? ?", edge.group(2).split(" || ")[0]):
                users[plain(name)].update(map(plain, edge.group(1).split()))
    made = None
    for line in lines_of("ninja", "-C", build, "-t", "deps"):
        if line and not line[0].isspace():
            made = plain(line.split(":")[0])
        elif line and not line.strip().startswith("/usr/"):
            users[plain(line.strip())].add(made)
    return users


def sources_in(program):
    """Names of the sources whose objects are in a program, or None where it is not built."""
    if not os.path.exists(program):
        return None
    table = subprocess.run(["readelf", "-sW", program], capture_output=True, text=True).stdout
    return {fields[7] for fields in map(str.split, table.splitlines()) if len(fields) == 8 and fields[3] == "FILE"}


def readers_of(path):
    """Sources of unit tests that name a file of data, or the folder of it."""
    names = path.split("/")[2:]
    folder = "tests/unit/"
    return [folder + name for name in os.listdir(folder)
            if any(part in open(folder + name, encoding="utf-8").read() for part in (names[0], os.path.splitext(names[-1])[0]))]


def reach(users, files):
    seen, left = set(), list(files)
    while left:
        new = users.get(left.pop(), set()) - seen
        seen |= new
        left += new
    return seen


def touched_programs(build, users, files):
    """(programs that link an object of these files, all that was touched)"""
    files = files + [source for path in files if path.startswith(DATA) for source in readers_of(path)]
    touched = reach(users, files)
    sources = {os.path.basename(path)[:-2] for path in touched if path.endswith(".o")}
    own = {program for path in touched | set(files) if path.endswith(".o") for program in users.get(path, ())}
    programs = {path for path in touched if os.path.dirname(path) == f"{build}/bin"}
    return {path for path in programs if path in own or (inside := sources_in(path)) is None or inside & sources}, touched


def costs_of(build):
    path = f"{build}/Testing/Temporary/CTestCostData.txt"
    rows = (line.split() for line in open(path, encoding="utf-8")) if os.path.exists(path) else ()
    return {row[0]: float(row[2]) for row in rows if len(row) == 3}


def labels_of(test):
    return next((given["value"] for given in test["properties"] if given["name"] == "LABELS"), [])


def is_touched(test, build, programs, touched, files):
    """A test is its program, a script, or a script that looks at the build."""
    words = [os.path.relpath(word) for word in test.get("command", []) if os.path.isabs(word)]
    folders = {os.path.dirname(path) for path in files if path.endswith(".py")}
    return any(word in programs or word in files or (word.endswith(".py") and os.path.dirname(word) in folders) for word in words) or \
        (build in words and any(path.endswith(".o") for path in touched))


def within(names, costs, seconds, files):
    """Those of the names that take no longer together: first the tests that changed or are named after what changed."""
    stems = [os.path.splitext(os.path.basename(path))[0] for path in files]
    for name in sorted(names, key=lambda name: (not any(name.endswith(stem) for stem in stems), costs.get(name, 1))):
        if costs.get(name, 1) <= seconds:
            seconds -= costs.get(name, 1)
            yield name


def plan(build, seconds, files):
    users = users_of_files(build)
    programs, touched = touched_programs(build, users, files)
    tests = json.loads("\n".join(lines_of("ctest", "--test-dir", build, "--show-only=json-v1")))["tests"]
    wanted = [test for test in tests if is_touched(test, build, programs, touched, files)]
    unit = [test["name"] for test in wanted if "unit" in labels_of(test)]
    chosen = list(within(unit, costs_of(build), seconds, files))
    built = {program for program in programs if not re.search(r"/bin/(bench|fuzz|test)_", program)} | {f"{build}/bin/{name}" for name in chosen} & programs
    linked = {path for path in files if any("/bin/test_" in program for program in programs & reach(users, [path]))}
    yield from (f"target {os.path.relpath(program, build)}" for program in sorted(built))
    yield from (f"test {name}" for name in chosen)
    for text, names in (("unit tests that take long", [name for name in unit if name not in chosen]),
                        ("other tests that changed", [test["name"] for test in wanted if test["name"] not in unit]),
                        ("files that no unit test links", [path for path in files if path.endswith((".c", ".h")) and path not in linked])):
        if names:
            yield f"left {text}: {' '.join(names)}"


def main(words):
    os.chdir(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../.."))
    if len(words) == 2 and words[0] == "files":
        print(*changed_files(words[1]), sep="\n")
    elif len(words) >= 3 and words[0] == "tests":
        print(*plan(words[1].rstrip("/"), float(words[2]), words[3:]), sep="\n")
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
