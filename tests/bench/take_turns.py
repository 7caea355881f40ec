#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""take_turns.py OUT_A OUT_B COMMAND_A... -- COMMAND_B...: runs both commands at once but only one of them at a time, a
tenth of a second each (SIGSTOP, SIGCONT), so that both meet the same neighbours on the machine: over a minute a core of
a virtual machine changes its pace by a tenth, which pairs of whole runs take for a difference. Their output goes to the
two files. Prints a line for each, with its children that it waited for: user CPU, system CPU, and wall seconds of its
turns."""
import os
import signal
import subprocess
import sys
import time

TURN_S = .1


class Player:
    def __init__(self, command, out):
        self.command, self.wall_s, self.usage = command, 0, None
        with open(out, "w") as file:
            self.process = subprocess.Popen(command, stdout=file, start_new_session=True)
        os.kill(self.process.pid, signal.SIGSTOP)

    def plays(self):
        """One turn, which ends early if the command does. Returns whether there will be another."""
        began = time.monotonic()
        os.kill(self.process.pid, signal.SIGCONT)
        while time.monotonic() - began < TURN_S and not self.ended():
            time.sleep(TURN_S / 10)
        if self.usage is None:
            os.kill(self.process.pid, signal.SIGSTOP)
        self.wall_s += time.monotonic() - began
        return self.usage is None

    def ended(self):
        pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
        if not pid:
            return False
        self.usage, self.process.returncode = usage, os.waitstatus_to_exitcode(status)
        return True


def main():
    first, second, *words = sys.argv[1:]
    at = words.index("--")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143)) # leaves no command stopped
    players = []
    try:
        for command, out in (words[:at], first), (words[at + 1:], second): # the second may fail to start
            players.append(Player(command, out))
        playing = list(players)
        while playing:
            playing = [p for p in playing if p.plays()]
    finally:
        for p in players:
            if p.usage is None:
                os.killpg(p.process.pid, signal.SIGKILL)
    for p in players:
        print(f"{p.usage.ru_utime:.3f} {p.usage.ru_stime:.3f} {p.wall_s:.2f}")
        if p.process.returncode:
            sys.exit(f"take_turns.py: {p.command[0]}: exit status {p.process.returncode}")


main()
