#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Knowledge flows one way. Reads every #include "..." and fails if an arrow turns round, if a private header leaves its
folder, or if an outside library is named in more than its one file. Sentences belong in reports/: fails if a string of
a rule or of the verdict has two words."""
import os
import re
import subprocess
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

# A layer and the layers that it may include. The store, with the arithmetic of clocks, is a library of its own in collector/.
LAYERS = {
    "common": "common",
    "tables": "tables common",
    "mark": "mark",
    "agent": "agent mark tables common",
    "store": "store tables common",
    "collector": "collector store tables common",
    "analysis": "analysis tables common",
    "reports": "reports analysis store tables common",
    "workloads": "workloads mark common",
    "cli": "cli reports analysis collector store tables common",
}
# Rooms within a layer, each of which knows only itself and those before it; rooms of one line in agent/ and cli/ know
# nothing of each other. "model" is the run model's struct, which all rooms of analysis/ from time on read; the room
# evidence makes it. "program" is the files of agent/ and cli/ beside the rooms.
ROOMS = {
    "agent": ["mark", "shim", "kernels nccl", "base", "capture wait", "probes", "sampler spool", "ring", "push doctor supervise", "program relay"],
    "analysis": ["facts", "time", "model", "evidence", "simulate", "gain", "causes", "verdict"],
    "reports": ["says", "facts", "model", "plot", "comparison", "sweep", "sections", "formats", "text", "export", "live"],
    "cli": ["base", "launch", "run", "calibrate cut doctor import jobs list mcp remote serve sql sweep testbed top verbs", "program"],
}
MAY_ALSO = {("analysis", "time"): {"model"}}
MODEL = {"analysis/run_model.h", "analysis/run_model.c"} # number.h beside them is read by all rooms

# A library's header, and the files that may include it.
LIBRARIES = {
    "curl/curl.h": r"agent/push/push_library\.h|cli/remote/post\.c|workloads/data/http\.c",
    "snappy-c.h": r"cli/remote/compress\.c",
    "protobuf-c/": r"cli/remote/message\.c",
    "libpq-fe.h": r"cli/jobs/jobs_postgres\.c",
    "zstd.h": r"collector/store_(packed|block_zip)\.c|agent/ring/ring_zip\.c",
    "zlib.h": r"workloads/data/bytes\.c|workloads/common/gzip\.c|collector/store_seal\.c",
    "seccomp.h": r"collector/confine_calls\.c",
    "pcap/": r"agent/capture/capture_pcap\.c",
    "bpf/": r"agent/wait/(wait_bpf(_library)?\.[ch]|kernel/.*)",
    "libproc2/": r"tests/bench/.*",
    "microhttpd.h": r"collector/server(_answer|_request|_private)?\.[ch]|cli/serve/http[a-z_]*\.[ch]",
    "gnutls/": r"collector/credentials\.c",
    "sqlite3.h": r"collector/store[a-z_]*\.[ch]",
    "jansson.h": r"reports/formats/(json(_page|_text|_value)?\.[ch]|html_data\.c)|reports/live/live_json\.c|cli/(list/list|jobs/(job_text|jobs_postgres)|verbs/rules|calibrate/line|mcp/message)\.c|cli/mcp/tools\.[ch]|workloads/[a-z]*/summary_json\.c",
    "curses.h": r"cli/top/screen\.c",
    "cblas.h": r"workloads/matmul/blas\.c",
    "dnnl": r"workloads/network/net[a-z_]*\.[ch]",
    "oneapi/dnnl": r"workloads/network/net[a-z_]*\.[ch]",
    "mpi.h": r"workloads/.*",
}

# Files without sentences, and the lines that may have them all the same: a cause's reason, and its own numbers and remarks.
SPEECHLESS = r"analysis/(time|evidence|simulate|gain|causes|verdict)/.*\.[ch]"
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
TWO_WORDS = re.compile(r"[a-z,:;%] [a-z%]")
MAY_SPEAK = re.compile(r"^\s*\.reason = ")
OWN = re.compile(r'#define OWN_(?:NUMBERS|REMARKS).*?#include "analysis/causes/own\.h"', re.S)


def layer(path):
    if re.match(r"collector/(store|clock)", path):
        return "store"
    return "mark" if path == "agent/mark/chokepoint.h" else path.split("/")[0]


def room(path):
    """(layer, room), or None where the layer has none."""
    top = layer(path)
    if top not in ROOMS:
        return None
    parts = path.split("/")
    beside = "program" if top in ("agent", "cli") else None
    return top, "model" if path in MODEL else parts[1] if len(parts) > 2 else beside


def rank(place):
    """The place of a room among those of its layer; None: it has none."""
    return next((i for i, names in enumerate(ROOMS[place[0]]) if place[1] in names.split()), None)


def target_of(path, name):
    beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
    return name if os.path.exists(name) else beside if os.path.exists(beside) else None


def trouble(path, target):
    if layer(target) not in LAYERS[layer(path)].split():
        return f"{layer(path)} must not know {layer(target)}"
    a, b = room(path), room(target)
    if a and b and a != b and a[0] == b[0] and None not in (a[1], b[1]):
        if None in (rank(a), rank(b)):
            return f"{a[1]} or {b[1]} is not in ROOMS of check_layers.py"
        if rank(b) >= rank(a) and b[1] not in MAY_ALSO.get(a, ()):
            return f"the room {a[1]} must not know {b[1]}"
    if target.endswith("_private.h") and os.path.dirname(path) != os.path.dirname(target):
        return f"{target} is private to its folder"
    return None


def look_at(path):
    for number, line in enumerate(open(path, encoding="utf-8", errors="replace"), 1):
        own = re.match(r'#include "([^"]+)"', line)
        target = target_of(path, own.group(1)) if own else None
        why = trouble(path, target) if target and layer(target) in LAYERS else None
        if why:
            yield f"{path}:{number}: {why} ({target})"
        library = re.match(r"#include <([^>]+)>", line)
        for header, files in LIBRARIES.items() if library else ():
            if library.group(1).startswith(header) and not re.fullmatch(files, path):
                yield f"{path}:{number}: {header} belongs behind {files}"


def sentences_of(path):
    text = open(path, encoding="utf-8").read()
    for left_out in re.compile(r"/\*.*?\*/", re.S), OWN:
        text = left_out.sub(lambda m: "\n" * m.group().count("\n"), text)
    for number, line in enumerate(text.splitlines(), 1):
        if any(TWO_WORDS.search(string) for string in STRING.findall(line)) and not MAY_SPEAK.match(line):
            yield f"{path}:{number}: a sentence belongs in reports/says"


def main():
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.c", "*.h"], capture_output=True, text=True, check=True).stdout.split()
    found = [text for path in files if layer(path) in LAYERS and os.path.exists(path) for text in look_at(path)]
    found += [text for path in files if re.fullmatch(SPEECHLESS, path) and os.path.exists(path) for text in sentences_of(path)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
