#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_hardening.py BUILD | --installed DIRECTORY
Reads the ELF of every program and library of a release build, or that lie below DIRECTORY, and names each protection that
one lacks (setup/harden.cmake). A stripped program does not tell how it was compiled, so that the objects of a build are
read, too. Tests and programs for the kernel (eBPF) are left out. readelf is of binutils, which comes with the compiler."""
import json
import os
import pathlib
import re
import subprocess
import sys

# With FORTIFY none of these is called by its plain name.
FORTIFIED = {"printf", "fprintf", "vfprintf", "vprintf", "dprintf"}
COMPILED_WITH = ["-fstack-protector-strong", "-fstack-clash-protection"]
# By machine: the option, and the properties of an object compiled with it.
BRANCHES = {"X86-64": ("-fcf-protection=full", ["IBT", "SHSTK"]), "AArch64": ("-mbranch-protection=standard", ["BTI", "PAC"])}
ENDBR64 = bytes.fromhex("f30f1efa")


def readelf(options, path):
    return subprocess.run(["readelf", "-W", *options, str(path)], check=True, capture_output=True, text=True,
                          errors="replace").stdout


def is_elf(path):
    if path.is_symlink() or not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def machine_of(text):
    machine = re.search(r"Machine:\s+(.*)", text).group(1)
    return next((name for name in BRANCHES if name in machine), machine)


def symbols_of(path):
    """(name, section index, type, value) of its symbols for the dynamic linker."""
    for line in readelf(["--dyn-syms"], path).splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[0].rstrip(":").isdigit():
            yield fields[7].split("@")[0], fields[6], fields[3], int(fields[1], 16)


def lacks_of_segments(text, is_library):
    dynamic = re.findall(r"\((FLAGS|FLAGS_1)\)\s+(.*)", text)
    flags = " ".join(value for _, value in dynamic)
    stack = re.search(r"GNU_STACK\s.*?\s([RWE ]{3}) 0x", text)
    if not re.search(r"Type:\s+DYN", text) or not (is_library or "PIE" in flags):
        yield "it is no position-independent executable"
    if "GNU_RELRO" not in text:
        yield "relocations stay writable (relro)"
    if "NOW" not in flags:
        yield "functions are resolved late (-z now)"
    if not stack or "E" in stack.group(1):
        yield "the stack is executable"
    if re.search(r"LOAD\s.*\sRWE\s", text):
        yield "a segment is writable and executable"


def begins_with_landing(path, text, value):
    """True if the function at this address may be a target of jumps."""
    for offset, address, size in re.findall(r"LOAD\s+(0x\w+) (0x\w+) 0x\w+ (0x\w+)", text):
        at = value - int(address, 16)
        if 0 <= at < int(size, 16):
            with open(path, "rb") as file:
                file.seek(int(offset, 16) + at)
                return file.read(4) == ENDBR64
    return False


def lacks_of_linked(path):
    text = readelf(["-h", "-l", "-d"], path)
    is_library = ".so" in path.name
    yield from lacks_of_segments(text, is_library)
    symbols = list(symbols_of(path))
    wanted = {name for name, section, _, _ in symbols if section == "UND"}
    for name in sorted(wanted & FORTIFIED):
        yield f"it calls {name} without FORTIFY"
    if "Requesting program interpreter" in text and not is_library and "__stack_chk_fail" not in wanted:
        yield "no function has a stack protector"
    if is_library and machine_of(text) == "X86-64":
        for name, section, kind, value in symbols:
            if section != "UND" and kind == "FUNC" and not begins_with_landing(path, text, value):
                yield f"{name} begins without endbr64 (-fcf-protection)"


def lacks_of_object(path):
    text = readelf(["-h", "-n", "-s"], path)
    option, notes = BRANCHES.get(machine_of(text), (None, []))
    producers = re.findall(rb"GNU C\d+ [^\0]*", path.read_bytes())
    if not producers:
        yield "it does not tell how it was compiled (gcc -g)"
    for flag in COMPILED_WITH + [option] * bool(option):
        if not all(flag.encode() in producer for producer in producers):
            yield f"it was compiled without {flag}"
    for note in notes:
        if not re.search(rf"feature: .*\b{note}\b", text):
            yield f"it has no note {note}"
    for name in sorted(FORTIFIED & set(re.findall(r" UND (\w+)$", text, re.MULTILINE))):
        yield f"it calls {name} without FORTIFY"


def is_of_tests(path):
    return "tests" in pathlib.PurePath(path).parts[:1]


def linked_of_build(build):
    """Programs and libraries, except those of tests; agents/ has a copy of one."""
    line = re.compile(r"^build (\S+).*?: C_(?:EXECUTABLE|SHARED_LIBRARY)_LINKER\S* (\S+)", re.MULTILINE)
    for output, first in line.findall((build / "build.ninja").read_text()):
        if not is_of_tests(first):
            yield build / output
    yield from build.glob("bin/agents/*/*.so")


def objects_of_build(build):
    for entry in json.loads((build / "compile_commands.json").read_text()):
        output = re.search(r" -o (\S+)", entry["command"]).group(1)
        if not is_of_tests(output):
            yield build / output


def examine(paths, lacks_of, top):
    faults, n = 0, 0
    for path in sorted(set(paths)):
        lacks = list(lacks_of(path)) if path.exists() else ["it was not built"]
        faults += len(lacks)
        n += 1
        for lack in lacks:
            print(f"{path.relative_to(top)}: {lack}")
    return faults, n


def main(words):
    if len(words) == 2 and words[0] == "--installed":
        top = pathlib.Path(words[1]).resolve()
        found = (pathlib.Path(folder) / name for folder, _, names in os.walk(top) for name in names)
        faults, n = examine((path for path in found if is_elf(path)), lacks_of_linked, top)
        objects = 0
    elif len(words) == 1 and not words[0].startswith("-"):
        top = pathlib.Path(words[0]).resolve()
        faults, n = examine(linked_of_build(top), lacks_of_linked, top)
        more, objects = examine(objects_of_build(top), lacks_of_object, top)
        faults += more
    else:
        sys.exit(__doc__)
    if faults or not n:
        sys.exit(f"check_hardening: {faults} protections are missing in {n} programs and libraries, {objects} objects")
    print(f"{n} programs and libraries, {objects} objects: hardened")


main(sys.argv[1:])
