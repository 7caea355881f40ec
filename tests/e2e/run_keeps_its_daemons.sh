#!/bin/bash
# SPDX-License-Identifier: MIT
# A daemon that forks twice, leads its own session and empties its environment before any scan belongs to the job. It
# outlives the command as it would alone, and ended daemons leave no zombies of ours.
# shellcheck source=tests/e2e/run_lib.sh
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }

cat >daemon.py <<'END'
import os, sys, time
def daemon(seconds):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execve(sys.executable, [sys.executable, "served.py", str(seconds)], {})
        os._exit(0)
    os.wait()
daemon(0)
daemon(60)
deadline = time.time() + 60
while len(os.listdir("pids")) < 2 and time.time() < deadline:
    time.sleep(0.05)
time.sleep(3)
zombies = [p for p in os.listdir("/proc") if p.isdigit() and p in os.listdir("pids") and open(f"/proc/{p}/stat").read().rsplit(")", 1)[1].split()[0] == "Z"]
sys.exit(f"zombies: {zombies}" if zombies else 0)
END
cat >served.py <<'END'
import os, sys, time
open(f"pids/{os.getpid()}", "w").close()
end = time.time() + float(sys.argv[1])
while time.time() < end:
    sum(range(100000))
    time.sleep(0.01)
END
mkdir pids
run --process-rate 5 -- python3 daemon.py
[ $status -eq 0 ] || fail "status $status"
lasting=
for pid in $(ls pids); do [ -d "/proc/$pid" ] && lasting=$pid; done
[ -n "$lasting" ] || fail "the daemon did not outlive the command"
kill "$lasting"
[ "$(sql "SELECT max(job) FROM process_rate WHERE pid = $lasting")" = 1 ] || fail "the daemon is not the job"
# It may have been seen before it became that program, too.
label=$(sql "SELECT DISTINCT name FROM instance WHERE name LIKE '%[$lasting]'")
[[ $label == *"python3"*" served.py[$lasting]"* ]] || fail "its name is $label"
