#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_names.py [FOLDER...]: names of functions. In one folder no two functions have one name, unless none of them is
static: a program has one of the two. Each function of a program is called by a program: one that tests alone call is dead.
A name in ONCE means different things in different rooms when it is used in several, so it may not be used twice.
names_allowed.txt lists the exceptions with their reasons, as "FOLDER NAME" or "FOLDER *"."""
import collections
import itertools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
ROOMS = ["agent", "analysis", "cli", "collector", "common", "reports", "tables", "workloads"]
ONCE = {"slot_of", "walk", "writer"}

NOISE = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//.*|/\*(?s:.*?)\*/')
FUNCTION = re.compile(r"^(?P<type>[a-zA-Z_][\w \t*]*?[ *])(?P<name>[a-z_]\w*)\((?P<arguments>[^;{}]*?)\)"
                      r"(?:\s*__attribute__\(\([^;{]*\)\))?\s*(?P<end>[{;])", re.MULTILINE)
PASTER = re.compile(r"^#define (?P<macro>\w+)\((?P<first>\w+)[^()]*\)(?P<body>(?:[^\n]*\\\n)*[^\n]*)", re.MULTILINE)
KEYWORDS = ("return ", "else ", "typedef ", "case ", "goto ")


def code_of(path):
    """The source without comments and texts; names in texts of macros that paste them stay."""
    return NOISE.sub(lambda match: " " if match[0][0] == "/" else match[0], path.read_text())


def functions_of(code):
    """(name, is_static, is_defined) of each function that the code declares or defines."""
    for match in FUNCTION.finditer(code):
        if not match["type"].startswith(KEYWORDS):
            yield match["name"], "static" in match["type"].split(), match["end"] == "{"


def pasters_of(code):
    """(macro, prefix) where the macro makes prefix_NAME of its first argument NAME, other than to declare it."""
    for match in PASTER.finditer(code):
        for prefix in re.findall(rf"(\w+)##{match['first']}\b", match["body"]):
            if "extern" not in match["body"]:
                yield match["macro"], prefix


def pasted_names(codes):
    """Names that the lists of .def files make through macros: SECTION(phases) makes section_phases."""
    prefixes = collections.defaultdict(set)
    for macro, prefix in itertools.chain.from_iterable(map(pasters_of, codes)):
        prefixes[macro].add(prefix)
    for macro, name in itertools.chain.from_iterable(re.findall(r"^(\w+)\((\w+)", code, re.MULTILINE) for code in codes):
        yield from (prefix + name for prefix in prefixes[macro])


def allowed_names():
    lines = [line.split("#")[0].split() for line in (HERE / "names_allowed.txt").read_text().splitlines()]
    return {tuple(words) for words in lines if words}


def twice_in_folder(defined, static):
    for folder, names in defined.items():
        for name, paths in names.items():
            if len(paths) > 1 and (folder, name) in static:
                yield folder, name, "is defined in " + " and ".join(sorted(path.name for path in paths))


def more_than_once(defined):
    for name in ONCE:
        folders = sorted(folder for folder, names in defined.items() if name in names)
        if len(folders) > 1:
            yield from ((folder, name, "means something else in " + folders[folder == folders[0]]) for folder in folders)


def never_called(public, mentions):
    """Functions whose name the programs' code has only where it is declared and defined."""
    for name, (folder, places) in public.items():
        if mentions[name] == places:
            yield folder, name, "is called by no program"


def read_all(sources):
    defined = collections.defaultdict(lambda: collections.defaultdict(set))
    public, static, mentions = {}, set(), collections.Counter()
    codes = {path: code_of(path) for path in sources}
    mentions.update(pasted_names(codes.values()))
    for path, code in codes.items():
        folder = path.parent.relative_to(ROOT).as_posix()
        mentions.update(re.findall(r"\w+", code))
        for name, is_static, is_defined in functions_of(code):
            if is_defined:
                defined[folder][name].add(path)
            if is_static:
                static.add((folder, name))
            else:
                where, places = public.get(name, (folder, 0))
                public[name] = (folder if is_defined else where, places + 1)
    return defined, public, static, mentions


def main(wanted):
    sources = [p for room in ROOMS for p in sorted((ROOT / room).rglob("*")) if p.suffix in (".c", ".h", ".def", ".awk")]
    defined, public, static, mentions = read_all(sources)
    allowed, used, bad = allowed_names(), set(), 0
    for folder, name, fault in sorted([*twice_in_folder(defined, static), *more_than_once(defined), *never_called(public, mentions)]):
        if wanted and not folder.startswith(tuple(wanted)):
            continue
        stays = {(folder, name), (folder, "*")} & allowed
        used |= stays
        if not stays:
            print(f"{folder}: {name}() {fault}")
            bad += 1
    for entry in sorted(allowed - used) if not wanted else []:
        print(f"names_allowed.txt: nothing needs '{' '.join(entry)}' any more")
        bad += 1
    print(f"{bad} names to change" if bad else "each function of a folder has a name of its own and a caller")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
