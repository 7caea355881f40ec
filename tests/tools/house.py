#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""house.py [--still] [BUILD]: figures of how the code is laid out, each beside what it was at the commit a08b663a and
what it is meant to be: files that an addition touches (recipes.sh --count), objects that call each other in circles, lines
of code, members of the largest struct, seconds from an edit of a cause to its green test, and of `./check --quick` after it.
BUILD is a dev build (build/dev). The edit is taken back; --still makes none and leaves its figures out. Figures of a08b663a stand here where
it would have to be built, or its recipes followed by hand; lines and members are counted in its files."""
import argparse, os, re, subprocess, time

THEN = "a08b663a"
SOURCES = (".c", ".h", ".def")
CAUSE = "analysis/causes/steal.c"


def said(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout


def sources_at(commit):
    """(path, text) of each source of a commit outside tests."""
    paths = [path for path in said("git", "ls-tree", "-r", "--name-only", commit).splitlines()
             if path.endswith(SOURCES) and not path.startswith("tests/")]
    asked = "".join(f"{commit}:{path}\n" for path in paths).encode()
    bytes_ = subprocess.run(["git", "cat-file", "--batch"], input=asked, capture_output=True, check=True).stdout
    for path in paths:
        head, _, bytes_ = bytes_.partition(b"\n")
        size = int(head.split()[2])
        yield path, bytes_[:size].decode()
        bytes_ = bytes_[size + 1:]


def without_comments(text):
    tokens = re.compile(r'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|//[^\n]*|/\*.*?\*/', re.DOTALL)
    return tokens.sub(lambda m: m.group(1) or "\n" * m.group().count("\n"), text)


def code_lines(sources):
    """Lines that are neither blank nor comment."""
    return sum(1 for text in sources.values() for line in text.splitlines() if line.strip())


def members(body):
    """Names declared in the body of a struct, without those of structs inside."""
    while "{" in body:
        body = re.sub(r"\{[^{}]*\}", "", body)
    declared = (part for part in body.split(";") if part.strip())
    return sum(len(re.sub(r"\([^()]*\)", "", re.sub(r"\([^()]*\)", "", part)).split(",")) for part in declared)


def largest_struct(sources):
    """(members, name)"""
    found = []
    for text in sources.values():
        for match in re.finditer(r"^struct (\w+) \{\n(.*?)^\}", text, re.DOTALL | re.MULTILINE):
            found.append((members(match.group(2)), match.group(1)))
    return max(found)


def of_commit(commit):
    sources = {path: without_comments(text) for path, text in sources_at(commit)}
    return code_lines(sources), largest_struct(sources)


def files_touched():
    lines = said("tests/tools/recipes.sh", "--count").splitlines()
    return {line.split()[0]: int(line.split()[1]) for line in lines}


def circles(build):
    last = subprocess.run(["tests/tools/check_cycles.py", build, "--objects"], capture_output=True, text=True).stdout.splitlines()[-1]
    return re.findall(r"\d+", last)


def seconds_of(*command):
    began = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def seconds_after_edit(build):
    """(to the green test of a cause, of --quick) after an edit of the cause."""
    test = "test_analysis_verdict"
    with open(CAUSE, encoding="utf-8") as file:
        text = file.read()
    to_test = ["sh", "-c", f"cmake --build {build} --target {test} && {build}/bin/{test} 2>/dev/null"]
    seconds_of(*to_test)  # built before
    try:
        edits = []
        for n, command in enumerate((to_test, ["./check", "--quick", "HEAD"])):
            with open(CAUSE, "w", encoding="utf-8") as file:
                file.write(text.replace("#include", f"enum {{ EDITED = {time.time_ns() % 1000 + n} }};\n#include", 1))
            edits.append(seconds_of(*command))
        return edits
    finally:
        with open(CAUSE, "w", encoding="utf-8") as file:
            file.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(": ", 1)[1])
    parser.add_argument("--still", action="store_true", help="edit nothing, and measure no seconds")
    parser.add_argument("build", nargs="?", default="build/dev")
    options = parser.parse_args()
    still, build = options.still, options.build
    os.chdir(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../.."))
    (then_lines, then_struct), (lines, struct) = of_commit(THEN), of_commit("HEAD")
    touched = files_touched()
    rows = [(f"files touched to add a {kind}", then, touched[kind], meant)
            for kind, then, meant in (("column", "4 to 16", 1), ("cause", "13 to 19", 3), ("section", 7, 3), ("verb", "4 to 7", 3),
                                      ("probe", "-", "-"), ("library", "-", "-"))]
    n, largest = circles(build)
    rows += [("objects in call cycles", 150, n, 60), ("the largest circle", 25, largest, 6)]
    rows += [("lines of code without tests", then_lines, lines, then_lines - 5000)]
    rows += [(f"members of the largest struct ({then_struct[1]}; {struct[1]})", then_struct[0], struct[0], 40)]
    to_test, quick = (0, 0) if still else seconds_after_edit(build)
    rows += [] if still else [("seconds from an edit of a cause to its test", 0.5, f"{to_test:.1f}", 1), ("seconds of ./check --quick after it", "-", f"{quick:.0f}", 60)]
    print(f"{'':58} {THEN:>10} {'now':>8} {'meant':>8}")
    for row in rows:
        print("{:58} {:>10} {:>8} {:>8}".format(*map(str, row)))


if __name__ == "__main__":
    main()
