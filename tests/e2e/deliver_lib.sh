# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Testbed hosts on which nothing is installed, to be sourced after run_lib.sh and need_testbed: $rsh stands for ssh to
# them. The folders of our programs are hidden there. $hide is run by the shell before, in the host's own mount
# namespace. `$work/calls` has a line for each connection, `$work/near.HOST` the process that stands for ssh.
[ -d "$CHOKEPOINT_BIN/agents" ] || { echo "skipped: no agent that can be delivered was built"; exit 77; }
export ASAN_OPTIONS=detect_leaks=0
rsh=$work/rsh
export HOME=$work/home
mkdir "$HOME"
: >"$work/hide"
cat >"$rsh" <<END
#!/bin/bash
while [[ \$1 == -* ]]; do [[ \$1 != -o ]] || shift; shift; done
host=\$1
shift
[ ! -x "$work/before" ] || "$work/before" "\$host" || exit
echo "\$host" >>"$work/calls"
echo \$\$ >"$work/near.\$host"
exec python3 "$CHOKEPOINT_SOURCE/tests/tools/like_ssh.py" "$chokepoint" testbed --name "$name" exec "\$host" -- \
    unshare -m sh -c '. "\$0" && exec /bin/sh -c "\$1"' "$work/hide" "\$*"
END
chmod +x "$rsh"
# hide SHELL WORDS: run on hosts from now on, beside hiding our programs.
hide() { printf 'mount -t tmpfs none "%s"\nmount -t tmpfs none "%s"\n%s\n' "$CHOKEPOINT_BIN" "$CHOKEPOINT_SOURCE" "$*" >"$work/hide"; }
hide :
# deliver OPTIONS... : like run_inside, over $rsh.
deliver() {
    rm -f "$work"/calls "$work"/near.*
    inside env CHOKEPOINT_RSH="$rsh" "$chokepoint" run $slow_start --db "$db" "$@" >"$work/out" 2>"$work/err"
    status=$?
}
connections_to() { grep -cx "$1" "$work/calls"; }
delivered_agents() { for pid in $(agents_of "$1"); do tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q -- "chokepoint-agent --delivered" && echo "$pid"; done; }
frames_of() { sql "SELECT count(*) FROM frame JOIN stream USING (stream) JOIN host USING (host) WHERE name = '$1' AND run = $2"; }
