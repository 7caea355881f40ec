# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Debian's sshd on the hosts of a testbed, to be sourced after run_lib.sh: need_sshd N. Each host has its own mount namespace
# with separate /tmp, /var/tmp, /dev/shm, /run, /home, /root and /etc/passwd: root and the user "tester" log in with a key, and
# the machine's own files do not change. $work is the only place that all hosts share. Our programs are in /mnt/bin of vm1 and
# of the hosts that `install` names, and nowhere else. All processes end with the testbed.
for program in /usr/sbin/sshd ssh ssh-keygen; do
    command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }
done
[ -d "$CHOKEPOINT_BIN/agents" ] || { echo "skipped: no agent that can be delivered was built"; exit 77; }
ssh=$work/ssh
places="/tmp /var/tmp /dev/shm /run /home /root"
users="root tester"
unset TMPDIR XDG_RUNTIME_DIR CHOKEPOINT_RSH
declare -A machine # host -> process that holds its mount namespace

home_of() { [ "$1" = root ] && echo /root || echo "/home/$1"; }

# A script that each host runs in its mount namespace: it makes the host's own directories.
write_machine() {
    cat >"$ssh/machine" <<END
#!/bin/bash
set -e
umask 022
mount -t tmpfs -o mode=0755 none /mnt
mkdir /mnt/work /mnt/programs /mnt/bin
mount --bind "$work" /mnt/work
mount --bind "$CHOKEPOINT_BIN" /mnt/programs
for place in $places; do
    mode=0755
    case \$place in */tmp | */shm) mode=1777 ;; /root) mode=0700 ;; esac
    mount -t tmpfs -o mode=\$mode none "\$place"
done
mkdir -p "$work" /run/sshd
mount --bind /mnt/work "$work"
for file in passwd group shadow; do mount --bind "$ssh/\$file" "/etc/\$file"; done
for home in /root /home/tester; do
    cp -r "$ssh/home" \$home/.ssh 2>/dev/null || { mkdir \$home && cp -r "$ssh/home" \$home/.ssh; }
    chmod 700 \$home \$home/.ssh
done
chown -R tester:tester /home/tester
: >"$ssh/\$1.ready"
exec sleep infinity
END
    chmod +x "$ssh/machine"
}
# users_have SHELL: root and tester, and besides only the machine's own users.
users_have() {
    (grep -v '^root:' /etc/passwd; echo "root:x:0:0:root:/root:$1"; echo "tester:x:4711:4711::/home/tester:$1") >"$ssh/passwd.new"
    cat "$ssh/passwd.new" >"$ssh/passwd" # in place, since hosts have this file mounted
}
write_users() {
    users_have /bin/bash
    (cat /etc/group; echo tester:x:4711:) >"$ssh/group"
    (umask 077; printf '%s:*:19000:0:99999:7:::\n' $users sshd >"$ssh/shadow")
}
write_keys() { # HOSTS...
    local host
    mkdir "$ssh/home"
    ssh-keygen -q -t ed25519 -N '' -C test -f "$ssh/home/id_ed25519"
    cp "$ssh/home/id_ed25519.pub" "$ssh/home/authorized_keys"
    printf 'Host *\nSendEnv LC_*\n' >"$ssh/home/config"
    for host in "$@"; do
        ssh-keygen -q -t ed25519 -N '' -C "$host" -f "$ssh/$host.key"
        echo "$host,$(address_of "$host") $(cut -d' ' -f1,2 "$ssh/$host.key.pub")" >>"$ssh/home/known_hosts"
        write_sshd_config "$host"
    done
}
address_of() { "$chokepoint" testbed --name "$name" exec -- awk -v host="$1" '$2 == host { print $1 }' /etc/hosts; }
# $sshd_options: lines of the configuration, before those that all have.
write_sshd_config() { # HOST
    cat >"$ssh/$1.conf" <<END
${sshd_options:-}
ListenAddress $(address_of "$1")
HostKey $ssh/$1.key
PidFile $ssh/$1.pid
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
AcceptEnv LANG LC_*
END
}
# on HOST COMMAND... : as root, in the mount namespace that logins on the host see.
on() {
    local host=$1
    shift
    "$chokepoint" testbed --name "$name" exec "$host" -- nsenter -t "${machine[$host]}" -m -- \
        sh -c 'cd "$0" && exec "$@"' "$work" "$@"
}
# as USER COMMAND... : in vm1, with a login's environment and a testbed's settings of MPI.
as() {
    local user=$1
    shift
    on vm1 env -u CHOKEPOINT_RSH -u OMPI_MCA_plm_rsh_agent -u HYDRA_LAUNCHER_EXEC -u SSH_AUTH_SOCK HOME="$(home_of "$user")" \
        USER="$user" LOGNAME="$user" SHELL=/bin/bash PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin \
        setpriv --reuid="$user" --regid="$user" --init-groups "$@"
}
# run_as USER OPTIONS... : chokepoint run in vm1, like run_lib.sh's; each user has a database.
run_as() {
    local user=$1
    shift
    db=$work/$user/runs.db
    as "$user" /mnt/bin/chokepoint run $slow_start --db "$db" "$@" >"$work/out" 2>"$work/err"
    status=$?
}
install() { on "$1" mount --bind /mnt/programs /mnt/bin; }
start_sshd() { # HOST
    rm -f "$ssh/$1.pid"
    on "$1" /usr/sbin/sshd -f "$ssh/$1.conf" -E "$ssh/$1.log" || fail "no sshd on $1: $(cat "$ssh/$1.log")"
    until_true test -s "$ssh/$1.pid"
}
has_ended() { ! kill -0 "$1" 2>/dev/null; }
stop_sshd() { # HOST: stops the listener; sessions continue
    local pid
    pid=$(cat "$ssh/$1.pid") || fail "no sshd on $1"
    kill -9 "$pid"
    until_true has_ended "$pid"
}
# restart_sshd HOST [LINES of its configuration]
restart_sshd() {
    stop_sshd "$1"
    sshd_options=${2:-} write_sshd_config "$1"
    start_sshd "$1"
}
# The processes of sshd on a host, without the listener.
sessions_on() {
    local pid
    for pid in $(processes_of "$1"); do
        [ "$pid" = "$(cat "$ssh/$1.pid")" ] || [ ! "/proc/$pid/exe" -ef /usr/sbin/sshd ] || echo "$pid"
    done
}
# Everything that a host keeps, under any name, except shared files, ssh's own, and the library for its ranks.
kept_on() {
    local place
    for place in $places; do find "/proc/${machine[$1]}/root$place" -mindepth 1 -printf "$place/%P\n"; done |
        grep -v "^$work\(/\|\$\)\|^/root/\.ssh/\|^/home/tester/\.ssh/\|/\.cache\(/chokepoint\(/.*\)\?\)\?\$" | sort
}
keeps_nothing_new() { [ "$(kept_on "$1")" = "$(cat "$ssh/$1.kept")" ]; }
# need_sshd N: hosts vm1 to vmN, with our programs only on vm1.
need_sshd() {
    local i host hosts=()
    need_testbed "$1"
    for ((i = 1; i <= $1; i++)); do hosts+=("vm$i"); done
    chmod 0755 "$work"
    mkdir "$ssh"
    write_users
    write_keys "${hosts[@]}"
    write_machine
    for host in $users; do mkdir "$work/$host"; done
    chown 4711:4711 "$work/tester"
    for host in "${hosts[@]}"; do
        "$chokepoint" testbed --name "$name" exec "$host" -- "$ssh/machine" "$host" >"$ssh/$host.said" 2>&1 &
        machine[$host]=$!
        until_true test -e "$ssh/$host.ready"
        start_sshd "$host"
        kept_on "$host" >"$ssh/$host.kept"
    done
    install vm1
}
