#!/bin/bash
# SPDX-License-Identifier: MIT
# `chokepoint doctor`: two hosts without a fault are fine; a small packet size, an unknown name, a spool that cannot be
# written, a host that does not answer and a host without an agent are each found, on the right host, with a command
# that fixes it; nothing is left behind.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1

rsh=
doctor() { # in $status, out, err
    inside env ${rsh:+"CHOKEPOINT_RSH=$rsh"} "$chokepoint" doctor --start-timeout 120 "$@" >out 2>err </dev/null
    status=$?
}
found() { # HOST LEVEL CHECK: with a command that fixes it
    jq -e --arg h "$1" --arg l "$2" --arg c "$3" '.findings[] | select(.host == $h and .level == $l and .check == $c and .mend != null)' out >/dev/null
}
hindered() { jq -r '.findings[] | select(.level == "hinders") | .host + ":" + .check' out | sort -u | tr '\n' ' '; }

"$chokepoint" doctor --format xml >out 2>err
[ $? -eq 2 ] && said 'unknown format' || fail "--format xml"
"$chokepoint" doctor --hosts a,-b >out 2>err
[ $? -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] || fail "a host that is none"
"$chokepoint" doctor --hosts a --hostfile b >out 2>err
[ $? -eq 2 ] || fail "two lists of hosts"

need_testbed 2
cp /dev/null before
doctor --hosts vm1,vm2 --format json
[ $status -eq 0 ] && [ -z "$(hindered)" ] || fail "two good hosts: $status, $(hindered)"
jq -e '.schema == "chokepoint.doctor/1" and ([.hosts[] | select(.answered and .start_s > 0 and .version != null)] | length) == 2
    and .hosts[0].reached == "directly" and .hosts[1].reached == "by ssh"' out >/dev/null || fail "hosts"
for check in spool clock mtu interface rights psi cgroup btf taskstats; do
    [ "$(jq -r --arg c $check '[.findings[] | select(.check == $c) | .host] | unique | length' out)" = 2 ] || fail "not both were asked for $check"
done
doctor --hosts vm1,vm2
[ $status -eq 0 ] && grep -q '^vm2: agent .*, started by ssh in .*; fine' out || fail "as text"
awk '/^  / && !/; mend: ./ { exit 1 }' out || fail "a finding without a command"
doctor --hosts vm1,vm2 -v
grep -q '^  ok .*traffic to vm1 leaves by eth0' out || fail "-v does not tell which way traffic goes"

# Small packets on one host, fixed by the printed command.
"$chokepoint" testbed --name "$name" exec vm2 -- ip link set dev eth0 mtu 1400 || fail "cannot plant"
doctor --hosts vm1,vm2 --format json
[ $status -eq 1 ] && [ "$(hindered)" = "vm2:mtu " ] && found vm2 hinders mtu || fail "small packets: $status, $(hindered)"
mend=$(jq -r '[.findings[] | select(.host == "vm2" and .check == "mtu" and .level == "hinders") | .mend] | last' out)
"$chokepoint" testbed --name "$name" exec vm2 -- $mend || fail "does not mend: $mend"
printf 'vm1 slots=1\nvm2\n' >hosts
doctor --hostfile hosts --format json
[ $status -eq 0 ] || fail "mended, and still: $(hindered)"

# A spool and a database that cannot be written.
TMPDIR=/nonexistent doctor --hosts vm1,vm2 --format json
[ $status -eq 1 ] && [ "$(hindered)" = "vm1:spool " ] && found vm1 hinders spool || fail "spool: $status, $(hindered)"
doctor --hosts vm1 --db /nonexistent/x.db --format json
[ $status -eq 1 ] && found vm1 hinders database || fail "database: $status, $(hindered)"

# Hosts that do not exist, or have no agent.
rsh=false doctor --hosts vm1,vm2 --format json
[ $status -eq 1 ] && found vm2 hinders agent && jq -e '.hosts[1].answered == false' out >/dev/null || fail "no answer: $status, $(hindered)"
mkdir bin
cat >bin/bare <<'EOF'
#!/bin/sh
echo "sh: 1: exec: chokepoint-agent: not found" >&2
exit 127
EOF
chmod +x bin/bare
rsh=$work/bin/bare doctor --hosts vm1,vm2 --format json
[ $status -eq 1 ] && jq -e '.findings[] | select(.host == "vm2" and .check == "agent") | .mend | startswith("scp ")' out >/dev/null ||
    fail "no agent: $status"

# A host with nothing installed is sent the agent, and examined like any other; if it cannot be sent, a
# line says so.
if [ -d "$CHOKEPOINT_BIN/agents" ]; then
    export ASAN_OPTIONS=detect_leaks=0
    cat >bin/empty <<EOF
#!/bin/bash
while [[ \$1 == -* ]]; do [[ \$1 != -o ]] || shift; shift; done
host=\$1
shift
exec "$chokepoint" testbed --name "$name" exec "\$host" -- unshare -m sh -c \
    'mount -t tmpfs none "$CHOKEPOINT_BIN"; . "$work/hide"; exec sh -c "\$0"' "\$*"
EOF
    chmod +x bin/empty
    : >hide
    rsh=$work/bin/empty doctor --hosts vm1,vm2 --format json
    [ $status -eq 0 ] && found vm2 note agent && ! found vm1 note agent || fail "an agent that was sent: $status, $(hindered)"
    jq -e '.hosts[1] | .answered and .start_s > 0 and .version != null' out >/dev/null || fail "vm2 was not examined by it"
    for check in spool clock mtu interface rights psi cgroup; do
        [ "$(jq -r --arg c $check '[.findings[] | select(.check == $c) | .host] | unique | length' out)" = 2 ] || fail "$check was not asked for there"
    done
    echo 'for d in /tmp /var/tmp /dev/shm "$HOME"; do mount -t tmpfs -o noexec none $d; done' >hide
    rsh=$work/bin/empty doctor --hosts vm1,vm2 --format json
    [ $status -eq 1 ] && [ "$(hindered)" = "vm2:agent " ] || fail "no directory takes one: $status, $(hindered)"
    jq -e '.findings[] | select(.host == "vm2" and .check == "agent") | (.mend == "apt-get install chokepoint-agent") and
        (.text | test("no directory of vm2 takes a program"))' out >/dev/null || fail "it does not say why"
fi
doctor --hosts vm1,vm9 --format json
[ $status -eq 1 ] && found vm1 hinders network || fail "a name that is not known: $status, $(hindered)"

# Another version.
cat >bin/old <<'EOF'
#!/bin/sh
printf 'chokepoint-agent: fact | version | 0.0.1\nchokepoint-agent: fact | end | 1\n'
EOF
chmod +x bin/old
rsh=$work/bin/old doctor --hosts vm1,vm2 --format json
[ $status -eq 1 ] && found vm2 hinders version || fail "another version: $status, $(hindered)"
[ -z "$(find /tmp -maxdepth 1 -name 'chokepoint-doctor-*' -newer before)" ] || fail "something stayed in /tmp"
exit 0
