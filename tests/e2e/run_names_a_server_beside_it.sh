#!/bin/bash
# SPDX-License-Identifier: MIT
# A client waits for a server of this machine that is not of the job: `run` says so in one line, with the command that
# records the server, too. That command is pasted, and has nothing more to say. A client that hardly waits, and one whose
# server is of the job, are told nothing.
# shellcheck source=tests/e2e/run_lib.sh
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
cat >server.py <<'END'
import socket, sys, threading, time
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
def serve(connection):
    while request := connection.recv(1):
        time.sleep(0.2 if request == b"s" else 0)
        connection.sendall(b"x")
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
END
cat >client.py <<'END'
import socket, sys, time
server = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
end = time.monotonic() + 6
while time.monotonic() < end:
    server.sendall(sys.argv[2].encode())
    server.recv(1)
    if sys.argv[2] == "f":
        worked = time.monotonic() + 0.1
        while time.monotonic() < worked:
            pass
END
python3 server.py >port &
has_port() { [ -s port ]; }
until_true has_port
port=$(cat port)

run -n slow python3 client.py "$port" s
[ "$status" -eq 0 ] || fail "slow: $status"
[ "$(sql "SELECT count(*) FROM sqlite_schema WHERE name = 'socket_wait'")" = 1 ] ||
    { echo "no wait clocks here"; exit 77; }
flat() { tr -s ' \n' ' ' <"$work/err"; }
flat | grep -qE "note the job waited (9[0-9]|8[0-9]|7[0-9]) % of the time for python3 \\(port $port of this machine\\), which is not recorded" ||
    fail "no note"
[ "$(flat | grep -o 'of this machine' | wc -l)" -eq 1 ] || fail "more than one note"
command=$(flat | sed -n 's/.*Record the server, too: `\([^`]*\)`.*/\1/p')
[[ "$command" == *"run --db "*" --job port=$port python3 client.py $port s" ]] || fail "command: $command"

bash -c "$command" >"$work/out" 2>"$work/err" || fail "the command that was printed: $?"
[ "$(sql "SELECT count(DISTINCT pid) FROM process_rate WHERE run = 2 AND job = 1 AND process LIKE '%server.py%'")" -ge 1 ] ||
    fail "the server is not of the job"
flat | grep -q "is not recorded" && fail "a note beside a server that is recorded"

# A word that looks like a secret is not printed; a run that is attached has no command.
run -n secret --no-command-lines python3 client.py "$port" s --password=hunter2
flat | grep -qF -- "--job port=$port COMMAND\`" || fail "secret"
grep -q hunter2 err && fail "the secret is printed"
python3 client.py "$port" s &
"$chokepoint" attach $slow_start --db "$db" --duration 3s -p $! >"$work/out" 2>"$work/err" || fail "attach"
flat | grep -qF "Record the server, too: add \`--job port=$port\`" || fail "no note of an attached run"

run -n fast python3 client.py "$port" f
[ "$status" -eq 0 ] || fail "fast: $status"
flat | grep -q "is not recorded" && fail "a note though it hardly waits"
exit 0
