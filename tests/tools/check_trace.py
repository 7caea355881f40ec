#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether a file of trace events is one that viewers open without losing anything.

    check_trace.py FILE [CATEGORY]

Checks what Perfetto's trace processor wants of JSON (no such program is in Debian) and what it drops silently:
traceEvents first; escapes that its tokenizers know; numeric ids, thread ids unique over all processes; times as it
reads them (double x 1000, cut off), not negative; slices of one thread beside or within each other; counters that are
numbers; a name for each process and thread with slices. Prints one line of counts, or with CATEGORY the slices of it:
start_ns, duration_ns, process, thread, name, arguments as JSON.
"""
import bisect
import json
import re
import sys


def fail(text, event=None):
    sys.exit(f"check_trace: {text}" + (f": {json.dumps(event)[:300]}" if event is not None else ""))


def no_twice(pairs):
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        fail("a member stands twice", dict(pairs))
    return dict(pairs)


def no_constant(text):
    fail(f"{text} is no JSON")


class Time(float):
    """Converts to ns as a reader does; two ways in use must agree. Values of counters are parsed as such, too, but not
    checked."""

    def __new__(cls, text):
        self = super().__new__(cls, text)
        self.text = text
        return self

    @property
    def ns(self):
        ns = int(float(self) * 1000.0)
        whole, _, fraction = self.text.partition(".")
        if int(whole) * 1000 + int(float("0." + (fraction or "0")) * 1000.0) != ns:
            fail(f"readers disagree on {self.text}")
        return ns


def load(path):
    with open(path, encoding="utf-8", errors="strict") as file:
        text = file.read()
    if not text.startswith('{"traceEvents":['):
        fail("does not begin with traceEvents")
    if re.search(r'\\[^"\\]', text.replace("\\\\", "")):
        fail("has an escape that not all readers know")
    if "displayTimeUnit" in text.partition("\n")[0]:
        fail("has a displayTimeUnit")
    return json.loads(text, object_pairs_hook=no_twice, parse_constant=no_constant, parse_float=Time)


def is_id(value):
    return type(value) is int and 0 < value < 2**32


def check_members(event):
    needs = {"s": {"ts", "pid", "tid", "cat", "name", "id"}, "f": {"ts", "pid", "tid", "cat", "name", "id", "bp"},
             "X": {"ts", "dur", "pid", "tid", "cat", "name"}, "C": {"ts", "pid", "name", "args"},
             "M": {"pid", "name", "args"}}
    phase = event.get("ph")
    if phase not in needs:
        fail("unknown ph", event)
    if not needs[phase] <= set(event):
        fail(f"lacks {sorted(needs[phase] - set(event))}", event)
    for member in ("pid", "tid"):
        if member in event and not is_id(event[member]):
            fail(f"{member} is no id", event)
    for member in ("ts", "dur"):
        if member in event and (type(event[member]) is not Time or event[member].ns < 0):
            fail(f"{member} is no time", event)
    if not isinstance(event["name"], str) or not event["name"]:
        fail("has no name", event)
    if any(isinstance(value, (list, dict)) for value in event.get("args", {}).values()):
        fail("has nested arguments", event)


class Trace:
    def __init__(self, path):
        document = load(path)
        self.names, self.process_of, self.slices, self.counters = {}, {}, [], {}
        self.arrows = {}
        self.facts = document["otherData"]
        for event in document["traceEvents"]:
            check_members(event)
            getattr(self, "take_" + event["ph"])(event)
        self.check_names()
        self.check_nesting()
        self.check_arrows()

    def take_M(self, event):
        key = (event["pid"], event.get("tid"))
        if event["name"] in ("process_name", "thread_name"):
            if (key[1] is not None) != (event["name"] == "thread_name"):
                fail("name of the wrong thing", event)
            if key in self.names or not event["args"]["name"]:
                fail("named twice, or with nothing", event)
            self.names[key] = event["args"]["name"]
        elif event["name"] not in ("process_sort_index", "thread_sort_index"):
            fail("unknown metadata", event)

    def take_C(self, event):
        if len(event["args"]) != 1 or not all(type(v) in (int, float, Time) for v in event["args"].values()):
            fail("a counter is one number", event)
        unit = next(iter(event["args"]))
        self.counters.setdefault((event["pid"], event["name"], unit), []).append(
            (event["ts"].ns, float(event["args"][unit])))

    def take_X(self, event):
        if self.process_of.setdefault(event["tid"], event["pid"]) != event["pid"]:
            fail("a thread of two processes", event)
        if event["tid"] in {pid for pid, tid in self.names if tid is None}:
            fail("a thread that is taken for a process", event)
        self.slices.append((event["ts"].ns, event["dur"].ns, event))

    def take_s(self, event):
        if event["id"] in self.arrows:
            fail("two arrows of one number", event)
        self.arrows[event["id"]] = [event, None]

    def take_f(self, event):
        begun = self.arrows.get(event["id"])
        if not begun or begun[1] or event["bp"] != "e":
            fail("an arrow ends that did not begin, or twice, or at no slice", event)
        begun[1] = event

    def check_arrows(self):
        """Both ends of each flow lie in a slice of their thread, and it does not go back in time."""
        threads = {}
        for start, duration, event in self.slices:
            threads.setdefault(event["tid"], []).append((start, start + duration))
        for spans in threads.values():
            spans.sort()
        for first, last in self.arrows.values():
            if not last or last["ts"].ns < first["ts"].ns:
                fail("an arrow has no end, or ends before it begins", first)
            for end in (first, last):
                spans, at = threads.get(end["tid"], []), end["ts"].ns
                i = bisect.bisect_right(spans, (at, float("inf")))
                if not any(s <= at <= e for s, e in spans[max(0, i - 70):i]):
                    fail("an arrow's end lies in no slice", end)

    def check_names(self):
        for tid, pid in self.process_of.items():
            if (pid, tid) not in self.names or (pid, None) not in self.names:
                fail(f"process {pid} or its thread {tid} has no name")
        for pid, name, unit in self.counters:
            if (pid, None) not in self.names:
                fail(f"process {pid} has no name")

    def check_nesting(self):
        """Sorted by time alone, as a reader does; of equal times the order in the file stays."""
        stacks = {}
        for start, duration, event in sorted(self.slices, key=lambda s: s[0]):
            stack = stacks.setdefault(event["tid"], [])
            while stack and stack[-1][0] <= start and not (stack[-1][0] == start and stack[-1][1] == duration == 0):
                stack.pop()
            for end, _, other in stack:
                if start < end < start + duration:
                    fail(f"crosses {json.dumps(other)}", event)
            stack.append((start + duration, duration, event))


def main():
    trace = Trace(sys.argv[1])
    if len(sys.argv) == 2:
        values = sum(len(values) for values in trace.counters.values())
        print(f"{len(trace.slices)} slices, {len(trace.process_of)} threads, {len(trace.counters)} counters, "
              f"{values} values, {len(trace.arrows)} arrows")
    for start, duration, event in sorted(trace.slices, key=lambda s: s[0]):
        if len(sys.argv) == 3 and event["cat"] == sys.argv[2]:
            print(start, duration, trace.names[event["pid"], None], trace.names[event["pid"], event["tid"]],
                  event["name"], json.dumps(event.get("args", {})), sep="\t")


if __name__ == "__main__":
    main()
