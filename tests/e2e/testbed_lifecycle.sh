#!/bin/bash
# SPDX-License-Identifier: MIT
# A testbed comes up completely or not at all, programs inside behave as outside, and nothing is
# left when it is gone, however it ended.
set -u
work=$(mktemp -d)
name=tbl$$
chokepoint=$CHOKEPOINT_BIN/chokepoint
testbed() { "$chokepoint" testbed --name $name "$@"; }
finish() {
    testbed down >/dev/null
    "$chokepoint" testbed --name ${name}b down >/dev/null
    jobs -p | xargs -r kill
    rm -rf "$work"
}
trap finish EXIT
fail() { echo "FAILED: $*"; exit 1; }
expect() { # STATUS COMMAND...: stderr is one line if the status is not 0
    local wanted=$1 status
    shift
    "$@" >"$work/out" 2>"$work/err"
    status=$?
    [ $status -eq "$wanted" ] || fail "$* exits with $status, not $wanted: $(cat "$work/err")"
    [ "$wanted" -eq 0 ] || [ "$(wc -l <"$work/err")" -le 1 ] || fail "$*: $(cat "$work/err")"
}
# Everything that our testbeds could leave in the kernel and in /run; those of other users do not
# matter.
traces() {
    ip netns list | grep "^$name"
    find /sys/fs/cgroup -maxdepth 3 -name "$name*" -type d 2>/dev/null
    find /run -maxdepth 2 -path "*$name*" 2>/dev/null
    grep "$name" /proc/self/mountinfo
}
expect_nothing() {
    local left
    left=$(traces)
    [ -z "$left" ] || fail "$1 left: $left"
}
processes() { # HOST N
    expect 0 testbed status
    [ "$(awk -v host="$1" '$1 == host { print $6 }' "$work/out")" = "$2" ] ||
        fail "not $2 processes in $1: $(cat "$work/out")"
}
wait_for() { # until a path exists; at once, since its maker goes on
    local end=$((SECONDS + 240))
    until [ -e "$1" ]; do
        [ $SECONDS -lt $end ] || fail "$1 did not appear"
        read -rt 0.01 <>"$work/never"
    done
}
mkfifo "$work/never"
links_before=$(ip -o link | sed 's/^[0-9]*: //' | awk '{ print $1 }' | sort)
hosts_before=$(cat /etc/hosts 2>/dev/null)

# --- rights and words ---
if command -v setpriv >/dev/null; then
    expect 3 setpriv --bounding-set -sys_admin "$chokepoint" testbed --name $name up 2
    grep -q root "$work/err" || fail "no reason given: $(cat "$work/err")"
    expect_nothing "up without rights"
fi
expect 2 testbed up
expect 2 testbed up 0
expect 2 testbed up 3 --rate fast
expect 2 testbed up 3 --cpus 0,9999
expect 2 testbed up 300 --subnet 10.1.0.0/24
expect 2 testbed up 7 --subnet 10.1.0.0/29
expect 2 testbed sideways
expect 2 testbed exec -- true
expect 0 testbed down
expect 0 testbed status

# --- up that fails half-way, or would take what is another's ---
mkdir "$work/fake"
cat >"$work/fake/tc" <<END
#!/bin/sh
case "\$*" in *"dev vm2"*) echo "no such luck" >&2; echo "second line" >&2; exit 1 ;; esac
exec $(PATH=$PATH:/usr/sbin:/sbin command -v tc) "\$@"
END
chmod +x "$work/fake/tc"
PATH=$work/fake:$PATH "$chokepoint" testbed --name $name up 3 >"$work/out" 2>"$work/err"
status=$?
[ $status -eq 3 ] && { echo "skipped: $(cat "$work/err")"; exit 77; }
[ $status -eq 1 ] || fail "up with a tool that fails exits with $status: $(cat "$work/err")"
grep -q 'no such luck$' "$work/err" && [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$(cat "$work/err")"
expect_nothing "up that failed half-way"
ip netns add $name-vm2
expect 2 testbed up 2
ip netns list | grep -q "^$name-vm2" || fail "up removed a namespace that was not its own"
ip netns del $name-vm2
expect_nothing "up that was refused"

# --- up ---
testbed up 2 --cpus 0 --memory 512m --rate 500mbit >"$work/out" 2>"$work/err"
status=$?
[ $status -eq 0 ] || fail "up exits with $status: $(cat "$work/err")"
expect 2 testbed up 2
grep -q 'testbed down' "$work/err" || fail "no hint: $(cat "$work/err")"
expect 0 testbed status
[ "$(grep -c '^vm[12] .* 500 Mbit/s .* up$' "$work/out")" -eq 2 ] || fail "$(cat "$work/out")"
for end in "vm1 eth0" "vm2 eth0" "switch vm1" "switch vm2"; do
    # shellcheck disable=SC2086
    set -- $end
    nsenter --net=/run/netns/$name-$1 tc qdisc show dev "$2" | grep -q '^qdisc tbf .* root .* rate 500Mbit ' ||
        fail "$2 in $1 is not shaped"
done
expect 0 testbed up 2 --replace --cpus 0 --memory 512m

# --- inside ---
expect 0 testbed exec vm2 -- hostname
[ "$(cat "$work/out")" = vm2 ] || fail "hostname is $(cat "$work/out")"
expect 0 testbed exec vm2 -- getent hosts vm1
grep -q '^10\..*vm1$' "$work/out" || fail "vm1 is $(cat "$work/out")"
expect 0 testbed exec vm2 -- ls /sys/class/net
[ "$(xargs <"$work/out")" = "eth0 lo" ] || fail "interfaces are $(cat "$work/out")"
expect 0 testbed exec vm2 -- nproc
[ "$(cat "$work/out")" = 1 ] || fail "vm2 has $(cat "$work/out") CPUs"
expect 0 testbed exec vm2 -- sh -c 'cat /sys/fs/cgroup/memory/'$name'-testbed/vm2/memory.limit_in_bytes \
    /sys/fs/cgroup/'$name'-testbed/vm2/memory.max 2>/dev/null || true'
[ "$(cat "$work/out")" = 536870912 ] || fail "memory limit is $(cat "$work/out")"
expect 0 testbed exec vm2 -- cat /proc/self/cgroup
grep -q "/$name-testbed/vm2$" "$work/out" || fail "cgroups are $(cat "$work/out")"
[ "$(hostname)" != vm2 ] || fail "the machine was renamed"

# --- streams, status, signals are the command's own ---
[ "$(echo in | testbed exec -- sh -c 'cat; echo err >&2' 2>"$work/err")" = in ] || fail "streams"
[ "$(cat "$work/err")" = err ] || fail "stderr: $(cat "$work/err")"
expect 41 testbed exec -- sh -c 'exit 41'
expect 127 testbed exec -- /no/such/program
expect 2 testbed exec vm3 -- true
expect 5 testbed ssh -x root@vm2 'test "$(hostname)" = vm2 &&' exit 5
# shellcheck disable=SC2016
"$chokepoint" testbed --name $name exec -- sh -c ': >"$0/asleep"; exec sleep 1000' "$work" &
sleeper=$!
wait_for "$work/asleep"
processes vm1 1
kill -TERM $sleeper
wait $sleeper
[ $? -eq 143 ] || fail "the command ended otherwise"
processes vm1 0

# --- a second testbed beside the first ---
expect 0 "$chokepoint" testbed --name ${name}b up 1
first=$(testbed exec -- getent hosts vm1)
second=$("$chokepoint" testbed --name ${name}b exec -- getent hosts vm1)
[ -n "$second" ] && [ "$first" != "$second" ] || fail "both have $first"
expect 0 "$chokepoint" testbed --name ${name}b down

# --- broken is said, and still goes down ---
expect 0 testbed exec vm2 -- ip link set eth0 down
expect 0 testbed status
grep -q '^vm2 .*broken: eth0' "$work/out" || fail "$(cat "$work/out")"
grep -q '^vm1 .*up$' "$work/out" || fail "$(cat "$work/out")"

# --- down ends everything inside, even processes that resist, and nothing else ---
# shellcheck disable=SC2016
"$chokepoint" testbed --name $name exec vm1 -- \
    bash -c 'trap "" TERM; mkfifo "$0/block"; : >"$0/stubborn"; read <>"$0/block"' "$work" &
stubborn=$!
rm "$work/asleep"
# shellcheck disable=SC2016
"$chokepoint" testbed --name $name exec vm2 -- sh -c ': >"$0/asleep"; exec sleep 1000' "$work" &
sleeper=$!
sleep 1000 &
bystander=$!
wait_for "$work/stubborn"
wait_for "$work/asleep"
processes vm1 1
processes vm2 1
expect 2 testbed exec -- "$chokepoint" testbed --name $name down
expect 0 testbed down
wait $stubborn
[ $? -eq 137 ] || fail "the stubborn process ended otherwise"
wait $sleeper
[ $? -eq 143 ] || fail "sleep was not asked to end"
kill -0 $bystander || fail "down ended a process outside"
kill $bystander
expect 0 testbed down
expect_nothing "down"

# --- up that is interrupted, or killed ---
env --default-signal=INT "$chokepoint" testbed --name $name up 40 2>"$work/err" &
up=$!
wait_for /run/netns/$name-vm1
kill -INT $up
wait $up
[ $? -eq 130 ] || fail "interrupted up: $(cat "$work/err")"
grep -q interrupted "$work/err" || fail "up was through before the signal"
expect_nothing "interrupted up"

"$chokepoint" testbed --name $name up 40 &
up=$!
wait_for /run/netns/$name-vm1
kill -KILL $up
wait $up
[ $? -eq 137 ] || fail "up was through before the signal"
expect 0 testbed status
grep -q 'half made' "$work/out" || fail "$(cat "$work/out")"
expect 2 testbed exec -- true
expect 0 testbed down
expect_nothing "killed up and down"

[ "$(ip -o link | sed 's/^[0-9]*: //' | awk '{ print $1 }' | sort)" = "$links_before" ] || fail "links of the machine changed"
[ "$(cat /etc/hosts 2>/dev/null)" = "$hosts_before" ] || fail "/etc/hosts of the machine changed"
echo "up, exec, status and down leave nothing behind"
